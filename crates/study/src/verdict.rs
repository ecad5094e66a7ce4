//! What results say of a claim, in a word.

use serde::{Deserialize, Serialize};

/// What the results say of a claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// It holds, with all of its parts.
    Holds,
    /// Half of its parts or more hold.
    Mostly,
    /// Less than half of its parts hold, but one at least.
    Hardly,
    /// It does not hold, nor does any of its parts.
    Fails,
    /// The results do not decide it, nor any of its parts.
    Open,
}

impl Verdict {
    /// Every verdict, with its name.
    pub const ALL: [(&'static str, Verdict); 5] = [
        ("holds", Verdict::Holds),
        ("mostly", Verdict::Mostly),
        ("hardly", Verdict::Hardly),
        ("fails", Verdict::Fails),
        ("open", Verdict::Open),
    ];

    /// Its name.
    #[must_use]
    pub fn name(self) -> &'static str {
        Verdict::ALL
            .iter()
            .find(|(_, v)| *v == self)
            .map_or("open", |(name, _)| name)
    }

    /// The verdict on a claim with these verdicts on its parts. A part that is open
    /// does not count as one that holds.
    #[must_use]
    pub fn of_parts(parts: &[Verdict]) -> Verdict {
        if parts.iter().all(|verdict| *verdict == Verdict::Open) {
            return Verdict::Open;
        }
        let holding = parts.iter().filter(|v| **v == Verdict::Holds).count();
        match holding {
            0 => Verdict::Fails,
            n if n == parts.len() => Verdict::Holds,
            n if 2 * n >= parts.len() => Verdict::Mostly,
            _ => Verdict::Hardly,
        }
    }

    /// True where the number of parts that hold says more than the word.
    #[must_use]
    pub fn is_mixed(self) -> bool {
        match self {
            Verdict::Mostly | Verdict::Hardly => true,
            Verdict::Holds | Verdict::Fails | Verdict::Open => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Verdict::{self, Fails, Hardly, Holds, Mostly, Open};

    #[test]
    fn a_claim_holds_as_far_as_its_parts_do() {
        let cases: [(&[Verdict], Verdict); 13] = [
            (&[Holds], Holds),
            (&[Holds, Holds], Holds),
            (&[Fails, Fails], Fails),
            (&[Fails, Holds], Mostly),
            (&[Fails, Holds, Holds], Mostly),
            (&[Fails, Fails, Holds], Hardly),
            (&[Holds, Open], Mostly),
            (&[Holds, Open, Open], Hardly),
            (&[Holds, Open, Fails], Hardly),
            (&[Fails, Open], Fails),
            (&[Open, Fails, Fails], Fails),
            (&[Open, Open], Open),
            (&[], Open),
        ];
        for (parts, whole) in cases {
            assert_eq!(Verdict::of_parts(parts), whole, "{parts:?}");
            assert_eq!(
                serde_json::to_value(whole).unwrap(),
                serde_json::Value::from(whole.name())
            );
        }
    }
}
