//! What the users do on the link: download, browse, watch, or some of each.
//!
//! | traffic | a user |
//! |---|---|
//! | download | fetches one file |
//! | web | reads [`PAGES`] pages over one connection, as over HTTP/2, with pauses of 8 s on average; sizes are log-normal, their deviation is their mean, none is above five times that; each is one object, or a document and what it names. Beside it, over another connection, objects of about 30 kB a second apart: what a page fetches while it is read |
//! | video | watches 60 s of video at a constant quality: segments of 4 s, playback from the first on, at most 30 s ahead. The bitrate is the highest step of [`LADDER`] that needs less than 70% of the user's share of the link |
//! | mixed | the first downloads, the second browses, the third watches, and so on |
//! | a mix | as many as its shares say do each ([`Mix`]); besides these, upload [`UPLOAD`] with the default transport, or talk: datagrams both ways, whose packets are late after [`CALL_DEADLINE`] more than the way takes |

use super::mix::Mix;
use bentpipe_traffic::{Application, Objects, PageConnection, VideoSettings, WebSettings};
use bentpipe_units::{Bytes, Duration, Rate};
use std::fmt;

/// Objects that a page divides into at most.
pub(super) const MOST_OBJECTS: i64 = 1_000;

/// Pages that a user of the web reads.
pub const PAGES: u32 = 6;

/// Objects that are fetched beside all of them.
pub(super) const OBJECTS: u32 = 40;

/// Bitrates that videos are offered at, kbit/s.
pub const LADDER: [u64; 8] = [150, 400, 800, 1_500, 3_000, 5_000, 8_000, 16_000];

/// A video needs less than this part of a user's share of the link.
const HEADROOM: f64 = 0.7;

/// Playing time of the video.
const VIDEO: Duration = Duration::from_secs(60);

/// What the users do.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(not(feature = "exhaustive"), non_exhaustive)]
pub enum Traffic {
    /// Each downloads one file.
    #[default]
    Download,
    /// Each reads pages of the web.
    Web,
    /// Each watches a video.
    Video,
    /// A third each.
    Mixed,
    /// As many of them do each as the mix says.
    Mix(Mix),
}

/// What one user does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[cfg_attr(not(feature = "exhaustive"), non_exhaustive)]
pub enum Activity {
    /// Downloads a file.
    Download,
    /// Reads pages.
    Web,
    /// Watches a video.
    Video,
    /// Uploads a file, with the transport that its host has today.
    Upload,
    /// Talks: datagrams both ways as long as others do something, under no transport's
    /// control.
    Call,
}

impl Activity {
    /// Every activity.
    pub const ALL: [Activity; 5] = [
        Activity::Download,
        Activity::Web,
        Activity::Video,
        Activity::Upload,
        Activity::Call,
    ];

    /// What its time is the time of, as a noun.
    #[must_use]
    pub const fn unit(self) -> &'static str {
        match self {
            Activity::Download => "download",
            Activity::Web => "page",
            Activity::Video => "video",
            Activity::Upload => "upload",
            Activity::Call => "call",
        }
    }

    /// Its name in JSON, and in a mix.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Activity::Download => "download",
            Activity::Web => "web",
            Activity::Video => "video",
            Activity::Upload => "upload",
            Activity::Call => "call",
        }
    }

    /// True if a user waits for it to end: a call has no time, but packets that come late.
    #[must_use]
    pub const fn is_timed(self) -> bool {
        !matches!(self, Activity::Call)
    }
}

impl Traffic {
    /// Every kind with its name; a mix has none.
    pub const ALL: [(&'static str, Traffic); 4] = [
        ("download", Traffic::Download),
        ("web", Traffic::Web),
        ("video", Traffic::Video),
        ("mixed", Traffic::Mixed),
    ];

    /// What the user with this number does, counted from zero.
    #[must_use]
    pub fn of_user(self, user: u32) -> Activity {
        match (self, user % 3) {
            (Traffic::Download, _) | (Traffic::Mixed, 0) => Activity::Download,
            (Traffic::Web, _) | (Traffic::Mixed, 1) => Activity::Web,
            (Traffic::Video, _) | (Traffic::Mixed, _) => Activity::Video,
            (Traffic::Mix(mix), _) => mix.of_user(user),
        }
    }

    /// How many users with a smaller number do the same.
    pub(super) fn place_of_user(self, user: u32) -> u32 {
        match self {
            Traffic::Download | Traffic::Web | Traffic::Video => user,
            Traffic::Mixed => user / 3,
            Traffic::Mix(mix) => mix.place_of_user(user),
        }
    }

    /// The activities that it consists of and that take a time, which is what is compared.
    #[must_use]
    pub fn activities(self) -> Vec<Activity> {
        match self {
            Traffic::Download => vec![Activity::Download],
            Traffic::Web => vec![Activity::Web],
            Traffic::Video => vec![Activity::Video],
            Traffic::Mixed => vec![Activity::Download, Activity::Web, Activity::Video],
            Traffic::Mix(mix) => mix
                .parts()
                .map(|(of, _)| of)
                .filter(|a| a.is_timed())
                .collect(),
        }
    }

    /// True if there are several of them.
    #[must_use]
    pub fn is_mixed(self) -> bool {
        self.activities().len() > 1
    }

    /// True if some of the users talk.
    #[must_use]
    pub fn has_calls(self) -> bool {
        matches!(self, Traffic::Mix(mix) if mix.percent(Activity::Call) > 0)
    }

    /// Users without `--users`.
    pub(super) fn least_users(self) -> u32 {
        match self {
            Traffic::Mixed => 3,
            Traffic::Download | Traffic::Web | Traffic::Video => 1,
            Traffic::Mix(mix) => mix.least_users(),
        }
    }

    /// Size of a download, or mean size of a page, unless it is set.
    pub(super) const fn default_size(self) -> Bytes {
        match self {
            Traffic::Web => PAGE,
            Traffic::Download | Traffic::Video | Traffic::Mixed | Traffic::Mix(_) => {
                Bytes::new(10_000_000)
            }
        }
    }
}

impl fmt::Display for Traffic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Traffic::Mix(mix) => write!(f, "{mix}"),
            other => {
                let found = Traffic::ALL.iter().find(|(_, traffic)| traffic == other);
                f.write_str(found.map_or("", |(name, _)| name))
            }
        }
    }
}

/// Mean size of a page, unless it is set.
const PAGE: Bytes = Bytes::new(2_000_000);

/// What a user uploads: a few photos.
pub const UPLOAD: Bytes = Bytes::new(2_000_000);

/// A call: G.711 at 64 kbit/s in packets of 20 ms, which are 200 bytes with RTP, UDP and IP.
const CALL_RATE: Rate = Rate::from_bps(80_000);
const CALL_PACKET: Bytes = Bytes::new(200);

/// A packet of a call is late if it takes this much longer than the way takes without queues:
/// what a receiver holds back to even out delays.
pub const CALL_DEADLINE: Duration = Duration::from_millis(100);

/// One way of a call.
const fn voice() -> Application {
    Application::ConstantRate {
        rate: CALL_RATE,
        packet_size: CALL_PACKET,
        control: None,
        deadline: None,
    }
}

/// The work of the users on one link.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Work {
    pub(super) traffic: Traffic,
    /// Of a download, or of a page on average.
    pub(super) size: Bytes,
    /// Bitrate of videos.
    pub(super) bitrate: Rate,
    /// Pages that a reader reads, [`PAGES`] unless runs are to be shorter.
    pub(super) pages: u32,
    /// Objects that a page divides into.
    pub(super) page_objects: u32,
    /// A name is looked up before each connection.
    pub(super) dns: bool,
}

impl Work {
    /// The flows of the user with this number: what follows its name, and what
    /// the flow carries. The first is the one that counts.
    pub(super) fn flows(&self, user: u32) -> Vec<(&'static str, Application)> {
        match self.traffic.of_user(user) {
            Activity::Download => vec![("", Application::Transfer { size: self.size })],
            Activity::Web => {
                let page = match self.traffic {
                    Traffic::Web => self.size,
                    _ => PAGE,
                };
                let mut pages = reader(page, 5, Duration::from_secs(8), self.pages);
                pages.objects = (self.page_objects > 1).then(|| Objects {
                    count: self.page_objects,
                    ..Objects::default()
                });
                let count = OBJECTS * self.pages / PAGES;
                let objects = reader(Bytes::new(30_000), 10, Duration::from_secs(1), count);
                let pages = Application::Web(pages);
                vec![("", pages), ("-objects", Application::Web(objects))]
            }
            Activity::Video => vec![("", self.video())],
            Activity::Upload => vec![("", Application::Transfer { size: UPLOAD })],
            Activity::Call => vec![("", voice()), ("-back", voice())],
        }
    }

    fn video(&self) -> Application {
        let segment = Duration::from_secs(4);
        Application::Video(VideoSettings {
            segment,
            bitrate: self.bitrate,
            startup: segment,
            buffer: Duration::from_secs(30),
            length: VIDEO,
            request: Bytes::new(300),
            control: None,
        })
    }

    /// Payload that a user receives, about; for estimates of what a run costs.
    pub(super) fn volume(&self, user: u32) -> Bytes {
        let bytes = |flow: &Application| match flow {
            Application::Web(web) => web
                .mean
                .get()
                .saturating_mul(u64::from(web.count.unwrap_or(1))),
            other => other.offered().map_or(0, Bytes::get),
        };
        let flows = self.flows(user);
        let all = flows.iter().map(|(_, flow)| bytes(flow));
        Bytes::new(all.fold(0, u64::saturating_add))
    }
}

fn reader(mean: Bytes, largest: u64, reading: Duration, count: u32) -> WebSettings {
    WebSettings {
        mean,
        deviation: mean,
        largest: Bytes::new(mean.get().saturating_mul(largest)),
        reading,
        request: Bytes::new(400),
        connection: PageConnection::Persistent,
        objects: None,
        count: Some(count),
    }
}

/// The bitrate of videos where `users` share a link of `rate`.
pub(super) fn bitrate(rate: Rate, users: u32) -> Rate {
    let share = rate.bps_f64() / f64::from(users.max(1));
    let fits = |kbps: &&u64| **kbps as f64 * 1e3 <= share * HEADROOM;
    let step = LADDER.iter().rev().find(fits).unwrap_or(&LADDER[0]);
    Rate::from_bps(step * 1000)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn users_of_mixed_traffic_take_turns() {
        let activities: Vec<Activity> = (0..4).map(|u| Traffic::Mixed.of_user(u)).collect();
        assert_eq!(&activities[..3], &Activity::ALL[..3]);
        assert_eq!(activities[3], Activity::Download);
        for (name, traffic) in Traffic::ALL {
            assert_eq!(traffic.to_string(), name);
            assert_eq!(traffic.activities()[0], traffic.of_user(0));
        }
    }

    #[test]
    fn a_video_leaves_room_on_the_link() {
        assert_eq!(bitrate(Rate::from_mbps(10), 1), Rate::from_mbps(5));
        assert_eq!(bitrate(Rate::from_mbps(50), 20), Rate::from_bps(1_500_000));
        assert_eq!(bitrate(Rate::from_bps(64_000), 1), Rate::from_bps(150_000));
    }
}
