//! ACK reconstruction: a box behind a slow return link that fills the gaps
//! which an ACK filter has left, and spaces the ACKs.
//!
//! Source: RFC 3449, section 5.2.2; the mechanism is that of H. Balakrishnan,
//! V. Padmanabhan and R. Katz, *The Effects of Asymmetry on TCP Performance*,
//! MobiCom 1997. J. Salamanca's thesis (2008, section 1.2.3) names "filtering
//! and reconstructing" as what a proxy does to ACKs.
//!
//! A filter ([`crate::AckFilter`]) keeps a slow link from filling with ACKs, but what is left
//! acknowledges many segments at once. A sender that counts ACKs then grows its window more slowly,
//! and one that is not paced answers each with a burst. The reconstructor is downstream of the
//! filter, nearer to the sender. An ACK that acknowledges more than `threshold` segments makes it
//! send its own ACKs, `threshold` segments apart, up to the one that came, and spread them over the
//! time until the next one is due. It never acknowledges what the receiver has not: the end-to-end
//! meaning of an ACK stays. It needs visible TCP headers, so IPsec excludes it.
//!
//! | parameter | default | unit |
//! |---|---|---|
//! | `threshold` | 2 | segments from one ACK to the next: the receiver's delayed ACKs (`ack_thresh`) |
//! | `spacing` | by the rate of arrival | time from one ACK to the next (`ack_interval`) |
//! | `gain` | 0.125 | weight of a new sample in the mean time between arriving ACKs |
//! | `pause` | 200 ms | a longer gap between ACKs is a pause of the sender, and no sample |
//!
//! What the description leaves open, and our reading:
//! - **Spacing.** The average rate of ACKs must keep up with those that arrive.
//!   With k ACKs to send, each follows the one before after 1/k of the mean time
//!   between arriving ACKs. When another ACK arrives before the last of them
//!   has left, k is counted from zero: a backlog shrinks the spacing and drains.
//! - **The segment** is the largest payload that has passed toward the receiver.
//! - **An ACK that is made** is a copy of the last one that came, with a smaller
//!   number and the same right edge of the window.
//! - **ACKs with more than a number** (SACK blocks, ECN echo, a duplicate, payload) pass at once. A
//!   series in progress ends before it with the newest ACK that is held, so that order is kept. A
//!   plain ACK with a smaller number than one that has come is dropped.
//! - **A `spacing` that is too slow** for the rate of the data lets the backlog
//!   grow: the value is the user's.
//!
//! Example: segments of 1000 bytes, ACKs 100 ms apart that each cover 8
//! segments. The reconstructor sends 4 ACKs for each, 2 segments and 25 ms
//! apart.

mod connection;

use bentpipe_units::Duration;
pub(crate) use connection::Connection;

/// Parameters of ACK reconstruction.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
pub struct ReconstructionSettings {
    /// Segments from one acknowledgement to the next, at least one.
    pub threshold: u32,
    /// Time from one acknowledgement to the next; by the rate at which they
    /// arrive where `None`.
    pub spacing: Option<Duration>,
    /// Weight of a new sample in the mean time between arriving ACKs, 0 to 1.
    pub gain: f64,
    /// A longer time between two ACKs is no sample.
    pub pause: Duration,
}

impl Default for ReconstructionSettings {
    fn default() -> ReconstructionSettings {
        ReconstructionSettings {
            threshold: 2,
            spacing: None,
            gain: 0.125,
            pause: Duration::from_millis(200),
        }
    }
}

#[cfg(test)]
mod tests;
