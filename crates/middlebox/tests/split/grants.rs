//! Relays that grant each other what they may send: the backlog of each stays within its bound,
//! whatever is lost and however slow the next leg is.

use crate::chain::{Chain, cubic};
use bentpipe_cc::Parameters;
use bentpipe_middlebox::split::{Pool, ProxyControl, SplitSettings};
use bentpipe_tcp::{
    CongestionControlChoice, ConnectionState as State, Packet, Recovery, Transport, find_transport,
};
use bentpipe_units::{Bytes, Duration};

/// As the reading of a scenario makes it.
fn settings(backlog: u64) -> SplitSettings {
    SplitSettings {
        proxy_control: ProxyControl::Grants,
        backlog: Some(Bytes::new(backlog)),
        buffer: Bytes::new(backlog),
        pool: Pool::Shared,
        ..SplitSettings::default()
    }
}

/// Cubic on the ground, and between the relays a transport that only repairs, at 1 ms a packet.
fn transports(recovery: Recovery) -> impl Fn(usize) -> Transport {
    move |leg| match leg {
        1 => Transport {
            recovery,
            congestion_control: CongestionControlChoice::Named("complete-knowledge".into()),
            parameters: Parameters::new()
                .with("rate", 11.68)
                .with("window_gain", 8.0),
            ..find_transport("stp").unwrap().transport()
        },
        _ => cubic(),
    }
}

/// Bytes that relay `index` holds and has granted of what leaves on its far side.
fn backlog(chain: &Chain, index: usize) -> u64 {
    let relay = &chain.relays[index];
    relay.end(0).readable().get() + relay.end(1).unacknowledged().get()
}

/// Runs for `time`; returns the largest backlog of each relay.
fn run(chain: &mut Chain, time: Duration) -> [u64; 2] {
    let (end, mut most) = (chain.now + time, [0; 2]);
    while chain.step(end) {
        for (index, most) in most.iter_mut().enumerate() {
            *most = (*most).max(backlog(chain, index));
        }
    }
    chain.now = end;
    most
}

const BOTH: [Recovery; 2] = [Recovery::Stp, Recovery::SackRepeat];
const SIZE: u64 = 3_000_000;

/// A file from the server over 20 ms, 250 ms and `last` ms one way.
fn download(
    recovery: Recovery,
    bytes: u64,
    last: u64,
    losses: impl FnMut(usize, &Packet) -> bool + 'static,
) -> (Chain, [u64; 2]) {
    let delays = [20, 250, last];
    let mut chain = Chain::with(&delays, &settings(bytes), transports(recovery), losses);
    chain.grant(1, Duration::from_millis(1));
    chain.act(0, |end, now, out| {
        end.open(now, out);
        end.write_last(now, Bytes::new(SIZE), out);
    });
    let most = run(&mut chain, Duration::from_secs(120));
    (chain, most)
}

/// 3 MB are 2055 packets of 1460 bytes: 2.06 s on the link, and one and a half round trips of the
/// chain before the first of them has arrived.
#[test]
fn a_backlog_of_four_products_fills_the_link() {
    for recovery in BOTH {
        let (chain, most) = download(recovery, 2_400_000, 2, |_, _| false);
        assert_eq!(chain.client.delivered(), Bytes::new(SIZE), "{recovery:?}");
        let leg = chain.relays[0].end(1);
        let counters = leg.counters();
        assert_eq!((counters.retransmissions, counters.timeouts), (0, 0));
        assert!(most.iter().all(|most| *most <= 2_400_000), "{most:?}");
        // The terrestrial leg is faster: the first relay fills as far as it may.
        assert!(most[0] > 1_000_000, "{most:?}");
        assert!(most[1] < 100_000, "the last leg takes everything: {most:?}");
    }
}

/// The client's host is far away: at 64 kB, of which the relay holds what it has not acknowledged,
/// the last leg is much slower than the link. What is lost on the way changes no bound.
#[test]
fn a_slow_last_leg_stops_the_grants() {
    for recovery in BOTH {
        for every in [0, 20] {
            let mut count = 0;
            let losses = move |to: usize, packet: &Packet| {
                let counts = to == 3 && packet.payload > 0 && every > 0;
                count += u64::from(counts);
                counts && count.is_multiple_of(every)
            };
            let (chain, most) = download(recovery, 64_000, 100, losses);
            let what = format!("{recovery:?}, every {every}: {most:?}");
            assert!(most.iter().all(|most| *most <= 64_000), "{what}");
            assert!(most[1] > 32_000, "it fills: {what}");
            assert_eq!(chain.client.delivered(), Bytes::new(SIZE), "{what}");
            let counters = chain.relays[0].end(1).counters();
            assert_eq!(counters.reductions, 0, "{what}");
        }
    }
}

/// The last leg takes nothing for 30 s: the relays hold their backlog, the server what is left, and
/// all goes on afterwards.
#[test]
fn backpressure_reaches_the_server() {
    for recovery in BOTH {
        let delays = [20, 250, 2];
        let is_out = std::rc::Rc::new(std::cell::Cell::new(true));
        let out = is_out.clone();
        let losses = move |to: usize, packet: &Packet| out.get() && to >= 4 && packet.payload > 0;
        let bytes = 400_000;
        let mut chain = Chain::with(&delays, &settings(bytes), transports(recovery), losses);
        chain.grant(1, Duration::from_millis(1));
        chain.act(0, |end, now, out| {
            end.open(now, out);
            end.write_last(now, Bytes::new(SIZE), out);
        });
        let most = run(&mut chain, Duration::from_secs(30));
        assert!(most.iter().all(|most| *most <= bytes), "{most:?}");
        // Within a segment or two of it.
        assert!(most.iter().all(|most| *most > bytes - 6_000), "{most:?}");
        let taken = chain.server.acknowledged().get();
        assert!(taken <= 2 * bytes, "{taken}");
        is_out.set(false);
        let most = run(&mut chain, Duration::from_secs(120));
        assert!(most.iter().all(|most| *most <= bytes), "{most:?}");
        assert_eq!(chain.client.delivered(), Bytes::new(SIZE), "{recovery:?}");
    }
}

/// Both directions at once, and both ends close.
#[test]
fn both_directions_close() {
    for recovery in BOTH {
        let mut count = 0;
        let losses = move |_: usize, packet: &Packet| {
            count += u64::from(packet.payload > 0);
            packet.payload > 0 && count.is_multiple_of(50)
        };
        let delays = [20, 250, 2];
        let mut chain = Chain::with(&delays, &settings(800_000), transports(recovery), losses);
        chain.grant(1, Duration::from_millis(1));
        let last = chain.last();
        chain.act(0, |end, now, out| {
            end.open(now, out);
            end.write_last(now, Bytes::new(SIZE), out);
        });
        run(&mut chain, Duration::from_secs(2));
        chain.act(last, |end, now, out| {
            end.write_last(now, Bytes::new(SIZE), out)
        });
        let most = run(&mut chain, Duration::from_secs(200));
        assert!(most.iter().all(|most| *most <= 800_000), "{most:?}");
        assert_eq!(chain.client.delivered(), Bytes::new(SIZE), "{recovery:?}");
        assert_eq!(chain.server.delivered(), Bytes::new(SIZE), "{recovery:?}");
        for end in [&chain.server, &chain.client] {
            let state = end.state();
            let is_closed = matches!(state, State::TimeWait | State::Closed);
            assert!(is_closed, "{recovery:?}: {state:?}");
        }
    }
}
