//! Closes and resets through chains of one and two PEPs.

use crate::chain::Chain;
use bentpipe_middlebox::split::{Accept, Pool, SplitSettings};
use bentpipe_tcp::packet::flags;
use bentpipe_tcp::{ConnectionState as State, Endpoint, Packet};
use bentpipe_units::{Bytes, Duration, Time};
use proptest::prelude::*;

fn lossless(_: usize, _: &Packet) -> bool {
    false
}

#[test]
fn a_fin_follows_once_the_relay_is_empty() {
    let settings = SplitSettings {
        buffer: Bytes::new(50_000),
        ..SplitSettings::default()
    };
    let mut chain = Chain::new(&[5, 250], &settings, lossless);
    chain.act(0, |e, now, out| {
        e.open(now, out);
        e.write(now, Bytes::new(120_000), out);
        e.close(now, out);
    });
    chain.run_ms(700);
    assert!(!chain.client.is_finished());
    // The server is closed long before the client has everything.
    chain.run_ms(900);
    assert_eq!(chain.server.state(), State::FinWait2);
    assert!(chain.client.delivered() < Bytes::new(120_000));
    chain.run_ms(5_000);
    assert_eq!(chain.client.delivered(), Bytes::new(120_000));
    assert_eq!(chain.client.state(), State::CloseWait);
    // The other direction is open until the client closes it.
    chain.act(1, |e, now, out| {
        e.write(now, Bytes::new(10_000), out);
        e.close(now, out);
    });
    chain.run_ms(3_000);
    assert_eq!(chain.server.delivered(), Bytes::new(10_000));
    assert_eq!(
        [chain.server.state(), chain.client.state()],
        [State::TimeWait, State::Closed]
    );
    assert!(chain.relays[0].end(0).is_closed() && chain.relays[0].end(1).is_closed());
}

#[test]
fn a_reset_does_not_wait_for_data() {
    let settings = SplitSettings::default();
    let mut chain = Chain::new(&[5, 250, 5], &settings, lossless);
    chain.act(0, |e, now, out| {
        e.open(now, out);
        e.write(now, Bytes::new(900_000), out);
    });
    chain.run_ms(1_000);
    let at = chain.now;
    chain.act(0, |e, now, out| e.abort(now, out));
    while chain.client.state() != State::Reset {
        chain.run_ms(1);
        assert!(chain.now.since(at) <= Duration::from_millis(261));
    }
    // And the other way round.
    let mut chain = Chain::new(&[5, 250, 5], &settings, lossless);
    chain.act(0, |e, now, out| {
        e.open(now, out);
        e.write(now, Bytes::new(900_000), out);
    });
    chain.run_ms(1_000);
    let last = chain.last();
    chain.act(last, |e, now, out| e.abort(now, out));
    chain.run_ms(260);
    assert_eq!(chain.server.state(), State::Reset);
}

#[derive(Clone, Copy, Debug)]
enum Step {
    Write(usize, u32),
    Close(usize),
    Wait(u16),
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        4 => (0..2usize, 1..200_000u32).prop_map(|(end, n)| Step::Write(end, n)),
        1 => (0..2usize).prop_map(Step::Close),
        4 => (1..2_000u16).prop_map(Step::Wait),
    ]
}

#[derive(Clone, Debug)]
struct Setting {
    delays: Vec<u64>,
    split: SplitSettings,
    opener: usize,
    seed: u64,
    loss: u64,
}

fn setting() -> impl Strategy<Value = Setting> {
    let delays = prop_oneof![Just(vec![5, 50]), Just(vec![50, 5]), Just(vec![3, 100, 3]),];
    let buffers = (
        prop_oneof![Just(1_000u64), 5_000..300_000u64],
        any::<bool>(),
        any::<bool>(),
    );
    (delays, buffers, 0..2usize, any::<u64>(), 0..15u64).prop_map(
        |(delays, (buffer, late, shared), opener, seed, loss)| Setting {
            delays,
            split: SplitSettings {
                buffer: Bytes::new(buffer),
                accept: if late { Accept::Late } else { Accept::Early },
                pool: if shared { Pool::Shared } else { Pool::Separate },
                ..SplitSettings::default()
            },
            opener,
            seed,
            loss,
        },
    )
}

impl Setting {
    fn chain(&self, spare_resets: bool) -> Chain {
        let (mut state, loss) = (self.seed | 1, self.loss);
        let mut chain = Chain::new(&self.delays, &self.split, move |_, p| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            state % 100 < loss && !(spare_resets && p.has(flags::RST))
        });
        let opener = self.opener * chain.last();
        chain.act(opener, |e, now, out| e.open(now, out));
        chain
    }
}

fn perform(chain: &mut Chain, step: Step, written: &mut [u64; 2]) {
    let last = chain.last();
    match step {
        Step::Write(end, bytes) => {
            chain.act(end * last, |e, now, out| {
                let before = e.offered().get();
                e.write(now, Bytes::new(u64::from(bytes)), out);
                written[end] += e.offered().get() - before;
            });
        }
        Step::Close(end) => chain.act(end * last, |e, now, out| e.close(now, out)),
        Step::Wait(ms) => chain.run_ms(u64::from(ms)),
    }
}

/// Every end of the chain, along the way.
fn ends(chain: &Chain) -> Vec<&Endpoint> {
    let relays = chain.relays.iter().flat_map(|r| [r.end(0), r.end(1)]);
    std::iter::once(&chain.server)
        .chain(relays)
        .chain([&chain.client])
        .collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    /// Every byte of both directions arrives, in order and once, and each FIN
    /// after the bytes before it.
    #[test]
    fn nothing_is_lost_and_every_close_arrives(
        setting in setting(),
        steps in proptest::collection::vec(step(), 1..25),
    ) {
        let mut chain = setting.chain(false);
        let mut written = [0; 2];
        for step in steps {
            perform(&mut chain, step, &mut written);
            prop_assert!(chain.client.delivered().get() <= written[0]);
            prop_assert!(chain.server.delivered().get() <= written[1]);
            let cut = chain.client.is_finished() && chain.client.delivered().get() < written[0];
            prop_assert!(!cut, "the FIN came before the data");
        }
        for end in 0..2 {
            perform(&mut chain, Step::Close(end), &mut written);
        }
        for _ in 0..10_000 {
            chain.run_ms(1_000);
            if ends(&chain).iter().all(|e| e.is_closed()) {
                break;
            }
        }
        let states: Vec<_> = ends(&chain).iter().map(|e| e.state()).collect();
        prop_assert!(ends(&chain).iter().all(|e| e.is_closed()), "{states:?}");
        prop_assert_eq!(chain.client.delivered().get(), written[0]);
        prop_assert_eq!(chain.server.delivered().get(), written[1]);
        prop_assert!(ends(&chain).iter().all(|e| e.deadline() == Time::MAX));
        for relay in &chain.relays {
            for side in 0..2 {
                prop_assert!(relay.occupancy(side).max() <= setting.split.buffer);
                prop_assert!(relay.most_waiting(side) <= setting.split.buffer);
                prop_assert_eq!(relay.occupancy(side).current(), Bytes::ZERO);
            }
        }
    }

    /// Whoever dies, server, client or a PEP: every end that has heard of the
    /// connection is reset at once, and nothing is due afterwards. RSTs are not
    /// lost here; nobody repeats one to a side that is silent.
    #[test]
    fn a_reset_passes_every_pep(
        setting in setting(),
        steps in proptest::collection::vec(step(), 1..15),
        killed in 0..4usize,
    ) {
        let mut chain = setting.chain(true);
        let mut written = [0; 2];
        for step in steps {
            perform(&mut chain, step, &mut written);
        }
        let closed = ends(&chain).iter().all(|e| e.is_closed());
        let last = chain.last();
        match killed {
            0 => chain.act(0, |e, now, out| e.abort(now, out)),
            1 => chain.act(last, |e, now, out| e.abort(now, out)),
            _ => {
                let index = killed % chain.relays.len();
                chain.abort(index);
            }
        }
        chain.run_ms(120_000);
        let states: Vec<_> = ends(&chain).iter().map(|e| e.state()).collect();
        for end in ends(&chain) {
            let gone = matches!(end.state(), State::Reset | State::Listen);
            prop_assert!(gone || closed || end.is_closed(), "{states:?}");
            prop_assert_eq!(end.deadline(), Time::MAX);
        }
        prop_assert!(chain.client.delivered().get() <= written[0]);
        prop_assert!(chain.server.delivered().get() <= written[1]);
    }
}
