//! The link that is compared on, as a scenario of two nodes.

use super::gateway;
use super::orbit::Orbit;
use crate::args::{self, Pep, QueueLength};
use crate::exit::Failure;
use bentpipe_link::{ChannelSettings, Limit, LinkSettings, QueueSettings, XcpSettings};
use bentpipe_scenario::{Flow, Handshake, Limits, Link, LinkId, Node, NodeId, Scenario};
use bentpipe_tcp::Transport;
use bentpipe_traffic::Application;
use bentpipe_units::{Bytes, Duration, Rate, Ratio, Time};

/// Bytes of a full packet at the IP layer, for counting in packets.
const PACKET: u64 = 1500;

/// A download is given up after this much simulated time.
pub(crate) const GIVEN_UP: Duration = Duration::from_secs(24 * 3600);

/// The link and the download.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Path {
    /// Towards the receiver.
    pub(crate) rate: Rate,
    /// Back to the sender.
    pub(crate) return_rate: Rate,
    /// Round-trip propagation time.
    pub(crate) rtt: Duration,
    /// Size of the download.
    pub(crate) size: Bytes,
    /// Packet error rate.
    pub(crate) loss: Ratio,
    /// Queue before the link, as given.
    pub(crate) queue: QueueLength,
    /// Round trip between the server and the gateway, where they are two.
    pub(crate) server_rtt: Option<Duration>,
    /// What stands at the gateway.
    pub(crate) pep: Pep,
    /// The satellites that it goes over.
    pub(crate) orbit: Option<Orbit>,
}

/// Round trip to the gateway of a proxy.
const SERVER_RTT: Duration = Duration::from_millis(50);

impl Path {
    /// From the command line.
    pub(crate) fn new(args: &args::Compare) -> Result<Path, Failure> {
        let return_rate = args
            .return_rate
            .unwrap_or_else(|| Rate::from_bps((args.rate.bps() / 5).max(1)));
        let mut path = Path {
            rate: args.rate,
            return_rate,
            rtt: args.rtt,
            size: args.size,
            loss: args.loss,
            queue: args.queue,
            server_rtt: args
                .server_rtt
                .or((args.pep != Pep::None).then_some(SERVER_RTT)),
            pep: args.pep,
            orbit: None,
        };
        path.check()?;
        path.orbit = Orbit::new(args, [args.rate, return_rate], args.size)?;
        if let Some(orbit) = &path.orbit {
            path.rtt = orbit.rtt[1];
        }
        Ok(path)
    }

    /// Refuses what is no link.
    pub(crate) fn check(&self) -> Result<(), Failure> {
        let positive = |ok: bool, flag: &str| {
            if ok {
                Ok(())
            } else {
                Err(Failure::new(format!("{flag} must be above zero")))
            }
        };
        positive(self.rate.bps() > 0, "--rate")?;
        positive(self.return_rate.bps() > 0, "--return-rate")?;
        positive(self.size.get() > 0, "--size")?;
        positive(!self.rtt.is_zero(), "--rtt")?;
        let most = Duration::from_secs(3600);
        if self.rtt > most {
            return Err(Failure::new(format!(
                "--rtt {} is more than an hour",
                self.rtt
            )));
        }
        Ok(())
    }

    /// Bandwidth-delay product.
    pub(crate) fn bdp(&self) -> Bytes {
        self.rate.bytes_in(self.rtt)
    }

    /// Bandwidth-delay product in full packets, at least 2.
    pub(crate) fn bdp_segments(&self) -> u32 {
        u32::try_from(self.bdp().get() / PACKET)
            .unwrap_or(u32::MAX)
            .max(2)
    }

    fn limit(&self) -> Limit {
        match self.queue {
            QueueLength::Packets(n) => Limit::Packets(n),
            QueueLength::Bytes(n) => Limit::Bytes(Bytes::new(n.get().max(PACKET))),
            QueueLength::Bdp(x) => {
                // A queue that holds no packet would pass none of a burst.
                let bytes = (self.bdp().as_f64() * x) as u64;
                Limit::Bytes(Bytes::new(bytes.max(PACKET)))
            }
        }
    }

    /// What the queue holds, in bytes.
    pub(crate) fn queue_bytes(&self) -> Bytes {
        match self.limit() {
            Limit::Packets(n) => Bytes::new(u64::from(n) * PACKET),
            Limit::Bytes(n) => n,
        }
    }

    /// The time that a full queue needs to leave.
    pub(crate) fn full_queue_delay(&self) -> Duration {
        self.rate.transmission_time(self.queue_bytes())
    }

    /// The scenario with one download for each of `transports`, side by side.
    pub(crate) fn scenario(&self, transports: &[&Transport]) -> Scenario {
        // XCP needs its routers; whatever else is compared keeps drop-tail.
        let explicit = transports.iter().any(|t| t.is_explicit());
        let queue = |limit| {
            if explicit {
                QueueSettings::Xcp(XcpSettings::new(limit))
            } else {
                QueueSettings::drop_tail(limit)
            }
        };
        let link = |name: &str, from: u32, to, rate, limit, channel| Link {
            name: name.to_owned(),
            from: NodeId(from),
            to: NodeId(to),
            settings: LinkSettings {
                rate,
                // What is ideal is ideal over the shortest path.
                one_way_delay: self.orbit.as_ref().map_or(self.rtt, |o| o.rtt[0]) / 2,
                queue: queue(limit),
                channel,
                framing: Bytes::ZERO,
            },
            timeline: self
                .orbit
                .as_ref()
                .map(|o| o.timelines[from as usize].clone()),
            arq: None,
            medium: None,
            reports_corruption: false,
        };
        let channel = if self.loss == Ratio::ZERO {
            ChannelSettings::Perfect
        } else {
            ChannelSettings::Uniform {
                packet_error_rate: self.loss,
            }
        };
        let back = Limit::Packets(1000);
        let flows = transports.iter().enumerate().map(|(i, transport)| Flow {
            name: format!("download-{}", i + 1),
            from: NodeId(0),
            to: NodeId(1),
            transport: Some((*transport).clone()),
            application: Application::Transfer { size: self.size },
            start: Time::ZERO,
            stop: None,
            handshake: if self.server_rtt.is_some() {
                Handshake::Counted
            } else {
                Handshake::NotCounted
            },
            forward: vec![LinkId(0)],
            reverse: vec![LinkId(1)],
            changes: Vec::new(),
            split: None,
        });
        let mut scenario = Scenario {
            name: "compare".to_owned(),
            description: "one download over a satellite link".to_owned(),
            duration: GIVEN_UP,
            seed: 1,
            nodes: ["sender", "receiver"]
                .map(|n| Node { name: n.to_owned() })
                .into(),
            links: vec![
                link("satellite", 0, 1, self.rate, self.limit(), channel),
                link(
                    "return",
                    1,
                    0,
                    self.return_rate,
                    back,
                    ChannelSettings::Perfect,
                ),
            ],
            flows: flows.collect(),
            stranded: bentpipe_scenario::Stranded::default(),
            middleboxes: Vec::new(),
            peps: Vec::new(),
            media: Vec::new(),
            limits: Limits::default(),
        };
        gateway::add(self, &mut scenario);
        scenario
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// The default path.
    pub(crate) fn path() -> Path {
        Path {
            rate: Rate::from_mbps(10),
            return_rate: Rate::from_mbps(2),
            rtt: Duration::from_millis(600),
            size: Bytes::new(10_000_000),
            loss: Ratio::ZERO,
            queue: QueueLength::Bdp(1.0),
            server_rtt: None,
            pep: Pep::None,
            orbit: None,
        }
    }

    #[test]
    fn the_queue_is_given_in_three_units() {
        assert_eq!(path().bdp(), Bytes::new(750_000));
        assert_eq!(path().bdp_segments(), 500);
        assert_eq!(path().full_queue_delay(), Duration::from_millis(600));
        let packets = Path {
            queue: QueueLength::Packets(100),
            ..path()
        };
        assert_eq!(packets.queue_bytes(), Bytes::new(150_000));
        let tiny = Path {
            queue: QueueLength::Bytes(Bytes::new(1)),
            ..path()
        };
        assert_eq!(tiny.queue_bytes(), Bytes::new(1500));
    }
}
