use super::*;
use crate::StreamSender;
use bentpipe_units::{Rate, Time};

const RTT: Duration = Duration::from_millis(500);
const RCS: RateControl = RateControl::Rcs {
    dummies: 1000,
    give_up: 2,
};

fn at(ms: u64) -> Time {
    Time::ZERO + Duration::from_millis(ms)
}

/// 1 Mbit/s in packets of 1250 bytes: 100 a second.
fn settings(control: RateControl) -> StreamSettings {
    let application = Application::ConstantRate {
        rate: Rate::from_mbps(1),
        packet_size: Bytes::new(1250),
        control: Some(control),
        deadline: None,
    };
    StreamSettings::of(&application).unwrap()
}

/// A sender, and what it has sent and not been answered.
struct Line {
    sender: StreamSender,
    receiver: StreamReceiver,
    /// Which packets arrive.
    passes: fn(&StreamPacket) -> bool,
    /// Answers on their way, by when they arrive.
    back: std::collections::VecDeque<(Time, Feedback)>,
    sent: Vec<StreamPacket>,
    now: Time,
}

impl Line {
    fn new(control: RateControl, passes: fn(&StreamPacket) -> bool) -> Line {
        let mut sender = StreamSender::new(settings(control));
        sender.start(Time::ZERO);
        Line {
            sender,
            receiver: StreamReceiver::default(),
            passes,
            back: std::collections::VecDeque::new(),
            sent: Vec::new(),
            now: Time::ZERO,
        }
    }

    /// Runs until `end`: a path of [`RTT`] without queues.
    fn run(&mut self, end: Time) {
        loop {
            let answered = self.back.front().map_or(Time::MAX, |(at, _)| *at);
            let now = self.sender.next(self.now).min(answered);
            if now > end {
                return;
            }
            self.now = now;
            if answered == now
                && let Some((_, answer)) = self.back.pop_front()
            {
                self.sender.on_answer(now, &answer);
            }
            while let Some(packet) = self.sender.send(now) {
                self.sent.push(packet);
                if (self.passes)(&packet) {
                    let answer = self.receiver.on_packet(&packet);
                    self.back.push_back((now + RTT, answer));
                }
            }
        }
    }

    /// Packets of a kind that were sent from `from` up to `to`, in ms.
    fn count(&self, kind: StreamPacketKind, from: u64, to: u64) -> usize {
        let sent = |p: &&StreamPacket| p.kind == kind && (at(from)..at(to)).contains(&p.sent_at);
        self.sent.iter().filter(sent).count()
    }
}

/// The worked example: 30 of 50 dummies are answered.
#[test]
fn rcs_finds_its_rate_before_it_sends_media() {
    use StreamPacketKind::{Data, Dummy, Opening};
    let mut line = Line::new(RCS, |p| p.kind != Dummy || p.number < 30);
    line.run(at(1499));
    assert_eq!(line.count(Opening, 0, 1499), 1);
    // Opened at 500 ms; dummies 10 ms apart until 1 s.
    assert_eq!(line.count(Dummy, 500, 1000), 50);
    assert_eq!(line.count(Dummy, 1000, 1500), 0);
    assert_eq!(line.count(Data, 0, 1499), 0);
    assert_eq!(line.sender.state(), "initial");
    line.run(at(1500));
    assert_eq!(line.sender.state(), "steady");
    assert!((line.sender.rate() - 60.0).abs() < 1e-9);
    // One packet a round trip more in each.
    line.run(at(1999));
    assert_eq!(line.count(Data, 1500, 2000), 30);
    line.run(at(2500));
    assert!(
        (line.sender.rate() - 64.0).abs() < 1e-9,
        "{}",
        line.sender.rate()
    );
}

#[test]
fn the_rate_stays_at_the_target() {
    let mut line = Line::new(RCS, |_| true);
    line.run(at(5000));
    assert!((line.sender.rate() - 100.0).abs() < 1e-9);
    assert_eq!(line.count(StreamPacketKind::Data, 2000, 3000), 100);
    assert_eq!(line.sender.reductions(), 0);
}

/// An error: packet 100 is lost, and every dummy comes through.
#[test]
fn dummies_restore_the_rate_after_an_error() {
    use StreamPacketKind::{Data, Dummy};
    let mut line = Line::new(RCS, |p| p.kind != Data || p.number != 100);
    // Data from 1500 ms on, 10 ms apart: 100 goes at 2500 ms, and 103 is
    // answered at 3030 ms.
    line.run(at(3029));
    assert!((line.sender.rate() - 100.0).abs() < 1e-9);
    line.run(at(3030));
    assert_eq!(line.sender.state(), "detected");
    assert!((line.sender.rate() - 50.0).abs() < 1e-9);
    line.run(at(3530));
    // Two dummies for each packet of data.
    assert_eq!(line.count(Dummy, 3030, 3530), 50);
    assert!((24..=26).contains(&line.count(Data, 3030, 3530)));
    // 25 answers change nothing, the others restore what was halved.
    line.run(at(3760));
    assert!(
        (line.sender.rate() - 50.0).abs() < 2.1,
        "{}",
        line.sender.rate()
    );
    line.run(at(4050));
    assert!(line.sender.rate() > 99.0, "{}", line.sender.rate());
    assert_eq!(line.sender.reductions(), 1);
}

/// Congestion: as many dummies come through as the path has room for beside
/// half of the data, which are ignored.
#[test]
fn dummies_restore_nothing_that_the_path_does_not_carry() {
    use StreamPacketKind::{Data, Dummy};
    let passes = |p: &StreamPacket| match p.kind {
        Data => p.number != 100,
        Dummy => p.number < 50 || p.number.is_multiple_of(2),
        StreamPacketKind::Opening => true,
    };
    let mut line = Line::new(RCS, passes);
    line.run(at(4050));
    let rate = line.sender.rate();
    // What two round trips have added.
    assert!((50.0..=54.1).contains(&rate), "{rate}");
}

#[test]
fn losses_of_the_halved_rate_halve_nothing_while_dummies_are_out() {
    let passes = |p: &StreamPacket| {
        p.kind != StreamPacketKind::Data
            || !(100..150).contains(&p.number)
            || !p.number.is_multiple_of(10)
    };
    let mut line = Line::new(RCS, passes);
    line.run(at(3500));
    assert_eq!(line.sender.reductions(), 1);
    let mut aimd = Line::new(RateControl::Aimd, passes);
    aimd.run(at(60_000));
    assert!(aimd.sender.reductions() >= 2);
    assert_eq!(aimd.sender.dummies_sent(), 0);
}

#[test]
fn aimd_grows_by_a_packet_in_each_round_trip() {
    let mut line = Line::new(RateControl::Aimd, |_| true);
    line.run(at(5500));
    // 2 packets a second at 500 ms, and ten round trips.
    assert!(
        (line.sender.rate() - 22.0).abs() < 2.1,
        "{}",
        line.sender.rate()
    );
}

/// The signal is lost for 3 s, and the rate is there again a round trip after the
/// first answer.
#[test]
fn a_lost_signal_ends_in_backoff_and_the_first_answer_resolves_it() {
    let outage = |p: &StreamPacket| !(at(3000)..at(6000)).contains(&p.sent_at);
    let control = RateControl::Rcs {
        dummies: 1000,
        give_up: 20,
    };
    let mut line = Line::new(control, outage);
    // The last answer comes at 3.49 s; silence for two round trips, and in Detected.
    line.run(at(4480));
    assert_eq!(line.sender.state(), "steady");
    line.run(at(4500));
    assert_eq!(line.sender.state(), "detected");
    line.run(at(5000));
    assert_eq!(line.sender.state(), "backoff");
    line.run(at(6490));
    assert_eq!(line.sender.state(), "backoff");
    assert!(line.sender.rate() < 15.0, "{}", line.sender.rate());
    line.run(at(7100));
    assert_eq!(line.sender.state(), "steady");
    assert!(line.sender.rate() > 90.0, "{}", line.sender.rate());
}

#[test]
fn a_signal_that_stays_lost_leads_back_to_the_start() {
    let mut line = Line::new(RCS, |p| !(at(3000)..at(20_000)).contains(&p.sent_at));
    line.run(at(6480));
    assert_eq!(line.sender.state(), "backoff");
    line.run(at(6600));
    assert_eq!(line.sender.state(), "opening");
    // Opened again at 6.49 s, and 1, 3, 7, 15 s later; answered at 21.99 s.
    line.run(at(21_980));
    assert_eq!(line.count(StreamPacketKind::Opening, 6000, 21_980), 5);
    assert_eq!(line.count(StreamPacketKind::Data, 6600, 21_980), 0);
    line.run(at(23_500));
    assert!(line.sender.rate() > 99.0, "{}", line.sender.rate());
}

#[test]
fn an_opening_that_is_lost_is_sent_again() {
    let mut line = Line::new(RCS, |p| p.number >= 2);
    line.run(at(3500));
    let sent: Vec<Time> = line.sent.iter().map(|p| p.sent_at).collect();
    assert_eq!(sent[..3], [at(0), at(1000), at(3000)]);
    assert_eq!(line.sender.state(), "initial");
}

#[test]
fn a_packet_is_lost_once_three_have_overtaken_it() {
    let mut receiver = StreamReceiver::default();
    let mut come = |number| {
        let packet = StreamPacket {
            kind: StreamPacketKind::Data,
            number,
            sent_at: at(0),
            bytes: Bytes::new(1250),
        };
        receiver.on_packet(&packet).lost
    };
    let lost: Vec<u64> = [0, 2, 3, 1, 4, 6, 7, 8, 12, 5].map(&mut come).into();
    // 5 at 8; 9 with 12, and what comes late is lost all the same.
    assert_eq!(lost, [0, 0, 0, 0, 0, 0, 0, 1, 2, 2]);
    assert_eq!((come(13), come(14), receiver.lost()), (3, 4, 4));
}

/// Segments of 4 s and a start-up of 1 s. The first packet comes at 2 s, nothing of
/// the second and third segment comes in time.
#[test]
fn a_stream_that_is_watched_does_not_wait() {
    let video = crate::VideoSettings {
        segment: Duration::from_secs(4),
        bitrate: Rate::from_mbps(1),
        startup: Duration::from_secs(1),
        buffer: Duration::from_secs(30),
        length: Duration::from_secs(20),
        request: Bytes::new(300),
        control: Some(RCS),
    };
    let mut playback = StreamPlayback::new(&video, at(0));
    assert_eq!(playback.ends_at(), Time::MAX);
    playback.on_packet(at(2000), at(1500));
    assert_eq!(playback.ends_at(), at(23_000));
    // Sent in the second segment, and 1 ms too late.
    playback.on_packet(at(8001), at(6500));
    assert_eq!(playback.report(at(8001)).segments, 1);
    playback.on_packet(at(14_500), at(14_000));
    let report = playback.report(at(15_000));
    assert_eq!(report.startup_delay, Some(Duration::from_secs(3)));
    assert_eq!((report.segments, report.stalls), (2, 1));
    assert_eq!(report.stall_time, Duration::from_secs(8));
    // The last segment, of which nothing came, is over at 23 s.
    assert_eq!(playback.report(at(23_000)).stalls, 2);
    assert!(!Application::Video(video).takes_transport());
}

/// The round trip grows while dummies end: the sender waits for something to do.
#[test]
fn a_growing_round_trip_leaves_no_call_without_an_end() {
    let mut sender = StreamSender::new(settings(RCS));
    sender.start(Time::ZERO);
    let mut now = Time::ZERO;
    let mut answers = std::collections::VecDeque::new();
    for call in 0_u32..200_000 {
        let answered = answers.front().map_or(Time::MAX, |(at, _)| *at);
        let next = sender.next(now).min(answered);
        assert!(next >= now);
        now = next;
        if now > at(20_000) {
            assert!(call > 1000);
            return;
        }
        if answered == now
            && let Some((_, answer)) = answers.pop_front()
        {
            sender.on_answer(now, &answer);
        }
        while let Some(packet) = sender.send(now) {
            let answer = Feedback {
                kind: packet.kind,
                sent_at: packet.sent_at,
                lost: packet.number / 50,
                last_lost: packet.number,
            };
            // 500 ms, and up to 1.5 s as time passes, with steps back and forth.
            let queue = (now.as_nanos() / 20) + 7_000_000 * (packet.number % 11);
            let at = now + RTT + Duration::from_nanos(queue);
            let place = answers.partition_point(|(other, _)| *other <= at);
            answers.insert(place, (at, answer));
        }
    }
    panic!("it never gets beyond {now}");
}
