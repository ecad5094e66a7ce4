//! From names and parameters to a congestion control.

use super::reader::Reader;
use super::table as p;
use super::{Parameter, Parameters, SlotKind, find, list, nearest, slots};
use crate::avoidance::{Cubic, Gate, Growth, HyblaAvoidance, Reno};
use crate::highspeed::{HighSpeed, HighSpeedLaw};
use crate::reaction::{
    Accounting, CubicReaction, Cut, Filter, HalfOf, Halve, PlusFilter, Westwood, WestwoodPlus,
};
use crate::scalable::Scalable;
use crate::start::{
    Const, HyStart, HyblaStart, Linear, LinearTest, Mtsi, MtsiRule, Scope, Standard, Tie,
};
use crate::{Avoidance, Classic, Controller, Hoe, HoeForm, Reaction, Start};

/// Why a congestion control could not be built, in words for the person who
/// asked for it.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum BuildError {
    /// No algorithm of that name.
    #[error("unknown {kind} `{name}`{}; there are {known}", meant(nearest))]
    UnknownName {
        /// `congestion control`, or the slot.
        kind: &'static str,
        /// What was given.
        name: String,
        /// What was probably meant.
        nearest: Option<&'static str>,
        /// Every name, for the message.
        known: String,
    },
    /// The algorithm has no such parameter.
    #[error(
        "`{algorithm}` has no parameter `{parameter}`{}; it has {known}",
        meant(nearest)
    )]
    UnknownParameter {
        /// The algorithm.
        algorithm: String,
        /// What was given.
        parameter: String,
        /// What was probably meant.
        nearest: Option<&'static str>,
        /// Every name, for the message.
        known: String,
    },
    /// The parameter cannot have that value.
    #[error("parameter `{parameter}` of `{algorithm}` is {given}: expected {expected}")]
    BadValue {
        /// The algorithm.
        algorithm: String,
        /// The parameter.
        parameter: &'static str,
        /// What was given.
        given: String,
        /// What would have been right.
        expected: String,
    },
}

fn meant(nearest: &Option<&'static str>) -> String {
    nearest.map_or_else(String::new, |name| format!(" (did you mean `{name}`?)"))
}

pub(super) fn names<'a>(names: impl Iterator<Item = &'a str>) -> String {
    let quoted: Vec<String> = names.map(|name| format!("`{name}`")).collect();
    if quoted.is_empty() {
        "none".to_owned()
    } else {
        quoted.join(", ")
    }
}

/// Builds the named congestion control; what `parameters` leave out has its
/// default.
pub fn build(name: &str, parameters: &Parameters) -> Result<Controller, BuildError> {
    let all = || list().map(|described| described.name);
    let described = find(name).ok_or_else(|| BuildError::UnknownName {
        kind: "congestion control",
        name: name.to_owned(),
        nearest: nearest(name, all()),
        known: names(all()),
    })?;
    let reader = Reader::new(name, described.parameters, parameters)?;
    if let Some(slots) = described.slots {
        let slots = (slots.start, slots.avoidance, slots.reaction);
        let classic = reader.classic(described.name.into(), slots)?;
        return Ok(Controller::Classic(classic));
    }
    let whole = super::delay::build(name, &reader)
        .or_else(|| super::satellite::build(name, &reader))
        .or_else(|| super::linux::build(name, &reader))
        .or_else(|| super::explicit::build(name, &reader));
    let whole = match whole {
        Some(whole) => Some(whole),
        None => match super::kernel::build(name, &reader)? {
            Some(whole) => Some(whole),
            None => super::model::build(name, &reader)?,
        },
    };
    // A name without slots is one of a family: the test that builds every name
    // sees to it.
    debug_assert!(whole.is_some(), "nothing builds `{name}`");
    Ok(whole.map_or_else(|| Classic::newreno().into(), Controller::Whole))
}

/// Builds a combination of three slots by their names ([`slots`]); parameters
/// are those of the three and `hoe`.
pub fn build_slots(
    start: &str,
    avoidance: &str,
    reaction: &str,
    parameters: &Parameters,
) -> Result<Classic, BuildError> {
    let wanted = [
        (SlotKind::Start, start),
        (SlotKind::Avoidance, avoidance),
        (SlotKind::Reaction, reaction),
    ];
    let mut described: Vec<Parameter> = Vec::new();
    let mut add = |list: &[Parameter]| {
        for parameter in list {
            if !described.iter().any(|have| have.name == parameter.name) {
                described.push(*parameter);
            }
        }
    };
    for (kind, name) in wanted {
        let all = || slots(kind).iter().map(|slot| slot.name);
        let slot = slots(kind)
            .iter()
            .find(|slot| slot.name == name)
            .ok_or_else(|| BuildError::UnknownName {
                kind: kind.name(),
                name: name.to_owned(),
                nearest: nearest(name, all()),
                known: names(all()),
            })?;
        add(slot.parameters);
    }
    add(p::HOE);
    let name = format!("{start}/{avoidance}/{reaction}");
    let reader = Reader::new(&name, &described, parameters)?;
    reader.classic(name.clone().into(), (start, avoidance, reaction))
}

impl Reader<'_> {
    pub(super) fn classic(
        &self,
        name: std::borrow::Cow<'static, str>,
        (start, avoidance, reaction): (&str, &str, &str),
    ) -> Result<Classic, BuildError> {
        let mut classic = Classic::from_slots(
            name,
            self.start(start)?,
            self.avoidance(avoidance),
            self.reaction(reaction),
        );
        classic.hoe = self.hoe(&classic.avoidance);
        Ok(classic)
    }

    /// Hoe's estimate, if it sets ssthresh or if Hybla's gate needs it.
    fn hoe(&self, avoidance: &Avoidance) -> Option<Hoe> {
        if !self
            .described
            .iter()
            .any(|parameter| parameter.name == "hoe")
        {
            return None;
        }
        let gated = matches!(avoidance, Avoidance::Hybla(hybla) if hybla.gate == Gate::Hoe);
        match (self.is("hoe", "off"), self.is("hoe", "ns-2")) {
            (true, _) => gated.then(|| Hoe::new(HoeForm::Round, false)),
            (false, true) => Some(Hoe::new(HoeForm::Ns2, true)),
            (false, false) => Some(Hoe::new(HoeForm::Round, true)),
        }
    }

    fn start(&self, name: &str) -> Result<Start, BuildError> {
        Ok(match name {
            "const" => Start::Const(Const::new(self.number("k"))),
            "linear" => {
                let mut linear = Linear::new(self.number("threshold"));
                linear.constant = self.number("constant");
                if self.is("test", "ack-count") {
                    linear.test = LinearTest::AckCount;
                }
                Start::Linear(linear)
            }
            "mtsi" => Start::Mtsi(self.mtsi()?),
            "hybla" => Start::Hybla(HyblaStart::new(
                self.duration("rtt0"),
                self.flag("doubling_limit"),
                self.is("start_window", "rho"),
            )),
            "hystart++" => Start::HyStart(HyStart::new(self.number("limit"), self.flag("hystart"))),
            "fixed" => Start::Fixed(self.number("window")),
            _ => Start::Standard(Standard {
                byte_counting: self.number("byte_counting"),
            }),
        })
    }

    fn mtsi(&self) -> Result<Mtsi, BuildError> {
        let (thresholds, slopes) = (self.numbers("thresholds"), self.numbers("slopes"));
        if thresholds.windows(2).any(|pair| pair[0] >= pair[1]) {
            let expected = "thresholds that ascend".to_owned();
            return Err(self.bad("thresholds", &self.value("thresholds"), expected));
        }
        if thresholds.len() != slopes.len() {
            let expected = format!("as many slopes as thresholds ({})", thresholds.len());
            return Err(self.bad("slopes", &self.value("slopes"), expected));
        }
        let rule = if self.is("rule", "B") {
            MtsiRule::B
        } else {
            MtsiRule::A
        };
        let tie = if self.is("tie", "le") {
            Tie::Le
        } else {
            Tie::Lt
        };
        let scope = if self.is("scope", "linux-2.2-equality") {
            Scope::Linux22Equality
        } else if self.is("scope", "below-threshold") {
            Scope::BelowThreshold
        } else {
            Scope::Strict
        };
        Ok(Mtsi::new(&thresholds, &slopes)
            .with_rule(rule, tie)
            .with_scope(scope)
            .with_f0(self.number("f0")))
    }

    fn avoidance(&self, name: &str) -> Avoidance {
        match name {
            "hybla" => {
                let gate = if self.is("gate", "off") {
                    Gate::Off
                } else if self.is("gate", "delivery-rate") {
                    Gate::DeliveryRate
                } else {
                    Gate::Hoe
                };
                Avoidance::Hybla(HyblaAvoidance::new(
                    self.duration("rtt0"),
                    gate,
                    self.is("count", "segments"),
                ))
            }
            "cubic" => {
                let mut cubic = Cubic::default();
                cubic.c = self.number("c");
                cubic.beta = self.number("beta");
                cubic.fast_convergence = self.flag("fast_convergence");
                cubic.reno_friendly = self.flag("reno_friendly");
                cubic.per_segment = self.is("count", "segments");
                Avoidance::Cubic(cubic)
            }
            "highspeed" => Avoidance::HighSpeed(self.highspeed()),
            "scalable" => Avoidance::Scalable(self.scalable()),
            "hold" => Avoidance::Hold,
            _ => Avoidance::Reno(Reno::new(if self.is("growth", "integer") {
                Growth::Integer
            } else if self.is("growth", "per-segment") {
                Growth::PerSegment
            } else {
                Growth::PerAck
            })),
        }
    }

    fn reaction(&self, name: &str) -> Reaction {
        match name {
            "westwood" => self.westwood(),
            "westwood+" => Reaction::WestwoodPlus(self.westwood_plus()),
            "cubic" => Reaction::Cubic(CubicReaction {
                beta: self.number("beta"),
            }),
            "highspeed" => Reaction::HighSpeed(self.highspeed()),
            "scalable" => Reaction::Scalable(self.scalable()),
            "ignore" => Reaction::Ignore(0.0),
            _ => Reaction::Halve(Halve {
                of: if self.is("half_of", "window") {
                    HalfOf::Window
                } else {
                    HalfOf::Flight
                },
                whole: self.flag("whole_ssthresh"),
                exact: false,
            }),
        }
    }

    fn westwood(&self) -> Reaction {
        let (cap, restart) = (self.number("count_cap"), self.number("timeout_window"));
        if self.is("filter", "type-4") {
            let exponential = PlusFilter::Exponential;
            let plus = WestwoodPlus::new(exponential, Cut::AtLoss, self.accounting(), false);
            return Reaction::WestwoodPlus(plus.with_limits(cap, restart));
        }
        let tau = self.duration("tau");
        let types = [
            ("type-0", Filter::TYPE_0),
            ("type-1", Filter::TYPE_1),
            ("type-2", Filter::TYPE_2),
            ("type-3", Filter::type_3(tau)),
        ];
        let zero_samples = self.number("zero_samples");
        let filter = types
            .iter()
            .find(|(word, _)| self.is("filter", word))
            .map_or(Filter::Tustin { tau, zero_samples }, |(_, filter)| *filter);
        let westwood = Westwood::new(filter, self.accounting(), cap);
        Reaction::Westwood(westwood.with_timeout_window(restart))
    }

    fn westwood_plus(&self) -> WestwoodPlus {
        let from_zero = self.is("filter", "linux-from-zero");
        let filter = if from_zero || self.is("filter", "linux") {
            PlusFilter::Linux {
                tick_rate: self.number("tick_rate"),
                from_zero,
            }
        } else if self.is("filter", "exponential") {
            PlusFilter::Exponential
        } else if self.is("filter", "time-constant") {
            PlusFilter::TimeConstant(self.duration("tau"))
        } else {
            PlusFilter::Tustin
        };
        let cut = if self.is("cut", "linux") {
            Cut::Linux
        } else {
            Cut::AtLoss
        };
        WestwoodPlus::new(
            filter,
            cut,
            self.accounting(),
            self.flag("skip_app_limited"),
        )
    }

    fn highspeed(&self) -> HighSpeed {
        let law = if self.is("law", "table") {
            HighSpeedLaw::Table
        } else {
            HighSpeedLaw::Formula
        };
        HighSpeed::new(
            law,
            self.number("low_window"),
            self.number("high_window"),
            self.number("high_p"),
            self.number("high_decrease"),
        )
    }

    fn scalable(&self) -> Scalable {
        Scalable {
            increase: self.number("increase"),
            decrease: self.number("decrease"),
            low_window: self.number("low_window"),
            per_segment: self.is("count", "segments"),
        }
    }

    fn accounting(&self) -> Accounting {
        if self.is("accounting", "delivered") {
            Accounting::Delivered
        } else {
            Accounting::DupAck
        }
    }
}
