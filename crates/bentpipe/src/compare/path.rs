//! The link that is compared on, as a scenario.

use super::jitter::Jitter;
use super::loss::{Loss, PACKET};
use super::profile::LinkProfile;
use super::queue::Queue;
use crate::Error;
use bentpipe_cc::PathHeader;
use bentpipe_link::{
    BandwidthSettings, ChannelSettings, Limit, LinkSettings, Piece, QueueSettings, Timeline,
    XcpSettings,
};
use bentpipe_scenario::{NodeId, Scenario, ScenarioBuilder};
use bentpipe_tcp::Transport;
use bentpipe_traffic::Application;
use bentpipe_units::{Bytes, Duration, Rate, Time};
use std::sync::Arc;

/// Packets that may wait at the sender of acknowledgements.
const RETURN_QUEUE: Limit = Limit::Packets(1000);

/// Slowest rate of what must not slow anything down, and packets that may wait there.
const RELAY: Rate = Rate::from_mbps(10_000);
const RELAY_QUEUE: u32 = 10_000;

/// A download is given up after this much simulated time.
pub const GIVEN_UP: Duration = Duration::from_secs(24 * 3600);

/// The path that the traffic crosses.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(not(feature = "exhaustive"), non_exhaustive)]
pub struct NetworkPath {
    /// Rate towards the receiver.
    pub rate: Rate,
    /// Rate back to the sender.
    pub return_rate: Rate,
    /// Round-trip propagation time of the link; over satellites, its mean.
    pub rtt: Duration,
    /// What the channel loses.
    pub loss: Loss,
    /// It was not said what the channel loses: this is what such a link usually does.
    pub is_loss_assumed: bool,
    /// How the delay varies, each way.
    pub jitter: Option<Jitter>,
    /// The queue before the link, as given.
    pub queue: Queue,
    /// Round trip between the server and the gateway, where they are two nodes.
    pub server_rtt: Option<Duration>,
    /// How the link changes with time, if it does.
    pub profile: Option<LinkProfile>,
}

impl NetworkPath {
    /// Refuses what is no link.
    pub(super) fn check(&self) -> Result<(), Error> {
        let positive = |ok: bool, setting| {
            ok.then_some(())
                .ok_or_else(|| Error::setting(setting, "must be above zero"))
        };
        positive(self.rate.bps() > 0, "rate")?;
        positive(self.return_rate.bps() > 0, "return-rate")?;
        positive(!self.rtt.is_zero(), "rtt")?;
        if self.rtt > Duration::from_secs(3600) {
            let why = format!("{} is more than an hour", self.rtt);
            return Err(Error::setting("rtt", why));
        }
        Ok(())
    }

    /// Bandwidth-delay product of the link.
    #[must_use]
    pub fn bdp(&self) -> Bytes {
        self.rate.bytes_in(self.rtt)
    }

    /// Bandwidth-delay product in full packets, at least 2.
    #[must_use]
    pub fn bdp_segments(&self) -> u32 {
        u32::try_from(self.bdp().get() / PACKET)
            .unwrap_or(u32::MAX)
            .max(2)
    }

    /// The same path with another queue before the link.
    #[must_use]
    pub fn with_queue(&self, queue: Queue) -> NetworkPath {
        NetworkPath {
            queue,
            ..self.clone()
        }
    }

    /// What the queue before the link holds at most.
    #[must_use]
    pub fn queue_bytes(&self) -> Bytes {
        self.queue.bytes(self)
    }

    /// What it holds in use: a discipline that drops early holds more in bursts alone.
    pub(super) fn standing_bytes(&self) -> Bytes {
        match self.queue.is_active() {
            true => self.queue_bytes().min(self.bdp()),
            false => self.queue_bytes(),
        }
    }

    /// The time that a full queue needs to leave.
    #[must_use]
    pub fn full_queue_delay(&self) -> Duration {
        self.rate.transmission_time(self.queue_bytes())
    }

    /// Share of the packets that are lost on the link, by its channel or its trace.
    #[must_use]
    pub fn lost(&self) -> f64 {
        let by_trace = self.profile.as_ref().map_or(0.0, |profile| profile.lost);
        1.0 - (1.0 - self.loss.share.get()) * (1.0 - by_trace)
    }

    /// How long a packet takes from the server to the users at most, without queues.
    pub(super) fn longest_way(&self) -> Duration {
        let longest = self.profile.as_ref().map_or(self.rtt, |p| p.rtt[2]);
        (longest + self.server_rtt.unwrap_or_default()) / 2
    }

    /// The path as the run with this seed finds it.
    pub(super) fn of_run(&self, seed: u64) -> NetworkPath {
        let begun = |profile: &LinkProfile| LinkProfile {
            timelines: profile.of_run(seed),
            ..profile.clone()
        };
        NetworkPath {
            profile: self.profile.as_ref().map(begun),
            ..self.clone()
        }
    }

    /// The same link if it stayed all the time what it is on average.
    #[must_use]
    pub fn steady(&self) -> NetworkPath {
        NetworkPath {
            profile: None,
            ..self.clone()
        }
    }

    /// The link between `ends`; routers are those that the transports need.
    pub(super) fn add_link<'a>(
        &self,
        builder: &mut ScenarioBuilder,
        ends: (NodeId, NodeId),
        transports: impl Iterator<Item = &'a Transport>,
    ) {
        let ways = self.ways(transports);
        let timelines = self.profile.as_ref().map(|c| c.timelines.clone());
        builder.link_pair("satellite", ends, ways, timelines);
        self.vary(builder, "satellite");
        self.vary(builder, "satellite.reverse");
    }

    /// The link from `hub` that all `terminals` share, which ends at `satellite`, and one back
    /// from each of them. Over the other direction of each of these packets go at once, or as
    /// good as.
    ///
    /// # Errors
    /// If that direction cannot be described, which does not happen.
    pub(super) fn add_links<'a>(
        &self,
        builder: &mut ScenarioBuilder,
        (hub, satellite): (NodeId, NodeId),
        terminals: &[NodeId],
        transports: impl Iterator<Item = &'a Transport>,
    ) -> Result<(), Error> {
        let [forward, reverse] = self.ways(transports);
        let returned = self
            .return_rate
            .bps()
            .saturating_mul(terminals.len() as u64);
        let busiest = Rate::from_bps(self.rate.bps().max(returned).saturating_mul(100));
        let at_once = LinkSettings::new(
            RELAY.max(busiest),
            Duration::ZERO,
            QueueSettings::drop_tail(Limit::Packets(RELAY_QUEUE)),
        );
        // In a file a way back without a timeline has that of the way forth.
        let steady = Timeline::new(vec![Piece {
            from: Time::ZERO,
            rate: at_once.rate,
            one_way_delay: Duration::ZERO,
            sloped: false,
            loss: bentpipe_link::Loss::Channel,
            up: true,
            route: 0,
            jitter: None,
        }]);
        let steady = steady.map_err(|e| Error::setting("terminals", e.to_string()))?;
        let steady = Arc::new(steady);
        let lines = self.profile.as_ref().map(|c| c.timelines.clone());
        let mut add = |name: String, ends, settings, way: usize| {
            let lines = lines
                .as_ref()
                .map(|lines| [&lines[way], &steady].map(Arc::clone));
            builder.link_pair(name.clone(), ends, [settings, at_once.clone()], lines);
            self.vary(builder, &name);
        };
        add("satellite".to_owned(), (hub, satellite), forward, 0);
        for (number, terminal) in (1..).zip(terminals) {
            let ends = (*terminal, satellite);
            add(format!("return-{number}"), ends, reverse.clone(), 1);
        }
        Ok(())
    }

    /// Lets the delay of the link of that name vary as the path says.
    fn vary(&self, builder: &mut ScenarioBuilder, link: &str) {
        let slots = self
            .profile
            .as_ref()
            .and_then(|profile| profile.slots.as_ref());
        match (&self.jitter, slots) {
            (Some(jitter), _) => {
                builder.jitter(link, &jitter.settings());
            }
            (None, Some(slots)) if link == "satellite" => {
                builder.jitter(link, &slots.jitter);
            }
            _ => {}
        }
    }

    /// The ways there and back; routers are those that the transports need.
    fn ways<'a>(&self, transports: impl Iterator<Item = &'a Transport>) -> [LinkSettings; 2] {
        // XCP and BA-TCP need their routers; whatever else is compared keeps the queue.
        let header = transports.map(Transport::path_header);
        let header = header.fold(PathHeader::None, |found, next| match found {
            PathHeader::None => next,
            found => found,
        });
        let link = |rate, queue: QueueSettings, channel| LinkSettings {
            channel,
            ..LinkSettings::new(
                rate,
                // What is ideal is ideal over the shortest path.
                self.profile.as_ref().map_or(self.rtt, |c| c.rtt[0]) / 2,
                match (header, queue.limit()) {
                    (PathHeader::Congestion, limit) => QueueSettings::Xcp(XcpSettings::new(limit)),
                    (PathHeader::Bandwidth, limit) => {
                        QueueSettings::Bandwidth(BandwidthSettings::new(limit))
                    }
                    (PathHeader::None, _) => queue,
                },
            )
        };
        let queue = self.queue.on(self).settings();
        let forward = link(self.rate, queue, self.loss.channel(self.rate));
        let back = QueueSettings::drop_tail(RETURN_QUEUE);
        let reverse = link(self.return_rate, back, ChannelSettings::Perfect);
        [forward, reverse]
    }

    /// The link alone, as a scenario with one endless flow of `transport` from
    /// `sender` to `receiver`.
    ///
    /// # Errors
    /// If it is no link.
    pub fn link(&self, transport: &Transport) -> Result<Scenario, Error> {
        let mut builder = Scenario::builder("link");
        builder.duration(GIVEN_UP);
        let ends = (builder.node("sender"), builder.node("receiver"));
        self.add_link(&mut builder, ends, std::iter::once(transport));
        let (sender, receiver) = ends;
        builder
            .flow("flow", sender, receiver, Application::Persistent)
            .transport(transport.clone());
        Ok(builder.build()?)
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use bentpipe_scenario::QueueLength;

    /// The default path without losses.
    pub(crate) fn path() -> NetworkPath {
        let comparison = super::super::Comparison::new().loss(Loss::NONE);
        comparison.path().unwrap()
    }

    #[test]
    fn the_queue_is_given_in_three_units() {
        assert_eq!(path().bdp(), Bytes::new(750_000));
        assert_eq!(path().bdp_segments(), 500);
        assert_eq!(path().full_queue_delay(), Duration::from_millis(600));
        let packets = NetworkPath {
            queue: QueueLength::Packets(100.0).into(),
            ..path()
        };
        assert_eq!(packets.queue_bytes(), Bytes::new(150_000));
        let tiny = NetworkPath {
            queue: QueueLength::Bytes(Bytes::new(1)).into(),
            ..path()
        };
        assert_eq!(tiny.queue_bytes(), Bytes::new(1500));
    }

    /// What the builder refuses, `compare` refuses as well.
    #[test]
    fn scenarios_are_checked() {
        let stalled = NetworkPath {
            rate: Rate::ZERO,
            ..path()
        };
        let cubic = bentpipe_tcp::find_transport("cubic").unwrap().transport();
        let error = stalled.link(&cubic).unwrap_err();
        assert_eq!(error.to_string(), "the rate of link `satellite` is zero");
    }
}
