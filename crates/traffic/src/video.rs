//! Constant-quality video over request and response: segments of equal length
//! and size, a start-up buffer, a largest buffer, stalls.
//!
//! The client of on-demand streaming over HTTP, with the quality fixed: a
//! segment of `segment` seconds is `segment x bitrate / 8` bytes, asked for over
//! one connection. At first segments are asked for one after the other; once the
//! buffer is full, on-periods and off-periods alternate, as A. Mansy, B. Ver
//! Steeg, M. Ammar describe such clients (*SABRE: A client based technique for
//! mitigating the buffer bloat effect of adaptive video flows*, ACM MMSys 2013).
//!
//! | parameter | default | |
//! |---|---|---|
//! | `segment` | 4 s | playing time of a segment |
//! | `bitrate` | | of the video |
//! | `startup` | one segment | video that is buffered before playback begins, and before it goes on after a stall |
//! | `buffer` | 30 s | most video ahead of the playback, the segment under way included |
//! | `length` | | of the video; the last segment is as long as the others |
//! | `request` | 300 B | what the client sends for a segment |
//!
//! Readings. A segment can be played when it has arrived completely. A stall begins when the buffer
//! is empty and the video is not over, and ends when `startup` is buffered or all of the video has
//! arrived. The delay before the playback begins is the start-up delay and does not count as a
//! stall.

use crate::RateControl;
use crate::exchange::{Exchange, Next};
use bentpipe_units::{Bytes, Duration, Rate, Time};
use std::fmt;

/// The parameters of the model.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct VideoSettings {
    /// Playing time of a segment.
    pub segment: Duration,
    /// Rate of the video.
    pub bitrate: Rate,
    /// Video that is buffered before playback begins.
    pub startup: Duration,
    /// Most video ahead of the playback.
    pub buffer: Duration,
    /// Playing time of the video.
    pub length: Duration,
    /// Bytes of a request.
    pub request: Bytes,
    /// With a rate control the video is streamed in real time, without a transport:
    /// nothing is asked for, and `buffer` and `request` mean nothing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub control: Option<RateControl>,
}

impl VideoSettings {
    /// Segments of the video.
    #[must_use]
    pub fn segments(&self) -> u64 {
        let segment = self.segment.as_nanos().max(1);
        self.length.as_nanos().div_ceil(segment).max(1)
    }

    /// Bytes of a segment.
    #[must_use]
    pub fn segment_size(&self) -> Bytes {
        self.bitrate.bytes_in(self.segment).max(Bytes::new(1))
    }

    /// Bytes of the video.
    #[must_use]
    pub fn size(&self) -> Bytes {
        Bytes::new(self.segment_size().get().saturating_mul(self.segments()))
    }
}

impl fmt::Display for VideoSettings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} of video at {}", self.length, self.bitrate)
    }
}

/// What a viewer has experienced.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct VideoReport {
    /// Segments that arrived in whole.
    pub segments: u64,
    /// From the first request to the beginning of the playback.
    pub startup_delay: Option<Duration>,
    /// Times that the playback stopped because the buffer was empty.
    pub stalls: u64,
    /// How long it stood still in all.
    pub stall_time: Duration,
}

/// A viewer at work.
#[derive(Clone, Debug)]
pub struct Video {
    settings: VideoSettings,
    playback: Playback,
    report: VideoReport,
}

#[derive(Clone, Copy, Debug)]
enum Playback {
    /// Before the first request.
    NotBegun,
    /// Stalled since then, with that much video in the buffer.
    Waits(Time, Duration),
    /// Plays; the buffer will be empty then.
    Plays(Time),
}

impl Video {
    pub(crate) fn new(settings: &VideoSettings) -> Video {
        Video {
            settings: settings.clone(),
            playback: Playback::NotBegun,
            report: VideoReport::default(),
        }
    }

    pub(crate) fn request(&mut self, now: Time) -> Exchange {
        if matches!(self.playback, Playback::NotBegun) {
            self.playback = Playback::Waits(now, Duration::ZERO);
        }
        Exchange::new(self.settings.request, self.settings.segment_size())
    }

    pub(crate) fn arrived(&mut self, now: Time) -> Next {
        let segment = self.settings.segment;
        self.report.segments += 1;
        let all = self.report.segments >= self.settings.segments();
        let (since, buffered) = match self.playback {
            Playback::Plays(empty_at) if empty_at >= now => {
                self.playback = Playback::Plays(empty_at + segment);
                return self.next(now, empty_at.since(now) + segment, all);
            }
            Playback::Plays(empty_at) => {
                self.report.stalls += 1;
                (empty_at, segment)
            }
            Playback::Waits(since, buffered) => (since, buffered + segment),
            Playback::NotBegun => (now, segment),
        };
        if buffered < self.settings.startup && !all {
            self.playback = Playback::Waits(since, buffered);
            return self.next(now, buffered, all);
        }
        let waited = now.since(since);
        match self.report.startup_delay {
            None => self.report.startup_delay = Some(waited),
            Some(_) => self.report.stall_time += waited,
        }
        self.playback = Playback::Plays(now + buffered);
        self.next(now, buffered, all)
    }

    /// The next segment is asked for once it fits into the buffer, `ahead` of
    /// which is full.
    fn next(&self, now: Time, ahead: Duration, all: bool) -> Next {
        let needed = ahead + self.settings.segment;
        match all {
            true => Next::Done,
            false => Next::At(now + needed.saturating_sub(self.settings.buffer)),
        }
    }

    /// What the viewer has experienced by `now`; a stall that lasts counts.
    pub(crate) fn report(&self, now: Time) -> VideoReport {
        let mut report = self.report;
        let all = report.segments >= self.settings.segments();
        match self.playback {
            Playback::Plays(empty_at) if empty_at < now && !all => {
                report.stalls += 1;
                report.stall_time += now.since(empty_at);
            }
            Playback::Waits(since, _) if report.startup_delay.is_some() => {
                report.stall_time += now.since(since);
            }
            Playback::Plays(_) | Playback::Waits(..) | Playback::NotBegun => {}
        }
        report
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings() -> VideoSettings {
        VideoSettings {
            segment: Duration::from_secs(4),
            bitrate: Rate::from_mbps(5),
            startup: Duration::from_secs(8),
            buffer: Duration::from_secs(12),
            length: Duration::from_secs(30),
            request: Bytes::new(300),
            control: None,
        }
    }

    fn at(seconds: u64) -> Time {
        Time::ZERO + Duration::from_secs(seconds)
    }

    #[test]
    fn segments_have_the_size_that_the_bitrate_gives() {
        assert_eq!(settings().segment_size(), Bytes::new(2_500_000));
        assert_eq!(settings().segments(), 8);
        assert_eq!(settings().size(), Bytes::new(20_000_000));
    }

    /// A segment a second: playback from the second on, and from then on the
    /// buffer fills up to 12 s.
    #[test]
    fn a_full_buffer_makes_the_viewer_pause() {
        let mut video = Video::new(&settings());
        assert_eq!(video.request(at(0)).response, Bytes::new(2_500_000));
        assert_eq!(video.arrived(at(1)), Next::At(at(1)));
        // 8 s are buffered, playback begins, and the next segment fits.
        assert_eq!(video.arrived(at(2)), Next::At(at(2)));
        // 7 s and the new 4 s: the next fits when 3 s of 11 s are played.
        assert_eq!(video.arrived(at(3)), Next::At(at(6)));
        let report = video.report(at(6));
        assert_eq!(report.startup_delay, Some(Duration::from_secs(2)));
        assert_eq!((report.segments, report.stalls), (3, 0));
    }

    /// Two segments at 2 s: the buffer is empty at 10 s. The next come at 15 s
    /// and 16 s, when the playback goes on.
    #[test]
    fn a_stall_lasts_until_enough_is_buffered() {
        let mut video = Video::new(&settings());
        video.request(at(0));
        video.arrived(at(2));
        video.arrived(at(2));
        assert_eq!(video.report(at(10)).stalls, 0);
        let lasting = video.report(at(13));
        assert_eq!(
            (lasting.stalls, lasting.stall_time),
            (1, Duration::from_secs(3))
        );
        video.arrived(at(15));
        assert_eq!(video.report(at(15)).stall_time, Duration::from_secs(5));
        video.arrived(at(16));
        let over = video.report(at(20));
        assert_eq!((over.stalls, over.stall_time), (1, Duration::from_secs(6)));
    }

    #[test]
    fn the_last_segment_ends_the_video_and_is_no_stall() {
        let mut video = Video::new(&settings());
        video.request(at(0));
        for n in 1..8 {
            assert_ne!(video.arrived(at(n)), Next::Done);
        }
        assert_eq!(video.arrived(at(8)), Next::Done);
        let report = video.report(at(1000));
        assert_eq!((report.segments, report.stalls), (8, 0));
    }
}
