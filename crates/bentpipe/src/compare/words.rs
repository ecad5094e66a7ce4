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
        headline(self)
    }

    /// Why it is recommended, in sentences; empty without a recommendation.
    #[must_use]
    pub fn reasons(&self) -> Vec<String> {
        let found = self.recommendation.as_ref();
        found.map_or_else(Vec::new, |found| reasons(self, found))
    }

    /// How the recommended transport is switched on: a sentence, and commands.
    #[must_use]
    pub fn switch_on(&self) -> (String, &[String]) {
        let pick = self.recommended();
        pick.map_or_else(|| (String::new(), &[][..]), |pick| how(pick, self.path.pep))
    }

    /// What to use with stock Linux, where the recommended transport is not in
    /// it: a sentence, and commands.
    #[must_use]
    pub fn on_stock_linux(&self) -> Option<(String, &[String])> {
        let found = self.recommendation.as_ref()?;
        let text = today(self, found)?;
        Some((text, &self.results[found.today?].switch))
    }
}

/// The headline: what to do.
fn headline(comparison: &Ranking) -> String {
    let Some(advice) = &comparison.recommendation else {
        return "no transport ended a download".to_owned();
    };
    let pick = &comparison.results[advice.pick];
    if pick.availability == Availability::Default {
        format!("keep {}, the default of Linux", pick.name)
    } else if pick.availability == Availability::Absent {
        format!("{} (not in stock Linux)", pick.name)
    } else {
        pick.name.clone()
    }
}

/// Why: the gain, and who is as fast.
fn reasons(comparison: &Ranking, advice: &Recommendation) -> Vec<String> {
    let results = &comparison.results;
    let pick = &results[advice.pick];
    let mut lines = vec![gain(results, advice)];
    if !advice.as_fast.is_empty() {
        let names = names(results, &advice.as_fast);
        let verb = if advice.as_fast.len() == 1 {
            "is"
        } else {
            "are"
        };
        let why = match pick.availability {
            Availability::Default => "it is preferred because there is nothing to change",
            Availability::Setting => "it is preferred because a setting is enough",
            Availability::Module => "it is preferred because it comes with Linux",
            Availability::Absent | Availability::Reference => "it had the shortest mean time",
        };
        let tell = match comparison.seeds.len() {
            1 => "(less than 2% apart)".to_owned(),
            runs => format!("by what {runs} runs can tell (95%, or less than 2% apart)"),
        };
        lines.push(format!("{names} {verb} as fast {tell}; {why}."));
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
            if other.availability == Availability::Absent {
                "; it is not in stock Linux"
            } else {
                ""
            },
        ));
    }
    lines
}

fn gain(results: &[TransportResult], advice: &Recommendation) -> String {
    let pick = &results[advice.pick];
    let time = seconds(mean(pick));
    let Some(default) = advice.default.filter(|d| *d != advice.pick) else {
        let slower = results
            .iter()
            .filter(|m| m.availability != Availability::Reference)
            .count()
            - 1;
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
    let with = format!(
        "{} with {}, the default of Linux",
        seconds(mean(usual)),
        usual.name
    );
    match advice.speedup {
        Some(factor) if factor >= 1.5 => {
            format!(
                "{time} instead of {with}: {} times as fast.",
                digits3(factor)
            )
        }
        Some(factor) => {
            format!(
                "{time} instead of {with}: {:.0}% less time.",
                100.0 * (1.0 - 1.0 / factor)
            )
        }
        None if usual.times.is_none() => {
            format!(
                "{time}; with {}, the default of Linux, no download ended.",
                usual.name
            )
        }
        None => format!("{time}; {with}."),
    }
}

/// How it is switched on; commands are lines of their own.
fn how(pick: &TransportResult, pep: Pep) -> (String, &[String]) {
    let text = match pick.availability {
        Availability::Default => String::new(),
        Availability::Setting | Availability::Module if pep == Pep::Split => {
            "Switch it on at the proxy, which sends over the satellite; server and receiver need \
             no change:"
                .to_owned()
        }
        Availability::Setting | Availability::Module => {
            "Switch it on at the sender of the data; the receiver needs no change:".to_owned()
        }
        Availability::Absent | Availability::Reference if pick.switch.is_empty() => format!(
            "There is nothing to switch on: {} is not in stock Linux, and bentpipe has no kernel \
             congestion control for it. This is a prediction.",
            pick.name
        ),
        Availability::Absent | Availability::Reference => format!(
            "{} is not in stock Linux. bentpipe puts it into the running kernel of the sender \
             (Linux 6.4 or newer; `bentpipe doctor` tells):",
            pick.name
        ),
    };
    let only_sender = !pick.switch.iter().any(|line| line.contains("receiver"));
    let text = if only_sender {
        text
    } else {
        "Switch it on:".to_owned()
    };
    (text, &pick.switch)
}

/// What to do on stock Linux, where the pick is not in it.
fn today(comparison: &Ranking, advice: &Recommendation) -> Option<String> {
    let results = &comparison.results;
    let today = &results[advice.today?];
    let ratio = mean(today) / mean(&results[advice.pick]);
    let far = format!(
        "{} times the time of {}",
        digits3(ratio),
        results[advice.pick].name
    );
    Some(if today.availability == Availability::Default {
        format!(
            "With stock Linux, today: keep {} ({}, {far}). None of the other choices that Linux \
             offers is both faster beyond chance and thrifty.",
            today.name,
            seconds(mean(today)),
        )
    } else {
        let gain = advice
            .default
            .filter(|d| results[*d].times.is_some())
            .map_or_else(String::new, |d| {
                let less = 100.0 * (1.0 - mean(today) / mean(&results[d]));
                format!(", {less:.0}% less than {}", results[d].name)
            });
        format!(
            "With stock Linux, today: {} ({}{gain}; {far}):",
            today.name,
            seconds(mean(today)),
        )
    })
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
        risk(self, name, DEFAULT)
    }
}

fn risk(risk: &Risk, name: &str, default: &str) -> String {
    let usual = |x: Option<String>| x.map_or_else(String::new, |x| format!(" ({default}: {x})"));
    match *risk {
        Risk::Queueing { wait, default } => format!(
            "Others wait: packets of other flows would meet a queue of {} at this link (95th \
             percentile of the download's time){}.",
            seconds(wait),
            usual(default.map(seconds)),
        ),
        Risk::Resending { share, default } => format!(
            "It sends {} of its packets again{}.",
            percent(share),
            usual(default.map(percent)),
        ),
        Risk::Overflow { drops, default } => format!(
            "It overruns the queue: {} packets dropped per download{}. On a shared link others \
             lose packets too.",
            count(drops),
            usual(default.map(count)),
        ),
        Risk::Timeouts { count: n } => {
            format!("It stalls: {} timeouts per download.", digits3(n))
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
            "It takes more than its share: a {default} download beside it takes {}; beside \
             another {default} download, {}. Test {name} before you use it on a shared link.",
            seconds(beside_it),
            seconds(beside_itself),
        ),
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
    let mut names: Vec<String> = places
        .iter()
        .take(SHOWN)
        .map(|i| results[*i].name.clone())
        .collect();
    if places.len() > SHOWN + 1 {
        names.push(format!("{} more", places.len() - SHOWN));
    } else {
        names.extend(places.iter().skip(SHOWN).map(|i| results[*i].name.clone()));
    }
    match names.as_slice() {
        [] => String::new(),
        [one] => one.clone(),
        [most @ .., last] => format!("{} and {last}", most.join(", ")),
    }
}

fn mean(m: &TransportResult) -> f64 {
    m.times.map_or(f64::NAN, |t| t.mean)
}
