//! The link that is compared on, as a scenario.

use super::gateway;
use super::orbit::OrbitPath;
use crate::Error;
use bentpipe_cc::PathHeader;
use bentpipe_link::{
    BandwidthSettings, ChannelSettings, Limit, LinkSettings, QueueSettings, XcpSettings,
};
use bentpipe_scenario::QueueLength;
use bentpipe_scenario::{Handshake, Scenario};
use bentpipe_tcp::Transport;
use bentpipe_traffic::Application;
use bentpipe_units::{Bytes, Duration, Rate, Ratio};

/// Bytes of a full packet at the IP layer, for counting in packets.
pub(super) const PACKET: u64 = 1500;

/// Packets that may wait at the sender of acknowledgements.
const RETURN_QUEUE: Limit = Limit::Packets(1000);

/// A download is given up after this much simulated time.
pub const GIVEN_UP: Duration = Duration::from_secs(24 * 3600);

/// The proxy at the gateway.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Pep {
    /// None.
    #[default]
    None,
    /// A split-connection PEP: the server's connection, with CUBIC, ends there
    /// and the compared transports run on from there.
    Split,
    /// A Snoop agent, which repairs losses of the link from a cache.
    Snoop,
}

/// The path and the download.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct NetworkPath {
    /// Rate towards the receiver.
    pub rate: Rate,
    /// Rate back to the sender.
    pub return_rate: Rate,
    /// Round-trip propagation time of the link; over satellites, its mean.
    pub rtt: Duration,
    /// Size of the download.
    pub size: Bytes,
    /// Packet error rate.
    pub loss: Ratio,
    /// Length of the queue before the link, as given.
    pub queue: QueueLength,
    /// Round trip between the server and the gateway, where they are two nodes.
    pub server_rtt: Option<Duration>,
    /// The proxy at the gateway.
    pub pep: Pep,
    /// The satellites that the link goes over.
    pub orbit: Option<OrbitPath>,
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
        positive(self.size.get() > 0, "size")?;
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

    fn limit(&self) -> Limit {
        match self.queue {
            QueueLength::Packets(n) => Limit::Packets((n as u32).max(1)),
            QueueLength::Bytes(n) => Limit::Bytes(Bytes::new(n.get().max(PACKET))),
            QueueLength::Bdp(x) => {
                // A queue that holds no packet would pass none of a burst.
                let bytes = (self.bdp().as_f64() * x) as u64;
                Limit::Bytes(Bytes::new(bytes.max(PACKET)))
            }
        }
    }

    /// What the queue before the link holds.
    #[must_use]
    pub fn queue_bytes(&self) -> Bytes {
        match self.limit() {
            Limit::Packets(n) => Bytes::new(u64::from(n) * PACKET),
            Limit::Bytes(n) => n,
        }
    }

    /// The time that a full queue needs to leave.
    #[must_use]
    pub fn full_queue_delay(&self) -> Duration {
        self.rate.transmission_time(self.queue_bytes())
    }

    /// The scenario with one download for each of `transports`, side by side.
    ///
    /// # Errors
    /// If a transport cannot run over this path.
    pub fn scenario(&self, transports: &[&Transport]) -> Result<Scenario, Error> {
        // XCP and BA-TCP need their routers; whatever else is compared keeps drop-tail.
        let header = transports.iter().map(|t| t.path_header());
        let header = header.fold(PathHeader::None, |found, next| match found {
            PathHeader::None => next,
            found => found,
        });
        let link = |rate, limit, channel| LinkSettings {
            rate,
            // What is ideal is ideal over the shortest path.
            one_way_delay: self.orbit.as_ref().map_or(self.rtt, |o| o.rtt[0]) / 2,
            queue: match header {
                PathHeader::Congestion => QueueSettings::Xcp(XcpSettings::new(limit)),
                PathHeader::Bandwidth => QueueSettings::Bandwidth(BandwidthSettings::new(limit)),
                PathHeader::None => QueueSettings::drop_tail(limit),
            },
            channel,
            framing: Bytes::ZERO,
        };
        let channel = if self.loss == Ratio::ZERO {
            ChannelSettings::Perfect
        } else {
            ChannelSettings::Uniform {
                packet_error_rate: self.loss,
            }
        };
        let mut builder = Scenario::builder("compare");
        builder
            .description("one download over a satellite link")
            .duration(GIVEN_UP);
        let sender = builder.node("sender");
        let receiver = builder.node("receiver");
        let gateway = self.server_rtt.map(|_| builder.node("gateway"));
        let forward = link(self.rate, self.limit(), channel);
        let reverse = link(self.return_rate, RETURN_QUEUE, ChannelSettings::Perfect);
        let near = gateway.unwrap_or(sender);
        let timelines = self.orbit.as_ref().map(|o| o.timelines.clone());
        builder.link_pair("satellite", (near, receiver), [forward, reverse], timelines);
        let proxied = match gateway {
            Some(gateway) => gateway::add(self, &mut builder, [sender, gateway], transports),
            None => false,
        };
        let handshake = match gateway {
            Some(_) => Handshake::Counted,
            None => Handshake::NotCounted,
        };
        for (i, transport) in transports.iter().enumerate() {
            let file = Application::Transfer { size: self.size };
            let transport = gateway::server_transport(transport, proxied);
            builder
                .flow(format!("download-{}", i + 1), sender, receiver, file)
                .transport(transport)
                .handshake(handshake);
        }
        Ok(builder.build()?)
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// The default path without losses.
    pub(crate) fn path() -> NetworkPath {
        let comparison = super::super::Comparison::new().loss(Ratio::ZERO);
        comparison.path().unwrap()
    }

    #[test]
    fn the_queue_is_given_in_three_units() {
        assert_eq!(path().bdp(), Bytes::new(750_000));
        assert_eq!(path().bdp_segments(), 500);
        assert_eq!(path().full_queue_delay(), Duration::from_millis(600));
        let packets = NetworkPath {
            queue: QueueLength::Packets(100.0),
            ..path()
        };
        assert_eq!(packets.queue_bytes(), Bytes::new(150_000));
        let tiny = NetworkPath {
            queue: QueueLength::Bytes(Bytes::new(1)),
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
        let error = stalled.scenario(&[&cubic]).unwrap_err();
        assert_eq!(error.to_string(), "the rate of link `satellite` is zero");
    }
}
