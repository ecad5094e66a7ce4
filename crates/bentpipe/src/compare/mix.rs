//! How many users do what, in per cent: `web 60%,video 30%,download 10%`.

use super::traffic::Activity;
use std::fmt;
use std::str::FromStr;

/// Users after whom the order of activities begins again.
const PERIOD: u32 = 100;

/// Shares of the users, in per cent.
///
/// ```
/// use bentpipe::compare::{Activity, Mix};
///
/// let mix: Mix = "web 60%, video 30%, downloads 10%".parse()?;
/// assert_eq!(mix.percent(Activity::Video), 30);
/// assert_eq!(mix.to_string(), "web 60%,video 30%,download 10%");
/// assert!("web 60%,video 30%".parse::<Mix>().is_err());
/// # Ok::<(), bentpipe::compare::MixError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Mix {
    /// In the order of [`Activity::ALL`].
    percent: [u8; Activity::ALL.len()],
}

/// Why a text is no mix, in words.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct MixError(String);

/// What each activity is called, besides its name.
const NAMES: [(&str, Activity); 10] = [
    ("download", Activity::Download),
    ("downloads", Activity::Download),
    ("web", Activity::Web),
    ("pages", Activity::Web),
    ("video", Activity::Video),
    ("videos", Activity::Video),
    ("upload", Activity::Upload),
    ("uploads", Activity::Upload),
    ("call", Activity::Call),
    ("calls", Activity::Call),
];

impl Mix {
    /// The share of an activity, per cent.
    #[must_use]
    pub fn percent(&self, activity: Activity) -> u32 {
        self.parts()
            .find(|(of, _)| *of == activity)
            .map_or(0, |(_, percent)| percent)
    }

    /// The activities that it has, each with its share in per cent.
    pub fn parts(&self) -> impl Iterator<Item = (Activity, u32)> + use<> {
        let all = Activity::ALL.into_iter().zip(self.percent);
        all.filter(|(_, percent)| *percent > 0)
            .map(|(of, percent)| (of, u32::from(percent)))
    }

    /// The activities of users in order: each user has the one that lacks the most of its
    /// share, so that any first users are near the mix.
    fn users(self) -> impl Iterator<Item = Activity> {
        let mut counts = [0_u32; Activity::ALL.len()];
        (1_u32..).map(move |users| {
            let lacks = |i: &usize| {
                let due = i64::from(self.percent[*i]) * i64::from(users);
                due - i64::from(counts[*i]) * 100
            };
            // The first of several that lack as much.
            let next = (0..counts.len()).rev().max_by_key(lacks).unwrap_or(0);
            counts[next] += 1;
            Activity::ALL[next]
        })
    }

    /// What the user with this number does.
    pub(super) fn of_user(self, user: u32) -> Activity {
        let found = self.users().nth((user % PERIOD) as usize);
        found.unwrap_or(Activity::Download)
    }

    /// How many users with a smaller number do the same.
    pub(super) fn place_of_user(self, user: u32) -> u32 {
        let activity = self.of_user(user);
        let before = self.users().take((user % PERIOD) as usize);
        let before = before.filter(|of| *of == activity).count() as u32;
        user / PERIOD * self.percent(activity) + before
    }

    /// The fewest users of which each activity has one, and has two among twice as many.
    pub(super) fn least_users(self) -> u32 {
        let has = |users: u32, least: u32| {
            self.parts().all(|(activity, _)| {
                let of = self.users().take(users as usize);
                of.filter(|of| *of == activity).count() as u32 >= least
            })
        };
        let found = (1..=PERIOD).find(|users| has(*users, 1) && has(2 * users, 2));
        found.unwrap_or(PERIOD)
    }
}

impl fmt::Display for Mix {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut parts: Vec<(Activity, u32)> = self.parts().collect();
        parts.sort_by_key(|(_, percent)| std::cmp::Reverse(*percent));
        for (i, (activity, percent)) in parts.into_iter().enumerate() {
            let comma = if i > 0 { "," } else { "" };
            write!(f, "{comma}{} {percent}%", activity.name())?;
        }
        Ok(())
    }
}

const EXPECTED: &str = "expected shares of the users in whole per cent, 100 in all, such as `web \
                        60%,video 30%,download 10%`, of download, web, video, upload and call";

impl FromStr for Mix {
    type Err = MixError;

    fn from_str(text: &str) -> Result<Mix, MixError> {
        let wrong = |why: String| MixError(format!("{why}; {EXPECTED}"));
        let mut percent = [0_u8; Activity::ALL.len()];
        for part in text.split(',') {
            let part = part.trim();
            let Some((name, share)) = part.rsplit_once(char::is_whitespace) else {
                return Err(wrong(format!("`{part}` is no activity with its share")));
            };
            let name = name.trim().to_ascii_lowercase();
            let Some((_, activity)) = NAMES.iter().find(|(known, _)| *known == name) else {
                let near = bentpipe_units::nearest(&name, NAMES.iter().map(|(name, _)| *name));
                let near = near.map_or_else(String::new, |n| format!(": did you mean `{n}`?"));
                return Err(wrong(format!("there is no activity `{name}`{near}")));
            };
            let share = share.strip_suffix('%').and_then(|n| n.parse::<u8>().ok());
            let Some(share) = share.filter(|n| (1..=100).contains(n)) else {
                return Err(wrong(format!("`{part}` has no share from 1% to 100%")));
            };
            let place = Activity::ALL.iter().position(|of| of == activity);
            let of = &mut percent[place.unwrap_or(0)];
            if *of > 0 {
                return Err(wrong(format!("{} comes twice", activity.name())));
            }
            *of = share;
        }
        let mix = Mix { percent };
        let sum: u32 = mix.parts().map(|(_, percent)| percent).sum();
        if sum != 100 {
            return Err(wrong(format!("the shares come to {sum}%")));
        }
        if !mix.parts().any(|(activity, _)| activity.is_timed()) {
            return Err(wrong("calls alone have no time to compare".to_owned()));
        }
        Ok(mix)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mix(text: &str) -> Mix {
        text.parse().unwrap()
    }

    fn counts(mix: Mix, users: u32) -> Vec<usize> {
        let of = |activity: &Activity| {
            (0..users)
                .filter(|user| mix.of_user(*user) == *activity)
                .count()
        };
        Activity::ALL.iter().map(of).collect()
    }

    #[test]
    fn users_come_in_the_shares_of_the_mix() {
        let busy = mix("web 60%,video 30%,downloads 10%");
        assert_eq!(counts(busy, 10), [1, 6, 3, 0, 0]);
        assert_eq!(counts(busy, 250), [25, 150, 75, 0, 0]);
        // Any first users are within one of their shares.
        for users in 1..=100 {
            for (count, percent) in counts(busy, users).into_iter().zip(busy.percent) {
                let due = f64::from(percent) * f64::from(users) / 100.0;
                assert!((count as f64 - due).abs() <= 1.0, "{users}");
            }
        }
        for user in [0, 7, 99, 100, 250] {
            let same = |earlier: &u32| busy.of_user(*earlier) == busy.of_user(user);
            let before = (0..user).filter(same).count() as u32;
            assert_eq!(busy.place_of_user(user), before, "{user}");
        }
    }

    #[test]
    fn the_fewest_users_have_every_activity() {
        for text in [
            "web 60%,video 30%,download 10%",
            "web 97%,call 1%,upload 2%",
        ] {
            let mix = mix(text);
            let least = mix.least_users();
            for (users, each) in [(least, 1), (2 * least, 2)] {
                let counts = counts(mix, users);
                for (count, percent) in counts.into_iter().zip(mix.percent) {
                    assert!(percent == 0 || count >= each, "{text} {users}");
                }
            }
        }
        assert_eq!(mix("web 50%,call 50%").least_users(), 2);
    }

    #[test]
    fn what_is_no_mix_is_named() {
        let wrong = |text: &str| text.parse::<Mix>().unwrap_err().to_string();
        assert!(wrong("web 60%,video 30%").contains("come to 90%"));
        assert!(wrong("web 60%,vidoe 40%").contains("did you mean `video`?"));
        assert!(wrong("web 60%,web 40%").contains("comes twice"));
        assert!(wrong("web 60,video 40%").contains("has no share"));
        assert!(wrong("web 0%,video 100%").contains("has no share"));
        assert!(wrong("web").contains("no activity with its share"));
        assert!(wrong("call 100%").contains("no time to compare"));
        assert!(wrong("web 200%").contains("has no share"));
    }
}
