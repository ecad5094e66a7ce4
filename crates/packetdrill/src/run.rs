//! The interpreter: waits, injects, compares.
//!
//! Time is virtual and goes from event to event, and to the deadlines of the host between them.
//! As in packetdrill, a relative time counts from the moment at which the event before was over,
//! and from its time in the script where both are packets that arrive. At the same instant, the
//! script comes before timers.
//!
//! An endpoint sends segment by segment, a kernel up to 64 kB at once: an expected segment takes
//! as many that follow one another as it is long. The flag PSH is not compared, since payload does
//! not exist.

mod compare;
mod known;
mod options;

use crate::assertion::{Outcome, Variables};
use crate::host::{Host, Returned};
use crate::report::{Difference, Note, Reason, Report, Verdict};
use crate::script::{Action, Call, Event, Script, When, micros};
use crate::settings::{Missing, Tolerance};
use bentpipe_tcp::HostProfile;
use bentpipe_units::{Duration, Time};

/// The virtual time at which scripts begin: in the middle of a tick, as packetdrill begins, and
/// not at zero, which is no timestamp.
const START: Time = Time::from_nanos(10_000_500_000);

/// Deadlines of a host between two events at most.
const MOST_STEPS: usize = 1_000_000;

/// How long a packet that may come at any time is waited for.
const PATIENCE: Duration = Duration::from_secs(3_600);

/// Packets that have left and are not looked at, at most.
const MOST_PACKETS: usize = 4_000_000;

/// What scripts run against.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Settings {
    /// Whose TCP it is.
    pub profile: HostProfile,
    /// Ticks of the kernel's clock in a second (`CONFIG_HZ`).
    pub hz: u32,
}

impl Default for Settings {
    /// A kernel as packetdrill's scripts are written for: 1000 ticks a second.
    fn default() -> Settings {
        Settings {
            profile: HostProfile::Linux,
            hz: 1_000,
        }
    }
}

/// Why no script can run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SettingsError {
    /// Such a clock does not exist.
    Hz(u32),
    /// The agents of ns-2 have no three-way handshake.
    Profile(&'static str),
}

impl std::fmt::Display for SettingsError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            SettingsError::Hz(hz) => write!(
                f,
                "no kernel ticks {hz} times a second: expected 100 to 1000 (`CONFIG_HZ`)"
            ),
            SettingsError::Profile(name) => write!(
                f,
                "profile `{name}` has no three-way handshake: expected linux, linux-2.4, \
                 linux-2.2 or rfc"
            ),
        }
    }
}

impl std::error::Error for SettingsError {}

impl Settings {
    /// Checks them.
    ///
    /// # Errors
    /// If no kernel has them.
    pub fn check(&self) -> Result<(), SettingsError> {
        if !(100..=1_000).contains(&self.hz) {
            return Err(SettingsError::Hz(self.hz));
        }
        if self.profile.rules().stack.is_ns2() || self.profile == HostProfile::Quic {
            return Err(SettingsError::Profile(self.profile.name()));
        }
        Ok(())
    }
}

/// Runs a script.
///
/// # Errors
/// If the settings are none of a host.
pub fn run(script: &Script, settings: &Settings) -> Result<Report, SettingsError> {
    settings.check()?;
    let tick = Duration::from_nanos(1_000_000_000 / u64::from(settings.hz));
    let mut run = Run {
        script,
        host: Host::new(settings.profile, tick),
        now: START,
        tolerance: Tolerance::default(),
        variables: Variables::new(),
        waiting: Vec::new(),
        before: None,
        notes: Vec::new(),
        printed: Vec::new(),
        events: 0,
    };
    let end = run.all().err();
    let verdict = run.verdict(end);
    Ok(Report {
        script: script.name.clone(),
        verdict,
        notes: run.notes,
        printed: run.printed,
        events: run.events,
    })
}

/// Why a run ends early.
enum End {
    Differs(Box<Difference>),
    NotModelled(usize, String),
}

/// The times of an event: when it is to be, and until when.
#[derive(Clone, Copy, Debug)]
struct Due {
    from: Time,
    to: Time,
    /// What its time counts from.
    base: Time,
    /// It may be at any time.
    any: bool,
    tolerance: Duration,
}

/// A call that blocks.
struct Waiting<'a> {
    call: &'a Call,
    line: usize,
    due: Due,
}

struct Run<'a> {
    script: &'a Script,
    host: Host,
    now: Time,
    tolerance: Tolerance,
    variables: Variables,
    waiting: Vec<Waiting<'a>>,
    /// The time in the script of the event before, if that was a packet that arrived.
    before: Option<Time>,
    notes: Vec<Note>,
    printed: Vec<String>,
    events: usize,
}

impl<'a> Run<'a> {
    fn verdict(&self, end: Option<End>) -> Verdict {
        match end {
            None => Verdict::Pass,
            Some(End::NotModelled(line, what)) => Verdict::NotModelled {
                reason: Reason {
                    line,
                    what,
                    difference: None,
                },
            },
            Some(End::Differs(difference)) => match self.notes.first() {
                // It may differ for that.
                Some(note) => Verdict::NotModelled {
                    reason: Reason {
                        line: note.line,
                        what: note.what.clone(),
                        difference: Some(*difference),
                    },
                },
                None => Verdict::Fail {
                    difference: *difference,
                },
            },
        }
    }

    fn all(&mut self) -> Result<(), End> {
        self.options()?;
        for event in &self.script.events {
            self.event(event)?;
            self.events += 1;
            if self.host.sent.len() > MOST_PACKETS {
                let line = self.script.line(event.span.start);
                let what = "millions of packets that nobody looks at".to_owned();
                return Err(End::NotModelled(line, what));
            }
        }
        // What still blocks must end.
        while let Some(last) = self
            .waiting
            .iter()
            .map(|w| w.due.to + w.due.tolerance)
            .max()
        {
            let line = self.waiting[0].line;
            if self.step(last, line)? {
                continue;
            }
            return Err(self.blocks(&self.waiting[0]));
        }
        Ok(())
    }

    fn event(&mut self, event: &'a Event) -> Result<(), End> {
        let line = self.script.line(event.span.start);
        let due = self.due(event);
        if let Action::Leaves(expected) = &event.action {
            self.before = None;
            return self.leaves(expected, line, due);
        }
        if !due.any {
            self.wait(due, line)?;
        }
        let arrives = matches!(event.action, Action::Arrives(_));
        self.before = arrives.then_some(due.from);
        match &event.action {
            Action::Leaves(_) => {}
            Action::Arrives(segment) => {
                let arrived = self.host.arrive(self.now, segment);
                arrived.map_err(|reason| End::NotModelled(line, reason))?;
                self.settle()?;
            }
            Action::Call(call) => self.call(call, line, due)?,
            Action::Command(text) => {
                for missing in self.host.kernel.apply(text) {
                    match missing {
                        Missing::Setting(what) => self.notes.push(Note { line, what }),
                        Missing::Command(what) => return Err(End::NotModelled(line, what)),
                    }
                }
            }
            Action::Code(code) => {
                let connection = self.host.connection();
                let now = self.now;
                let look_up = |name: &str| known::value(name, connection, now);
                let printed = &mut self.printed;
                let outcome = code.run(&mut self.variables, &look_up, &mut |text| {
                    printed.push(text);
                });
                self.judge(outcome)?;
            }
            Action::Foreign(what) => return Err(End::NotModelled(line, (*what).to_owned())),
        }
        Ok(())
    }

    /// When an event is to be.
    fn due(&self, event: &Event) -> Due {
        let arrives = matches!(event.action, Action::Arrives(_));
        let base = match self.before {
            Some(before) if arrives => before,
            _ => self.now,
        };
        let (from, to, any) = match event.when {
            When::Any => (self.now, self.now + PATIENCE, true),
            When::At(us) => (START + micros(us), START + micros(us), false),
            When::After(us) => (base + micros(us), base + micros(us), false),
            When::Between(from, to) => (START + micros(from), START + micros(to), false),
            When::AfterBetween(from, to) => (base + micros(from), base + micros(to), false),
        };
        let absolute = matches!(event.when, When::At(_) | When::Between(..));
        Due {
            from,
            to,
            base: if absolute { START } else { base },
            any,
            tolerance: self.tolerance.after(from.since(base)),
        }
    }

    /// Lets time pass until an event of the script.
    fn wait(&mut self, due: Due, line: usize) -> Result<(), End> {
        if self.now > due.to + due.tolerance {
            return Err(End::Differs(Box::new(Difference {
                line,
                what: "time".to_owned(),
                expected: "an event of the script".to_owned(),
                expected_at: self.span(due),
                found: "a later event before it".to_owned(),
                found_at: seconds(self.now),
            })));
        }
        while self.step(due.from, line)? {}
        self.now = self.now.max(due.from);
        Ok(())
    }

    /// Lets the host do what is due before `until`; false if nothing is.
    fn step(&mut self, until: Time, line: usize) -> Result<bool, End> {
        for _ in 0..MOST_STEPS {
            let deadline = self.host.deadline();
            if deadline >= until {
                return Ok(false);
            }
            let (sent, waiting) = (self.host.sent.len(), self.waiting.len());
            self.now = self.now.max(deadline);
            self.host.on_deadline(self.now);
            self.settle()?;
            if self.host.sent.len() > sent || self.waiting.len() < waiting {
                return Ok(true);
            }
        }
        let what = "a timer that runs without end".to_owned();
        Err(End::NotModelled(line, what))
    }

    /// Ends the calls that block and need no longer.
    fn settle(&mut self) -> Result<(), End> {
        let mut index = 0;
        while index < self.waiting.len() {
            let waiting = &self.waiting[index];
            let returned = self.host.call(self.now, waiting.call, true);
            if returned == Returned::Blocks {
                index += 1;
                continue;
            }
            let waiting = self.waiting.remove(index);
            self.check_return(waiting.call, waiting.line, &returned)?;
            let Due { to, tolerance, .. } = waiting.due;
            if self.now > to + tolerance || self.now + tolerance < to {
                return Err(End::Differs(Box::new(Difference {
                    line: waiting.line,
                    what: "time at which the call returns".to_owned(),
                    expected: describe(waiting.call),
                    expected_at: self.span(waiting.due),
                    found: describe(waiting.call),
                    found_at: seconds(self.now),
                })));
            }
        }
        Ok(())
    }

    fn call(&mut self, call: &'a Call, line: usize, due: Due) -> Result<(), End> {
        let returned = self.host.call(self.now, call, false);
        if returned != Returned::Blocks {
            return self.check_return(call, line, &returned);
        }
        let Some(until) = call.until else {
            let waiting = Waiting { call, line, due };
            return Err(self.blocks(&waiting));
        };
        // The end counts from where the beginning does.
        let to = due.base + micros(until);
        self.waiting.push(Waiting {
            call,
            line,
            due: Due {
                from: to,
                to,
                ..due
            },
        });
        Ok(())
    }

    fn blocks(&self, waiting: &Waiting<'_>) -> End {
        End::Differs(Box::new(Difference {
            line: waiting.line,
            what: "end of the call".to_owned(),
            expected: describe(waiting.call),
            expected_at: self.span(waiting.due),
            found: "the call blocks".to_owned(),
            found_at: seconds(self.now),
        }))
    }

    fn check_return(&self, call: &Call, line: usize, returned: &Returned) -> Result<(), End> {
        let expected = match (&call.error, call.returns.integer()) {
            (Some(error), _) => format!("-1 {error}"),
            (None, Some(value)) => value.to_string(),
            (None, None) => return Ok(()),
        };
        let found = match returned {
            Returned::NotModelled(what) => {
                return Err(End::NotModelled(line, what.clone()));
            }
            Returned::Value(value) => value.to_string(),
            Returned::Error(name) => format!("-1 {name}"),
            Returned::Otherwise(expected, found) => {
                return Err(self.call_differs(call, line, expected, found));
            }
            Returned::Blocks => return Ok(()),
        };
        // Errors that are the same.
        let same = |name: &str| name.replace("EWOULDBLOCK", "EAGAIN");
        match same(&expected) == same(&found) {
            true => Ok(()),
            false => Err(self.call_differs(call, line, &expected, &found)),
        }
    }

    fn call_differs(&self, call: &Call, line: usize, expected: &str, found: &str) -> End {
        End::Differs(Box::new(Difference {
            line,
            what: format!("result of `{}`", call.name),
            expected: expected.to_owned(),
            expected_at: String::new(),
            found: found.to_owned(),
            found_at: seconds(self.now),
        }))
    }

    fn judge(&self, outcome: Outcome) -> Result<(), End> {
        match outcome {
            Outcome::Holds => Ok(()),
            Outcome::NotModelled { at, reason } => {
                Err(End::NotModelled(self.script.line(at), reason))
            }
            Outcome::Fails {
                at,
                compared,
                message,
            } => {
                let (left, right) = compared.unwrap_or_default();
                let text = self.script.rest_of_line(at);
                let found = match (left.is_empty(), message) {
                    (true, Some(message)) => message,
                    (true, None) => "it does not hold".to_owned(),
                    (false, _) => format!("{left}, compared with {right}"),
                };
                Err(End::Differs(Box::new(Difference {
                    line: self.script.line(at),
                    what: "assertion".to_owned(),
                    expected: text.to_owned(),
                    expected_at: String::new(),
                    found,
                    found_at: seconds(self.now),
                })))
            }
        }
    }

    fn span(&self, due: Due) -> String {
        match (due.any, due.from == due.to) {
            (true, _) => "any time".to_owned(),
            (false, true) => seconds(due.from),
            (false, false) => format!("{} to {}", seconds(due.from), seconds(due.to)),
        }
    }
}

/// A moment, in seconds of the script.
fn seconds(at: Time) -> String {
    let us = at.since(START).as_micros();
    format!("{}.{:06} s", us / 1_000_000, us % 1_000_000)
}

fn describe(call: &Call) -> String {
    let arguments: Vec<String> = call.arguments.iter().map(ToString::to_string).collect();
    format!("{}({})", call.name, arguments.join(", "))
}
