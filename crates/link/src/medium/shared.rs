//! A medium and its terminals in one.

use super::{AccessCounters, Medium, MediumSettings, Ports};
use crate::{Link, LinkPlan, LinkSettings, PacketMeta, QueueSettings, Verdict};
use bentpipe_units::{Bytes, Time};

/// A medium that owns the links of its terminals, which are all alike: for
/// callers that have no links to share.
///
/// ```
/// use bentpipe_link::medium::{AccessSettings, AlohaSettings, MediumSettings, SharedLink};
/// use bentpipe_link::{Limit, PacketMeta, QueueSettings};
/// use bentpipe_units::{Bytes, Duration, Rate, Time};
///
/// let settings = MediumSettings {
///     rate: Rate::from_mbps(2),
///     one_way_delay: Duration::from_millis(250),
///     access: AccessSettings::Aloha(AlohaSettings::NS2),
/// };
/// let queue = QueueSettings::drop_tail(Limit::Packets(50));
/// let mut aloha = SharedLink::new(&settings, &queue, Bytes::new(16), 10, 1, "uplink");
/// aloha.offer(Time::ZERO, 3, "a packet", PacketMeta::plain(234));
/// // 250 bytes take 1 ms.
/// let arrives = Time::from_nanos(251_000_000);
/// assert_eq!(aloha.deliver_due(arrives), Some((3, "a packet")));
/// ```
#[derive(Clone, Debug)]
pub struct SharedLink<P> {
    medium: Medium,
    links: Vec<Link<P>>,
    at: Vec<u32>,
}

impl<P: Copy> SharedLink<P> {
    /// The medium called `name`, with `terminals` that each have a queue and
    /// add `framing` to every packet, in the run with seed `seed`.
    #[must_use]
    pub fn new(
        settings: &MediumSettings,
        queue: &QueueSettings,
        framing: Bytes,
        terminals: usize,
        seed: u64,
        name: &str,
    ) -> SharedLink<P> {
        let link = LinkSettings {
            framing,
            ..LinkSettings::new(settings.rate, settings.one_way_delay, queue.clone())
        };
        let port = |i: usize| {
            let name = format!("{name}[{}]", i + 1);
            Link::build(&LinkPlan {
                shares_medium: true,
                ..LinkPlan::new(&link, seed, &name)
            })
        };
        SharedLink {
            medium: Medium::new(settings, terminals, seed, name),
            links: (0..terminals).map(port).collect(),
            at: (0..terminals as u32).collect(),
        }
    }

    /// See [`Medium::offer`]; nothing if there is no such terminal.
    pub fn offer(
        &mut self,
        now: Time,
        terminal: usize,
        packet: P,
        offered: PacketMeta,
    ) -> Option<Verdict> {
        if terminal >= self.links.len() {
            return None;
        }
        let mut ports = Ports::new(&mut self.links, &self.at);
        let medium = &mut self.medium;
        Some(medium.offer(&mut ports, now, terminal, packet, offered))
    }

    /// See [`Medium::next_event`].
    #[must_use]
    pub fn next_event(&self) -> Option<Time> {
        self.medium.next_event()
    }

    /// See [`Medium::deliver_due`].
    pub fn deliver_due(&mut self, now: Time) -> Option<(usize, P)> {
        let mut ports = Ports::new(&mut self.links, &self.at);
        self.medium.deliver_due(&mut ports, now)
    }

    /// See [`Medium::poll_verdict`].
    pub fn poll_verdict(&mut self) -> Option<(usize, P, Verdict)> {
        let mut ports = Ports::new(&mut self.links, &self.at);
        self.medium.poll_verdict(&mut ports)
    }

    /// The link of a terminal, for its counters and its queue.
    #[must_use]
    pub fn link(&self, terminal: usize) -> Option<&Link<P>> {
        self.links.get(terminal)
    }

    /// See [`Medium::access`].
    #[must_use]
    pub fn access(&self, terminal: usize) -> AccessCounters {
        self.medium.access(terminal)
    }

    /// See [`Medium::total`].
    #[must_use]
    pub fn total(&self) -> AccessCounters {
        self.medium.total()
    }
}
