//! The pairs of Rust and C implementations, with their settings.

use super::pair::Pair;
use bentpipe_cc::{ParameterValue, Parameters, find};

/// Both sides of a comparison.
pub(crate) struct Case {
    rust: &'static str,
    c: &'static str,
    rust_settings: Parameters,
    c_settings: Parameters,
    /// What the transport of that name has.
    recovery_fix: bool,
}

/// The defaults of both.
fn case(rust: &'static str, c: &'static str) -> Case {
    // What the kernel keeps as ssthresh is whole; where the Rust halves, it has a
    // setting for that.
    let halves = find(rust).is_some_and(|found| {
        let mut parameters = found.parameters.iter();
        parameters.any(|parameter| parameter.name == "whole_ssthresh")
    });
    let mut rust_settings = Parameters::new();
    if halves {
        rust_settings.set("whole_ssthresh", true);
    }
    Case {
        rust,
        c,
        rust_settings,
        c_settings: Parameters::new(),
        recovery_fix: false,
    }
}

impl Case {
    /// The same with a parameter that both have.
    fn with(mut self, name: &str, value: impl Into<ParameterValue>) -> Case {
        let value = value.into();
        self.rust_settings.set(name, value.clone());
        self.c_settings.set(name, value);
        self
    }

    /// The same on a host with the recovery fix, which the C has by itself.
    fn fixed(mut self) -> Case {
        self.recovery_fix = true;
        self
    }

    /// The control and what is set.
    pub(crate) fn name(&self) -> String {
        let settings = self.c_settings.iter();
        settings.fold(self.c.to_owned(), |name, (parameter, value)| {
            format!("{name} {parameter}={value}")
        })
    }

    pub(crate) fn pair(&self) -> Pair {
        Pair::new(
            (self.rust, &self.rust_settings),
            (self.c, &self.c_settings),
            6.0,
            self.recovery_fix,
        )
    }
}

pub(crate) fn all() -> Vec<Case> {
    let mut cases = vec![
        case("const", "bp_const"),
        case("const", "bp_const").with("k", 1.0),
        case("linear", "bp_linear"),
        case("linear", "bp_linear").with("test", "ack-count"),
        case("mtsi", "bp_mtsi"),
    ];
    for (rule, tie, scope) in [
        ("B", "lt", "strict"),
        ("B", "le", "strict"),
        ("A", "le", "linux-2.2-equality"),
        ("A", "lt", "below-threshold"),
        ("B", "le", "below-threshold"),
    ] {
        let mtsi = case("mtsi", "bp_mtsi").with("rule", rule);
        cases.push(mtsi.with("tie", tie).with("scope", scope));
    }
    cases.extend([
        case("hybla", "bp_hybla").fixed(),
        case("hybla", "bp_hybla").with("gate", "off").fixed(),
        case("hybla", "bp_hybla").with("hoe", "off").fixed(),
        case("hybla", "bp_hybla").with("count", "acks").fixed(),
        case("westwood", "bp_westwood"),
        case("westwood", "bp_westwood").with("filter", "type-1"),
        case("westwood", "bp_westwood").with("accounting", "delivered"),
        case("westwood+", "bp_westwoodp"),
        case("westwood+", "bp_westwoodp").with("filter", "tustin"),
        case("westwood+", "bp_westwoodp").with("cut", "linux"),
        case("westwood", "bp_etcpw").with("hoe", "round").fixed(),
        case("vegas", "bp_vegas"),
        case("vegas", "bp_vegas").with("whole_diff", false),
        case("new-vegas", "bp_newvegas"),
        case("veno", "bp_veno"),
        // Without a dead band the Rust takes what is left of equal means after
        // floating-point division for a rise or a fall; the C compares fractions.
        case("proactive", "bp_proactive").with("dead_band", 0.000_001),
        case("proactive", "bp_proactive")
            .with("dead_band", 0.001)
            .with("slow_start", "one-rise")
            .with("after_error", "by-ssthresh")
            .with("timeout_ssthresh", "flight"),
        case("scalable", "bp_scalable"),
        case("scalable", "bp_scalable").with("count", "segments"),
        case("highspeed", "bp_highspeed"),
        case("highspeed", "bp_highspeed").with("count", "segments"),
        case("search/cubic/cubic", "bp_cubic_search"),
        case("search/cubic/cubic", "bp_cubic_search").with("count", "segments"),
        case("search/cubic/cubic", "bp_cubic_search").with("rolls_back", false),
        case("search/cubic/cubic", "bp_cubic_search")
            .with("fast_convergence", false)
            .with("reno_friendly", false),
    ]);
    cases
}
