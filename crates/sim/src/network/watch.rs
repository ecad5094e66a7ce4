//! Events of the links for the observer of a run: losses and queues.

use super::Network;
use crate::observer::{LossCause, LostPacket};
use bentpipe_link::Verdict;
use bentpipe_tcp::Packet;
use bentpipe_units::Time;

/// What is kept for the observer.
#[derive(Debug, Default)]
pub(super) struct Watch {
    /// By link, the drops before the queue was full that the observer has seen.
    early: Vec<u64>,
}

impl<const WATCHED: bool> Network<'_, WATCHED> {
    /// Shows the observer the losses that links have decided on since the last call.
    #[inline(never)]
    pub(super) fn show_losses(&mut self) {
        let Some(watched) = &mut self.driver.watched else {
            return;
        };
        self.watch.early.resize(self.forward.links.len(), 0);
        for loss in watched.drain(..) {
            let link = loss.link as usize;
            let early = self.forward.links[link].counters().early_drops;
            let cause = match loss.verdict {
                Verdict::ChannelLoss => LossCause::Channel,
                Verdict::OutageLoss => LossCause::Outage,
                // A link counts such drops where it decides on them.
                _ if early > self.watch.early[link] => {
                    self.watch.early[link] += 1;
                    LossCause::Aqm
                }
                _ => LossCause::QueueFull,
            };
            self.observer.lost(&LostPacket {
                at: loss.at,
                link: Some(loss.link),
                cause,
                packet: loss.packet,
            });
        }
    }

    /// Shows the observer a packet that has nowhere to go.
    #[cold]
    pub(super) fn show_unroutable(&mut self, packet: &Packet) {
        self.observer.lost(&LostPacket {
            at: self.now,
            link: None,
            cause: LossCause::NoRoute,
            packet: *packet,
        });
    }

    /// Shows the observer how many packets wait before each link at `at`, which no
    /// event lies before that has not been.
    pub(crate) fn show_queues(&mut self, at: Time) {
        for (index, link) in (0..).zip(&self.forward.links) {
            self.observer.queue(at, index, link.waiting_at(at));
        }
    }
}
