//! A line of two links each way and the flows over it: the network of most
//! tests here.

use bentpipe_cc::Parameters;
use bentpipe_link::{ChannelSettings, Limit, LinkSettings, QueueSettings};
use bentpipe_scenario::{Flow, Handshake, Limits, Link, LinkId, Node, NodeId, Scenario};
use bentpipe_tcp::{CongestionControlChoice, DelayedAck, HostProfile, Pacing, Recovery, Transport};
use bentpipe_traffic::Application;
use bentpipe_units::{Bytes, Duration, Rate, Ratio, Time};
use std::sync::Arc;

/// A LAN of 100 Mbit/s and no delay, then a satellite link.
#[derive(Clone)]
pub(crate) struct Line {
    pub(crate) rate: Rate,
    pub(crate) rtt: Duration,
    pub(crate) queue: u32,
    pub(crate) loss: f64,
    pub(crate) duration: Duration,
    pub(crate) flows: Vec<Flow>,
}

impl Line {
    /// 2 Mbit/s, RTT 511 ms, 100 packets of queue, no loss.
    pub(crate) fn geo() -> Line {
        Line {
            rate: Rate::from_mbps(2),
            rtt: Duration::from_millis(511),
            queue: 100,
            loss: 0.0,
            duration: Duration::from_secs(1000),
            flows: Vec::new(),
        }
    }

    pub(crate) fn with(mut self, application: Application, transport: Option<Transport>) -> Line {
        let reverse = vec![LinkId(2), LinkId(3)];
        self.flows.push(Flow {
            name: format!("flow[{}]", self.flows.len() + 1),
            from: NodeId(0),
            to: NodeId(2),
            transport: transport.map(Arc::new),
            application,
            start: Time::ZERO,
            stop: None,
            handshake: Handshake::NotCounted,
            forward: vec![LinkId(0), LinkId(1)],
            reverse,
            changes: Vec::new(),
            dns: false,
            subscriber: None,
            ipsec: None,
            split: None,
        });
        self
    }

    pub(crate) fn transfer(self, bytes: u64, transport: Transport) -> Line {
        self.with(
            Application::Transfer {
                size: Bytes::new(bytes),
            },
            Some(transport),
        )
    }

    pub(crate) fn scenario(self) -> Scenario {
        let one_way = self.rtt / 2;
        let link = |name: &str, from, to, rate, delay, packets, loss| Link {
            name: name.into(),
            from: NodeId(from),
            to: NodeId(to),
            reverse: None,
            settings: Arc::new(LinkSettings {
                channel: ChannelSettings::Uniform {
                    packet_error_rate: Ratio::new(loss).unwrap(),
                },
                ..LinkSettings::new(
                    rate,
                    delay,
                    QueueSettings::drop_tail(Limit::Packets(packets)),
                )
            }),
            timeline: None,
            arq: None,
            jitter: None,
            slots: None,
            medium: None,
            reports_corruption: false,
            offload: bentpipe_scenario::Offload::Segments,
        };
        let lan = Rate::from_mbps(100);
        Scenario {
            name: "line".into(),
            description: String::new(),
            duration: self.duration,
            seed: 1,
            nodes: ["server", "gateway", "client"]
                .map(|n| Node { name: n.into() })
                .into(),
            links: vec![
                link("lan", 0, 1, lan, Duration::ZERO, 1_000_000, 0.0),
                link("satellite", 1, 2, self.rate, one_way, self.queue, self.loss),
                link(
                    "satellite.reverse",
                    2,
                    1,
                    self.rate,
                    one_way,
                    self.queue,
                    0.0,
                ),
                link("lan.reverse", 1, 0, lan, Duration::ZERO, 1_000_000, 0.0),
            ],
            media: Vec::new(),
            flows: self.flows,
            stranded: bentpipe_scenario::LinkDownPolicy::default(),
            middleboxes: Vec::new(),
            peps: Vec::new(),
            limits: Limits::default(),
            kept: bentpipe_scenario::Kept::default(),
        }
    }
}

/// SACK over NewReno's window, 1448 bytes of payload a packet.
pub(crate) fn sack() -> Transport {
    named("newreno", Recovery::Sack)
}

pub(crate) fn named(congestion_control: &str, recovery: Recovery) -> Transport {
    Transport {
        name: congestion_control.into(),
        congestion_control: CongestionControlChoice::Named(congestion_control.into()),
        parameters: Parameters::new(),
        profile: HostProfile::Rfc,
        recovery,
        mss: 1448,
        initial_window: 6.0,
        initial_ssthresh: None,
        send_buffer: Bytes::new(16_000_000),
        receive_buffer: Bytes::new(16_000_000),
        delayed_ack: DelayedAck {
            count: 2,
            timer: Duration::from_millis(40),
            quick_acks: 1,
        },
        timestamps: true,
        limited_transmit: true,
        recovery_fix: true,
        undo: true,
        pacing: Pacing::Off,
        ecn: false,
        minimum_rto: None,
        polling: bentpipe_tcp::Polling::default(),
        quic: None,
        tls: None,
        kernel: bentpipe_tcp::KernelSettings::DEFAULT,
    }
}

pub(crate) fn ideal() -> Transport {
    Transport {
        congestion_control: CongestionControlChoice::Ideal,
        ..sack()
    }
}
