//! Progress of long work, on stderr: a bar in a terminal, else a line every
//! few seconds.

#![allow(
    clippy::disallowed_methods,
    reason = "progress is paced by the wall clock; no result depends on it"
)]

use crate::exit::talk;
use crate::output::is_screen;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::sync::{Mutex, mpsc};
use std::time::{Duration, Instant};

/// What takes longer than this is mentioned.
const PATIENCE: Duration = Duration::from_secs(1);

/// A line is printed this often where there is no terminal.
const EVERY: Duration = Duration::from_secs(5);

/// Counts pieces of work that are done; shared by threads.
pub(crate) struct Progress {
    bar: ProgressBar,
    what: String,
    /// What the numbers count, after the second of them.
    unit: &'static str,
    /// When the next line is due; `None` in a terminal.
    next_line: Option<Mutex<Instant>>,
    /// When work began, and which share of it was done by then.
    began: Mutex<Option<(Instant, f64)>>,
}

impl Progress {
    /// Progress through pieces of `what`. Nothing appears in the first half
    /// second (terminal) or the first few (no terminal).
    pub(crate) fn new(what: &str) -> Progress {
        Progress::in_units(what, "", "  {eta} left")
    }

    /// Progress through a run, in simulated seconds. It ends early if its flows
    /// do.
    pub(crate) fn of_run(what: &str) -> Progress {
        Progress::in_units(what, " s simulated", ", at most {eta} left")
    }

    fn in_units(what: &str, unit: &'static str, left: &str) -> Progress {
        let terminal = is_screen(&std::io::stderr());
        let target = if terminal {
            ProgressDrawTarget::stderr_with_hz(10)
        } else {
            ProgressDrawTarget::hidden()
        };
        let bar = ProgressBar::with_draw_target(Some(0), target);
        let template = format!("{{msg}} [{{bar:30}}] {{pos}}/{{len}}{unit}{left}");
        if let Ok(style) = ProgressStyle::with_template(&template) {
            bar.set_style(style.progress_chars("=> "));
        }
        bar.set_message(what.to_owned());
        let next_line = (!terminal).then(|| Mutex::new(Instant::now() + EVERY));
        Progress {
            bar,
            what: what.to_owned(),
            unit,
            next_line,
            began: Mutex::default(),
        }
    }

    /// Progress through the runs of a study: how many are done, and how much time is left
    /// by what they cost.
    pub(crate) fn of_runs(study: &str) -> Progress {
        let progress = Progress::in_units(study, "", "");
        let template = "{msg} [{bar:30}] {prefix}";
        if let Ok(style) = ProgressStyle::with_template(template) {
            progress.bar.set_style(style.progress_chars("=> "));
        }
        progress.bar.set_length(STEPS);
        progress
    }

    /// So many runs are done.
    pub(crate) fn runs(&self, at: &bentpipe_study::Progress) {
        let about = if at.about { "about " } else { "" };
        let left = self.left(at.share);
        let text = format!("{} of {about}{} runs{left}", at.done, at.total);
        self.bar.set_position((at.share * STEPS as f64) as u64);
        if self.next_line.is_none() {
            self.bar.set_prefix(text);
        } else {
            self.line_of(&text);
        }
    }

    /// `, about 3 min left`: at the pace so far.
    fn left(&self, share: f64) -> String {
        let Ok(mut began) = self.began.lock() else {
            return String::new();
        };
        let (start, before) = *began.get_or_insert_with(|| (Instant::now(), share));
        let (took, done) = (start.elapsed(), share - before);
        if took < PATIENCE || done <= 0.0 {
            return String::new();
        }
        let seconds = took.as_secs_f64() * (1.0 - share) / done;
        format!(", about {} left", short(seconds))
    }

    /// `done` of `total` are done.
    pub(crate) fn set(&self, done: u64, total: u64) {
        self.bar.set_length(total);
        self.bar.set_position(done);
        self.line();
    }

    fn line(&self) {
        let (done, total) = (self.bar.position(), self.bar.length().unwrap_or(0));
        self.line_of(&format!("{done} of {total}{}", self.unit));
    }

    fn line_of(&self, text: &str) {
        let Some(next) = &self.next_line else { return };
        let Ok(mut next) = next.lock() else { return };
        let now = Instant::now();
        if now >= *next {
            *next = now + EVERY;
            talk(format_args!("{}: {text}", self.what));
        }
    }
}

/// Steps of a bar of runs.
const STEPS: u64 = 1000;

/// `40 s`, `3 min`, `2 h 10 min`: a time as exact as an estimate is.
pub(crate) fn short(seconds: f64) -> String {
    let minutes = (seconds / 60.0).round() as u64;
    match (seconds, minutes) {
        (s, _) if s < 90.0 => format!("{} s", s.ceil().max(1.0)),
        (_, m) if m < 90 => format!("{m} min"),
        (_, m) => format!("{} h {} min", m / 60, m % 60),
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}

/// Does `work`, and says `what` it is if it takes longer than a second.
pub(crate) fn patiently<T>(what: &str, work: impl FnOnce() -> T) -> T {
    let (done, waits) = mpsc::channel::<()>();
    std::thread::scope(|scope| {
        scope.spawn(move || {
            if waits.recv_timeout(PATIENCE) != Err(mpsc::RecvTimeoutError::Timeout) {
                return;
            }
            if !is_screen(&std::io::stderr()) {
                return talk(what);
            }
            let spinner = ProgressBar::new_spinner().with_message(what.to_owned());
            if let Ok(style) = ProgressStyle::with_template("{spinner} {msg}  {elapsed}") {
                spinner.set_style(style);
            }
            spinner.enable_steady_tick(Duration::from_millis(100));
            // Until the other end is gone.
            let _ = waits.recv();
            spinner.finish_and_clear();
        });
        let result = work();
        drop(done);
        result
    })
}

#[cfg(test)]
mod tests {
    use super::short;

    #[test]
    fn times_that_are_left_are_short() {
        let said = [0.2, 45.0, 170.0, 7900.0].map(short);
        assert_eq!(said, ["1 s", "45 s", "3 min", "2 h 12 min"]);
    }
}
