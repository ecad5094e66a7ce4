//! The named congestion controls with their default parameters, for code; a
//! scenario goes through [`crate::build`].

use crate::avoidance::{Cubic, Gate, HyblaAvoidance, Reno};
use crate::reaction::{
    Accounting, CubicReaction, Cut, Filter, Halve, PlusFilter, Westwood, WestwoodPlus,
};
use crate::start::{Const, HyStart, HyblaStart, Linear, Mtsi, Standard};
use crate::{Avoidance, Classic, Hoe, HoeForm, Reaction, Start};
use bentpipe_units::{Duration, Segments};

/// The default reference RTT of Hybla.
const RTT0: Duration = Duration::from_millis(25);

/// A slow start with everything else standard: the form of all of Marchese's
/// proposals.
fn with_start(name: &'static str, start: Start) -> Classic {
    Classic::from_slots(
        name,
        start,
        Avoidance::Reno(Reno::default()),
        Reaction::Halve(Halve::default()),
    )
}

impl Classic {
    /// The baseline: RFC 5681. The recovery (NewReno, SACK) is the transport's.
    #[must_use]
    pub fn newreno() -> Classic {
        with_start("newreno", Start::Standard(Standard::default()))
    }

    /// F_CONST (Marchese 2006, eq. 6).
    #[must_use]
    pub fn constant(k: Segments) -> Classic {
        with_start("const", Start::Const(Const::new(k)))
    }

    /// F_LINEAR (Marchese 2006, eq. 7).
    #[must_use]
    pub fn linear(threshold: Segments) -> Classic {
        with_start("linear", Start::Linear(Linear::new(threshold)))
    }

    /// MTSI (Marchese 2006, eq. 3-5); published with thresholds 20, 30, 40 and
    /// slopes 4, 2, 1.
    #[must_use]
    pub fn mtsi(thresholds: &[Segments], slopes: &[Segments]) -> Classic {
        with_start("mtsi", Start::Mtsi(Mtsi::new(thresholds, slopes)))
    }

    /// Westwood (Mascolo et al. 2001).
    #[must_use]
    pub fn westwood() -> Classic {
        let filter = Filter::Tustin {
            tau: Duration::from_millis(500),
            zero_samples: 2.0,
        };
        Classic {
            reaction: Reaction::Westwood(Westwood::new(filter, Accounting::DupAck, 0.0)),
            ..with_start("westwood", Start::Standard(Standard::default()))
        }
    }

    /// Westwood+ (Grieco & Mascolo 2004).
    #[must_use]
    pub fn westwood_plus() -> Classic {
        let reaction = WestwoodPlus::new(
            PlusFilter::Exponential,
            Cut::AtLoss,
            Accounting::DupAck,
            true,
        );
        Classic {
            reaction: Reaction::WestwoodPlus(reaction),
            ..with_start("westwood+", Start::Standard(Standard::default()))
        }
    }

    /// Hybla (Caini & Firrincieli 2006) with reference RTT 25 ms and Hoe's
    /// estimate.
    #[must_use]
    pub fn hybla() -> Classic {
        Classic {
            avoidance: Avoidance::Hybla(HyblaAvoidance::new(RTT0, Gate::Hoe, true)),
            ..with_start("hybla", Start::Hybla(HyblaStart::new(RTT0, true, false)))
        }
        .with_hoe(Hoe::new(HoeForm::Round, true))
    }

    /// CUBIC (RFC 9438) with HyStart++ (RFC 9406).
    #[must_use]
    pub fn cubic() -> Classic {
        let cubic = Cubic::default();
        Classic::from_slots(
            "cubic",
            Start::HyStart(HyStart::new(8.0, true)),
            Avoidance::Cubic(cubic),
            Reaction::Cubic(CubicReaction { beta: cubic.beta }),
        )
    }

    /// cwnd is `window` segments, whatever is lost: for measuring and tests.
    #[must_use]
    pub fn fixed_window(window: Segments) -> Classic {
        Classic::from_slots(
            "fixed-window",
            Start::Fixed(window),
            Avoidance::Hold,
            Reaction::Ignore(window),
        )
    }
}
