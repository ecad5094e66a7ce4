//! What a transport becomes on this machine: the kernel's congestion control,
//! and the options of sockets and routes that make the rest of it.
//!
//! | of the transport | on Linux |
//! |---|---|
//! | congestion control | a module of the kernel (`cubic`, `reno-linux`, `bbr`, ...), or the eBPF control of the same algorithm |
//! | initial window | the eBPF control's; of a module, `initcwnd` of the flow's route |
//! | receive buffer, by the profile's rule, and send buffer | the eBPF control's `window_clamp`, in segments; with a module, TCP_WINDOW_CLAMP of the receiver |
//! | one ACK per segment | `quickack` of the route back |
//! | no quick ACKs | TCP_QUICKACK = 0 after accept and after every read, TCP_DELACK_MAX_US |
//! | 1 to 15 quick ACKs, as old kernels had | the same once so many segments have been read, and whenever the timer of an ACK has run |
//! | 16 quick ACKs, as profile `linux` has them | the kernel's own heuristics |
//! | ECN, SACK, timestamps | net.ipv4.tcp_* of the host that opens the connection, set while it does |
//! | MSS | TCP_MAXSEG |
//! | smallest RTO, where the scenario sets it | `rto_min` of the route |
//!
//! Recovery, retransmission timers and undo are those of the kernel: a note says
//! so where the transport says otherwise.

use super::control::Control;
use bentpipe_tcp::{Buffers, DEFAULT_BUFFER, Pacing, Recovery, Transport};
use bentpipe_units::{Bytes, Duration};
use std::fmt::Write;
use std::ops::RangeInclusive;

/// Timers run so late at most, on a machine that is not overloaded: two ticks of
/// the slowest clock that kernels are built with, and a bit.
const TIMER_SLACK: Duration = Duration::from_millis(8);

/// Segments that the kernel acknowledges at once by itself.
const QUICK: u32 = 16;

/// Largest initial window of a route.
const MOST_SEGMENTS: f64 = 65_535.0;

/// What TCP_MAXSEG takes, bytes: TCP_MIN_MSS to MAX_TCP_WINDOW of the kernel.
const MSS: RangeInclusive<u32> = 88..=32_767;

/// When a receiver acknowledges.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Acknowledge {
    /// As the kernel sees fit.
    AsLinux,
    /// The receiver acknowledges every segment.
    Each,
    /// Every second one, but each until so many segments have been read; a
    /// single one after so long.
    EverySecond {
        /// Segments acknowledged at once at the start.
        quick: u32,
        /// Maximum delay of an ACK.
        timer: Duration,
    },
}

/// How the connections of a flow are set up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Setup {
    pub(crate) control: Control,
    /// Name under which programs choose the control, once it is loaded.
    pub(crate) control_name: String,
    /// Initial window, segments.
    pub(crate) initial_window: u32,
    /// What the windows of both sides allow, segments; `None` where the
    /// scenario sets no buffer.
    pub(crate) window: Option<u32>,
    /// The kernel tunes the send buffer up to the limit of a host that nobody has tuned;
    /// otherwise nothing limits it.
    pub(crate) stock_send: bool,
    /// The same of the receive buffer, so that no window is set: the largest that it comes to.
    pub(crate) stock_receive: Option<Bytes>,
    pub(crate) mss: u32,
    pub(crate) acknowledge: Acknowledge,
    pub(crate) timestamps: bool,
    pub(crate) sack: bool,
    pub(crate) ecn: bool,
    pub(crate) restart_after_idle: bool,
    pub(crate) minimum_rto: Option<Duration>,
}

impl Setup {
    /// The setup of a flow's transport.
    ///
    /// # Errors
    /// Unsupported features, a sentence each.
    pub(crate) fn new(transport: &Transport) -> Result<Setup, Vec<String>> {
        let mut refused = Vec::new();
        if transport.is_explicit() {
            refused.push("XCP and BA-TCP need routers and hosts that Linux is not".to_owned());
        }
        if transport.recovery == Recovery::Snack {
            refused.push("negative acknowledgements (SCPS-TP) are none of Linux".to_owned());
        }
        if transport.recovery == Recovery::Stp {
            refused.push("STP, which polls its receiver, is no transport of Linux".to_owned());
        }
        if transport.delayed_ack.count > 2 {
            refused.push(format!(
                "Linux acknowledges every second segment at the latest, not every {}",
                transport.delayed_ack.count
            ));
        }
        if transport.initial_ssthresh.is_some() {
            refused.push("an initial ssthresh cannot be set".to_owned());
        }
        let initial_window = transport.initial_window.floor();
        if !(1.0..=MOST_SEGMENTS).contains(&initial_window) {
            refused.push(format!(
                "an initial window of {initial_window} segments cannot be set"
            ));
        }
        if !MSS.contains(&transport.mss) {
            let (least, most) = (MSS.start(), MSS.end());
            refused.push(format!(
                "an MSS of {} bytes cannot be set: Linux takes {least} to {most}",
                transport.mss
            ));
        }
        let stock_send = transport.kernel.send_memory.is_some();
        let stock_receive = Some(transport.receive_buffer)
            .filter(|window| stock_send && Buffers::is_stock_window(*window));
        let window = window(transport).filter(|_| stock_receive.is_none());
        match Control::of(transport, window) {
            Ok(control) if refused.is_empty() => Ok(Setup {
                control,
                control_name: String::new(),
                initial_window: initial_window as u32,
                window,
                stock_send,
                stock_receive,
                mss: transport.mss,
                acknowledge: acknowledge(transport),
                timestamps: transport.timestamps,
                sack: transport.recovery.uses_sack(),
                ecn: transport.ecn,
                restart_after_idle: transport.profile.rules().restart_after_idle,
                minimum_rto: transport.minimum_rto,
            }),
            Ok(_) => Err(refused),
            Err(why) => {
                refused.push(why);
                Err(refused)
            }
        }
    }
}

impl Setup {
    /// After how long a wait the kernel is told again to delay ACKs: its timer has
    /// run by then, which lets it send quick ones.
    pub(crate) fn reminder(&self) -> Option<Duration> {
        match self.acknowledge {
            Acknowledge::EverySecond { quick: 1.., timer } => Some(timer + TIMER_SLACK),
            _ => None,
        }
    }

    /// What the route to the other side says, after a blank; `sends` at the side
    /// that sends the data.
    pub(crate) fn route(&self, sends: bool) -> String {
        let mut options = String::new();
        // Writing to a string does not fail.
        // A control of ours knows it.
        if sends && !self.control.keeps_window() {
            let _ = write!(options, " initcwnd {}", self.initial_window);
        }
        if self.acknowledge == Acknowledge::Each {
            options.push_str(" quickack 1");
        }
        if let Some(rto) = self.minimum_rto {
            let _ = write!(options, " rto_min {}ms", rto.as_nanos().div_ceil(1_000_000));
        }
        options
    }

    /// The receive window in bytes, where the control does not keep the window
    /// itself.
    pub(crate) fn receive_window(&self) -> Option<u32> {
        let window = self.window.filter(|_| !self.control.keeps_window());
        window.map(|segments| segments.saturating_mul(self.mss))
    }
}

/// Window that send and receive buffer allow, segments; `None` if neither is set.
fn window(transport: &Transport) -> Option<u32> {
    let divisor = transport.profile.rules().receive_buffer_divisor.max(1);
    let receive = transport.receive_buffer.get() / divisor;
    // The kernel keeps a limit of memory itself.
    let bytes = match transport.kernel.send_memory {
        Some(_) => receive,
        None => receive.min(transport.send_buffer.get()),
    };
    let segments = bytes / u64::from(transport.mss.max(1));
    (bytes < DEFAULT_BUFFER.get()).then(|| u32::try_from(segments.max(1)).unwrap_or(u32::MAX))
}

fn acknowledge(transport: &Transport) -> Acknowledge {
    match transport.delayed_ack {
        rule if rule.count <= 1 => Acknowledge::Each,
        rule if rule.quick_acks >= QUICK => Acknowledge::AsLinux,
        rule => Acknowledge::EverySecond {
            quick: rule.quick_acks,
            timer: rule.timer,
        },
    }
}

/// What of a transport Linux does in its own way, in words.
pub(crate) fn notes(transport: &Transport, setup: &Setup) -> Vec<String> {
    let mut notes = Vec::new();
    let own = match transport.recovery {
        Recovery::Rack => None,
        Recovery::Sack | Recovery::NewReno => Some("recovery and timers"),
        Recovery::Tahoe | Recovery::Reno => Some("fast recovery and timers"),
        _ => Some("loss detection, recovery and timers"),
    };
    if let Some(own) = own {
        let name = Recovery::ALL.iter().find(|(_, r)| *r == transport.recovery);
        notes.push(format!(
            "runs with this kernel's {own} ({}), not those of `{}` on `{}`",
            if setup.sack {
                "RACK-TLP, PRR"
            } else {
                "no SACK, PRR"
            },
            name.map_or("", |(name, _)| name),
            transport.profile.name(),
        ));
    }
    if transport.pacing != Pacing::Off && !setup.control.keeps_window() {
        notes.push("paces only if the kernel's module does".to_owned());
    }
    notes
}
