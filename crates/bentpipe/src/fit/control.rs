//! The congestion control of a captured sender: the candidate whose twin sends most alike.
//!
//! Each candidate runs over the fitted link with the losses of the capture ([`super::twin`]), with
//! each length of the queue that the capture leaves possible, of which the nearest counts. How
//! far its course is from the captured one is the mean, over time, of how much their packets in
//! flight differ, as a ratio: 0.1 is about a tenth. The nearest is named where it is near enough,
//! and nearer than the second by a margin; otherwise the control is unknown.

use super::twin::{self, Course};
use bentpipe_capture::{History, Link};
use bentpipe_outcome::record;
use bentpipe_tcp::{HostProfile, Transport, TransportSettings, find_transport};
use bentpipe_units::{Bytes, Duration, Rate, math};
use rayon::prelude::*;

/// What is tried, by the names of Linux.
pub const CANDIDATES: [&str; 5] = ["cubic", "reno", "bbr", "hybla", "vegas"];

/// No candidate further from the capture than this is named.
const FAR: f64 = 0.35;

/// The second must be further than the nearest by this factor.
const MARGIN: f64 = 1.15;

/// The same of a capture that begins within a connection: what its sender remembered is unknown.
const FAR_WITHIN: f64 = 0.1;
const MARGIN_WITHIN: f64 = 1.5;

/// Points in time at which packets in flight are compared.
const POINTS: usize = 2000;

/// The longest course that is followed, seconds, and the most packets.
const LONGEST: f64 = 600.0;
const MOST_PACKETS: usize = 2_000_000;

/// A rate that is only known to be at least something is taken for so many times as much.
const UNLIMITED: f64 = 20.0;

/// Packets that a control shows itself in, at least.
const LEAST: usize = 60;

record! {
    /// How far a candidate is from the capture.
    #[derive(Clone, Debug, PartialEq)]
    pub struct Score document {
        /// The congestion control by its name in Linux.
        label control: String;
        /// Mean ratio by which packets in flight differ from the capture's, as a natural
        /// logarithm: 0.1 is about a tenth.
        gauge distance: f64;
        /// The same with both at the same time.
        gauge aligned: f64;
        /// The same with both in order of size, whenever they were.
        gauge sorted: f64;
    }
}

/// The candidates with their distances, the nearest first, and the one that is named.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Verdict {
    pub(super) control: Option<String>,
    pub(super) scores: Vec<Score>,
    /// Why none is named.
    pub(super) doubt: Option<String>,
}

/// The transport of a Linux host with that control.
pub(super) fn candidate(name: &str) -> Option<Transport> {
    let below = find_transport(name)?.settings();
    let settings = TransportSettings {
        profile: Some(HostProfile::Linux),
        ..TransportSettings::default()
    };
    Some(settings.over(below).resolve(name))
}

/// Which control sent `history` over `link`.
pub(super) fn of(history: &History, link: &Link) -> Verdict {
    let known = history.sent.len();
    if known < LEAST {
        return Verdict {
            control: None,
            scores: Vec::new(),
            doubt: Some(format!("{known} packets are too few to know it by")),
        };
    }
    let courses = courses(history, link);
    let on = |name: &str, course: &Course| {
        let transport = adapted(candidate(name)?, history, link);
        let twin = twin::run(&transport, course)?;
        let [aligned, sorted] = distances(history, &twin, course.until.as_secs());
        Some(Score {
            control: name.to_owned(),
            distance: 0.5 * (aligned + sorted),
            aligned,
            sorted,
        })
    };
    let best = |name: &&str| {
        let scores = courses.par_iter().filter_map(|course| on(name, course));
        scores.min_by(|a, b| a.distance.total_cmp(&b.distance))
    };
    let mut scores: Vec<Score> = CANDIDATES.par_iter().filter_map(best).collect();
    scores.sort_by(|a, b| a.distance.total_cmp(&b.distance));
    let (far, margin) = match history.is_whole {
        true => (FAR, MARGIN),
        false => (FAR_WITHIN, MARGIN_WITHIN),
    };
    let doubt = match &scores[..] {
        [] => Some("no candidate can be run".to_owned()),
        [best, ..] if best.distance > far => Some(format!(
            "none of the candidates sends as it does; {} is nearest",
            best.control
        )),
        [best, second, ..] if second.distance < margin * best.distance + 0.01 => Some(format!(
            "{} and {} would do about the same here",
            best.control, second.control
        )),
        _ => None,
    };
    let control = scores.first().filter(|_| doubt.is_none());
    Verdict {
        control: control.map(|best| best.control.clone()),
        scores,
        doubt,
    }
}

/// The course of the twins of a capture.
fn course(history: &History, link: &Link) -> Course {
    let first = history.sent.first().map_or(0.0, |s| s.at);
    let last = history.sent.last().map_or(0.0, |s| s.at);
    // A link that was never busy is as good as one without a limit.
    let rate = match link.rate.is_bound() {
        true => UNLIMITED * link.rate.value,
        false => link.rate.value,
    };
    Course {
        rate: Rate::from_bps_f64(rate.max(1000.0)),
        rtt: Duration::from_secs_f64(link.rtt.value),
        queue: (!link.queue.is_bound()).then(|| Bytes::new(link.queue.value as u64)),
        lost: link.losses.lost_by_channel.clone(),
        payload: Bytes::new(history.payload),
        until: Duration::from_secs_f64((last - first).clamp(0.0, LONGEST)),
        most: (4 * history.sent.len() + 1000).min(MOST_PACKETS),
    }
}

/// The course, with every length of the queue that the capture leaves possible: a packet more or
/// less, or a tenth less, where a late acknowledgement was the longest wait.
fn courses(history: &History, link: &Link) -> Vec<Course> {
    let course = course(history, link);
    let Some(queue) = course.queue else {
        return vec![course];
    };
    let packet = u64::from(history.packet());
    let queue = queue.get();
    let mut lengths = vec![queue, queue + packet];
    lengths.push(queue.saturating_sub(packet).max(packet));
    lengths.push((queue - queue / 10).max(packet));
    lengths.sort_unstable();
    lengths.dedup();
    let with = |length| Course {
        queue: Some(Bytes::new(length)),
        ..course.clone()
    };
    lengths.into_iter().map(with).collect()
}

/// The transport with the segments and windows of the capture. A capture that begins within a
/// connection begins with the window of then.
fn adapted(mut transport: Transport, history: &History, link: &Link) -> Transport {
    transport.mss = history.mss;
    transport.timestamps = history.headers >= 52;
    let divisor = transport.profile.rules().receive_buffer_divisor.max(1);
    transport.receive_buffer = match link.window {
        Some(window) => Bytes::new(window.saturating_mul(divisor)),
        None => Bytes::new(1 << 30),
    };
    transport.set_send_buffer(Bytes::new(1 << 30));
    let begun = (0..history.acks.len().min(3)).map(|ack| history.flight_after(ack));
    let first_flight = match history.is_whole {
        true => history.acks.first().map_or(0, |a| a.sent),
        false => begun.max().unwrap_or(10),
    };
    if !history.is_whole {
        transport.initial_window = first_flight.max(2) as f64;
        transport.initial_ssthresh = Some(first_flight.max(2) as f64);
    } else if first_flight > 10 {
        transport.initial_window = first_flight as f64;
    }
    transport
}

/// The mean ratio of packets in flight, as a logarithm: at the same times, and of the same ranks.
///
/// Where losses depend on details, as in a short queue, the true control soon has its losses at
/// other times than the capture; windows as large as often are what is left then.
fn distances(history: &History, twin: &History, until: f64) -> [f64; 2] {
    let step = until / POINTS as f64;
    let course = |history: &History| -> Vec<f64> {
        let mut flight = Flight::new(history);
        let at = (0..POINTS).map(|n| flight.at(step * (n as f64 + 0.5)));
        // Two more, so that few packets do not count for much.
        at.map(|flight| math::ln(flight + 2.0)).collect()
    };
    let (mut a, mut b) = (course(history), course(twin));
    let mean = |a: &[f64], b: &[f64]| {
        let differences = a.iter().zip(b).map(|(a, b)| (a - b).abs());
        differences.sum::<f64>() / POINTS as f64
    };
    let aligned = mean(&a, &b);
    a.sort_by(f64::total_cmp);
    b.sort_by(f64::total_cmp);
    [aligned, mean(&a, &b)]
}

/// Packets in flight over time, from the first data on.
struct Flight<'a> {
    history: &'a History,
    begin: f64,
    sent: usize,
    ack: usize,
    newest: usize,
}

impl Flight<'_> {
    fn new(history: &History) -> Flight<'_> {
        Flight {
            history,
            begin: history.sent.first().map_or(0.0, |s| s.at),
            sent: 0,
            ack: 0,
            newest: 0,
        }
    }

    /// At a time that is no earlier than the last one.
    fn at(&mut self, time: f64) -> f64 {
        let time = time + self.begin;
        while self
            .history
            .sent
            .get(self.sent)
            .is_some_and(|s| s.at <= time)
        {
            self.sent += 1;
        }
        while let Some(ack) = self.history.acks.get(self.ack).filter(|a| a.at <= time) {
            self.newest = ack.newest;
            self.ack += 1;
        }
        self.sent.saturating_sub(self.newest) as f64
    }
}
