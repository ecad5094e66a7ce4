//! A run with tunnels: the turns of their senders, and what is restored at their other ends.

use super::Execution;
use crate::carried;
use crate::queue::{Class, Event};
use crate::tunnel::{Left, Numbering, Turn};
use bentpipe_tcp::packet::priority;
use bentpipe_tcp::{Packet, Transmit};
use bentpipe_units::{Bytes, Time};

impl<const WATCHED: bool> Execution<'_, WATCHED> {
    /// The sender of a tunnel may send a packet; true if that ends the run.
    #[cold]
    pub(super) fn take_turn(&mut self, now: Time, sender: usize) -> bool {
        let mut is_over = self.take_datagrams(now);
        let Some(tunnels) = &mut self.ties.tunnels else {
            return is_over;
        };
        if !tunnels.is_due(now, sender) {
            // An earlier call has taken its place, or something has come to a box.
            self.call_sender(now, sender);
            return is_over;
        }
        match tunnels.next(self.scenario, now, sender, &self.flows) {
            Some(Turn::Stream { flow, end, number }) => {
                let to = self.net.connections.endpoint(flow, end ^ 1) as u32;
                let mut numbering = Numbering::new(&mut self.net, to, number);
                let bytes = self.flows[flow].take_turn(now, end, &mut numbering);
                let sent = (bytes, numbering.sent);
                tunnels.sent(self.scenario, now, sender, sent, &self.flows);
                is_over |= self.settle(now, flow, 0..0);
            }
            Some(Turn::Datagram(held, packet)) => {
                let bytes = Bytes::new(u64::from(packet.bytes));
                self.net.release(&held, packet);
                tunnels.passed(self.scenario, now, sender, (bytes, Left::Datagram));
            }
            Some(Turn::Repair(packet)) => {
                let bytes = Bytes::new(u64::from(packet.bytes));
                if !self.net.put_in(packet) {
                    self.net.transmit(packet);
                }
                tunnels.passed(self.scenario, now, sender, (bytes, Left::Repair));
            }
            None => {}
        }
        self.call_sender(now, sender);
        is_over
    }

    /// Hands what has come to boxes on the ways of datagrams to their senders; true if what is restored
    /// by it ends the run.
    fn take_datagrams(&mut self, now: Time) -> bool {
        let mut restored = Vec::new();
        if let Some(tunnels) = &mut self.ties.tunnels {
            for came in self.net.gates.came.drain(..) {
                tunnels.take(now, &came, &mut restored);
            }
        }
        self.restore(now, restored)
    }

    /// What was restored is received as if it had arrived late; true if that ends the run.
    fn restore(&mut self, now: Time, restored: Vec<Packet>) -> bool {
        let mut is_over = false;
        for packet in restored {
            let owner = self.net.connections.owner(packet.destination);
            let carried = self.ties.tunnels.as_ref();
            if carried.is_some_and(|tunnels| tunnels.carries(packet.destination)) {
                self.net.put_out(carried::unpack(packet));
                continue;
            }
            if WATCHED {
                self.net.observer.received(now, packet.destination, &packet);
            }
            is_over |= self.hand_over(now, owner, &packet);
        }
        is_over
    }

    /// Sender `at` of a tunnel is called when it has something to do.
    fn call_sender(&mut self, now: Time, sender: usize) {
        let again = self
            .ties
            .tunnels
            .as_mut()
            .and_then(|t| t.again(now, sender));
        self.net.driver.events.extend(again.map(|at| Event {
            at,
            class: Class::Turn,
            component: sender as u32,
        }));
    }

    /// An endpoint takes a packet that has arrived where there are tunnels: the packet may have been sent in one, and restore others.
    #[cold]
    pub(super) fn receive_beside_tunnel(
        &mut self,
        now: Time,
        (index, side): (usize, usize),
        packet: &Packet,
    ) -> bool {
        let mut restored = Vec::new();
        if let Some(tunnels) = &mut self.ties.tunnels {
            tunnels.arrived(index, side, packet, &mut restored);
        }
        let mut is_over = false;
        if !packet.carries(priority::REPAIR) {
            is_over = self.hand_over(now, (index, side), packet);
        }
        is_over | self.restore(now, restored)
    }

    /// An end of a flow that concerns others takes a packet; true if that ends the run.
    fn hand_over(&mut self, now: Time, (index, side): (usize, usize), packet: &Packet) -> bool {
        let flow = &mut self.flows[index];
        if !flow.reports.is_empty() {
            flow.hear_queue(now, &mut self.net);
        }
        flow.on_packet(now, side, packet, &mut self.net);
        self.settle(now, index, side..side + 1)
    }
}
