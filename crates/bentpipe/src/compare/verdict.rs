//! What is decided, and the thresholds of the [decision](super::decide).

use super::traffic::Activity;
use bentpipe_outcome::record;
use bentpipe_units::Bytes;

/// A gain below this is no reason to change a server: links vary more than that
/// from hour to hour.
pub const WORTH: f64 = 0.03;

/// Rows whose times are this close are equally fast to a user.
pub const CLOSE: f64 = 0.02;

/// The same where the slower one spares others what the faster one costs them.
pub const CLOSE_AND_GENTLER: f64 = 0.04;

/// A proxy must gain this over what needs none, or a lesser one: a box to buy and to
/// keep must give a little more than a setting.
pub const PROXY_WORTH: f64 = 0.05;

/// The recommended row is shown to be at most this share of the baseline's time slower
/// than any other that could be: a few percent are noticed by nobody.
pub const AS_GOOD: f64 = 0.05;

/// Where users do several things, none of them may take longer by more than this.
pub const LOSS_LIMIT: f64 = 0.05;

/// A setting that slows others down by more than this is not recommended: a
/// fifth is what RFC 5033 would not call a minor effect, and who shares the link
/// would notice.
pub const HARM_LIMIT: f64 = 0.20;

/// Others that are slowed down by less than this are not mentioned: any two flows that
/// share a link vary by as much.
pub const HARM_NOTED: f64 = 0.05;

/// A setting that sends more of its packets again than this, beyond what the
/// channel loses, is not recommended: satellite capacity is paid for by the bit.
pub const WASTE_LIMIT: f64 = 0.10;

/// Waste below this, or no more than this beyond the baseline's, is not mentioned.
pub const WASTE_NOTED: f64 = 0.02;

/// Additional losses of the background traffic below this are not mentioned: they are
/// within what its queue drops anyway.
pub const BACKGROUND_NOTED: f64 = 0.005;

/// A wait of others in the queue below this is not mentioned, nor one that is
/// not longer by half than with the baseline: it is what a good call tolerates.
pub const WAIT_NOTED_S: f64 = 0.05;

/// How many times as long as the baseline's a wait must be to be mentioned.
pub const WAIT_RATIO: f64 = 1.5;

/// A slow tenth that is this many times as slow as the baseline's is mentioned,
/// and one that is this many times as slow as the mean.
pub const SLOW_NOTED: f64 = 1.3;

/// What is decided.
#[derive(Clone, Debug, Default, PartialEq)]
#[cfg_attr(not(feature = "exhaustive"), non_exhaustive)]
pub struct Verdict {
    /// The recommended row of [`Answer::rows`](super::Answer::rows); `None` if nothing ended.
    pub pick: Option<usize>,
    /// The row that is there unless something is changed.
    pub baseline: usize,
    /// What the pick gains over the baseline.
    pub gain: Option<Gain>,
    /// Rows that are as fast as the pick and further from use, nearest first.
    pub as_good: Vec<usize>,
    /// Rows that are faster than the pick and not recommended, fastest first.
    pub rejected: Vec<(usize, Objection)>,
    /// What the pick costs, the weightiest first.
    pub costs: Vec<Cost>,
    /// What the pick does to the others that share the link, where that was
    /// measured.
    pub harm: Option<Harm>,
    /// Sizes for which another row is better by more than [`WORTH`].
    pub by_size: Vec<(Bytes, usize, Gain)>,
    /// How sure it is.
    pub certainty: Certainty,
    /// Where it is not clear: the row that may be better than the pick, or that the pick
    /// may be no better than, and what decides between the two.
    pub against: Option<Against>,
}

/// What a verdict that is not clear stands against.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(not(feature = "exhaustive"), non_exhaustive)]
pub struct Against {
    /// The other row.
    pub row: usize,
    /// What it gains over the baseline.
    pub gain: Option<Gain>,
    /// What others lose beside it.
    pub harm: Option<Harm>,
    /// What decides between the two.
    pub threshold: Threshold,
    /// What would probably tell, of an open verdict.
    pub needed: Option<Needed>,
}

record! {
    /// The runs that an open verdict probably needs, of each row that is open.
    #[derive(Clone, Copy, Debug, Default, PartialEq)]
    #[cfg_attr(not(feature = "exhaustive"), non_exhaustive)]
    pub struct Needed document {
        /// At least so many runs.
        counter least_runs: usize;
        /// So many are enough in four of five cases.
        counter runs: usize;
        /// Packets that those of all open rows take.
        counter packets: u64;
        /// What `--time` takes to make them, all runs so far included, seconds.
        gauge time_s: f64;
    }
}

/// What decides whether a row is recommended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(not(feature = "exhaustive"), non_exhaustive)]
pub enum Threshold {
    /// The least that is worth a change: [`WORTH`], of a proxy [`PROXY_WORTH`].
    Gain,
    /// What others may lose: [`HARM_LIMIT`].
    Harm,
    /// What may be sent again: [`WASTE_LIMIT`].
    Waste,
    /// What an activity may lose: [`LOSS_LIMIT`].
    Loss(Activity),
    /// Whether all runs end.
    End,
    /// Which of two is faster: [`AS_GOOD`].
    Faster,
}

impl Threshold {
    /// A word for JSON.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Threshold::Gain => "gain",
            Threshold::Harm => "harm",
            Threshold::Waste => "waste",
            Threshold::Loss(_) => "loss of an activity",
            Threshold::End => "unfinished runs",
            Threshold::Faster => "faster",
        }
    }
}

record! {
    /// Time that is saved, as a share of the baseline's.
    #[derive(Clone, Copy, Debug, Default, PartialEq)]
    #[cfg_attr(not(feature = "exhaustive"), non_exhaustive)]
    pub struct Gain document {
        /// Mean; negative if time is lost.
        gauge share: f64;
        /// Half of the width of its 95% interval, by differences with the same
        /// seeds; null for a single run.
        gauge ci95: Option<f64>;
        /// It is shown to be at least this, by the rule of the verdict (1% of error over
        /// all looks); null of few runs.
        gauge least: Option<f64>;
        /// It is shown to be at most this.
        gauge most: Option<f64>;
        /// Runs that it rests on.
        counter runs: usize;
    }
}

record! {
    /// What a setting does to users of what others run: their time beside it over
    /// their time beside the baseline, less one.
    #[derive(Clone, Copy, Debug, Default, PartialEq)]
    #[cfg_attr(not(feature = "exhaustive"), non_exhaustive)]
    pub struct Harm document {
        /// Mean; negative if others are faster.
        gauge share: f64 as "time_lost_share";
        /// Half of the width of its 95% interval; null for a single run.
        gauge ci95: Option<f64>;
        /// It is shown to be at least this, by the rule of the verdict; null of few runs.
        gauge least: Option<f64> as "time_lost_share_least";
        /// It is shown to be at most this.
        gauge most: Option<f64> as "time_lost_share_most";
        /// Mean time of an other user beside the baseline, seconds, of the smallest
        /// size and first activity.
        gauge before_s: f64 as "time_before_s";
        /// Mean time of that user beside the setting, seconds.
        gauge after_s: f64 as "time_beside_it_s";
        /// Runs that it rests on.
        counter runs: usize;
    }
}

impl Harm {
    /// What the runs say.
    #[must_use]
    pub fn effect(&self) -> Effect {
        let most = self.most.unwrap_or(self.share + self.half());
        if self.beyond_chance() > HARM_NOTED {
            Effect::Hurts
        } else if self.share > HARM_NOTED || most > HARM_LIMIT {
            Effect::MayHurt
        } else if most < -HARM_NOTED {
            Effect::Helps
        } else {
            Effect::None
        }
    }

    /// What is certain of it: what chance alone could explain is taken off.
    #[must_use]
    pub fn beyond_chance(&self) -> f64 {
        match self.least.unwrap_or(self.share - self.half()) > 0.0 {
            true => self.share,
            false => 0.0,
        }
    }

    /// Half of the 95% interval: one run proves nothing.
    fn half(&self) -> f64 {
        self.ci95.unwrap_or(f64::INFINITY)
    }
}

/// What the runs say of what a setting does to others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(not(feature = "exhaustive"), non_exhaustive)]
pub enum Effect {
    /// They are slowed down, beyond chance.
    Hurts,
    /// They seem to be slowed down, or may be by more than [`HARM_LIMIT`]: the
    /// runs do not tell.
    MayHurt,
    /// They are faster.
    Helps,
    /// Nothing worth a word.
    None,
}

impl Effect {
    /// A word or two for JSON.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Effect::Hurts => "hurts",
            Effect::MayHurt => "may hurt",
            Effect::Helps => "helps",
            Effect::None => "none",
        }
    }
}

/// Why a row is not recommended although it is fast.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(not(feature = "exhaustive"), non_exhaustive)]
pub enum Objection {
    /// It cannot be switched on today.
    Unavailable,
    /// It slows others down by this share.
    Harms(f64),
    /// It sends this share of its packets again.
    Wastes(f64),
    /// So many of its runs did not end.
    DoesNotEnd(usize),
    /// One of the things that its users do takes longer.
    Loses(Activity),
}

impl Objection {
    /// A word or two for JSON.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self {
            Objection::Unavailable => "not available",
            Objection::Harms(_) => "harms others",
            Objection::Wastes(_) => "wastes",
            Objection::DoesNotEnd(_) => "does not end",
            Objection::Loses(_) => "an activity loses",
        }
    }
}

/// What the recommended setting costs.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(not(feature = "exhaustive"), non_exhaustive)]
pub enum Cost {
    /// Some runs did not end.
    Unfinished {
        /// How many.
        count: usize,
        /// Of how many.
        of: usize,
    },
    /// Others are slowed down by this share.
    Harm(f64),
    /// Traffic that no transport controls loses more packets.
    Background {
        /// Lost share with the setting.
        lost: f64,
        /// With the baseline.
        before: f64,
    },
    /// Packets of others wait longer at the link, seconds (95th percentile).
    Waiting {
        /// With the setting.
        wait_s: f64,
        /// With the baseline.
        before_s: f64,
    },
    /// Packets are sent again.
    Waste {
        /// Share of the packets.
        share: f64,
        /// With the baseline.
        before: f64,
    },
    /// Equal users wait for very different times, seconds.
    Slow {
        /// One time in ten is longer than this.
        slow_s: f64,
        /// With the baseline.
        before_s: Option<f64>,
    },
}

/// How sure a decision is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(not(feature = "exhaustive"), non_exhaustive)]
pub enum Certainty {
    /// Nothing is random: another run would be the same.
    Exact,
    /// Shown, with an error of at most 5% over all rows and looks.
    #[default]
    Clear,
    /// What is not shown is known to lie near a threshold, so that other runs may give
    /// another advice and neither is far from right.
    Borderline,
    /// The runs do not tell.
    Open,
}

impl Certainty {
    /// A word for JSON.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Certainty::Exact => "exact",
            Certainty::Clear => "clear",
            Certainty::Borderline => "borderline",
            Certainty::Open => "open",
        }
    }
}
