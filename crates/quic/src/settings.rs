//! Settings of an endpoint.

use crate::controller::{Adapter, Path};
use crate::session::{Ciphers, Lengths, Resumption};
use bentpipe_cc::{Controller, PathHint};
use bentpipe_units::{Bytes, Duration as Span, Rate, Segments};
use quinn_proto::congestion::{Controller as QuicController, ControllerFactory};
use quinn_proto::{AckFrequencyConfig, MtuDiscoveryConfig, TransportConfig, VarInt};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

/// Payload of UDP that every path carries, bytes (RFC 9000, section 14).
pub const SMALLEST_PAYLOAD: u16 = 1200;

/// How a sender spaces its packets where its control does not.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Pacing {
    /// As quinn does: 5/4 of the window in a smoothed round trip, in bursts of ten packets or more.
    #[default]
    Quinn,
    /// Packets leave as soon as the window allows.
    Off,
    /// Packets leave at so many windows in a smoothed round trip.
    Window(f64),
}

/// Settings of an endpoint, the same for both sides of a connection.
#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    /// Payload of UDP in a full packet, bytes; `None` where 1200 are sent at first and more once
    /// path MTU discovery (RFC 8899) has found that they pass.
    pub mtu: Option<u16>,
    /// Window at the start, packets.
    pub initial_window: Segments,
    /// Slow start threshold at the start, packets.
    pub initial_ssthresh: Option<Segments>,
    /// How packets are spaced where the control does not say.
    pub pacing: Pacing,
    /// Most datagrams that are built together, as for segmentation offload (GSO).
    pub batch: usize,
    /// Packets that the receiver acknowledges at once, and the longest time that it waits for as
    /// many (draft-ietf-quic-ack-frequency); `None`: two, and 25 ms (RFC 9000, sections 13.2.1 and
    /// 18.2).
    pub acks: Option<(u32, Span)>,
    /// Bytes of a stream that may be unacknowledged.
    pub send_window: Bytes,
    /// Bytes of a stream that the receiver has room for.
    pub receive_window: Bytes,
    /// The receiver's limit at the start, bytes, which doubles whenever half of it has arrived until
    /// the whole is a window.
    pub initial_receive_window: Option<Bytes>,
    /// Packets are sent as ECN-capable.
    pub ecn: bool,
    /// Lengths of the handshake.
    pub lengths: Lengths,
    /// What the client has of an earlier connection.
    pub resumption: Resumption,
    /// What protects packets.
    pub ciphers: Ciphers,
}

impl Default for Settings {
    fn default() -> Settings {
        Settings {
            mtu: None,
            initial_window: 10.0,
            initial_ssthresh: None,
            pacing: Pacing::Quinn,
            batch: 10,
            acks: None,
            send_window: Bytes::new(16_000_000),
            receive_window: Bytes::new(16_000_000),
            initial_receive_window: None,
            ecn: false,
            lengths: Lengths::default(),
            resumption: Resumption::None,
            ciphers: Ciphers::None,
        }
    }
}

/// Why an endpoint cannot have these settings.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SettingsError {
    /// Datagrams are too small.
    #[error("a QUIC packet has 1200 bytes of UDP payload or more, and not {0}")]
    Mtu(u16),
    /// The build lacks TLS.
    #[error(
        "this build has no ciphers for QUIC: build it with the feature `tls`, or leave `ciphers` out"
    )]
    NoTls,
    /// Tickets of TLS are worth nothing here.
    #[error(
        "with `ciphers = \"tls\"` there is no earlier connection to resume: leave `resumption` out"
    )]
    Resumption,
    /// rustls refuses them.
    #[error("TLS: {0}")]
    Tls(String),
}

impl Settings {
    /// Whether an endpoint can have them.
    ///
    /// # Errors
    /// The packets are smaller than QUIC allows.
    pub fn check(&self) -> Result<(), SettingsError> {
        match self.mtu {
            Some(mtu) if mtu < SMALLEST_PAYLOAD => Err(SettingsError::Mtu(mtu)),
            _ => Ok(()),
        }
    }

    pub(crate) fn transport(
        &self,
        control: Arc<dyn ControllerFactory + Send + Sync>,
    ) -> Arc<TransportConfig> {
        let mut config = TransportConfig::default();
        // As TCP's, connections outlive outages.
        config.max_idle_timeout(None);
        config.keep_alive_interval(None);
        // Where it may be, it is drawn for each connection; nothing here looks at it.
        config.allow_spin(false);
        let window = varint(self.receive_window.get());
        config.stream_receive_window(window);
        let initial = self.initial_receive_window.map(|it| varint(it.get()));
        config.receive_window(initial.map_or(window, |initial| initial.min(window)));
        config.send_window(self.send_window.get());
        config.congestion_controller_factory(control);
        if let Some(mtu) = self.mtu {
            config.initial_mtu(mtu);
            config.mtu_discovery_config(None);
        } else {
            config.mtu_discovery_config(Some(MtuDiscoveryConfig::default()));
        }
        if let Some((count, delay)) = self.acks {
            let mut acks = AckFrequencyConfig::default();
            // The threshold counts what may arrive unacknowledged.
            acks.ack_eliciting_threshold(VarInt::from_u32(count.saturating_sub(1)));
            acks.max_ack_delay(Some(Duration::from_nanos(delay.as_nanos())));
            config.ack_frequency_config(Some(acks));
        }
        Arc::new(config)
    }
}

pub(crate) fn varint(value: u64) -> VarInt {
    VarInt::from_u64(value).unwrap_or(VarInt::MAX)
}

/// A connection's surroundings in the simulator: nothing is known of the path, and packets are
/// spaced outside where quinn's pacer cannot do it.
#[derive(Debug)]
pub struct Own {
    initial_window: Segments,
    initial_ssthresh: Option<Segments>,
    pacing: Pacing,
}

impl Path for Own {
    fn rate(&self) -> Option<Rate> {
        None
    }

    fn rtt(&self) -> Span {
        Span::ZERO
    }

    fn hint(&self, _: f64, _: Option<Span>) -> Option<PathHint> {
        None
    }

    fn acknowledged(&self, _: u64, _: Span) {}

    fn set_pace(&mut self, _: Option<Rate>) {}

    fn initial_window(&self, _: u16, _: bool) -> Segments {
        self.initial_window
    }

    fn initial_ssthresh(&self) -> Option<Segments> {
        self.initial_ssthresh
    }

    fn may_hold_back(&self) -> bool {
        false
    }

    fn spaces_packets(&self) -> bool {
        self.pacing != Pacing::Off
    }

    fn is_paced_outside(&self, paces_itself: bool) -> bool {
        paces_itself || self.pacing != Pacing::Quinn
    }
}

/// Makes the adapter of the one connection of an endpoint, and lets others see it.
#[derive(Debug)]
pub(crate) struct Factory {
    control: Mutex<Option<Controller>>,
    seed: u64,
    settings: Settings,
    pub(crate) made: OnceLock<Adapter<Own>>,
}

impl Factory {
    pub(crate) fn new(control: Controller, seed: u64, settings: &Settings) -> Factory {
        Factory {
            control: Mutex::new(Some(control)),
            seed,
            settings: settings.clone(),
            made: OnceLock::new(),
        }
    }
}

impl ControllerFactory for Factory {
    /// quinn-proto builds one for each path; in the simulator there is one path.
    fn build(self: Arc<Self>, now: Instant, current_mtu: u16) -> Box<dyn QuicController> {
        let adapter = self.made.get_or_init(|| {
            let mut control = self.control.lock().unwrap_or_else(PoisonError::into_inner);
            let control = control.take().unwrap_or_else(|| Controller::custom(Fixed));
            let path = Own {
                initial_window: self.settings.initial_window,
                initial_ssthresh: self.settings.initial_ssthresh,
                pacing: self.settings.pacing,
            };
            Adapter::new(control, self.seed, path, now, current_mtu)
        });
        Box::new(adapter.clone())
    }
}

/// A control that cannot be missing.
#[derive(Debug)]
struct Fixed;

impl bentpipe_cc::CongestionControl for Fixed {
    fn name(&self) -> &str {
        "fixed"
    }

    fn on_ack(&mut self, _: &bentpipe_cc::Ack, _: &mut bentpipe_cc::Window) {}
}
