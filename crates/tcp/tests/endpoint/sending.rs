//! Handshake, windows, pacing, ECN.

use crate::pipe::{Fate, MSS, ONE_WAY, Pipe, drop_once, is_syn, plain};
use bentpipe_tcp::{HostProfile, Pacing, Transport};
use bentpipe_units::{Bytes, Duration, Time};

fn deliver() -> impl FnMut(usize, &bentpipe_tcp::Packet) -> Fate {
    |_, _| Fate::Deliver
}

#[test]
fn slow_start_doubles_every_round() {
    // IW 6, one ACK per segment: 6, 12, 24, 48, 96.
    let mut pipe = Pipe::open(&plain(), deliver());
    pipe.write(186);
    pipe.run_for(Duration::from_secs(2));
    assert_eq!(pipe.rounds(), [6, 12, 24, 48, 96]);
    assert_eq!(pipe.ends[1].delivered(), Bytes::new(186 * u64::from(MSS)));
    assert_eq!(pipe.ends[0].acknowledged(), pipe.ends[1].delivered());
}

#[test]
fn delayed_acks_slow_the_start_down() {
    let mut transport = plain();
    transport.delayed_ack.count = 2;
    transport.delayed_ack.timer = Duration::from_millis(1);
    let mut pipe = Pipe::open(&transport, deliver());
    pipe.write(60);
    pipe.run_for(Duration::from_secs(2));
    // Six segments give three ACKs, nine give five (the last by the timer).
    assert_eq!(pipe.rounds()[..3], [6, 9, 14]);
}

#[test]
fn data_follows_the_handshake_by_a_round_trip() {
    let mut pipe = Pipe::closed(&plain(), deliver());
    pipe.connect();
    pipe.write(1);
    pipe.run_for(Duration::from_secs(1));
    assert_eq!(pipe.sent[0].at, Time::ZERO + ONE_WAY * 2);
    assert_eq!(pipe.ends[0].rtt().smallest(), ONE_WAY * 2);
}

#[test]
fn a_lost_syn_costs_a_timeout_and_the_initial_window() {
    let mut first = true;
    let mut pipe = Pipe::closed(&plain(), move |_, p| {
        if is_syn(p) && std::mem::take(&mut first) {
            Fate::Drop
        } else {
            Fate::Deliver
        }
    });
    pipe.connect();
    pipe.write(20);
    pipe.run_for(Duration::from_secs(3));
    assert_eq!(
        pipe.sent[0].at,
        Time::ZERO + Duration::from_secs(1) + ONE_WAY * 2
    );
    let first_burst = pipe.sent.iter().filter(|s| s.at == pipe.sent[0].at).count();
    assert_eq!(first_burst, 1);
    assert_eq!(pipe.ends[1].delivered(), Bytes::new(20_000));
}

#[test]
fn a_lost_syn_ack_is_sent_again() {
    let mut first = true;
    let mut pipe = Pipe::closed(&plain(), move |to, p| {
        if to == 0 && is_syn(p) && std::mem::take(&mut first) {
            Fate::Drop
        } else {
            Fate::Deliver
        }
    });
    pipe.connect();
    pipe.write(3);
    pipe.run_for(Duration::from_secs(5));
    assert_eq!(pipe.ends[0].acknowledged(), Bytes::new(3_000));
}

#[test]
fn the_receive_buffer_bounds_the_flight() {
    let transport = Transport {
        receive_buffer: Bytes::new(10_500),
        ..plain()
    };
    let mut pipe = Pipe::open(&transport, deliver());
    pipe.write(100);
    pipe.run_for(Duration::from_secs(2));
    assert_eq!(pipe.rounds(), [6, 10, 10, 10, 10, 10, 10, 10, 10, 10, 4]);
    // What the window does not need does not grow it.
    assert!(pipe.cwnd() <= 13.0, "{}", pipe.cwnd());
}

#[test]
fn the_send_buffer_bounds_the_flight() {
    let transport = Transport {
        send_buffer: Bytes::new(4_000),
        ..plain()
    };
    let mut pipe = Pipe::open(&transport, deliver());
    pipe.write(12);
    pipe.run_for(Duration::from_secs(2));
    assert_eq!(pipe.rounds(), [4, 4, 4]);
}

#[test]
fn spacing_does_not_count_in_ticks() {
    // 26 ms are three ticks of ns-2: 3 ms between segments instead of 2.6.
    let transport = Transport {
        profile: HostProfile::Ns2,
        timestamps: true,
        pacing: Pacing::Window {
            gain: 1.0,
            initial_burst: 1,
        },
        initial_window: 10.0,
        initial_ssthresh: Some(10.0),
        ..plain()
    };
    let mut pipe = Pipe::closed(&transport, deliver());
    pipe.one_way = Duration::from_millis(13);
    pipe.connect();
    pipe.write(10);
    pipe.run_for(Duration::from_secs(1));
    let gaps = pipe.sent.windows(2).map(|w| w[1].at.since(w[0].at));
    let gaps: Vec<u64> = gaps.map(|gap| gap.as_micros()).collect();
    assert_eq!(gaps, [0, 2600, 2600, 2600, 2600, 2600, 2600, 2600, 2600]);
}

#[test]
fn pacing_spreads_the_window_over_the_round_trip() {
    let transport = Transport {
        pacing: Pacing::Window {
            gain: 1.0,
            initial_burst: 2,
        },
        initial_window: 10.0,
        initial_ssthresh: Some(10.0),
        ..plain()
    };
    let mut pipe = Pipe::closed(&transport, deliver());
    pipe.connect();
    pipe.write(200);
    pipe.run_for(Duration::from_secs(1));
    let gaps: Vec<u64> = pipe
        .sent
        .windows(2)
        .map(|w| w[1].at.since(w[0].at).as_micros())
        .collect();
    // The stated burst goes at once, the rest a tenth of the RTT apart.
    assert_eq!(
        gaps[..9],
        [0, 0, 10_000, 10_000, 10_000, 10_000, 10_000, 10_000, 10_000]
    );
    // Later they follow the window as it grows, and no two leave together.
    assert!(
        gaps[10..].iter().all(|g| (5_000..16_000).contains(g)),
        "{gaps:?}"
    );
}

#[test]
fn a_mark_halves_once_a_round_and_nothing_is_sent_again() {
    let transport = Transport {
        ecn: true,
        initial_window: 20.0,
        ..plain()
    };
    let mut pipe = Pipe::open(&transport, |_, p| {
        let segment = p.sequence / u64::from(MSS);
        if (5..9).contains(&segment) && p.payload > 0 {
            Fate::Mark
        } else {
            Fate::Deliver
        }
    });
    pipe.write(60);
    pipe.run_for(Duration::from_millis(110));
    // Five ACKs grew it to 25, then one mark halved the flight.
    assert!(
        (9.0..=13.5).contains(&pipe.ssthresh()),
        "{}",
        pipe.ssthresh()
    );
    assert_eq!(pipe.ends[0].counters().reductions, 1);
    pipe.run_for(Duration::from_secs(3));
    assert_eq!(pipe.ends[0].counters().retransmissions, 0);
    assert_eq!(pipe.ends[0].acknowledged(), Bytes::new(60_000));
}

#[test]
fn an_idle_sender_starts_from_the_initial_window_again() {
    let mut pipe = Pipe::open(&plain(), deliver());
    pipe.write(200);
    pipe.run_for(Duration::from_secs(5));
    assert!(pipe.cwnd() > 100.0);
    pipe.write(200);
    assert_eq!(pipe.cwnd(), 6.0);
}

#[test]
fn short_segments_arrive_whole() {
    let mut pipe = Pipe::open(&plain(), drop_once(&[0, 1]));
    let mut out = Vec::new();
    for n in [1u64, 700, 1, 2_500, 999] {
        pipe.ends[0].write(pipe.now, Bytes::new(n), &mut out);
    }
    // Written at once, so only the first segment is short.
    for p in out {
        let mut none = Vec::new();
        pipe.ends[1].on_packet(pipe.now, &p, &mut none);
    }
    assert!(pipe.ends[1].delivered() >= Bytes::new(701));
}
