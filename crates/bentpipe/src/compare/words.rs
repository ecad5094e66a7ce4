//! The recommendation in sentences.

use super::{Availability, DEFAULT, Pep, Ranking, Recommendation, Risk, TransportResult};
use bentpipe_report::text::{digits3, percent, seconds};

impl Pep {
    /// The proxy in words.
    #[must_use]
    pub const fn describe(self) -> &'static str {
        match self {
            Pep::None => "No proxy",
            Pep::Split => "Split-connection PEP at the gateway, CUBIC before it",
            Pep::Snoop => "Snoop at the gateway",
        }
    }

    /// Its name, as the command line and JSON have it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Pep::None => "none",
            Pep::Split => "split",
            Pep::Snoop => "snoop",
        }
    }
}

impl Ranking {
    /// The recommendation in a few words.
    #[must_use]
    pub fn headline(&self) -> String {
        match self.recommended() {
            None => "no transport ended a download".to_owned(),
            Some(pick) => match pick.availability {
                Availability::Default => format!("keep {}, the default of Linux", pick.name),
                Availability::Absent => format!("{} (not in stock Linux)", pick.name),
                _ => pick.name.clone(),
            },
        }
    }

    /// Why it is recommended, in sentences; empty without a recommendation.
    #[must_use]
    pub fn reasons(&self) -> Vec<String> {
        let Some(advice) = &self.recommendation else {
            return Vec::new();
        };
        let results = &self.results;
        let pick = &results[advice.pick];
        let mut lines = vec![gain(results, advice)];
        if !advice.as_fast.is_empty() {
            let names = names(results, &advice.as_fast);
            let verb = match advice.as_fast.len() {
                1 => "is",
                _ => "are",
            };
            let why = match pick.availability {
                Availability::Default => "it is preferred because there is nothing to change",
                Availability::Setting => "it is preferred because a setting is enough",
                Availability::Module => "it is preferred because it comes with Linux",
                Availability::Absent | Availability::Reference => "it had the shortest mean time",
            };
            let precision = match self.seeds.len() {
                1 => "(less than 2% apart)".to_owned(),
                runs => format!("by what {runs} runs can tell (95%, or less than 2% apart)"),
            };
            lines.push(format!("{names} {verb} as fast {precision}; {why}."));
        }
        if let Some(wasteful) = advice.wasteful {
            let other = &results[wasteful];
            lines.push(format!(
                "Not recommended: {} ({}), which sends {} of its packets again.",
                other.name,
                seconds(mean(other)),
                percent(other.resent_share),
            ));
        }
        if let Some(gentler) = advice.gentler {
            let other = &results[gentler];
            lines.push(format!(
                "Gentler: {} takes {} and makes others wait {} instead of {} (95th percentile){}.",
                other.name,
                seconds(mean(other)),
                seconds(other.p95_queueing_delay_s),
                seconds(pick.p95_queueing_delay_s),
                match other.availability {
                    Availability::Absent => "; it is not in stock Linux",
                    _ => "",
                }
            ));
        }
        lines
    }

    /// How the recommended transport is switched on: a sentence, and commands.
    #[must_use]
    pub fn switch_on(&self) -> (String, &[String]) {
        let Some(pick) = self.recommended() else {
            return (String::new(), &[]);
        };
        let text = match pick.availability {
            _ if pick.switch.iter().any(|line| line.contains("receiver")) => {
                "Switch it on:".to_owned()
            }
            Availability::Default => String::new(),
            Availability::Setting | Availability::Module if self.path.pep == Pep::Split => {
                "Switch it on at the proxy, which sends over the satellite; server and receiver \
                 need no change:"
                    .to_owned()
            }
            Availability::Setting | Availability::Module => {
                "Switch it on at the sender of the data; the receiver needs no change:".to_owned()
            }
            Availability::Absent | Availability::Reference if pick.switch.is_empty() => format!(
                "There is nothing to switch on: {} is not in stock Linux, and bentpipe has no \
                 kernel congestion control for it. This is a prediction.",
                pick.name
            ),
            Availability::Absent | Availability::Reference => format!(
                "{} is not in stock Linux. bentpipe puts it into the running kernel of the sender \
                 (Linux 6.4 or newer; `bentpipe doctor` tells):",
                pick.name
            ),
        };
        (text, &pick.switch)
    }

    /// What to use with stock Linux, where the recommended transport is not in
    /// it: a sentence, and commands.
    #[must_use]
    pub fn on_stock_linux(&self) -> Option<(String, &[String])> {
        let advice = self.recommendation.as_ref()?;
        let results = &self.results;
        let (today, pick) = (&results[advice.today?], &results[advice.pick]);
        let time = seconds(mean(today));
        let ratio = digits3(mean(today) / mean(pick));
        let far = format!("{ratio} times the time of {}", pick.name);
        let text = if today.availability == Availability::Default {
            format!(
                "With stock Linux, today: keep {} ({time}, {far}). None of the other choices that \
                 Linux offers is both faster beyond chance and thrifty.",
                today.name,
            )
        } else {
            let default = advice.default.map(|d| &results[d]);
            let gain = default.filter(|d| d.times.is_some()).map(|d| {
                let less = 100.0 * (1.0 - mean(today) / mean(d));
                format!(", {less:.0}% less than {}", d.name)
            });
            let gain = gain.unwrap_or_default();
            format!(
                "With stock Linux, today: {} ({time}{gain}; {far}):",
                today.name
            )
        };
        Some((text, &today.switch))
    }
}

fn gain(results: &[TransportResult], advice: &Recommendation) -> String {
    let pick = &results[advice.pick];
    let time = seconds(mean(pick));
    let Some(default) = advice.default.filter(|d| *d != advice.pick) else {
        let real = |m: &&TransportResult| m.availability != Availability::Reference;
        let slower = results.iter().filter(real).count() - 1;
        return match (pick.availability, slower) {
            (Availability::Default, 1) => format!(
                "A download takes {time}, and the other transport that could be recommended is \
                 not faster by more than chance."
            ),
            (Availability::Default, 2..) => format!(
                "A download takes {time}, and none of the {slower} others that could be \
                 recommended is faster by more than chance."
            ),
            _ => format!("A download takes {time}."),
        };
    };
    let usual = &results[default];
    let name = &usual.name;
    let with = format!("{} with {name}, the default of Linux", seconds(mean(usual)));
    match advice.speedup {
        Some(factor) if factor >= 1.5 => {
            format!(
                "{time} instead of {with}: {} times as fast.",
                digits3(factor)
            )
        }
        Some(factor) => {
            let less = 100.0 * (1.0 - 1.0 / factor);
            format!("{time} instead of {with}: {less:.0}% less time.")
        }
        None if usual.times.is_none() => {
            format!("{time}; with {name}, the default of Linux, no download ended.")
        }
        None => format!("{time}; {with}."),
    }
}

impl Risk {
    /// What the risk is, in one word.
    #[must_use]
    pub const fn kind(&self) -> &'static str {
        match self {
            Risk::Queueing { .. } => "queueing",
            Risk::Resending { .. } => "retransmissions",
            Risk::Overflow { .. } => "overflow",
            Risk::Timeouts { .. } => "timeouts",
            Risk::Spread { .. } => "spread",
            Risk::Unfinished { .. } => "unfinished",
            Risk::Unfair { .. } => "unfairness",
        }
    }

    /// The risk as a sentence about the transport called `name`.
    #[must_use]
    pub fn explain(&self, name: &str) -> String {
        let beside =
            |x: Option<String>| x.map_or_else(String::new, |x| format!(" ({DEFAULT}: {x})"));
        match *self {
            Risk::Queueing { wait, default } => format!(
                "Others wait: packets of other flows would meet a queue of {} at this link (95th \
                 percentile of the download's time){}.",
                seconds(wait),
                beside(default.map(seconds)),
            ),
            Risk::Resending { share, default } => format!(
                "It sends {} of its packets again{}.",
                percent(share),
                beside(default.map(percent)),
            ),
            Risk::Overflow { drops, default } => format!(
                "It overruns the queue: {} packets dropped per download{}. On a shared link \
                 others lose packets too.",
                count(drops),
                beside(default.map(count)),
            ),
            Risk::Timeouts { count } => {
                format!("It stalls: {} timeouts per download.", digits3(count))
            }
            Risk::Spread { min, max } => format!(
                "It varies: equal downloads took from {} to {}, by which packets were lost.",
                seconds(min),
                seconds(max),
            ),
            Risk::Unfinished { count, of } => format!("{count} of {of} downloads did not end."),
            Risk::Unfair {
                beside_itself,
                beside_it,
            } => format!(
                "It takes more than its share: a {DEFAULT} download beside it takes {}; beside \
                 another {DEFAULT} download, {}. Test {name} before you use it on a shared link.",
                seconds(beside_it),
                seconds(beside_itself),
            ),
        }
    }
}

fn count(x: f64) -> String {
    if x >= 10.0 {
        format!("{x:.0}")
    } else {
        digits3(x)
    }
}

/// `a, b and c`; of many, the first.
fn names(results: &[TransportResult], places: &[usize]) -> String {
    const SHOWN: usize = 5;
    let shown = if places.len() > SHOWN + 1 {
        SHOWN
    } else {
        places.len()
    };
    let named = places[..shown].iter().map(|i| results[*i].name.clone());
    let rest = (shown < places.len()).then(|| format!("{} more", places.len() - shown));
    let names: Vec<String> = named.chain(rest).collect();
    match names.as_slice() {
        [] => String::new(),
        [one] => one.clone(),
        [most @ .., last] => format!("{} and {last}", most.join(", ")),
    }
}

fn mean(m: &TransportResult) -> f64 {
    m.times.map_or(f64::NAN, |t| t.mean)
}
