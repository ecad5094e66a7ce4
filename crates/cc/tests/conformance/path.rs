//! A sender on a path, small and exact: it turns the reference's window into a
//! stream of acknowledgements, losses and timeouts.
//!
//! Times are whole microseconds, since the kernel's clock is. A segment waits in
//! a drop-tail queue, may be lost, and its acknowledgement comes back a round
//! trip later; the receiver may answer every second one only. Repair is that of
//! SACK: what lies three below the highest report is lost, a timeout repeats all.

use super::conditions::Conditions;
use super::pair::Pair;
use bentpipe_cc::{Ack, Loss, RecoveryExit, Repair, Timeout};
use bentpipe_random::Stream;
use bentpipe_units::{Bytes, Duration, Rate, Time};
use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap, VecDeque};

const MSS: u32 = 1448;

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    Open,
    Recovery,
    Loss,
}

#[derive(Clone, Copy)]
struct Segment {
    sent_at: u64,
    transmissions: u32,
    sacked: bool,
    /// Taken for lost and not sent again yet.
    lost: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Event {
    Arrival(u64),
    DelayedAck(u64),
}

pub(crate) struct Path<'a> {
    conditions: Conditions,
    random: Stream,
    pair: &'a mut Pair,
    now: u64,
    events: BinaryHeap<Reverse<(u64, u64, Event)>>,
    order: u64,
    // The sender.
    board: VecDeque<Segment>,
    una: u64,
    sacked: u64,
    lost: u64,
    highest: u64,
    marked: u64,
    /// No segment below is to be sent again.
    hole: u64,
    state: State,
    recover: u64,
    round_end: u64,
    round_began: u64,
    round_delivered: u64,
    min_rtt: u64,
    srtt: f64,
    deadline: u64,
    backoff: u32,
    written: u64,
    rests_until: u64,
    limited: bool,
    timed_out: Option<u64>,
    timeouts: u64,
    undo: bool,
    pub(crate) acks: u64,
    // The bottleneck and the receiver.
    free_at: u64,
    next_received: u64,
    early: BTreeSet<u64>,
    pending: u32,
    silent_until: u64,
}

impl<'a> Path<'a> {
    pub(crate) fn new(conditions: Conditions, pair: &'a mut Pair) -> Path<'a> {
        pair.begin(
            Duration::from_micros(conditions.rtt),
            conditions.receive_window as f64,
        );
        Path {
            conditions,
            random: Stream::new(7, conditions.name),
            pair,
            now: 1_000_000,
            events: BinaryHeap::new(),
            order: 0,
            board: VecDeque::new(),
            una: 0,
            sacked: 0,
            lost: 0,
            highest: 0,
            marked: 0,
            hole: 0,
            state: State::Open,
            recover: 0,
            round_end: 0,
            round_began: 0,
            round_delivered: 0,
            min_rtt: conditions.rtt,
            srtt: conditions.rtt as f64,
            deadline: 0,
            backoff: 0,
            written: 0,
            rests_until: 0,
            limited: false,
            timed_out: None,
            timeouts: 0,
            undo: false,
            acks: 0,
            free_at: 0,
            next_received: 0,
            early: BTreeSet::new(),
            pending: 0,
            silent_until: 0,
        }
    }

    /// Runs until so many acknowledgements have come.
    pub(crate) fn run(&mut self, acks: u64) {
        self.send();
        while self.acks < acks {
            let due = self.events.peek().map(|Reverse((at, _, _))| *at);
            let timer = (!self.board.is_empty()).then_some(self.deadline);
            match (due, timer) {
                (Some(at), timer) if timer.is_none_or(|timer| at <= timer) => {
                    self.now = self.now.max(at);
                    if let Some(Reverse((_, _, event))) = self.events.pop() {
                        self.happen(event);
                    }
                }
                (_, Some(timer)) => {
                    self.now = self.now.max(timer);
                    self.time_out();
                }
                // The application rests.
                _ => {
                    self.now = self.rests_until.max(self.now + 1);
                    self.send();
                }
            }
        }
    }

    fn next(&self) -> u64 {
        self.una + self.board.len() as u64
    }

    fn flight(&self) -> u64 {
        self.board.len() as u64 - self.sacked - self.lost
    }

    fn later(&mut self, at: u64, event: Event) {
        self.order += 1;
        self.events.push(Reverse((at, self.order, event)));
    }

    fn rto(&self) -> u64 {
        let rto = (self.srtt * 1.5) as u64 + 300_000;
        (rto << self.backoff.min(4)).min(60_000_000)
    }

    /// Sends what the reference's window allows.
    fn send(&mut self) {
        let window = self.pair.reference.cwnd.floor() as u64;
        self.limited = false;
        loop {
            if self.flight() >= window {
                self.limited = true;
                return;
            }
            if self.lost > 0 {
                self.hole = self.hole.max(self.una);
                while !self.board[(self.hole - self.una) as usize].lost {
                    self.hole += 1;
                }
                self.lost -= 1;
                let segment = &mut self.board[(self.hole - self.una) as usize];
                segment.lost = false;
                segment.sent_at = self.now;
                segment.transmissions += 1;
                self.transmit(self.hole);
                continue;
            }
            if self.board.len() as u64 >= self.conditions.receive_window || !self.has_data() {
                return;
            }
            if self.board.is_empty() {
                self.deadline = self.now + self.rto();
            }
            self.board.push_back(Segment {
                sent_at: self.now,
                transmissions: 1,
                sacked: false,
                lost: false,
            });
            self.transmit(self.next() - 1);
        }
    }

    fn has_data(&mut self) -> bool {
        if self.conditions.burst == 0 {
            return true;
        }
        if self.next() >= self.written {
            if self.rests_until == 0 {
                self.rests_until = self.now + 1_000_000;
            }
            if self.now < self.rests_until {
                return false;
            }
            self.rests_until = 0;
            self.written = self.next() + self.conditions.burst;
        }
        true
    }

    fn transmit(&mut self, number: u64) {
        let c = self.conditions;
        let start = self.free_at.max(self.now);
        let waiting = (start - self.now) / c.spacing.max(1);
        let unlucky = self.random.chance(c.loss as f64 / 1e6);
        if waiting > c.queue || unlucky || self.now < self.silent_until {
            return;
        }
        self.free_at = start + c.spacing;
        let step = self.now / 2_000_000;
        let moved = if c.rtt_steps == 0 {
            0
        } else {
            step.wrapping_mul(2_654_435_761) % c.rtt_steps
        };
        self.later(self.free_at + c.rtt + moved, Event::Arrival(number));
    }

    fn happen(&mut self, event: Event) {
        match event {
            Event::DelayedAck(until) => {
                if self.pending > 0 && self.next_received == until {
                    self.acknowledge(None);
                }
            }
            Event::Arrival(number) if number == self.next_received => {
                let filled = !self.early.is_empty();
                self.next_received += 1;
                while self.early.remove(&self.next_received) {
                    self.next_received += 1;
                }
                self.pending += 1;
                if filled || self.pending >= self.conditions.ack_every {
                    self.acknowledge(None);
                } else {
                    let at = self.now + 40_000;
                    self.later(at, Event::DelayedAck(self.next_received));
                }
            }
            Event::Arrival(number) if number > self.next_received => {
                self.early.insert(number);
                self.acknowledge(Some(number));
            }
            Event::Arrival(_) => {}
        }
    }

    /// An acknowledgement arrives.
    fn acknowledge(&mut self, report: Option<u64>) {
        self.pending = 0;
        self.acks += 1;
        if self.conditions.outage_every > 0
            && self.acks.is_multiple_of(self.conditions.outage_every)
        {
            self.silent_until = self.now + 2_000_000;
        }
        let flight_before = self.flight();
        let advances = self.next_received > self.una;
        let (mut acked, mut delivered, mut sent_at) = (0, 0, None);
        while self.una < self.next_received {
            let Some(segment) = self.board.pop_front() else {
                break;
            };
            self.una += 1;
            acked += 1;
            self.sacked -= u64::from(segment.sacked);
            self.lost -= u64::from(segment.lost);
            delivered += u64::from(!segment.sacked);
            if segment.transmissions == 1 && !segment.sacked {
                sent_at = Some(segment.sent_at);
            }
        }
        let mut news = false;
        if let Some(number) = report.filter(|number| *number >= self.una)
            && let Some(segment) = self.board.get_mut((number - self.una) as usize)
            && !segment.sacked
        {
            segment.sacked = true;
            self.lost -= u64::from(std::mem::take(&mut segment.lost));
            self.sacked += 1;
            delivered += 1;
            news = true;
            self.highest = self.highest.max(number);
        }
        if !advances && !news {
            return;
        }
        let rtt = sent_at.filter(|_| advances).map(|at| self.now - at);
        if let Some(rtt) = rtt {
            self.min_rtt = self.min_rtt.min(rtt);
            self.srtt += ((rtt as f64) - self.srtt) / 8.0;
            self.backoff = 0;
        }
        let newly_lost = self.find_lost();
        let ack = self.describe(acked, delivered, advances, rtt, flight_before, newly_lost);
        self.pair.on_sample(&ack);
        self.advance(&ack, advances);
        if advances {
            self.deadline = self.now + self.rto();
        }
        self.send();
    }

    fn describe(
        &mut self,
        acked: u64,
        delivered: u64,
        advances: bool,
        rtt: Option<u64>,
        flight_before: u64,
        lost: u64,
    ) -> Ack {
        let round_start = advances && self.una > self.round_end;
        self.round_delivered += delivered * u64::from(MSS);
        let mut delivery_rate = None;
        if round_start {
            self.round_end = self.next();
            let took = self.now - self.round_began;
            if self.round_began > 0 && took > 0 {
                let bytes = Bytes::new(self.round_delivered);
                delivery_rate = Some(Rate::of(bytes, Duration::from_micros(took)));
            }
            self.round_began = self.now;
            self.round_delivered = 0;
        }
        Ack {
            now: Time::from_nanos(self.now * 1_000),
            acked: acked as f64,
            delivered: delivered as f64,
            duplicate: !advances,
            rtt: rtt.map(Duration::from_micros),
            min_rtt: Duration::from_micros(self.min_rtt),
            smoothed_rtt: Duration::from_micros(self.srtt as u64),
            delivery_rate,
            rate_sample: None,
            lost: lost as f64,
            probes: 0,
            high_probes: 0,
            congestion_echo: false,
            flight_before: flight_before as f64,
            flight: self.flight() as f64,
            outstanding: self.board.len() as f64,
            head: None,
            cwnd_limited: self.limited,
            round_start,
            in_recovery: self.state == State::Recovery,
            receive_window: self.conditions.receive_window as f64,
            mss: MSS,
        }
    }

    /// Marks what lies three below the highest report.
    fn find_lost(&mut self) -> u64 {
        let mut found = 0;
        self.marked = self.marked.max(self.una);
        while self.marked + 3 <= self.highest && self.marked < self.next() {
            let segment = &mut self.board[(self.marked - self.una) as usize];
            if !segment.sacked && !segment.lost && segment.transmissions == 1 {
                segment.lost = true;
                self.hole = self.hole.min(self.marked);
                found += 1;
            }
            self.marked += 1;
        }
        self.lost += found;
        found
    }

    fn advance(&mut self, ack: &Ack, advances: bool) {
        if self.undo && advances {
            self.undo = false;
            self.pair.on_spurious();
            for segment in &mut self.board {
                segment.lost = false;
            }
            self.lost = 0;
            self.state = State::Open;
        }
        match self.state {
            State::Open if self.lost > 0 => {
                let cwnd = self.pair.reference.cwnd;
                let flight = (self.board.len() as f64).min(cwnd.floor()).max(1.0);
                self.pair.on_loss(&Loss {
                    now: ack.now,
                    flight,
                    outstanding: self.board.len() as f64,
                    ecn: false,
                    head: None,
                    smoothed_rtt: ack.smoothed_rtt,
                    min_rtt: ack.min_rtt,
                    mss: MSS,
                });
                self.state = State::Recovery;
                self.recover = self.next();
            }
            State::Recovery if advances && self.una >= self.recover => {
                self.state = State::Open;
                self.pair.on_recovery_exit(&RecoveryExit {
                    now: ack.now,
                    flight: self.flight() as f64,
                    recovery_fix: self.pair.recovery_fix,
                    min_rtt: ack.min_rtt,
                    mss: MSS,
                });
            }
            State::Recovery => {}
            State::Open | State::Loss => {
                if advances {
                    if self.una >= self.recover {
                        self.state = State::Open;
                    }
                    self.pair.on_ack(ack);
                }
            }
        }
        let repair = match self.state {
            State::Open => Repair::None,
            State::Recovery => Repair::Recovery,
            State::Loss => Repair::Timeout,
        };
        self.pair.on_control(ack, repair);
    }

    fn time_out(&mut self) {
        // In the kernel a timeout does not cut what recovery has cut.
        let first = self.timed_out != Some(self.una) && self.state != State::Recovery;
        self.timed_out = Some(self.una);
        self.timeouts += 1;
        let cwnd = self.pair.reference.cwnd;
        let flight = (self.board.len() as f64).min(cwnd.floor()).max(1.0);
        // Of several timeouts in a row the two would undo different ones.
        self.undo = self.state == State::Open
            && self.conditions.spurious > 0
            && self.timeouts.is_multiple_of(self.conditions.spurious);
        self.pair.on_timeout(&Timeout {
            now: Time::from_nanos(self.now * 1_000),
            flight,
            outstanding: self.board.len() as f64,
            first,
            min_rtt: Duration::from_micros(self.min_rtt),
            mss: MSS,
        });
        self.state = State::Loss;
        self.recover = self.next();
        for segment in &mut self.board {
            segment.lost = !segment.sacked;
        }
        self.lost = self.board.len() as u64 - self.sacked;
        self.hole = self.una;
        self.backoff += 1;
        self.deadline = self.now + self.rto();
        self.send();
    }
}
