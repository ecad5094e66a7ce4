//! Two boxes that talk over two paths of given rates and delays, in virtual time.

use super::super::FIRST;
use super::super::frame::data_header;
use super::*;
use crate::tunnel::bond::frame::Acknowledgement;
use crate::tunnel::budget::Budget;
use proptest::prelude::*;
use std::sync::{Mutex, PoisonError};

const TICK: Duration = Duration::from_millis(1);
/// What a path may hold in front of itself, as time, as the turns of an association allow.
const AHEAD: f64 = 0.08;

/// A path as one box sees it.
#[derive(Debug)]
struct Seen {
    delay: Duration,
    /// Bytes a second.
    rate: f64,
    /// When the newest packet left that is acknowledged; and when the path was last late.
    newest: Mutex<(Option<Instant>, Option<Instant>)>,
    /// When it was last asked whether it works.
    asked: Mutex<Option<Instant>>,
    /// Time that what waits before the path takes.
    waits: Mutex<Duration>,
}

impl Seen {
    fn lock(&self) -> std::sync::MutexGuard<'_, (Option<Instant>, Option<Instant>)> {
        self.newest.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Way for Seen {
    fn delay(&self) -> Duration {
        self.delay + *self.waits.lock().unwrap()
    }
    fn patience(&self) -> Duration {
        3 * self.delay + Duration::from_millis(300)
    }
    fn rate(&self) -> Option<f64> {
        Some(self.rate)
    }
    fn note_heard(&self, _: Instant) {}
    fn note_overdue(&self, left: Instant, now: Instant) {
        let mut seen = self.lock();
        if seen.0.is_none_or(|newest| newest <= left) {
            seen.1 = Some(now);
        }
    }
    fn asks(&self, now: Instant) -> bool {
        let mut asked = self.asked.lock().unwrap();
        let due = asked.is_none_or(|at| now - at >= Duration::from_millis(500));
        let asks = due && self.is_late();
        if asks {
            *asked = Some(now);
        }
        asks
    }
    fn is_late(&self) -> bool {
        let seen = self.lock();
        seen.1
            .is_some_and(|since| seen.0.is_none_or(|newest| newest <= since))
    }
}

/// One direction of a path.
#[derive(Debug)]
struct Pipe {
    seen: Arc<Seen>,
    /// When the transmitter is free.
    free: Instant,
    /// What is under way: when it arrives, when it left, and what it is.
    flying: VecDeque<(Instant, Instant, Frame)>,
    /// Nothing that leaves from then on arrives, until then.
    dead: Option<(Instant, Instant)>,
    carried: u64,
}

impl Pipe {
    fn new(seen: &Arc<Seen>, now: Instant) -> Pipe {
        Pipe {
            seen: Arc::clone(seen),
            free: now,
            flying: VecDeque::new(),
            dead: None,
            carried: 0,
        }
    }

    fn has_turn(&self, now: Instant) -> bool {
        self.free.saturating_duration_since(now).as_secs_f64() < AHEAD
    }

    fn send(&mut self, frame: Frame, now: Instant) {
        let length = frame.encode().len();
        let mut time = Duration::from_secs_f64(length as f64 / self.seen.rate);
        // QUIC keeps what a dead path does not take, and sends it when that is back.
        let mut begin = self.free.max(now);
        if let Some((from, until)) = self.dead
            && begin + time + self.seen.delay > from
            && begin < until
        {
            begin = until;
            time += self.seen.delay;
        }
        self.free = begin + time;
        *self.seen.waits.lock().unwrap() = self.free - now;
        self.carried += length as u64;
        self.flying
            .push_back((self.free + self.seen.delay, now, frame));
    }
}

struct Box_ {
    state: State,
    pipes: Vec<Pipe>,
}

struct Bed {
    now: Instant,
    begin: Instant,
    /// The hub, which sends, and the terminal.
    boxes: [Box_; 2],
    /// When each byte that the terminal's host got came, in order: time since the start, and how many
    /// there were by then.
    got: Vec<(Duration, u64)>,
    received: Vec<u8>,
    /// The terminal's host reads nothing.
    pauses: bool,
}

impl Bed {
    /// Paths of these rates, in Mbit/s, and delays, in ms.
    fn new(paths: &[(f64, u64)]) -> Bed {
        let begin = Instant::now();
        let budget = Budget::new(256 << 20, 256 << 20, 6 << 20);
        let terminal = State::new(FIRST, budget.promise(), None, begin);
        let hub = State::new(terminal.window(), budget.promise(), Some(FIRST), begin);
        let boxes = [hub, terminal].map(|mut state| {
            let pipes = paths.iter().map(|(rate, delay)| {
                let seen = Arc::new(Seen {
                    delay: Duration::from_millis(*delay),
                    rate: rate * 1e6 / 8.0,
                    newest: Mutex::default(),
                    asked: Mutex::default(),
                    waits: Mutex::default(),
                });
                state.add(Arc::clone(&seen) as Arc<dyn Way>, begin);
                Pipe::new(&seen, begin)
            });
            let pipes = pipes.collect();
            Box_ { state, pipes }
        });
        Bed {
            now: begin,
            begin,
            boxes,
            got: Vec::new(),
            received: Vec::new(),
            pauses: false,
        }
    }

    fn kill(&mut self, path: usize, from: f64, until: f64) {
        let at = |seconds| self.begin + Duration::from_secs_f64(seconds);
        let dead = Some((at(from), at(until)));
        for side in &mut self.boxes {
            side.pipes[path].dead = dead;
        }
    }

    /// One step of a millisecond.
    fn tick(&mut self) {
        self.now += TICK;
        let now = self.now;
        for side in 0..2 {
            for path in 0..self.boxes[side].pipes.len() {
                loop {
                    let pipe = &mut self.boxes[side].pipes[path];
                    if pipe.flying.front().is_none_or(|it| it.0 > now) {
                        break;
                    }
                    let (_, left, frame) = pipe.flying.pop_front().unwrap();
                    let mut seen = pipe.seen.lock();
                    seen.0 = seen.0.max(Some(left));
                    drop(seen);
                    self.boxes[1 - side].state.arrived(path, frame, now);
                }
            }
        }
        for Box_ { state, pipes } in &mut self.boxes {
            for (at, pipe) in pipes.iter_mut().enumerate() {
                *pipe.seen.waits.lock().unwrap() = pipe.free.saturating_duration_since(now);
                for _ in 0..1000 {
                    match state.next(at, now) {
                        Next::Frame(frame) => pipe.send(frame, now),
                        Next::Data if pipe.has_turn(now) => {
                            let Some((offset, bytes)) = state.take(at, 8 << 10, now) else {
                                break;
                            };
                            assert_eq!(data_header(offset, bytes.len()).len(), 13);
                            pipe.send(Frame::Data { offset, bytes }, now);
                        }
                        Next::Fail(why) => panic!("{why}"),
                        _ => break,
                    }
                }
            }
        }
        let terminal = &mut self.boxes[1].state;
        while !self.pauses
            && let Some(bytes) = terminal.receive(1 << 20)
        {
            self.received.extend_from_slice(&bytes);
        }
        let total = self.received.len() as u64;
        if self.got.last().is_none_or(|(_, last)| *last != total) {
            self.got.push((now - self.begin, total));
        }
    }

    /// Sends so many bytes from the hub and returns the seconds that it takes, and the longest time in
    /// which the host got nothing.
    fn transfer(&mut self, length: usize) -> (f64, f64) {
        let data: Vec<u8> = (0..length).map(|at| (at * 31 % 251) as u8).collect();
        let mut left = Bytes::from(data.clone());
        for _ in 0..120_000 {
            let hub = &mut self.boxes[0].state;
            let room = usize::try_from(hub.room()).unwrap().min(left.len());
            if room > 0 {
                hub.outgoing.push(left.split_to(room), Bytes::new());
                if left.is_empty() {
                    hub.outgoing.finish();
                }
            }
            self.tick();
            if self.boxes[1].state.incoming.is_taken() {
                break;
            }
        }
        assert!(self.received == data, "{} of {length}", self.received.len());
        let times: Vec<f64> = self.got.iter().map(|(at, _)| at.as_secs_f64()).collect();
        let gaps = times.windows(2).map(|pair| pair[1] - pair[0]);
        (*times.last().unwrap(), gaps.fold(0.0, f64::max))
    }
}

/// A satellite and 5G.
const SATELLITE: (f64, u64) = (10.0, 300);
const FIVE_G: (f64, u64) = (5.0, 30);

#[test]
fn a_download_gets_the_sum_of_both_rates() {
    let (took, gap) = Bed::new(&[SATELLITE, FIVE_G]).transfer(40_000_000);
    let rate = 40.0 * 8.0 / took;
    assert!(rate > 14.0, "{rate} Mbit/s, {gap} s");
    assert!(gap < 0.2, "{gap}");
}

#[test]
fn a_slower_path_never_makes_it_later() {
    for length in [1_000, 20_000, 100_000, 300_000, 1_000_000, 5_000_000] {
        for paths in [
            [SATELLITE, FIVE_G],
            [(50.0, 20), (1.0, 300)],
            [(2.0, 20), (50.0, 300)],
        ] {
            let alone = paths.map(|path| Bed::new(&[path]).transfer(length).0);
            let both = Bed::new(&paths).transfer(length).0;
            let best = alone[0].min(alone[1]);
            assert!(
                both <= 1.03 * best + 0.02,
                "{length} over {paths:?}: {both}, alone {alone:?}"
            );
        }
    }
}

#[test]
fn a_path_that_goes_is_replaced_within_two_seconds() {
    for gone in 0..2 {
        for at in [0.1, 1.0, 1.3, 3.0] {
            let mut bed = Bed::new(&[SATELLITE, FIVE_G]);
            bed.kill(gone, at, 1_000.0);
            let (took, gap) = bed.transfer(10_000_000);
            let left = [5.0, 10.0][gone];
            assert!(gap < 1.5, "{gap} s without {gone} from {at} s");
            assert!(
                took < at + 2.0 + 80.0 / left,
                "{took} s without {gone} from {at} s"
            );
        }
    }
}

#[test]
fn a_path_that_comes_back_is_used_again() {
    let mut bed = Bed::new(&[SATELLITE, FIVE_G]);
    bed.kill(0, 2.0, 5.0);
    let (took, gap) = bed.transfer(30_000_000);
    // 3 s without 10 of 15 Mbit/s, and what was under way twice.
    assert!(gap < 1.5 && took < 16.0 + 2.0 + 2.5, "{took} s, {gap} s");
}

/// A host that has paused reads on just when the path is lost that would say so: the other box has
/// nothing to send, and would miss nothing.
#[test]
fn a_window_that_opens_is_known_whatever_path_is_lost() {
    for gone in 0..2 {
        let mut bed = Bed::new(&[SATELLITE, FIVE_G]);
        bed.pauses = true;
        let data = Bytes::from(vec![7; 12_000_000]);
        let mut left = data.clone();
        for at in 0..60_000 {
            let hub = &mut bed.boxes[0].state;
            let room = usize::try_from(hub.room()).unwrap().min(left.len());
            hub.outgoing.push(left.split_to(room), Bytes::new());
            if at == 20_000 {
                bed.kill(gone, 20.0, 1_000.0);
                bed.pauses = false;
            }
            bed.tick();
        }
        assert_eq!(bed.received.len(), data.len(), "without {gone}");
    }
}

/// What a path has not delivered goes over the other also where the other is slower and has little to do.
#[test]
fn what_is_overdue_on_the_faster_path_is_taken_by_the_slower() {
    let now = Instant::now();
    let mut bed = Bed::new(&[SATELLITE, FIVE_G]);
    let hub = &mut bed.boxes[0].state;
    hub.outgoing
        .push(Bytes::from_static(b"request"), Bytes::new());
    assert_eq!(hub.next(1, now), Next::Data);
    hub.take(1, 100, now).unwrap();
    // Newer packets have arrived, so that the path is not late.
    bed.boxes[0].pipes[1].seen.lock().0 = Some(now + Duration::from_secs(1));
    let later = now + Duration::from_secs(2);
    let hub = &mut bed.boxes[0].state;
    assert_eq!(hub.next(0, later), Next::Data);
    assert_eq!(hub.take(0, 100, later).unwrap().0, 0);
}

#[test]
fn both_directions_end_and_both_boxes_know() {
    let mut bed = Bed::new(&[SATELLITE, FIVE_G]);
    bed.boxes[1].state.outgoing.finish();
    bed.transfer(100_000);
    for _ in 0..2_000 {
        bed.tick();
    }
    for Box_ { state, .. } in &mut bed.boxes {
        assert!(state.is_done() && state.failed.is_none());
        assert_eq!(state.next(0, bed.now), Next::Finish);
    }
}

#[test]
fn a_cut_and_a_stop_reach_the_other_box() {
    let mut bed = Bed::new(&[SATELLITE, FIVE_G]);
    bed.boxes[0]
        .state
        .outgoing
        .push(Bytes::from(vec![1; 100_000]), Bytes::new());
    for _ in 0..50 {
        bed.tick();
    }
    bed.boxes[0].state.cut(CloseReason::Reset);
    bed.boxes[0].state.stop(CloseReason::Refused);
    for _ in 0..400 {
        bed.tick();
    }
    let terminal = &mut bed.boxes[1].state;
    assert_eq!(terminal.reset, Some(CloseReason::Reset));
    assert_eq!(terminal.stopped, Some(CloseReason::Refused));
    assert_eq!(terminal.next(1, bed.now), Next::Finish);
    assert_eq!(bed.boxes[0].state.next(1, bed.now), Next::Finish);
}

#[test]
fn what_the_other_box_may_not_send_ends_the_connection() {
    let now = Instant::now();
    let far = Frame::Data {
        offset: 1 << 40,
        bytes: Bytes::from_static(b"x"),
    };
    let unsent = Frame::Ack(Acknowledgement {
        next: 9,
        ..Acknowledgement::default()
    });
    for frame in [far, unsent] {
        let mut bed = Bed::new(&[FIVE_G]);
        let state = &mut bed.boxes[1].state;
        state.arrived(0, frame, now);
        assert_eq!(state.next(0, now), Next::Fail(CloseReason::Failed));
    }
    // One that ends before its time.
    let mut bed = Bed::new(&[FIVE_G]);
    bed.boxes[1].state.ended();
    assert_eq!(bed.boxes[1].state.failed, Some(CloseReason::Failed));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// Whatever the paths are and whenever one goes, all arrives.
    #[test]
    fn all_arrives_over_any_paths(
        rates in (1..50u32, 1..50u32),
        delays in (1..400u64, 1..400u64),
        length in 1..2_000_000usize,
        gone in 0..2usize,
        at in 0..4_000u32,
        lasts in 0..3_000u32,
    ) {
        let paths = [(f64::from(rates.0), delays.0), (f64::from(rates.1), delays.1)];
        let mut bed = Bed::new(&paths);
        let from = f64::from(at) / 1000.0;
        bed.kill(gone, from, from + f64::from(lasts) / 1000.0);
        bed.transfer(length);
    }
}
