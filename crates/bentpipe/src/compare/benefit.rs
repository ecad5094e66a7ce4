//! What the recommended setting gives, in sentences.

use super::answer::{Answer, Row};
use super::traffic::{Activity, Traffic};
use super::verdict::Gain;
use super::words::{capital, full_name, list, row_name, signed};
use bentpipe_report::text::seconds;

impl Answer {
    /// What its time is of: `a download of 10 MB`.
    pub(super) fn subject(&self, size: usize) -> String {
        match self.traffic {
            Traffic::Mix(_) if self.unit() == "upload" => "an upload".to_owned(),
            Traffic::Mix(_) if self.unit() == "page" => "a page".to_owned(),
            _ if self.unit() == "video" => "the wait for a video".to_owned(),
            Traffic::Web => "a page".to_owned(),
            _ if self.sizes.len() > 1 => format!("a download of {}", self.sizes[size]),
            _ => "a download".to_owned(),
        }
    }

    /// The verb between the [subject](Answer::subject) and its time.
    pub(super) fn takes(&self) -> &'static str {
        match self.unit() {
            "video" => "is",
            _ => "takes",
        }
    }

    pub(super) fn what_it_gives(&self) -> String {
        let (pick, base) = (
            self.recommended().unwrap_or(self.baseline()),
            self.baseline(),
        );
        // The largest size shows most of it.
        let size = pick.cells.len() - 1;
        let time = |row: &Row| row.cells[size].time().map_or(f64::NAN, |t| t.mean);
        let takes = self.takes();
        let mut text = self.subject(size);
        text = capital(&text);
        if self.traffic.is_mixed() {
            return self.what_each_activity_gives(pick, base);
        }
        if self.is_kept() {
            return format!(
                "{text} {takes} {} with {}.",
                seconds(time(base)),
                full_name(base)
            );
        }
        let with = full_name(base);
        let on_average = match pick.cells[size].runs.len() {
            1 => "",
            _ => " on average",
        };
        text += &format!(
            " {takes} {}{on_average} instead of {} with {with}",
            seconds(time(pick)),
            seconds(time(base))
        );
        let over = match self.sizes.len() > 1 {
            true => "; over all sizes ",
            false => ": ",
        };
        match self.verdict.gain {
            Some(gain) => format!("{text}{over}{}.", less(&gain)),
            None => format!("{text}."),
        }
    }

    /// The change of each of several activities, and the mean of them, which decides.
    fn what_each_activity_gives(&self, pick: &Row, base: &Row) -> String {
        let one = |activity: &Activity| {
            let last = pick.cells.len() - 1;
            let time = |row: &Row| row.cells[last].time_of(*activity).map(|time| time.mean);
            let (with, before) = (time(pick)?, time(base)?);
            let what = match activity {
                Activity::Video => "the wait for a video is",
                Activity::Web => "a page takes",
                Activity::Download => "a download takes",
                Activity::Upload => "an upload takes",
                Activity::Call => return None,
            };
            if self.is_kept() {
                return Some(format!("{what} {}", seconds(before)));
            }
            Some(format!(
                "{what} {} instead of {} ({}%)",
                seconds(with),
                seconds(before),
                signed(with / before - 1.0)
            ))
        };
        let each: Vec<String> = self.traffic.activities().iter().filter_map(one).collect();
        let each = capital(&list(&each));
        match self.verdict.gain {
            Some(gain) => format!(
                "{each}. The mean of these changes, with equal weights, decides: {}.",
                less(&gain)
            ),
            None => format!("{each}."),
        }
    }

    /// Where the mean is shorter above all because fewer are very slow.
    pub(super) fn where_the_gain_is(&self) -> Option<String> {
        // Of several activities it would be one of them, where the mean of all decides.
        let is_one = !self.traffic.is_mixed();
        let gain = self.verdict.gain.filter(|_| is_one && !self.is_kept())?;
        let (pick, base) = (self.recommended()?, self.baseline());
        let (pick, base) = (pick.cells.last()?, base.cells.last()?);
        let (middle, usual) = (pick.middle_s()?, base.middle_s()?);
        let (slow, usually_slow) = (pick.slow_s()?, base.slow_s()?);
        let less = |with: f64, without: f64| 1.0 - with / without;
        let in_the_tail =
            less(middle, usual) < gain.share / 2.0 && less(slow, usually_slow) > gain.share;
        in_the_tail.then(|| {
            format!(
                "Most of the gain is in the tail: the slowest 10% exceed {} instead of {}, while \
                 the median is {} instead of {}.",
                seconds(slow),
                seconds(usually_slow),
                seconds(middle),
                seconds(usual)
            )
        })
    }

    pub(super) fn where_it_changes(&self) -> Option<String> {
        let by_size = &self.verdict.by_size;
        let (first, rest) = by_size.split_first()?;
        let one = |(size, row, gain): &(bentpipe_units::Bytes, usize, Gain)| {
            let row = &self.rows[*row];
            let less = 100.0 * gain.share;
            format!("{} for {size} ({less:.0}% less time)", row_name(row))
        };
        let mut text = format!("The best choice depends on the size: {}", one(first));
        for other in rest {
            text += &format!(", {}", one(other));
        }
        Some(text + ".")
    }
}

/// `28% less time (20 to 36% less; 50 runs)`: what is shown of it, or else its 95% interval.
fn less(gain: &Gain) -> String {
    let share = 100.0 * gain.share;
    let main = match gain.share >= 0.6 {
        true => format!("{:.1} times as fast", 1.0 / (1.0 - gain.share).max(1e-3)),
        false => format!("{share:.0}% less time"),
    };
    let runs = gain.runs;
    match (gain.least.zip(gain.most), gain.ci95) {
        (Some((least, most)), _) if most - least < 0.001 => main,
        (Some((least, most)), _) => format!(
            "{main} ({:.0} to {:.0}% less; {runs} runs)",
            100.0 * least,
            (100.0 * most).min(100.0)
        ),
        (None, Some(ci)) => format!(
            "{main} (95% CI {:.0} to {:.0}% less; {runs} runs)",
            share - 100.0 * ci,
            (share + 100.0 * ci).min(100.0),
        ),
        (None, None) => main,
    }
}
