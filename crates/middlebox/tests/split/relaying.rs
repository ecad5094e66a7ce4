//! What a relay does with SYNs, bytes and room.

use crate::chain::Chain;
use bentpipe_middlebox::split::{Accept, Pool, SplitSettings};
use bentpipe_tcp::{ConnectionState as State, Packet};
use bentpipe_units::{Bytes, Duration};

fn lossless(_: usize, _: &Packet) -> bool {
    false
}

fn settings(buffer: u64) -> SplitSettings {
    SplitSettings {
        buffer: Bytes::new(buffer),
        ..SplitSettings::default()
    }
}

#[test]
fn an_early_pep_answers_the_syn_at_once() {
    let mut chain = Chain::new(&[50, 250], &settings(1_000_000), lossless);
    chain.act(0, |e, now, out| e.open(now, out));
    chain.run_ms(100);
    assert_eq!(chain.server.state(), State::Established);
    assert_eq!(chain.client.state(), State::Listen);
    chain.run_ms(700);
    assert_eq!(chain.client.state(), State::Established);
}

#[test]
fn a_late_pep_answers_when_the_far_leg_is_open() {
    let late = SplitSettings {
        accept: Accept::Late,
        ..settings(1_000_000)
    };
    let mut chain = Chain::new(&[50, 250], &late, lossless);
    chain.act(0, |e, now, out| e.open(now, out));
    chain.run_ms(599);
    assert_eq!(chain.server.state(), State::SynSent);
    chain.run_ms(1);
    assert_eq!(chain.server.state(), State::Established);
    assert_eq!(chain.server.rtt().smallest(), Duration::from_millis(600));
}

#[test]
fn either_side_may_open() {
    for accept in [Accept::Early, Accept::Late] {
        let settings = SplitSettings {
            accept,
            ..settings(1_000_000)
        };
        let mut chain = Chain::new(&[20, 250, 20], &settings, lossless);
        let last = chain.last();
        chain.act(last, |e, now, out| {
            e.open(now, out);
            e.write(now, Bytes::new(300), out);
        });
        chain.run_ms(2_000);
        assert_eq!(chain.server.delivered(), Bytes::new(300));
        chain.act(0, |e, now, out| e.write(now, Bytes::new(100_000), out));
        chain.run_ms(10_000);
        assert_eq!(chain.client.delivered(), Bytes::new(100_000));
    }
}

#[test]
fn a_refusal_reaches_the_caller_early_or_late() {
    for accept in [Accept::Early, Accept::Late] {
        let settings = SplitSettings {
            accept,
            ..settings(1_000_000)
        };
        let mut chain = Chain::new(&[50, 250], &settings, lossless);
        chain.act(1, |e, now, out| e.abort(now, out));
        chain.act(0, |e, now, out| e.open(now, out));
        chain.run_ms(601);
        assert_eq!(chain.server.state(), State::Reset, "{accept:?}");
    }
}

#[test]
fn the_relay_holds_no_more_than_its_buffer() {
    // Far more is sent than the buffer takes: it fills, the receive buffer
    // fills behind it, and the server stops.
    let mut chain = Chain::new(&[5, 250], &settings(60_000), lossless);
    chain.act(0, |e, now, out| {
        e.open(now, out);
        e.write(now, Bytes::new(3_000_000), out);
    });
    for _ in 0..400 {
        chain.run_ms(10);
        let (server, client) = (&chain.server, &chain.client);
        let ahead = server.acknowledged().get() - client.delivered().get();
        assert!(ahead <= 2 * 60_000, "{ahead}");
    }
    let relay = &chain.relays[0];
    assert_eq!(relay.occupancy(1).max(), Bytes::new(60_000));
    assert_eq!(relay.most_waiting(0), Bytes::new(60_000));
    // A quarter of a second of filling, then full.
    assert!(relay.occupancy(1).mean(chain.now) > Bytes::new(45_000));
}

#[test]
fn a_shared_pool_holds_everything() {
    let shared = SplitSettings {
        pool: Pool::Shared,
        ..settings(60_000)
    };
    let mut chain = Chain::new(&[50, 250], &shared, lossless);
    chain.act(0, |e, now, out| {
        e.open(now, out);
        e.write(now, Bytes::new(3_000_000), out);
    });
    for _ in 0..800 {
        chain.run_ms(5);
        let relay = &chain.relays[0];
        let held = relay.end(0).readable().get() + relay.end(1).unacknowledged().get();
        assert!(held <= 60_000, "{held}");
    }
}

/// Bytes delivered in ten seconds of a steady state, per second.
fn rate(chain: &mut Chain) -> f64 {
    chain.act(0, |e, now, out| {
        e.open(now, out);
        e.write(now, Bytes::new(1 << 40), out);
    });
    chain.run_ms(20_000);
    let before = chain.client.delivered().get();
    chain.run_ms(30_000);
    (chain.client.delivered().get() - before) as f64 / 30.0
}

/// Without any limit of a link, a buffer B gives B / RTT of the onward leg,
/// the way before it short or long. Every segment is acknowledged: a delayed
/// ACK keeps up to a segment in the buffer for longer.
#[test]
fn the_rate_is_the_buffer_over_the_round_trip_of_the_onward_leg() {
    for before in [1, 50, 200] {
        for after in [100, 250] {
            for buffer in [20_000, 65_536, 300_000] {
                let settings = SplitSettings {
                    // Enough for the leg before not to be the limit.
                    receive_buffer: Some(Bytes::new(5 * buffer)),
                    ..settings(buffer)
                };
                let mut chain = Chain::new(&[before, after], &settings, lossless);
                let expected = buffer as f64 / (2e-3 * after as f64);
                let error = rate(&mut chain) / expected - 1.0;
                assert!(error.abs() < 0.01, "{before} {after} {buffer}: {error:.4}");
            }
        }
    }
}

/// With one pool what is under way to the PEP takes room, too.
#[test]
fn a_shared_pool_turns_over_once_in_both_round_trips() {
    for before in [5, 50, 200] {
        for buffer in [65_536, 300_000] {
            let shared = SplitSettings {
                pool: Pool::Shared,
                ..settings(buffer)
            };
            let mut chain = Chain::new(&[before, 250], &shared, lossless);
            let expected = buffer as f64 / (2e-3 * (250 + before) as f64);
            let error = rate(&mut chain) / expected - 1.0;
            assert!(error.abs() < 0.05, "{before} {buffer}: {error:.4}");
        }
    }
}
