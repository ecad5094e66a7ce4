//! The heartbeats of two boxes over a link of the model's, on the model's clock.

use super::*;

/// Time between two steps of the model.
const STEP: Duration = Duration::from_millis(1);
/// A link that is back carries a heartbeat after the time between two, and some steps of the model.
const SOON: Duration = Duration::from_millis(510);

/// A packet of the model.
#[derive(Clone, Copy)]
struct Packet {
    arrives: Instant,
    /// When it was sent, if the other box is to acknowledge it.
    sent: Option<Instant>,
    /// When the newest packet was sent that the sender of this one has received.
    acknowledges: Option<Instant>,
}

/// A box that has a full window in flight when the link goes.
struct Model {
    pulse: Pulse,
    look: Instant,
    received: u64,
    /// When the newest packet that has arrived was sent.
    newest: Option<Instant>,
    /// When this box last sent what is to be acknowledged, and the newest of it that is.
    sent: Option<Instant>,
    acknowledged: Option<Instant>,
    beats: Vec<Instant>,
    lost: Option<Lost>,
    arriving: Vec<Packet>,
}

impl Model {
    fn new(now: Instant) -> Model {
        Model {
            pulse: Pulse::new(now, 0),
            look: now,
            received: 0,
            newest: None,
            sent: None,
            acknowledged: None,
            beats: Vec::new(),
            lost: None,
            arriving: Vec::new(),
        }
    }

    /// Takes what has arrived, and looks where it is time or a packet has come. Returns whether a
    /// heartbeat leaves, and whether an acknowledgement does.
    fn step(&mut self, now: Instant, rtt: Duration) -> (bool, bool) {
        let (come, later) = self.arriving.iter().partition(|it| it.arrives <= now);
        self.arriving = later;
        let come: Vec<Packet> = come;
        for packet in &come {
            self.received += 1;
            self.newest = self.newest.max(packet.sent);
            self.acknowledged = self.acknowledged.max(packet.acknowledges);
        }
        if come.is_empty() && now < self.look {
            return (false, false);
        }
        let verdict = self.pulse.look(Seen {
            now,
            received: self.received,
            acknowledged: self.acknowledged,
            in_flight: u64::from(self.sent > self.acknowledged),
            rtt,
        });
        self.look = now + verdict.wait;
        self.lost = verdict.lost;
        if verdict.beat {
            self.beats.push(now);
        }
        (verdict.beat, come.iter().any(|it| it.sent.is_some()))
    }
}

/// Two boxes; each sends a packet a step until the link goes, and heartbeats only from then on: the
/// window is full, and retransmission timers are not counted on.
struct Pair {
    rtt: Duration,
    begin: Instant,
    now: Instant,
    boxes: [Model; 2],
    full: [bool; 2],
}

impl Pair {
    fn new(rtt: Duration) -> Pair {
        let begin = Instant::now();
        Pair {
            rtt,
            begin,
            now: begin,
            boxes: [Model::new(begin), Model::new(begin)],
            full: [true, true],
        }
    }

    fn since(&self, at: Instant) -> Duration {
        at - self.begin
    }

    /// Runs until `until` after the begin; `passes` says for which box's packets there is a link.
    fn run(&mut self, until: Duration, sends: bool, passes: [bool; 2]) {
        while self.since(self.now) < until {
            self.now += STEP;
            for (from, passes) in passes.into_iter().enumerate() {
                let (beats, answers) = self.boxes[from].step(self.now, self.rtt);
                let sent = (beats || (sends && self.full[from])).then_some(self.now);
                self.boxes[from].sent = sent.or(self.boxes[from].sent);
                if (sent.is_some() || answers) && passes {
                    let packet = Packet {
                        arrives: self.now + self.rtt / 2,
                        sent,
                        acknowledges: self.boxes[from].newest,
                    };
                    self.boxes[1 - from].arriving.push(packet);
                }
                if !passes {
                    self.boxes[1 - from].arriving.clear();
                }
            }
        }
    }

    /// Time from now on until both boxes know what became of all that they have sent so far.
    fn recover(&mut self) -> Duration {
        let back = self.now;
        let sent = [self.boxes[0].sent, self.boxes[1].sent];
        let waits = |boxes: &[Model; 2]| (0..2).any(|i| boxes[i].acknowledged < sent[i]);
        while waits(&self.boxes) {
            self.run(self.since(self.now) + STEP, false, [true, true]);
            assert!(self.now - back < ms(60_000), "never");
        }
        self.now - back
    }
}

fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

#[test]
fn a_window_in_flight_is_acknowledged_half_a_second_and_a_round_trip_after_the_link_is_back() {
    for rtt in [1, 40, 250, 600].map(ms) {
        for dark in (100..12_000).step_by(173).map(ms) {
            for passes in [[false, false], [false, true], [true, false]] {
                let mut pair = Pair::new(rtt);
                let goes = 4 * rtt + ms(300);
                pair.run(goes, true, [true, true]);
                // The rest of the window leaves.
                pair.run(goes + dark.min(rtt), true, passes);
                pair.run(goes + dark, false, passes);
                let took = pair.recover();
                // What left last before a short outage is not yet overdue.
                let most = SOON.max(rtt + SOON - dark.min(rtt + SOON)) + rtt;
                assert!(
                    took <= most,
                    "{took:?} after {dark:?} at {rtt:?}, {passes:?}"
                );
            }
        }
    }
}

#[test]
fn an_acknowledgement_of_what_came_before_the_outage_is_no_progress() {
    let begin = Instant::now();
    let mut pulse = Pulse::new(begin, 0);
    let seen = |at: u64, received, acknowledged: u64| Seen {
        now: begin + ms(at),
        received,
        acknowledged: Some(begin + ms(acknowledged)),
        in_flight: 1_000_000,
        rtt: ms(20),
    };
    assert!(!pulse.look(seen(100, 1, 80)).beat);
    // Eight seconds later a packet acknowledges what had arrived before.
    assert!(pulse.look(seen(8_100, 1, 80)).beat);
    // The other box is heard again, and one leaves at once.
    assert!(pulse.look(seen(8_200, 2, 90)).beat);
    assert!(!pulse.look(seen(8_300, 2, 90)).beat);
    let verdict = pulse.look(seen(8_700, 2, 90));
    assert!(verdict.beat, "{verdict:?}");
    // The acknowledgement of one that left afterwards ends it.
    let verdict = pulse.look(seen(9_200, 3, 8_700));
    assert!(!verdict.beat && verdict.lost.is_none(), "{verdict:?}");
}

#[test]
fn nothing_is_sent_while_data_flows_and_little_while_nothing_does() {
    for rtt in [1, 600].map(ms) {
        let mut pair = Pair::new(rtt);
        pair.run(ms(20_000), true, [true, true]);
        assert!(pair.boxes.iter().all(|one| one.beats.is_empty()));
        let mut idle = Pair::new(rtt);
        idle.full = [false, false];
        idle.run(ms(20_000), true, [true, true]);
        let beats = idle.boxes[0].beats.len();
        assert!((5..=20).contains(&beats), "{beats} at {rtt:?}");
    }
}

#[test]
fn the_direction_that_is_lost_is_known_after_a_second_and_two_round_trips() {
    for rtt in [20, 600].map(ms) {
        let goes = 4 * rtt + ms(300);
        let known = 2 * rtt + BEAT + TICK + rtt;
        for (passes, lost) in [
            ([false, false], [Some(Lost::FromOther); 2]),
            ([false, true], [Some(Lost::ToOther), Some(Lost::FromOther)]),
        ] {
            let mut pair = Pair::new(rtt);
            pair.run(goes, true, [true, true]);
            pair.run(goes + known, false, passes);
            assert_eq!([pair.boxes[0].lost, pair.boxes[1].lost], lost);
            pair.run(goes + known + SOON + 2 * rtt, false, [true, true]);
            assert_eq!([pair.boxes[0].lost, pair.boxes[1].lost], [None, None]);
        }
    }
}

#[test]
fn a_queue_that_becomes_long_is_no_outage() {
    let begin = Instant::now();
    let mut pulse = Pulse::new(begin, 0);
    // The link has become ten times slower: acknowledgements are of ever older packets.
    for at in (0..8_000_u64).step_by(50) {
        let verdict = pulse.look(Seen {
            now: begin + ms(600 + at),
            received: at,
            acknowledged: Some(begin + ms(at / 10)),
            in_flight: 1_000_000,
            rtt: ms(600 + at),
        });
        assert!(verdict.lost.is_none() && !verdict.late, "{verdict:?}");
    }
}

#[test]
fn a_long_queue_from_the_other_box_is_no_loss_of_what_this_one_sends() {
    let begin = Instant::now();
    let mut pulse = Pulse::new(begin, 0);
    // A download fills the queue, and acknowledgements wait in it.
    for at in (0..6_000_u64).step_by(50) {
        let verdict = pulse.look(Seen {
            now: begin + ms(at),
            received: at / 6,
            acknowledged: None,
            in_flight: 1_000,
            rtt: ms(600),
        });
        assert!(verdict.lost.is_none() && !verdict.late, "{verdict:?}");
    }
}

#[test]
fn a_heartbeat_that_is_answered_is_not_late() {
    let begin = Instant::now();
    for rtt in [20, 600] {
        let mut pulse = Pulse::new(begin, 0);
        // One packet is lost, and the heartbeat after it is acknowledged.
        let beat = rtt + 500;
        for at in (0..3 * rtt + 2_000).step_by(50) {
            let verdict = pulse.look(Seen {
                now: begin + ms(at),
                received: u64::from(at >= beat + rtt),
                acknowledged: (at >= beat + rtt).then(|| begin + ms(beat)),
                in_flight: u64::from(at < beat + rtt),
                rtt: ms(rtt),
            });
            assert!(!verdict.late && verdict.lost.is_none(), "{at}: {verdict:?}");
        }
    }
}
