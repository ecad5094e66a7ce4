//! What happens on one connection, at both ends. The client draws a plan, and
//! sends it as the first bytes of the connection.

use crate::content::mix;
use crate::party::Step;
use std::time::Duration;

macro_rules! kinds {
    ($($(#[doc = $doc:literal])* $name:ident = $code:literal, $words:literal, $weight:literal;)*) => {
        /// How a connection goes and ends.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum Kind {
            $($(#[doc = $doc])* $name = $code,)*
        }

        impl Kind {
            /// Every kind.
            pub const ALL: &'static [Kind] = &[$(Kind::$name),*];

            /// Its name, as options and reports have it.
            #[must_use]
            pub const fn words(self) -> &'static str {
                match self { $(Kind::$name => $words,)* }
            }

            /// How often it is drawn, relative to the others, unless an option
            /// says otherwise.
            #[must_use]
            pub const fn weight(self) -> f64 {
                match self { $(Kind::$name => $weight,)* }
            }
        }
    };
}

kinds! {
    /// Request, reply, and the server closes.
    ServerCloses = 1, "server-closes", 20.0;
    /// Request, reply, and the client closes.
    ClientCloses = 2, "client-closes", 20.0;
    /// The client's half-close ends the request; the reply follows it.
    HalfCloseUp = 3, "half-close-up", 10.0;
    /// The server's half-close ends its part; the upload follows it.
    HalfCloseDown = 4, "half-close-down", 10.0;
    /// Both directions at once, each ended by a half-close.
    Duplex = 5, "duplex", 6.0;
    /// The server sends RST in the middle of the reply.
    ServerResets = 6, "server-resets", 6.0;
    /// The client sends RST in the middle of the request.
    ClientResets = 7, "client-resets", 6.0;
    /// The server sends RST after the client's half-close, in place of an end.
    ServerResetsLate = 8, "server-resets-late", 3.0;
    /// The client sends RST after the server's half-close, in place of an end.
    ClientResetsLate = 9, "client-resets-late", 3.0;
    /// Nothing listens on the port.
    Refused = 10, "refused", 3.0;
    /// The server's machine does not answer the SYN.
    Silent = 11, "silent", 0.1;
    /// The client reads slowly, and the server closes at once.
    SlowClient = 12, "slow-client", 2.0;
    /// The server reads slowly what the client ended by a half-close.
    SlowServer = 13, "slow-server", 2.0;
    /// Half-closes without a byte of content.
    Zero = 14, "zero-bytes", 3.0;
    /// A byte each way.
    One = 15, "one-byte", 3.0;
    /// Not even a plan: the client ends the connection that it opened.
    Empty = 16, "empty", 1.0;
    /// The server speaks first, as in SMTP and SSH.
    Banner = 17, "banner", 3.0;
    /// A large reply.
    BigDown = 18, "big-down", 0.02;
    /// A large upload.
    BigUp = 19, "big-up", 0.02;
    /// A pause in the middle, in which nothing is sent.
    Idle = 20, "idle", 0.0;
}

impl Kind {
    /// The kind of this code.
    #[must_use]
    pub fn from_code(code: u8) -> Option<Kind> {
        Kind::ALL.iter().copied().find(|&kind| kind as u8 == code)
    }

    /// The kind of this name.
    #[must_use]
    pub fn from_words(words: &str) -> Option<Kind> {
        Kind::ALL.iter().copied().find(|kind| kind.words() == words)
    }

    /// The server's port for it, counted from the server's first.
    #[must_use]
    pub const fn port(self) -> u16 {
        match self {
            Kind::Banner => BANNER,
            Kind::Empty => EMPTY,
            Kind::Refused => REFUSED,
            Kind::Silent => SILENT,
            _ => 0,
        }
    }
}

/// Port on which the server speaks first, counted from the server's first.
pub const BANNER: u16 = 1;
/// Port on which the client says nothing.
pub const EMPTY: u16 = 2;
/// Port on which nothing listens.
pub const REFUSED: u16 = 3;
/// Port whose SYNs are dropped.
pub const SILENT: u16 = 4;
/// First of more ports that are as the first one, for many short connections.
pub const MORE: u16 = 10;

/// What the server says first on [`BANNER`].
pub const GREETING: &[u8; 8] = b"bentpipe";

/// What happens on one connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Plan {
    /// The run of the client that it belongs to.
    pub run: u32,
    /// How the connection goes and ends.
    pub kind: Kind,
    /// Number of the connection in its run.
    pub id: u64,
    /// Bytes of content from the client.
    pub up: u64,
    /// Bytes of content from the server.
    pub down: u64,
    /// Seed of the content.
    pub seed: u64,
    /// Bytes sent before a reset in the middle.
    pub cut: u64,
    /// Bytes per second that a slow reader reads.
    pub rate: u64,
    /// The pause before a reset, or that of [`Kind::Idle`], in ms.
    pub pause: u64,
}

const MAGIC: &[u8; 8] = b"bpgwplan";

/// Bytes of a plan on the connection.
pub const LENGTH: usize = 80;

impl Plan {
    /// The plan's bytes.
    #[must_use]
    pub fn bytes(&self) -> [u8; LENGTH] {
        let mut bytes = [0; LENGTH];
        bytes[..8].copy_from_slice(MAGIC);
        bytes[8..12].copy_from_slice(&self.run.to_le_bytes());
        bytes[12] = self.kind as u8;
        let words = [
            self.id, self.up, self.down, self.seed, self.cut, self.rate, self.pause,
        ];
        for (place, word) in bytes[16..72].chunks_exact_mut(8).zip(words) {
            place.copy_from_slice(&word.to_le_bytes());
        }
        let check = check(&bytes[..72]).to_le_bytes();
        bytes[72..].copy_from_slice(&check);
        bytes
    }

    /// The plan of these bytes; `None` if a byte is not as it was sent.
    #[must_use]
    pub fn from_bytes(bytes: &[u8; LENGTH]) -> Option<Plan> {
        let words: Vec<u64> = bytes[16..]
            .chunks_exact(8)
            .map(|word| word.try_into().map(u64::from_le_bytes))
            .collect::<Result<_, _>>()
            .ok()?;
        let &[id, up, down, seed, cut, rate, pause, sum] = words.as_slice() else {
            return None;
        };
        if &bytes[..8] != MAGIC || sum != check(&bytes[..72]) {
            return None;
        }
        Some(Plan {
            run: u32::from_le_bytes(bytes[8..12].try_into().ok()?),
            kind: Kind::from_code(bytes[12])?,
            id,
            up,
            down,
            seed,
            cut,
            rate,
            pause,
        })
    }

    /// What the client does once the plan is sent.
    #[must_use]
    pub fn client(&self) -> Vec<Step> {
        use Step::{Both, HalfClose, Read, ReadToEnd, ReadToReset, Reset, Send, Wait};
        let &Plan { up, down, cut, .. } = self;
        let pause = Wait(Duration::from_millis(self.pause));
        match self.kind {
            Kind::ServerCloses | Kind::BigDown => vec![Send(up), ReadToEnd(down)],
            Kind::ClientCloses | Kind::Banner => vec![Send(up), Read(down)],
            Kind::HalfCloseUp | Kind::Zero | Kind::One | Kind::BigUp | Kind::SlowServer => {
                vec![Send(up), HalfClose, ReadToEnd(down)]
            }
            Kind::HalfCloseDown => vec![ReadToEnd(down), Send(up)],
            Kind::Duplex => vec![Both(up, down)],
            Kind::ServerResets => vec![Send(up), ReadToReset(cut)],
            Kind::ClientResets => vec![Send(cut), pause, Reset],
            Kind::ServerResetsLate => vec![Send(up), HalfClose, ReadToReset(0)],
            Kind::ClientResetsLate => vec![ReadToEnd(down), pause, Reset],
            Kind::Refused | Kind::Silent => vec![ReadToReset(0)],
            Kind::SlowClient => vec![Send(up), Step::ReadSlowly(down, self.rate), ReadToEnd(0)],
            Kind::Empty => vec![HalfClose, ReadToEnd(0)],
            Kind::Idle => vec![Send(1), Read(1), pause, Send(up), Read(down)],
        }
    }

    /// What the server does once it has read the plan.
    #[must_use]
    pub fn server(&self) -> Vec<Step> {
        use Step::{Both, HalfClose, Read, ReadToEnd, ReadToReset, Reset, Send, Wait};
        let &Plan { up, down, cut, .. } = self;
        let pause = Wait(Duration::from_millis(self.pause));
        match self.kind {
            Kind::ServerCloses | Kind::BigDown | Kind::SlowClient => vec![Read(up), Send(down)],
            Kind::ClientCloses | Kind::Banner => vec![Read(up), Send(down), ReadToEnd(0)],
            Kind::HalfCloseUp | Kind::Zero | Kind::One | Kind::BigUp => {
                vec![ReadToEnd(up), Send(down)]
            }
            Kind::HalfCloseDown => vec![Send(down), HalfClose, ReadToEnd(up)],
            Kind::Duplex => vec![Both(down, up)],
            Kind::ServerResets => vec![Read(up), Send(cut), pause, Reset],
            Kind::ClientResets => vec![ReadToReset(cut)],
            Kind::ServerResetsLate => vec![ReadToEnd(up), pause, Reset],
            Kind::ClientResetsLate => vec![Send(down), HalfClose, ReadToReset(0)],
            Kind::SlowServer => vec![Step::ReadSlowly(up, self.rate), ReadToEnd(0), Send(down)],
            Kind::Empty => vec![ReadToEnd(0)],
            Kind::Refused | Kind::Silent => Vec::new(),
            Kind::Idle => vec![Read(1), Send(1), Read(up), Send(down), ReadToEnd(0)],
        }
    }

    /// Seed of the content from the client.
    #[must_use]
    pub const fn up_seed(&self) -> u64 {
        mix(self.seed)
    }

    /// Seed of the content from the server.
    #[must_use]
    pub const fn down_seed(&self) -> u64 {
        mix(self.seed ^ u64::MAX)
    }
}

fn check(bytes: &[u8]) -> u64 {
    bytes
        .iter()
        .fold(0, |sum, &byte| mix(sum ^ u64::from(byte)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plan_is_read_as_it_was_written_and_a_changed_byte_is_found() {
        let plan = Plan {
            run: 9,
            kind: Kind::Duplex,
            id: 1,
            up: 2,
            down: 3,
            seed: 4,
            cut: 5,
            rate: 6,
            pause: 7,
        };
        let bytes = plan.bytes();
        assert_eq!(Plan::from_bytes(&bytes), Some(plan));
        for place in (0..13).chain(16..LENGTH) {
            let mut bytes = bytes;
            bytes[place] ^= 1;
            assert_eq!(Plan::from_bytes(&bytes), None, "{place}");
        }
    }

    #[test]
    fn every_kind_has_a_name_and_a_code_of_its_own() {
        for &kind in Kind::ALL {
            assert_eq!(Kind::from_words(kind.words()), Some(kind));
            assert_eq!(Kind::from_code(kind as u8), Some(kind));
        }
    }
}
