//! What a viewer sees of a streamed video.
//!
//! The playback begins `startup` after the first packet of media and does not wait: a packet that
//! comes later than its time is as good as lost. A `segment` of the media can be shown if at least one
//! packet of it came in time, by the layered coding at the quality that its packets allow: the
//! share of the bitrate that was delivered. Segments of which nothing came in time are a stall.

use crate::{VideoReport, VideoSettings};
use bentpipe_units::{Duration, Time};

/// A playback at work.
#[derive(Clone, Debug, PartialEq)]
pub struct StreamPlayback {
    segment: Duration,
    startup: Duration,
    segments: u64,
    length: Duration,
    starts_at: Time,
    /// When the first packet was sent and when it came.
    first: Option<(Time, Time)>,
    /// The last segment that was shown.
    last: u64,
    report: VideoReport,
}

impl StreamPlayback {
    /// A playback of `video` by a viewer who waits from `starts_at` on.
    #[must_use]
    pub fn new(video: &VideoSettings, starts_at: Time) -> StreamPlayback {
        StreamPlayback {
            segment: video.segment.max(Duration::from_nanos(1)),
            startup: video.startup,
            segments: video.segments(),
            length: video.length,
            starts_at,
            first: None,
            last: 0,
            report: VideoReport::default(),
        }
    }

    /// A packet that was sent at `sent_at` has come.
    pub fn on_packet(&mut self, now: Time, sent_at: Time) {
        let Some((first_sent, first_came)) = self.first else {
            self.first = Some((sent_at, now));
            self.report.startup_delay = Some(now.since(self.starts_at) + self.startup);
            self.report.segments = 1;
            return;
        };
        let position = sent_at.since(first_sent);
        if now > first_came + self.startup + position {
            return;
        }
        let segment = (position.as_nanos() / self.segment.as_nanos()).min(self.segments - 1);
        if segment > self.last {
            self.report.segments += 1;
            self.stall(segment - self.last - 1);
            self.last = segment;
        }
    }

    fn stall(&mut self, segments: u64) {
        if segments > 0 {
            self.report.stalls += 1;
            self.report.stall_time += self.segment * segments;
        }
    }

    /// When the playback is over; [`Time::MAX`] before it is known.
    #[must_use]
    pub fn ends_at(&self) -> Time {
        self.first
            .map_or(Time::MAX, |(_, came)| came + self.startup + self.length)
    }

    /// What the viewer has seen by `now`; a stall that lasts counts.
    #[must_use]
    pub fn report(&self, now: Time) -> VideoReport {
        let mut seen = self.clone();
        if let Some((_, came)) = self.first {
            let played = now.since(came + self.startup).as_nanos() / self.segment.as_nanos();
            let over = played.min(self.segments);
            // Of the segments that are over, those behind the last one shown.
            seen.stall(over.saturating_sub(self.last + 1));
        }
        seen.report
    }
}
