//! The sender's view of a connection: its transmissions and what became of each.
//!
//! What the sender sent is cut into units of a segment. Each transmission of a unit has a number;
//! numbers count in the order of sending, so on a path that keeps the order they arrive in it,
//! and whatever lies below the newest that has arrived is lost, or will never be known of. An
//! acknowledgement of a unit that was sent several times is of the last transmission that it can
//! be of: one whose round trip is not shorter than the shortest of the connection.
//!
//! A duplicate that the receiver reports (RFC 2883) shows that two transmissions of a unit
//! arrived, so that the second was not needed.

/// What became of a transmission.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Fate {
    /// Nothing shows it.
    #[default]
    Unknown,
    /// It arrived, first of its unit.
    Delivered,
    /// It was lost.
    Lost,
    /// It arrived, and the unit had arrived before.
    Duplicate,
}

/// A transmission of a unit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sent {
    /// When it was sent, seconds.
    pub at: f64,
    /// Its length at the IP layer, bytes.
    pub bytes: u32,
    /// The unit was sent before.
    pub again: bool,
    /// It is in the capture. Those that are not are known from what comes after them.
    pub seen: bool,
    /// What became of it.
    pub fate: Fate,
    unit: u32,
}

/// An acknowledgement.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Acked {
    /// When it came, seconds.
    pub at: f64,
    /// Transmissions up to the newest that has arrived.
    pub newest: usize,
    /// Transmissions until then.
    pub sent: usize,
    /// Round-trip time of the newest transmission, where this acknowledgement is the first of
    /// it, seconds.
    pub rtt: Option<f64>,
    /// Units that it newly reports.
    pub covers: u32,
    /// Bytes that the receiver has room for behind the acknowledgement.
    pub window: Option<u64>,
    /// Bytes up to the acknowledgement number, from the first that was seen.
    pub acknowledged: u64,
}

/// The sender's view of a connection.
#[derive(Clone, Debug, PartialEq)]
pub struct History {
    /// Payload of a full segment, bytes.
    pub mss: u32,
    /// IP and TCP headers of a data packet, bytes.
    pub headers: u32,
    /// The transmissions, in their order.
    pub sent: Vec<Sent>,
    /// The acknowledgements, in their order.
    pub acks: Vec<Acked>,
    /// Round trip of the handshake, seconds, where it was seen.
    pub handshake_rtt: Option<f64>,
    /// It begins with the connection.
    pub is_whole: bool,
    /// The sender closed the connection: it had no more data.
    pub is_finished: bool,
    /// The receiver reports what arrived out of order.
    pub has_sack: bool,
    /// Duplicates that the receiver reported.
    pub duplicates: u64,
    /// Payload, bytes, each counted once.
    pub payload: u64,
}

impl History {
    /// Transmissions that are not in the capture and must have been.
    #[must_use]
    pub fn unseen(&self) -> usize {
        self.sent.iter().filter(|s| !s.seen).count()
    }

    /// Bytes of a full packet at the IP layer.
    #[must_use]
    pub fn packet(&self) -> u32 {
        self.mss + self.headers
    }

    /// Transmissions in flight when acknowledgement `index` had come and was answered: until the
    /// next one comes.
    #[must_use]
    pub fn flight_after(&self, index: usize) -> usize {
        let sent = match self.acks.get(index + 1) {
            Some(next) => next.sent,
            None => self.sent.len(),
        };
        sent.saturating_sub(self.acks[index].newest)
    }

    /// The first acknowledgement behind which transmission `number` is known to have arrived or
    /// to be lost.
    #[must_use]
    pub fn ack_after(&self, number: usize) -> usize {
        self.acks.partition_point(|a| a.newest <= number)
    }
}

/// Segments that may be missing in a capture in a row.
const MOST_IN_A_GAP: u64 = 100_000;

/// Duplicates that an acknowledgement reports at most.
const MOST_DUPLICATES: usize = 64;

#[derive(Clone, Debug)]
struct Unit {
    start: u64,
    end: u64,
    /// Its transmissions by their numbers; the first is apart, as most have one.
    first: u32,
    more: Vec<u32>,
    /// The one that arrived first.
    arrived: Option<u32>,
}

/// Builds a [`History`] from packets in their order.
#[derive(Clone, Debug)]
pub struct Builder {
    history: History,
    units: Vec<Unit>,
    /// For each unit, one at or behind it that has not arrived, as far as is known (union-find).
    open: Vec<u32>,
    /// Sequence number behind the last that was sent.
    next: Option<u64>,
    begin: u64,
    acknowledged: u64,
    shortest: f64,
    newest: usize,
}

impl Builder {
    /// A connection with segments of `mss` bytes of payload behind `headers` bytes.
    #[must_use]
    pub fn new(mss: u32, headers: u32, has_sack: bool) -> Builder {
        Builder {
            history: History {
                mss: mss.max(1),
                headers,
                sent: Vec::new(),
                acks: Vec::new(),
                handshake_rtt: None,
                is_whole: false,
                is_finished: false,
                has_sack,
                duplicates: 0,
                payload: 0,
            },
            units: Vec::new(),
            open: Vec::new(),
            next: None,
            begin: 0,
            acknowledged: 0,
            shortest: f64::INFINITY,
            newest: 0,
        }
    }

    /// Round trip of the handshake, seconds, and whether it was seen at all.
    pub fn handshake(&mut self, rtt: Option<f64>, is_whole: bool) {
        self.history.handshake_rtt = rtt;
        self.history.is_whole = is_whole;
        if let Some(rtt) = rtt.filter(|rtt| *rtt > 0.0) {
            self.shortest = rtt;
        }
    }

    /// The sender has no more data.
    pub fn finish(&mut self) {
        self.history.is_finished = true;
    }

    /// The sender sends `length` bytes from sequence number `start` at time `at`, seconds. More
    /// than a segment are several, of which the last may be shorter.
    pub fn data(&mut self, at: f64, start: u64, length: u32) {
        let end = start + u64::from(length);
        let next = match self.next {
            Some(next) => next,
            None => {
                self.begin = start;
                self.acknowledged = start;
                self.next = Some(start);
                start
            }
        };
        if start < next {
            // A probe of a shut window or of a silent peer is no loss.
            if length > 1 || self.history.mss == 1 {
                self.again(at, start.max(self.begin), end.min(next));
            }
        } else if start > next {
            self.units_between(at, next, start, false);
        }
        if end > next {
            self.units_between(at, start.max(next), end, true);
        }
    }

    fn units_between(&mut self, at: f64, from: u64, to: u64, seen: bool) {
        let mut start = from;
        // A gap of more segments is none of lost records: the numbers make no sense.
        if (to - from) / u64::from(self.history.mss) > MOST_IN_A_GAP {
            start = to;
        }
        while start < to {
            let end = to.min(start + u64::from(self.history.mss));
            let number = self.transmit(at, self.units.len(), (end - start) as u32, seen, false);
            self.open.push(self.units.len() as u32);
            self.units.push(Unit {
                start,
                end,
                first: number,
                more: Vec::new(),
                arrived: None,
            });
            self.history.payload += end - start;
            start = end;
        }
        self.next = Some(to);
    }

    fn again(&mut self, at: f64, from: u64, to: u64) {
        let mut index = self.units.partition_point(|u| u.end <= from);
        while let Some(unit) = self.units.get(index).filter(|u| u.start < to) {
            let length = (unit.end - unit.start) as u32;
            let number = self.transmit(at, index, length, true, true);
            self.units[index].more.push(number);
            index += 1;
        }
    }

    fn transmit(&mut self, at: f64, unit: usize, payload: u32, seen: bool, again: bool) -> u32 {
        let sent = &mut self.history.sent;
        sent.push(Sent {
            at,
            bytes: payload + self.history.headers,
            again,
            seen,
            fate: Fate::Unknown,
            unit: unit as u32,
        });
        (sent.len() - 1) as u32
    }

    /// An acknowledgement of everything below `ack`, and of `blocks`, comes at `at`, seconds;
    /// `bare` if it carries no data.
    pub fn ack(
        &mut self,
        at: f64,
        ack: u64,
        blocks: &[(u64, u64)],
        window: Option<u64>,
        bare: bool,
    ) {
        let Some(next) = self.next else {
            return;
        };
        // The FIN has a number as well.
        if ack > next + 1 && ack - next < 1 << 30 {
            self.units_between(at, next, ack, false);
        }
        let before = self.newest;
        let mut covers = 0;
        let repeats = ack == self.acknowledged;
        if ack > self.acknowledged {
            // The first unit may be acknowledged in part before.
            let begin = self.units.partition_point(|u| u.end <= self.acknowledged);
            covers += self.arrive(at, begin, ack);
            self.acknowledged = ack;
        }
        for (index, (from, to)) in blocks.iter().enumerate() {
            let inside = index == 0 && blocks.get(1).is_some_and(|(a, b)| from >= a && to <= b);
            if *to <= self.acknowledged || inside {
                if index == 0 {
                    self.duplicate(*from, *to);
                }
                continue;
            }
            let begin = self.units.partition_point(|u| u.start < *from);
            covers += self.arrive(at, begin, *to);
        }
        if !self.history.has_sack && repeats && bare && self.newest < self.history.sent.len() {
            // Something behind the first unit that is missing has arrived, and not it.
            let missing = self.missing();
            let skips = usize::from(missing == Some(self.newest));
            self.newest = (self.newest + 1 + skips).min(self.history.sent.len());
        }
        let rtt = (self.newest > before)
            .then(|| self.history.sent[self.newest - 1])
            .filter(|sent| sent.seen && sent.fate == Fate::Delivered)
            .map(|sent| at - sent.at);
        if let (Some(rtt), true) = (rtt, covers > 0) {
            self.shortest = self.shortest.min(rtt);
        }
        self.history.acks.push(Acked {
            at,
            newest: self.newest,
            sent: self.history.sent.len(),
            rtt,
            covers,
            window,
            acknowledged: self.acknowledged - self.begin,
        });
    }

    /// The number of the last transmission of the first unit that has not arrived.
    fn missing(&mut self) -> Option<usize> {
        let index = self.units.partition_point(|u| u.end <= self.acknowledged);
        let unit = self.units.get(index)?;
        Some(unit.more.last().copied().unwrap_or(unit.first) as usize)
    }

    /// The first unit at or behind `index` that has not arrived.
    fn first_open(&mut self, index: usize) -> usize {
        let mut root = index;
        while self
            .open
            .get(root)
            .is_some_and(|next| *next as usize != root)
        {
            root = self.open[root] as usize;
        }
        let mut at = index;
        while at < root {
            at = std::mem::replace(&mut self.open[at], root as u32) as usize;
        }
        root
    }

    /// The units from `begin` on that end at `to` or before have arrived; how many of them
    /// that is news of.
    fn arrive(&mut self, at: f64, begin: usize, to: u64) -> u32 {
        let mut index = self.first_open(begin);
        let mut news = 0;
        while self.units.get(index).is_some_and(|u| u.end <= to) {
            self.arrived(at, index);
            news += 1;
            self.open[index] = index as u32 + 1;
            if index + 1 == self.units.len() {
                // The next unit will be its own.
                break;
            }
            index = self.first_open(index + 1);
        }
        news
    }

    fn arrived(&mut self, at: f64, index: usize) {
        let unit = &mut self.units[index];
        let sent = &mut self.history.sent;
        // The last transmission that this can be the answer to.
        let least = if self.shortest.is_finite() {
            0.98 * self.shortest
        } else {
            0.0
        };
        let fits = |number: &&u32| at - sent[**number as usize].at >= least;
        let chosen = unit.more.iter().rev().find(fits).copied();
        let chosen = chosen.unwrap_or(unit.first);
        unit.arrived = Some(chosen);
        sent[chosen as usize].fate = Fate::Delivered;
        for number in std::iter::once(&unit.first).chain(&unit.more) {
            if *number < chosen {
                sent[*number as usize].fate = Fate::Lost;
            }
        }
        self.newest = self.newest.max(chosen as usize + 1);
    }

    /// The receiver had this already.
    fn duplicate(&mut self, from: u64, to: u64) {
        let begin = self.units.partition_point(|u| u.end <= from);
        let mut index = begin;
        while let Some(unit) = self.units.get(index).filter(|u| u.start < to) {
            if index - begin == MOST_DUPLICATES {
                return;
            }
            self.history.duplicates += 1;
            let sent = &mut self.history.sent;
            let mut all: Vec<u32> = vec![unit.first];
            all.extend(&unit.more);
            let arrived = unit.arrived;
            let lost = all
                .iter()
                .rev()
                .find(|n| sent[**n as usize].fate == Fate::Lost);
            let open = all.iter().find(|n| {
                sent[**n as usize].fate == Fate::Unknown && arrived.is_some_and(|a| **n > a)
            });
            if let Some(number) = open {
                sent[*number as usize].fate = Fate::Duplicate;
            } else if let (Some(number), Some(arrived)) = (lost, arrived) {
                // It arrived, and the one that was taken for the first was the second.
                sent[*number as usize].fate = Fate::Delivered;
                sent[arrived as usize].fate = Fate::Duplicate;
            }
            index += 1;
        }
    }

    /// The history, with what never arrived and is overtaken counted as lost.
    #[must_use]
    pub fn build(mut self) -> History {
        for unit in &self.units {
            if unit.arrived.is_some() {
                continue;
            }
            for number in std::iter::once(&unit.first).chain(&unit.more) {
                if (*number as usize) < self.newest {
                    self.history.sent[*number as usize].fate = Fate::Lost;
                }
            }
        }
        self.history
    }
}

#[cfg(test)]
#[path = "history_tests.rs"]
mod tests;
