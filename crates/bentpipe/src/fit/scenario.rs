//! A fit as a scenario file.

use super::Fit;
use bentpipe_capture::Estimate;
use bentpipe_report::text::digits3;
use bentpipe_units::{Bytes, Duration, Rate};
use std::fmt::Write as _;

/// A scenario runs for this many times as long as the capture, at least.
const ROOM: f64 = 10.0;

impl Fit {
    /// A scenario with the fitted link and the transfer of the capture; its comments say how
    /// well each value is known.
    #[must_use]
    pub fn scenario(&self) -> String {
        let mut text = String::new();
        let file = self.file.file_name().unwrap_or_default().to_string_lossy();
        // A name of a file may contain line ends, and a comment may not.
        let file = file.replace(char::is_control, "\u{fffd}");
        let seconds = (ROOM * self.duration.as_secs()).max(60.0) as u64;
        let loss = self.loss();
        let channel = match loss.burst {
            _ if loss.is_none() => "\"perfect\"".to_owned(),
            None => format!(
                "{{ kind = \"uniform\", packet_error_rate = \"{}\" }}",
                loss.share
            ),
            Some(burst) => format!(
                "{{ kind = \"gilbert-elliott\", packet_error_rate = \"{}\", mean_burst = {} }}",
                loss.share,
                digits3(burst.max(1.0)),
            ),
        };
        let queue = self.queue();
        let control = match (&self.control, &self.doubt) {
            (Some(_), _) => "its course is nearest to the capture's".to_owned(),
            (None, Some(doubt)) => format!("unknown: {doubt}; cubic is the default of Linux"),
            (None, None) => "unknown; cubic is the default of Linux".to_owned(),
        };
        let base = self.control.as_deref().unwrap_or("cubic");
        // Writing to a string cannot fail.
        let _ = write!(
            text,
            "# The link behind the connection {} > {}\n\
             # of `{file}`, fitted to {} data packets in {} s by `bentpipe fit`.\n\
             # Intervals are those of 95%. The link back was not measured: its rate is the\n\
             # same, and it loses nothing.\n\
             \n\
             name = \"fitted\"\n\
             duration = \"{seconds} s\"\n\
             \n\
             [node.sender]\n\
             [node.receiver]\n\
             \n\
             [link.fitted]\n\
             between = [\"sender\", \"receiver\"]\n\
             rate = \"{}\"  # {}\n\
             round_trip_delay = \"{}\"  # {}\n\
             queue = \"{queue}\"  # {}\n\
             channel = {channel}  # {}\n\
             \n\
             [link.fitted.reverse]\n\
             queue = \"1000 packets\"\n\
             channel = \"perfect\"\n\
             \n\
             [transport.fitted]\n\
             base = \"{base}\"  # {control}\n\
             profile = \"linux\"\n\
             \n\
             [flow.transfer]\n\
             from = \"sender\"\n\
             to = \"receiver\"\n\
             transport = \"fitted\"\n\
             application = {{ kind = \"transfer\", size = \"{}\" }}\n",
            self.from,
            self.to,
            self.packets,
            digits3(self.duration.as_secs()),
            self.rate(),
            self.rate_interval(),
            self.rtt(),
            self.rtt_interval(),
            self.queue_interval(),
            self.loss_interval(),
            Bytes::new(self.payload.get().max(1)),
        );
        text
    }

    /// The interval of the rate, in words.
    #[must_use]
    pub fn rate_interval(&self) -> String {
        let shown = |bps: f64| Rate::from_bps_f64(super::round(bps)).to_string();
        match self.link.rate.is_bound() {
            true => "at least: the link was never busy for long enough".to_owned(),
            false => between(self.link.rate, shown),
        }
    }

    /// The interval of the round trip, in words.
    #[must_use]
    pub fn rtt_interval(&self) -> String {
        let shown = |s: f64| Duration::from_secs_f64(super::round(s)).to_string();
        between(self.link.rtt, shown)
    }

    /// The interval of the queue, in words.
    #[must_use]
    pub fn queue_interval(&self) -> String {
        let shown = |bytes: f64| Bytes::new(super::round(bytes) as u64).to_string();
        match self.link.queue.is_bound() {
            true => format!(
                "it dropped nothing: at least the {} that waited",
                self.queue_bytes()
            ),
            false => between(self.link.queue, shown),
        }
    }

    /// The interval of the loss, in words.
    #[must_use]
    pub fn loss_interval(&self) -> String {
        let channel = &self.link.losses.channel;
        let share = channel.share;
        let lost = format!("{} of {} packets", channel.count, channel.of);
        match channel.count {
            0 => format!(
                "0 of {} packets: at most {}",
                channel.of,
                shown_share(share.high)
            ),
            _ => format!(
                "{lost}: {} to {}{}",
                shown_share(share.low),
                shown_share(share.high),
                match &self.link.losses.burst {
                    None => String::new(),
                    Some(burst) => format!(
                        "; bursts of {} to {} packets",
                        digits3(burst.low),
                        digits3(burst.high)
                    ),
                }
            ),
        }
    }
}

/// A share in per cent, with as many digits as its interval leaves it.
#[must_use]
pub fn shown_share(share: f64) -> String {
    format!("{}%", digits3(100.0 * share))
}

fn between(estimate: Estimate, shown: impl Fn(f64) -> String) -> String {
    format!("{} to {}", shown(estimate.low), shown(estimate.high))
}
