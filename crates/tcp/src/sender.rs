//! The sending half: the state that all host stacks share, and the host stack
//! that works on it.

use crate::host_stack::HostStack;
use crate::packet::{Packet, Transmit};
use crate::rtt::RttEstimator;
use crate::sender_core::Core;
use crate::stack::{Repairs, Stack};
use crate::transport::Transport;
use bentpipe_cc::{Controller, Phase};
use bentpipe_units::{Duration, Time};

/// The sending half of an endpoint.
#[derive(Debug)]
pub(crate) struct Sender {
    pub(crate) core: Core,
    stack: HostStack,
}

impl Sender {
    pub(crate) fn new(
        transport: &Transport,
        cc: Controller,
        destination: u32,
        receive_window: u64,
    ) -> Sender {
        Sender {
            core: Core::new(transport, cc, destination, receive_window),
            stack: HostStack::new(transport),
        }
    }

    /// True where the peer is to send selective acknowledgements.
    pub(crate) fn uses_sack(&self) -> bool {
        self.stack.uses_sack(&self.core)
    }

    /// True where the first packet is a full segment in place of a SYN.
    pub(crate) fn opens_with_a_segment(&self) -> bool {
        self.stack.opens_with_a_segment()
    }

    /// Takes sequence numbers, counters and RTTs over from the connection
    /// before this one.
    pub(crate) fn continue_after(&mut self, old: &Sender) {
        self.core.continue_after(&old.core);
        self.stack.start_at(self.core.snd.next);
    }

    /// True where the SYN is a segment like the others ([`Stack::owns_syn`]).
    pub(crate) fn owns_syn(&self) -> bool {
        self.stack.owns_syn()
    }

    /// The first SYN has left at `now`, of a stack that owns it.
    pub(crate) fn syn_sent(&mut self, now: Time) {
        self.stack.on_syn_sent(&mut self.core, now);
    }

    /// The connection is established; `rtt` is the sample of its handshake if
    /// there was one.
    pub(crate) fn established(&mut self, rtt: Option<Duration>) {
        let core = &mut self.core;
        core.cc.on_open(core.receive_window());
        if !self.stack.owns_syn() {
            core.cc.on_established(rtt, &mut core.window);
        }
        core.take_requests();
        self.stack.on_established(core);
    }

    /// The SYN or its answer was lost: the window (RFC 5681, section 3.1) and
    /// the timeout (RFC 6298, section 5.7) start over.
    ///
    /// ns-2 treats it as an ordinary timeout of a window of one segment, and the
    /// back-off of `handshake` lasts until data has been timed.
    pub(crate) fn handshake_was_lost(&mut self, handshake: RttEstimator) {
        let core = &mut self.core;
        core.window.cwnd = 1.0;
        if core.rules.stack.is_ns2() {
            core.window.ssthresh = 2.0;
            core.rtt = handshake;
            return;
        }
        core.rtt.handshake_was_lost();
    }

    /// Takes `bytes` more from the application.
    pub(crate) fn offer(&mut self, bytes: u64) {
        self.core.snd.offered = self.core.snd.offered.saturating_add(bytes);
    }

    /// True if something may leave as soon as the stream has its turn.
    pub(crate) fn wants_turn(&self) -> bool {
        let own = self.core.pacer.wants_turn();
        own.unwrap_or_else(|| self.stack.wants_turn(&self.core))
    }

    /// True if a probe timeout has to send what may be lost.
    pub(crate) fn must_probe(&self) -> bool {
        self.stack.must_probe()
    }

    /// From now on packets are noted that have arrived.
    pub(crate) fn log_arrivals(&mut self) {
        self.stack.log_arrivals();
    }

    /// Takes the packets that have arrived since the last call.
    pub(crate) fn take_arrivals(&mut self) -> Vec<(Time, u16)> {
        self.stack.take_arrivals()
    }

    /// The stream has its turn.
    pub(crate) fn take_turn<T: Transmit>(&mut self, now: Time, out: &mut T) {
        if !self.core.pacer.takes_turns() {
            return self.stack.take_turn(&mut self.core, now, out);
        }
        self.core.pacer.set_turn(1);
        self.send(now, out);
        self.core.pacer.set_turn(0);
    }

    /// Segments in flight.
    pub(crate) fn flight(&self) -> usize {
        self.stack.flight(&self.core)
    }

    /// The state of loss repair.
    pub(crate) fn repairs(&self) -> Repairs {
        self.stack.repairs(&self.core)
    }

    /// The phase, by the names of qlog.
    pub(crate) fn phase(&self) -> Phase {
        self.stack.phase(&self.core)
    }

    /// Sends what the window, the buffers and pacing allow at `now`.
    pub(crate) fn send<T: Transmit>(&mut self, now: Time, out: &mut T) {
        self.stack.send(&mut self.core, now, out);
        self.core.begin_probes(now, out);
    }

    /// Processes an acknowledgement that arrived at `now`.
    #[inline(always)]
    pub(crate) fn on_ack<T: Transmit>(&mut self, now: Time, packet: &Packet, out: &mut T) {
        self.stack.on_ack(&mut self.core, now, packet, out);
    }

    /// A router on the path notifies the sender of congestion.
    #[cold]
    pub(crate) fn on_backward_notification(&mut self, now: Time) {
        self.stack.on_backward_notification(&mut self.core, now);
    }

    /// Does what has become due at `now`.
    pub(crate) fn on_deadline<T: Transmit>(&mut self, now: Time, out: &mut T) {
        if now >= self.core.timer.deadline {
            self.stack.on_timeout(&mut self.core, now, out);
        } else if now >= self.core.pacer.deadline() {
            self.send(now, out);
        }
        if now >= self.core.probes_at() {
            self.core.send_probes(now, out);
        }
    }
}
