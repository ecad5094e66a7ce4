//! Windows, segments and orders at the edge of what is allowed.

use crate::pipe::{Fate, MSS, ONE_WAY, Pipe, drop_once, plain};
use bentpipe_tcp::{HostProfile, Recovery, Transport};
use bentpipe_units::{Bytes, Duration};

fn twenty(recovery: Recovery) -> Transport {
    Transport {
        recovery,
        initial_window: 20.0,
        initial_ssthresh: Some(20.0),
        ..plain()
    }
}

fn is_segment(p: &bentpipe_tcp::Packet, segment: u64) -> bool {
    p.payload > 0 && p.sequence == segment * u64::from(MSS)
}

#[test]
fn a_window_of_gigabytes_keeps_its_selective_acknowledgements_apart() {
    // 2.6 GB in flight would put blocks more than 2^31 bytes above the
    // acknowledgement, where they look like reports of duplicates; RFC 7323
    // allows no window above 2^30.
    let transport = Transport {
        mss: 65_000,
        initial_window: 40_000.0,
        receive_buffer: Bytes::new(1 << 40),
        undo: true,
        ..plain()
    };
    let mut pipe = Pipe::open(&transport, drop_once(&[0, 36_000 * 65]));
    pipe.write(40_000 * 65);
    pipe.run_for(Duration::from_secs(3));
    assert_eq!(pipe.ends[0].acknowledged(), Bytes::new(2_600_000_000));
    assert_eq!(pipe.ends[0].counters().undone, 0);
}

#[test]
fn a_window_smaller_than_a_segment_carries_smaller_segments() {
    // RFC 1122, section 4.2.3.4: the usable window is used, in part.
    for (profile, bytes) in [(HostProfile::Rfc, 400), (HostProfile::Linux22, 1)] {
        for both in [true, false] {
            let transport = Transport {
                profile,
                receive_buffer: Bytes::new(bytes),
                send_buffer: Bytes::new(if both { bytes } else { 1 << 40 }),
                ..plain()
            };
            let mut pipe = Pipe::open(&transport, |_, _| Fate::Deliver);
            pipe.write(1);
            pipe.run_for(Duration::from_secs(200));
            assert_eq!(
                pipe.ends[0].acknowledged(),
                Bytes::new(1_000),
                "{profile:?}"
            );
        }
    }
}

#[test]
fn a_segment_never_outgrows_a_packet() {
    for mss in [0, 65_536, u32::MAX] {
        let transport = Transport { mss, ..plain() };
        let mut pipe = Pipe::open(&transport, |_, _| Fate::Deliver);
        pipe.write(1);
        pipe.run_for(Duration::from_secs(30));
        assert_eq!(pipe.ends[0].acknowledged(), Bytes::new(1_000), "{mss}");
    }
}

#[test]
fn acknowledgements_out_of_order_are_no_duplicates() {
    // RFC 5681, section 2: a duplicate repeats the greatest acknowledgement.
    let transport = Transport {
        receive_buffer: Bytes::new(20_000),
        ..twenty(Recovery::NewReno)
    };
    let mut pipe = Pipe::open(&transport, |to, p| {
        let segment = p.acknowledgement / u64::from(MSS);
        if to == 0 && (5..10).contains(&segment) {
            Fate::Delay(Duration::from_millis(30))
        } else {
            Fate::Deliver
        }
    });
    pipe.write(60);
    pipe.run_for(Duration::from_secs(3));
    assert_eq!(pipe.ends[0].counters().retransmissions, 0);
}

#[test]
fn without_timestamps_a_repaired_hole_gives_no_round_trip_time() {
    // Karn's rule: what waited for a retransmission says nothing about the
    // path, on which every round trip takes 100 ms.
    for recovery in [Recovery::Tahoe, Recovery::NewReno, Recovery::Sack] {
        let transport = Transport {
            timestamps: false,
            ..twenty(recovery)
        };
        let mut pipe = Pipe::open(&transport, drop_once(&[0, 4, 8]));
        pipe.write(60);
        pipe.run_for(Duration::from_secs(5));
        assert_eq!(pipe.ends[0].acknowledged(), Bytes::new(60_000));
        assert_eq!(pipe.ends[0].rtt().mean(), Some(ONE_WAY * 2), "{recovery:?}");
    }
}

#[test]
fn after_a_lost_syn_the_first_timeout_is_three_seconds() {
    // RFC 6298, section 5.7.
    let mut lost = (false, false);
    let mut pipe = Pipe::closed(&plain(), move |_, p| {
        let syn = crate::pipe::is_syn(p) && !std::mem::replace(&mut lost.0, true);
        let data = is_segment(p, 0) && !std::mem::replace(&mut lost.1, true);
        if syn || data {
            Fate::Drop
        } else {
            Fate::Deliver
        }
    });
    pipe.connect();
    pipe.write(3);
    pipe.run_for(Duration::from_secs(9));
    let times: Vec<u64> = pipe
        .sent
        .iter()
        .map(|s| s.at.as_nanos() / 1_000_000)
        .collect();
    assert_eq!(times[..2], [1_100, 4_100]);
}

#[test]
fn what_limited_transmit_could_not_send_is_not_taken_off_the_flight() {
    // No data is left for RFC 3042 to send: the flight is 20, half of it 10.
    for segments in [20, 100] {
        let transport = Transport {
            limited_transmit: true,
            ..twenty(Recovery::Sack)
        };
        let mut pipe = Pipe::open(&transport, drop_once(&[0]));
        pipe.write(segments);
        pipe.run_for(Duration::from_millis(101));
        assert_eq!(pipe.ssthresh(), 10.0, "{segments}");
    }
}

#[test]
fn only_the_first_new_acknowledgement_shows_a_needless_retransmission() {
    // Segment 0 is lost; 8 is late, but ahead of its retransmission. The ACK
    // of the repaired 0 shows that the reduction was right (RFC 3522, step 5);
    // what 8 echoes later does not undo it.
    let (mut first, mut eighth) = (true, 0);
    let transport = Transport {
        undo: true,
        ..twenty(Recovery::Sack)
    };
    let mut pipe = Pipe::open(&transport, move |_, p| {
        if is_segment(p, 0) && std::mem::take(&mut first) {
            return Fate::Drop;
        }
        if is_segment(p, 8) {
            eighth += 1;
            return Fate::Delay(Duration::from_millis(if eighth == 1 { 110 } else { 30 }));
        }
        Fate::Deliver
    });
    pipe.write(60);
    pipe.run_for(Duration::from_secs(3));
    assert_eq!(pipe.ends[0].acknowledged(), Bytes::new(60_000));
    assert_eq!(pipe.ends[0].counters().undone, 0);
}
