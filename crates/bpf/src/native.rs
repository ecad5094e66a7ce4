//! A connection of a control, run by its C on this machine.
//!
//! [`Socket`] has the fields of the kernel's socket that a control uses. The driver of a [`Native`]
//! keeps it up to date and calls the hooks in the kernel's order; a hook that the control does not
//! have does nothing.

mod ffi;
mod library;

use crate::{Control, Values};

pub use ffi::{AckSample, RateSample, Socket};
pub use library::{Hooks, OPS_SYMBOL, OpenError};

/// The state of a connection, the argument of `set_state`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CongestionState {
    /// `TCP_CA_Open`: no loss or reordering is suspected.
    Open = 0,
    /// Duplicates or selective acknowledgements, and no loss yet.
    Disorder = 1,
    /// The window is being reduced without a loss (ECN).
    Reduction = 2,
    /// `TCP_CA_Recovery`: fast recovery.
    Recovery = 3,
    /// `TCP_CA_Loss`: after a retransmission timeout.
    Loss = 4,
}

/// The argument of `cwnd_event`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CongestionEvent {
    /// The first transmission when nothing was in flight.
    TransmissionStart = 0,
    /// The window restarts after an idle time.
    Restart = 1,
    /// Fast recovery, or a reduction, has ended.
    ReductionComplete = 2,
    /// The retransmission timer ran out.
    Loss = 3,
}

/// `snd_ssthresh` before anything sets it.
const INFINITE_SSTHRESH: u32 = 0x7fff_ffff;

/// A connection of a control.
#[derive(Clone, Debug)]
pub struct Native {
    ops: &'static ffi::Ops,
    control: &'static Control,
    /// What the control reads and writes.
    pub socket: Socket,
}

impl Native {
    /// A connection with these parameters, before [`Native::init`].
    ///
    /// `None` where no C of that control was compiled in, which is not so for
    /// any of [`crate::CONTROLS`].
    #[must_use]
    pub fn new(values: &Values) -> Option<Native> {
        Native::of(Hooks::built_in(values.control().name)?, values)
    }

    /// The same of any hooks.
    #[must_use]
    pub fn of(hooks: Hooks, values: &Values) -> Option<Native> {
        let mut socket = Socket {
            snd_cwnd: 10,
            snd_cwnd_clamp: u32::MAX,
            snd_ssthresh: INFINITE_SSTHRESH,
            sk_max_pacing_rate: u64::MAX,
            mss_cache: 1448,
            ..Socket::default()
        };
        let words = values.words();
        socket
            .parameters
            .get_mut(..words.len())?
            .copy_from_slice(words);
        Some(Native {
            ops: hooks.0,
            control: values.control(),
            socket,
        })
    }

    /// Which control it is.
    #[must_use]
    pub const fn control(&self) -> &'static Control {
        self.control
    }

    /// True where the control sets the window in every state (`cong_control`):
    /// then the caller leaves recovery to it.
    #[must_use]
    pub fn has_cong_control(&self) -> bool {
        self.ops.cong_control.is_some()
    }

    /// True where ssthresh has never been set.
    #[must_use]
    pub const fn has_infinite_ssthresh(&self) -> bool {
        self.socket.snd_ssthresh >= INFINITE_SSTHRESH
    }

    /// The connection is established.
    pub fn init(&mut self) {
        if let Some(hook) = self.ops.init {
            hook(&mut self.socket);
        }
    }

    /// What an ACK acknowledged, and its RTT.
    pub fn pkts_acked(&mut self, sample: &AckSample) {
        if let Some(hook) = self.ops.pkts_acked {
            hook(&mut self.socket, sample);
        }
    }

    /// Every ACK; `flags` are the kernel's.
    pub fn in_ack_event(&mut self, flags: u32) {
        if let Some(hook) = self.ops.in_ack_event {
            hook(&mut self.socket, flags);
        }
    }

    /// An ACK that may raise the window, and how many segments it delivered.
    pub fn cong_avoid(&mut self, acked: u32) {
        if let Some(hook) = self.ops.cong_avoid {
            hook(&mut self.socket, acked);
        }
    }

    /// Every ACK, where [`Native::has_cong_control`].
    pub fn cong_control(&mut self, sample: &RateSample) {
        if let Some(hook) = self.ops.cong_control {
            hook(&mut self.socket, sample);
        }
    }

    /// The threshold after a loss.
    pub fn ssthresh(&mut self) -> u32 {
        match self.ops.ssthresh {
            Some(hook) => hook(&mut self.socket),
            None => (self.socket.snd_cwnd / 2).max(2),
        }
    }

    /// Reports a change of state to the control's `set_state` hook.
    pub fn set_state(&mut self, state: CongestionState) {
        if let Some(hook) = self.ops.set_state {
            hook(&mut self.socket, state as u8);
        }
    }

    /// Something happened to the window.
    pub fn cwnd_event(&mut self, event: CongestionEvent) {
        if let Some(hook) = self.ops.cwnd_event {
            hook(&mut self.socket, event as i32);
        }
    }

    /// The window after a cut that was needless.
    pub fn undo_cwnd(&mut self) -> u32 {
        match self.ops.undo_cwnd {
            Some(hook) => hook(&mut self.socket),
            None => self.socket.snd_cwnd.max(self.socket.prior_cwnd),
        }
    }

    /// Segments that may leave at once when pacing; `None` leaves it to the host.
    pub fn min_tso_segs(&mut self) -> Option<u32> {
        self.ops.min_tso_segs.map(|hook| hook(&mut self.socket))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{CONTROLS, Kind};

    #[test]
    fn every_control_has_its_c() {
        for control in CONTROLS {
            let values = Values::new(control);
            assert_eq!(values.check(), Ok(()), "{}", control.name);
            assert!(control.name.len() < 16, "{}", control.name);
            let native = Native::new(&values).expect(control.name);
            assert_eq!(native.ops.name(), control.name);
            for parameter in control.parameters {
                let words = parameter.read(&parameter.default_text());
                let mut default = parameter.default.to_vec();
                default.resize(parameter.width(), 0);
                assert_eq!(words, Some(default), "{} {}", control.name, parameter.name);
                if let Kind::Choice(words) = parameter.kind {
                    assert_eq!(parameter.maximum, words.len() as u64 - 1);
                }
            }
            let common = control.parameters.iter().map(|p| p.name).take(2);
            assert!(common.eq(["initial_window", "window_clamp"]));
        }
    }

    #[test]
    fn every_file_is_in_the_catalogue() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../bpf");
        let mut files: Vec<String> = std::fs::read_dir(folder)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .filter(|name| name.ends_with(".bpf.c"))
            .collect();
        files.sort();
        let mut named: Vec<&str> = CONTROLS.iter().map(|control| control.source).collect();
        named.sort_unstable();
        assert_eq!(files, named);
    }
}
