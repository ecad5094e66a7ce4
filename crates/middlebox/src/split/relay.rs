//! Two endpoints on one node and the bytes between them.

use super::settings::{Accept, Pool, SplitSettings};
use bentpipe_tcp::packet::flags;
use bentpipe_tcp::{ConnectionState, Endpoint, Packet, Transmit};
use bentpipe_units::{Bytes, Duration, Time};

/// How much a relay held in one direction: bytes that it had written to the
/// onward leg and that were not acknowledged.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Occupancy {
    now: u64,
    max: u64,
    since: Time,
    /// Bytes times nanoseconds up to `since`.
    area: u128,
    began: Option<Time>,
}

impl Occupancy {
    fn note(&mut self, now: Time, bytes: u64) {
        if bytes == self.now {
            return;
        }
        self.area += self.until(now);
        self.began.get_or_insert(now);
        self.since = now;
        self.now = bytes;
        self.max = self.max.max(bytes);
    }

    fn until(&self, now: Time) -> u128 {
        u128::from(self.now) * u128::from(now.since(self.since).as_nanos())
    }

    /// Bytes currently buffered.
    #[must_use]
    pub fn current(&self) -> Bytes {
        Bytes::new(self.now)
    }

    /// Most bytes held at once.
    #[must_use]
    pub fn max(&self) -> Bytes {
        Bytes::new(self.max)
    }

    /// Bytes held on average over the time from the first byte to `now`.
    #[must_use]
    pub fn mean(&self, now: Time) -> Bytes {
        let time = self.began.map_or(0, |at| now.since(at).as_nanos());
        let area = self.area + self.until(now);
        // A mean is no larger than the maximum, which fits.
        Bytes::new(area.checked_div(u128::from(time)).unwrap_or(0) as u64)
    }
}

/// A split-connection PEP at work for one connection: the end of one leg, the
/// beginning of the next, and what is between them.
///
/// Side 0 faces the `from` side of the flow, side 1 its `to` side. Either may be
/// opened first; data, FINs and RSTs pass in both directions.
#[derive(Debug)]
pub struct Relay {
    ends: [Endpoint; 2],
    accept: Accept,
    pool: Pool,
    buffer: Bytes,
    /// The SYN that a late PEP has not passed to its endpoint yet.
    held: [Option<Packet>; 2],
    /// By the side that the bytes leave on.
    occupancy: [Occupancy; 2],
    /// Most bytes that waited for the relay, by the side that they came from.
    waited: [u64; 2],
    /// The PEP has failed, and packets to it vanish.
    silent: bool,
    /// The round trip of the tunnel that a side is a stream of.
    streams: [Option<Duration>; 2],
}

impl Relay {
    /// A PEP between `ends`. Their transports' send buffers should be
    /// [`SplitSettings::buffer`].
    #[must_use]
    pub fn new(settings: &SplitSettings, mut ends: [Endpoint; 2]) -> Relay {
        for end in &mut ends {
            end.read_by_hand(settings.receive_buffer());
        }
        Relay {
            ends,
            accept: settings.accept(),
            pool: settings.pool,
            buffer: settings.buffer,
            held: [None; 2],
            occupancy: [Occupancy::default(); 2],
            waited: [0; 2],
            silent: false,
            streams: [None; 2],
        }
    }

    /// The leg on `side` is a stream of a tunnel with this round trip, whose other
    /// end has room for `window` bytes: its first packet opens it.
    pub fn join_tunnel(&mut self, side: usize, rtt: Duration, window: Bytes) {
        self.streams[side & 1] = Some(rtt);
        self.ends[side & 1].assume_window(window);
    }

    /// The leg on `side` is regulated by grants. What is to be sent on it waits for its turn at
    /// the known rate of the link. What comes in on it was granted: the advertised window is the
    /// grant, and one in a packet of its own is at least an eighth of the backlog.
    pub fn join_grants(&mut self, side: usize) {
        let end = &mut self.ends[side & 1];
        end.wait_for_turns();
        end.announce_room_by(Bytes::new(self.buffer.get() / 8));
    }

    /// The endpoint of a side.
    #[must_use]
    pub fn end(&self, side: usize) -> &Endpoint {
        &self.ends[side & 1]
    }

    /// Mutable access to the endpoint on `side`.
    pub fn end_mut(&mut self, side: usize) -> &mut Endpoint {
        &mut self.ends[side & 1]
    }

    /// How much was held of what leaves on `side`.
    #[must_use]
    pub fn occupancy(&self, side: usize) -> &Occupancy {
        &self.occupancy[side & 1]
    }

    /// Most bytes that came in on `side` and waited for room.
    #[must_use]
    pub fn most_waiting(&self, side: usize) -> Bytes {
        Bytes::new(self.waited[side & 1])
    }

    /// Makes both legs exist without a handshake; `windows` are the receive
    /// windows of the peers.
    pub fn assume_open(&mut self, windows: [Bytes; 2]) {
        for (end, window) in self.ends.iter_mut().zip(windows) {
            end.assume_window(window);
            end.assume_open();
        }
    }

    /// Takes a packet that arrived on `side`.
    pub fn on_packet<T: Transmit>(&mut self, now: Time, side: usize, packet: &Packet, out: &mut T) {
        let side = side & 1;
        if self.silent {
            return;
        }
        if let Some(rtt) = self.streams[side]
            && self.ends[side].state() == ConnectionState::Listen
        {
            self.ends[side].assume_stream(rtt);
        }
        let waits = self.ends[side].state() == ConnectionState::Listen
            && self.accept == Accept::Late
            && packet.has(flags::SYN);
        if waits {
            self.held[side] = Some(*packet);
            self.open_other(side, now, out);
        } else {
            self.ends[side].on_packet(now, packet, out);
        }
        self.work(now, out);
    }

    /// Does what has become due on `side` at `now`.
    pub fn on_deadline<T: Transmit>(&mut self, now: Time, side: usize, out: &mut T) {
        self.ends[side & 1].on_deadline(now, out);
        self.work(now, out);
    }

    /// When [`Relay::on_deadline`] is to be called for `side`.
    #[must_use]
    pub fn deadline(&self, side: usize) -> Time {
        self.ends[side & 1].deadline()
    }

    /// The PEP fails: both connections are gone, and the ends do not learn of it until a packet
    /// arrives; with `silent` not even then.
    pub fn fail(&mut self, silent: bool) {
        self.silent = silent;
        self.held = [None; 2];
        for end in &mut self.ends {
            end.vanish();
        }
    }

    /// The PEP gives the connection up: both sides get a RST.
    pub fn abort<T: Transmit>(&mut self, now: Time, out: &mut T) {
        for side in 0..2 {
            self.give_up(side, now, out);
        }
        self.work(now, out);
    }

    fn open_other<T: Transmit>(&mut self, side: usize, now: Time, out: &mut T) {
        let other = &mut self.ends[1 - side];
        if other.state() != ConnectionState::Listen {
            return;
        }
        match self.streams[1 - side] {
            Some(rtt) => other.assume_stream(rtt),
            None => other.open(now, out),
        }
    }

    /// Ends the connection of `side`; a SYN that waits there is refused.
    fn give_up<T: Transmit>(&mut self, side: usize, now: Time, out: &mut T) {
        self.ends[side].abort(now, out);
        if let Some(syn) = self.held[side].take() {
            self.ends[side].on_packet(now, &syn, out);
        }
    }

    /// Hands on what can be handed on.
    fn work<T: Transmit>(&mut self, now: Time, out: &mut T) {
        for side in 0..2 {
            if self.ends[side].is_reset() {
                self.give_up(1 - side, now, out);
            }
        }
        for side in 0..2 {
            match self.ends[side].state() {
                ConnectionState::Listen | ConnectionState::Reset => {}
                ConnectionState::SynSent => {}
                _ => {
                    if let Some(syn) = self.held[1 - side].take() {
                        self.ends[1 - side].on_packet(now, &syn, out);
                    }
                    self.open_other(side, now, out);
                    self.pass(side, now, out);
                }
            }
        }
        for side in 0..2 {
            let held = self.ends[side].unacknowledged();
            self.occupancy[side].note(now, held.get());
            let waiting = self.ends[side].readable().get();
            self.waited[side] = self.waited[side].max(waiting);
        }
    }

    /// Hands on what came in on `side`.
    fn pass<T: Transmit>(&mut self, side: usize, now: Time, out: &mut T) {
        let [first, second] = &mut self.ends;
        let (from, to) = if side == 0 {
            (first, second)
        } else {
            (second, first)
        };
        let bytes = from.readable().min(to.writable());
        if bytes > Bytes::ZERO && bytes == from.readable() && from.is_finished() {
            to.write_last(now, bytes, out);
        } else if bytes > Bytes::ZERO {
            to.write(now, bytes, out);
        }
        if self.pool == Pool::Shared {
            // Before the bytes are read, which announces the room to the sender.
            let held = to.unacknowledged().min(self.buffer);
            let free = Bytes::new(self.buffer.get() - held.get());
            from.limit_receive_buffer(now, free, out);
        }
        if bytes > Bytes::ZERO {
            from.read(now, bytes, out);
        }
        if from.is_finished() && from.readable() == Bytes::ZERO {
            to.close(now, out);
        }
    }
}
