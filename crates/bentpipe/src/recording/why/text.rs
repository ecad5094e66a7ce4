//! Sentences about the parts of a run.

use super::facts::{Facts, Range};
use super::{Act, End, Part, lower};
use crate::compare::{Activity, Answer, Pep};
use crate::recording::Recording;
use crate::recording::text::{at, count, counted, lasting, list, place};
use bentpipe_report::text::{percent, seconds};
use bentpipe_sim::LossCause;
use bentpipe_units::{Bytes, Duration, Time, math};
use std::collections::BTreeMap;

/// A window that grows by this factor is told by its growth, and at a start by how long
/// it takes to double.
const GROWTH: f64 = 2.0;

/// A queue of fewer packets than this is no queue to speak of.
const SOME_PACKETS: f64 = 5.0;

/// A link that is busy for a larger share of the time is taken for full.
const FULL: f64 = 0.95;

/// Timeouts that are told one by one.
const NAMED_TIMEOUTS: usize = 3;

/// Describes one part of a run in sentences.
pub(super) struct PhaseNarrator<'a> {
    pub(super) recording: &'a Recording,
    pub(super) answer: &'a Answer,
    pub(super) part: &'a Part,
    pub(super) facts: &'a Facts,
    /// The window at the end of the part before.
    pub(super) before: Option<f64>,
}

impl PhaseNarrator<'_> {
    /// What happened, in sentences; `told` are the explanations that need not be
    /// given again.
    pub(super) fn sentences(&self, told: &mut Vec<&'static str>) -> Vec<String> {
        let mut lines = Vec::new();
        lines.extend(self.turns());
        for (phase, _) in &self.part.phases {
            if !phase.about.is_empty() && !told.contains(&phase.about) {
                told.push(phase.about);
                lines.push(phase.about.to_owned());
            }
        }
        lines.extend(self.window());
        lines.extend(self.queue());
        lines.extend(losses(self.facts));
        lines.extend(self.repair());
        lines.extend(self.timeouts());
        lines.extend(self.use_of_link());
        lines.extend(self.how_it_ends());
        lines
    }

    /// How often each phase of several came.
    fn turns(&self) -> Option<String> {
        let phases = &self.part.phases;
        (phases.len() > 1).then(|| {
            let of = |(i, (phase, times)): (usize, &(super::Phase, usize))| {
                let times = match times {
                    1 => "once".to_owned(),
                    n => format!("{} times", count(*n as f64)),
                };
                match i {
                    0 => format!("{} occurs {times}", phase.title),
                    _ => format!("{} {times}", lower(phase.title)),
                }
            };
            let all: Vec<String> = phases.iter().enumerate().map(of).collect();
            format!("{}.", list(&all))
        })
    }

    fn is_only(&self, name: &str) -> bool {
        matches!(self.part.phases.as_slice(), [(phase, _)] if phase.group == name)
    }

    /// Whether it is a phase in which a window opens.
    fn is_start(&self) -> bool {
        matches!(self.part.phases.as_slice(), [(phase, _)] if phase.opens())
    }

    fn repairs(&self) -> bool {
        matches!(self.part.phases.as_slice(), [(phase, _)] if phase.repairs())
    }

    /// What the congestion window does.
    fn window(&self) -> Option<String> {
        let cwnd = self.facts.cwnd?;
        let Range {
            first, least, most, ..
        } = cwnd;
        if count(least) == count(most) {
            return Some(format!("The window stays at {} segments.", count(most)));
        }
        if self.repairs() {
            let from = self.before.unwrap_or(first);
            return Some(format!(
                "The window goes from {} to {} segments.",
                count(from),
                count(cwnd.last)
            ));
        }
        let starts = self.is_start() && count(most) != count(first);
        let grows = starts || most >= GROWTH * first;
        let widest = self.facts.widest_at;
        let widest = widest.filter(|_| grows && self.part.phases.len() == 1);
        if let Some(widest) = widest {
            let mut text = format!(
                "The window grows from {} to {} segments by {}",
                count(first),
                count(most),
                at(widest)
            );
            if starts && most >= GROWTH * first {
                let doublings = math::log2(most / first);
                let took = widest.since(self.part.from).as_secs();
                text += &format!(", doubling every {} on average", seconds(took / doublings));
            }
            if cwnd.last < 0.9 * most {
                text += &format!(", and is {} at the end", count(cwnd.last));
            }
            return Some(text + ".");
        }
        Some(format!(
            "The window is between {} and {} segments, {} on average.",
            count(least),
            count(most),
            count(cwnd.mean)
        ))
    }

    /// What waits before the link, and what that does to the RTT.
    fn queue(&self) -> Option<String> {
        let queue = self.facts.queue?;
        let rtt = self.facts.rtt;
        let others = match self.answer.users {
            1 => "",
            _ => " of all users",
        };
        if queue.most < SOME_PACKETS {
            return Some(match count(queue.most).as_str() {
                "0" => "The queue before the link stays empty.".to_owned(),
                "1" => "The queue before the link never holds more than 1 packet.".to_owned(),
                most => format!("The queue before the link never holds more than {most} packets."),
            });
        }
        let mut text = format!(
            "Up to {} packets{others} wait before the link, {} on average",
            count(queue.most),
            count(queue.mean)
        );
        if let Some(rtt) = rtt {
            text += &match seconds(rtt.least) == seconds(rtt.most) {
                true => format!("; the RTT is {}", seconds(rtt.most)),
                false => format!(
                    "; the RTT is between {} and {}",
                    seconds(rtt.least),
                    seconds(rtt.most)
                ),
            };
        }
        Some(text + ".")
    }

    /// What is sent again.
    fn repair(&self) -> Option<String> {
        (self.facts.resent > 0).then(|| {
            let verb = if self.facts.resent == 1 { "is" } else { "are" };
            format!(
                "{} {verb} sent again.",
                counted(self.facts.resent, "segment")
            )
        })
    }

    fn timeouts(&self) -> Option<String> {
        let times = &self.facts.timeouts;
        let named: Vec<String> = times.iter().map(|time| at(*time)).collect();
        match times.len() {
            0 => None,
            1 => Some(format!("The retransmission timer expires at {}.", named[0])),
            2..=NAMED_TIMEOUTS => Some(format!(
                "The retransmission timer expires {} times, at {}.",
                times.len(),
                list(&named)
            )),
            n => Some(format!(
                "The retransmission timer expires {} times, first at {}.",
                count(n as f64),
                named[0]
            )),
        }
    }

    /// How busy the link is, and what keeps it from being busier.
    fn use_of_link(&self) -> Option<String> {
        let busy = self.facts.busy?;
        if busy >= FULL {
            return Some("The link is full.".to_owned()).filter(|_| !self.repairs());
        }
        let text = format!("The link is busy for {} of this time", percent(busy));
        Some(match self.why_idle() {
            Some(why) => format!("{text}: {why}."),
            None => format!("{text}."),
        })
    }

    /// Why a link is idle at times, where the numbers say so.
    fn why_idle(&self) -> Option<String> {
        let (cwnd, flight) = (self.facts.cwnd?, self.facts.flight?);
        let bdp = self.recording.bdp_segments;
        if self.answer.users > 1 || self.answer.path.profile.is_some() {
            return None;
        }
        if cwnd.mean < bdp && flight.mean > 0.7 * cwnd.mean {
            return Some(format!(
                "filling it takes a bandwidth-delay product of {} segments, but the window \
                 averages {}",
                count(bdp),
                count(cwnd.mean)
            ));
        }
        (flight.mean < 0.7 * cwnd.mean && flight.mean < bdp).then(|| {
            format!(
                "on average only {} segments of a window of {} are in flight",
                count(flight.mean),
                count(cwnd.mean)
            )
        })
    }

    fn how_it_ends(&self) -> Option<String> {
        let rtt = self.facts.rtt;
        match self.part.end {
            End::Complete => Some(format!("The download is complete at {}.", at(self.part.to))),
            End::Cut => None,
            End::Repair => Some("Then the sender detects the losses.".to_owned())
                .filter(|_| self.facts.lost_in_all() > 0),
            End::Next if self.is_only("slow_start") && self.facts.lost_in_all() == 0 => {
                let risen = rtt.map(|rtt| {
                    format!(
                        " and an RTT of {}, up from a minimum of {}",
                        seconds(rtt.last),
                        seconds(rtt.least)
                    )
                });
                Some(format!(
                    "It ends without a loss, at a window of {} segments{}.",
                    count(self.facts.cwnd?.last),
                    risen.unwrap_or_default()
                ))
            }
            End::Next => None,
        }
    }
}

/// What is lost, and where.
fn losses(facts: &Facts) -> Option<String> {
    let all = facts.lost_in_all();
    let mut text = of_causes(&facts.lost)?;
    if let Some([first, last]) = facts.lost_between.filter(|_| all > 1) {
        text += &match last.since(first) {
            short if short < Duration::from_millis(1) => format!(" at {}", at(first)),
            long => format!(", within {} from {} onwards", lasting(long), at(first)),
        };
    } else if let Some([first, _]) = facts.lost_between {
        text += &format!(", at {}", at(first));
    }
    Some(text + ".")
}

/// `412 segments are lost: 400 at the full queue and 12 by errors of the channel`.
fn of_causes(lost: &BTreeMap<LossCause, u64>) -> Option<String> {
    let all: u64 = lost.values().sum();
    let verb = if all == 1 { "is" } else { "are" };
    match lost.iter().collect::<Vec<_>>().as_slice() {
        [] => None,
        [(cause, _)] => Some(format!(
            "{} {verb} lost {}",
            counted(all, "segment"),
            place(**cause)
        )),
        several => {
            let each = several
                .iter()
                .map(|(cause, n)| format!("{} {}", count(**n as f64), place(**cause)));
            let each: Vec<String> = each.collect();
            Some(format!(
                "{} {verb} lost: {}",
                counted(all, "segment"),
                list(&each)
            ))
        }
    }
}

/// What opened the connection and was lost.
pub(super) fn lost_openings(recording: &Recording, before: Time) -> Option<String> {
    let lost = recording.lost_openings.iter().filter(|at| **at <= before);
    match lost.count() as u64 {
        0 => None,
        1 => Some("A packet of the handshake is lost and sent again after a timeout.".to_owned()),
        n => Some(format!(
            "{} of the handshake are lost and sent again after timeouts.",
            counted(n, "packet")
        )),
    }
}

/// The run in a few sentences.
pub(super) fn summary(recording: &Recording, answer: &Answer, acts: &[Act]) -> Vec<String> {
    let mut lines = Vec::new();
    lines.extend(how_long(recording, answer));
    lines.extend(who_sends(recording, answer));
    lines.extend(idle(recording, answer, acts));
    lines.extend(in_all(recording));
    if recording.series.sender.is_empty() {
        lines.push("This is a computed bound: it has no packets and no window.".to_owned());
    }
    lines
}

/// What the run took, beside the bound.
fn how_long(recording: &Recording, answer: &Answer) -> Option<String> {
    if answer.traffic.of_user(recording.user) != Activity::Download {
        return Some(format!(
            "The run of seed {} lasts {}.",
            recording.seed,
            at(recording.outcome.ended_at)
        ));
    }
    let bytes = recording
        .series
        .delivered
        .last()
        .map_or(Bytes::ZERO, |d| d.1);
    let Some(end) = recording.ended_at else {
        return Some(format!(
            "The download does not finish: {bytes} have arrived when the run ends at {}.",
            at(recording.outcome.ended_at)
        ));
    };
    let took = end.since(recording.started_at);
    let mut text = format!("The download of {bytes} takes {}", lasting(took));
    if !recording.started_at.since(Time::ZERO).is_zero() {
        text += &format!(", starting at {}", at(recording.started_at));
    }
    let ideal = answer.sizes.iter().position(|size| *size == bytes);
    if let Some(ideal) = ideal
        .and_then(|i| answer.ideal.get(i))
        .filter(|_| answer.users == 1)
    {
        text += &format!("; no transport can beat {} here", lasting(*ideal));
    }
    Some(text + ".")
}

/// Which of several senders this is about.
fn who_sends(recording: &Recording, answer: &Answer) -> Option<String> {
    let users = (answer.users > 1).then(|| {
        format!(
            "This is user {} of {}; all users share the queue and the link.",
            recording.user + 1,
            answer.users
        )
    });
    let is_split = recording
        .outcome
        .legs
        .iter()
        .any(|leg| leg.leg > 0 && !recording.series.sender.is_empty());
    let proxy = is_split.then(|| {
        let pep = match answer.peps().contains(&Pep::Gateway)
            && recording.outcome.legs.iter().any(|leg| leg.leg > 1)
        {
            true => Pep::Gateway,
            false => Pep::Split,
        };
        format!(
            "The server's connection ends at {}, which sends over the satellite with {}: windows \
             and phases are those of the proxy.",
            pep.describe(),
            recording.transport
        )
    });
    let both: Vec<String> = users.into_iter().chain(proxy).collect();
    (!both.is_empty()).then(|| both.join(" "))
}

/// When the link is idle most.
fn idle(recording: &Recording, answer: &Answer, acts: &[Act]) -> Option<String> {
    if answer.users > 1 || answer.background.is_some() || answer.path.profile.is_some() {
        return None;
    }
    let busy = recording.busy(answer, recording.started_at, recording.end())?;
    let all = recording.end().since(recording.started_at).as_secs();
    let idle = (1.0 - busy) * all;
    if busy >= FULL {
        return Some(format!(
            "The link is busy for {} of the time.",
            percent(busy)
        ));
    }
    let of = |act: &Act| {
        let share = act.facts.busy.unwrap_or(1.0);
        (1.0 - share) * act.to.since(act.from).as_secs()
    };
    let longest = acts.iter().max_by(|a, b| of(a).total_cmp(&of(b)));
    let mut text = format!("The link is idle for {} of this time", seconds(idle));
    if let Some(act) = longest.filter(|act| of(act) > 0.3 * idle) {
        text += &format!(
            ", {} of it in the act “{}” that begins at {}",
            seconds(of(act)),
            act.title,
            at(act.from)
        );
    }
    Some(text + ".")
}

/// What was lost and sent again in all.
fn in_all(recording: &Recording) -> Option<String> {
    let mut lost: BTreeMap<LossCause, u64> = BTreeMap::new();
    for loss in &recording.losses {
        *lost.entry(loss.cause).or_default() += 1;
    }
    let resent = recording.resent.len() as u64;
    let timeouts = recording.timeouts.len() as u64;
    if lost.is_empty() && resent == 0 && timeouts == 0 {
        let simulated = !recording.series.sender.is_empty();
        return simulated.then(|| "Nothing is lost and nothing is sent again.".to_owned());
    }
    let lost = of_causes(&lost).unwrap_or_else(|| "Nothing is lost".to_owned());
    Some(format!(
        "In total {}; there are {} and {}.",
        lower(&lost),
        counted(resent, "retransmission"),
        counted(timeouts, "timeout")
    ))
}
