//! Why one of two rows takes longer than the other, in sentences.

use super::spent::{Doing, TimeSpent};
use crate::compare::{Answer, Traffic};
use crate::recording::Recording;
use crate::recording::text::{count, counted, lasting, list};
use bentpipe_report::text::{percent, seconds};
use bentpipe_units::Duration;

/// Times that differ by a smaller share are about the same.
const SAME: f64 = 0.01;

/// A part of the time is told if it makes up this share of the difference.
const TOLD: f64 = 0.1;

/// Parts that are told at most, of those that save time and of those that cost some.
const MOST_PARTS: usize = 3;

/// Why the second of two rows takes another time than the first. Both runs were recorded
/// of `answer`, and each comes with the name of its row.
#[must_use]
pub fn difference(
    answer: &Answer,
    (base_name, base): (&str, &Recording),
    (name, other): (&str, &Recording),
) -> Vec<String> {
    let (Some(before), Some(after)) = (base.time_spent(answer), other.time_spent(answer)) else {
        let bound = match base.series.sender.is_empty() {
            true => base_name,
            false => name,
        };
        return vec![format!(
            "{bound} is a computed bound: it has no phases to compare."
        )];
    };
    Difference {
        answer,
        names: [base_name, name],
        recordings: [base, other],
        spent: [&before, &after],
    }
    .sentences()
}

struct Difference<'a> {
    answer: &'a Answer,
    names: [&'a str; 2],
    recordings: [&'a Recording; 2],
    spent: [&'a TimeSpent; 2],
}

impl Difference<'_> {
    fn sentences(&self) -> Vec<String> {
        let mut lines = vec![self.total()];
        let saved = self.saved_s();
        if saved.abs() > SAME * self.longest_s() {
            lines.extend(self.parts(saved));
            lines.extend(self.reason(saved));
        }
        lines
    }

    /// What the second row saves, negative if it takes longer.
    fn saved_s(&self) -> f64 {
        let [before, after] = self.spent.map(|spent| spent.total().as_secs());
        before - after
    }

    fn longest_s(&self) -> f64 {
        let [before, after] = self.spent.map(|spent| spent.total().as_secs());
        before.max(after)
    }

    fn total(&self) -> String {
        let [base, name] = self.names;
        let [before, after] = self.spent.map(|spent| lasting(spent.total()));
        let saved = self.saved_s();
        let how = match saved {
            s if s.abs() <= SAME * self.longest_s() => "about the same".to_owned(),
            s if s > 0.0 => format!("{} less", seconds(s)),
            s => format!("{} more", seconds(-s)),
        };
        match self.answer.traffic {
            Traffic::Download => {
                format!("In these runs {name} takes {after} and {base} {before}: {how}.")
            }
            _ => format!(
                "In these runs the user is served after {after} with {name} and after {before} with \
                 {base}, pauses included: {how}."
            ),
        }
    }

    /// What the second row spends less on than the first, seconds.
    fn saved_on(&self, doing: Doing) -> f64 {
        let [before, after] = self.spent.map(|spent| spent.of(doing).as_secs());
        before - after
    }

    /// Where the difference lies.
    fn parts(&self, saved: f64) -> Option<String> {
        let name = self.names[1];
        let told = |sign: f64| {
            let mut found: Vec<(f64, Doing)> = Doing::ALL
                .iter()
                .map(|(_, _, doing)| (sign * self.saved_on(*doing), *doing))
                .filter(|(saves, _)| *saves >= TOLD * saved.abs())
                .collect();
            found.sort_by(|a, b| b.0.total_cmp(&a.0));
            found.truncate(MOST_PARTS);
            let less = if sign > 0.0 { "less" } else { "more" };
            let each = found
                .iter()
                .map(|(saves, doing)| format!("{} {less} {}", seconds(*saves), place(*doing)));
            list(&each.collect::<Vec<_>>())
        };
        let (first, second) = match saved > 0.0 {
            true => (told(1.0), told(-1.0)),
            false => (told(-1.0), told(1.0)),
        };
        match (first.as_str(), second.as_str()) {
            ("", _) => None,
            (first, "") => Some(format!("{name} spends {first}.")),
            (first, second) => Some(format!("{name} spends {first}, but {second}.")),
        }
    }

    /// Why the largest part differs.
    fn reason(&self, saved: f64) -> Option<String> {
        let of =
            |(_, _, doing): &(&str, &str, Doing)| (self.saved_on(*doing) * saved.signum(), *doing);
        let largest = Doing::ALL.iter().map(of).max_by(|a, b| a.0.total_cmp(&b.0));
        let (part, doing) = largest?;
        if part <= 0.0 {
            return None;
        }
        match doing {
            Doing::Timeout => Some(self.timeouts()),
            Doing::Handshake => self.handshakes(),
            Doing::ReceiveWindow => self.receivers(),
            Doing::Application => None,
            Doing::Start | Doing::Avoidance | Doing::Recovery => self.windows(doing),
        }
    }

    fn timeouts(&self) -> String {
        let [base, name] = self.names;
        let of = |i: usize| counted(self.recordings[i].timeouts.len() as u64, "timeout");
        format!("{name} waits for {}, {base} for {}.", of(1), of(0))
    }

    fn handshakes(&self) -> Option<String> {
        let lost = self
            .recordings
            .map(|recording| recording.lost_openings.len() as u64);
        let slower = usize::from(self.saved_s() < 0.0);
        (lost[slower] > lost[1 - slower]).then(|| {
            format!(
                "{} of {}'s handshake {} lost and sent again after a timeout.",
                counted(lost[slower], "packet"),
                self.names[slower],
                if lost[slower] == 1 { "is" } else { "are" }
            )
        })
    }

    fn receivers(&self) -> Option<String> {
        let slower = usize::from(self.saved_s() < 0.0);
        let buffer = self.answer.candidate(self.names[slower]);
        let buffer = buffer.map(|candidate| candidate.transport.receive_buffer)?;
        Some(format!(
            "{}'s receiver has a buffer of {buffer}, and the sender would send more.",
            self.names[slower]
        ))
    }

    /// How the windows and the use of the link differ: in this part where both have it,
    /// else over the whole time.
    fn windows(&self, doing: Doing) -> Option<String> {
        let [before, after] = self.spent;
        let worth = |spent: &TimeSpent| spent.of(doing) >= spent.total() / 20;
        let (where_, [before, after]) = match worth(before) && worth(after) {
            true => {
                let [before, after] = [before.part(doing)?, after.part(doing)?];
                let of = |part: &super::Spent| (part.cwnd, part.busy);
                (capital(place(doing)), [of(before), of(after)])
            }
            false => ("Over the whole time".to_owned(), [before, after].map(whole)),
        };
        let [base, name] = self.names;
        let windows = before.0.zip(after.0).map(|(before, after)| {
            format!(
                "the window of {name} averages {} segments, that of {base} {}",
                count(after),
                count(before)
            )
        });
        let busy = before.1.zip(after.1).map(|(before, after)| {
            format!(
                "the link is busy for {} of the time with {name} and {} with {base}",
                percent(after),
                percent(before)
            )
        });
        let told: Vec<String> = windows.into_iter().chain(busy).collect();
        let filling = match self.answer.users {
            1 if !told.is_empty() => format!(
                "; filling it takes a bandwidth-delay product of {} segments",
                count(self.recordings[0].bdp_segments)
            ),
            _ => String::new(),
        };
        (!told.is_empty()).then(|| format!("{where_}, {}{filling}.", told.join("; ")))
    }
}

/// The mean window and the busy share of the whole time.
fn whole(spent: &TimeSpent) -> (Option<f64>, Option<f64>) {
    let all = spent.total().as_secs();
    let weighted = |value: fn(&super::Spent) -> Option<f64>| {
        let parts = spent.parts.iter();
        let known: Vec<(f64, Duration)> = parts
            .filter_map(|part| Some((value(part)?, part.time)))
            .collect();
        let time: f64 = known.iter().map(|(_, time)| time.as_secs()).sum();
        let sum: f64 = known.iter().map(|(x, time)| x * time.as_secs()).sum();
        (time > 0.0 && all > 0.0).then(|| sum / time)
    };
    (weighted(|part| part.cwnd), weighted(|part| part.busy))
}

/// Where time is spent, in a sentence.
fn place(doing: Doing) -> &'static str {
    match doing {
        Doing::Handshake => "in the handshake",
        Doing::Start => "in slow start",
        Doing::Avoidance => "in congestion avoidance",
        Doing::Recovery => "in loss recovery",
        Doing::Timeout => "waiting for timeouts",
        Doing::ReceiveWindow => "with a full receive window",
        Doing::Application => "without anything to send",
    }
}

fn capital(text: &str) -> String {
    let mut letters = text.chars();
    let first = letters.next().map(char::to_uppercase);
    first.into_iter().flatten().chain(letters).collect()
}
