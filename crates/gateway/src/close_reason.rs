//! Why a connection was cut short, as one end of the tunnel reports it to the
//! other.

use std::fmt;
use std::io;

macro_rules! cuts {
    ($($(#[doc = $doc:literal])* $name:ident = $code:literal, $words:literal;)*) => {
        /// Why a connection was cut short. The number is the code of RESET_STREAM
        /// and STOP_SENDING in the tunnel, and never changes its meaning.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum CloseReason {
            $($(#[doc = $doc])* $name = $code,)*
        }

        impl CloseReason {
            /// Every reason.
            pub const ALL: &'static [CloseReason] = &[$(CloseReason::$name),*];

            /// The reason with this code; an unknown code is a failure.
            #[must_use]
            pub fn from_code(code: u64) -> CloseReason {
                match code {
                    $($code => CloseReason::$name,)*
                    _ => CloseReason::Failed,
                }
            }

            /// The reason in words, as logs and status print it.
            #[must_use]
            pub const fn words(self) -> &'static str {
                match self { $(CloseReason::$name => $words,)* }
            }
        }
    };
}

cuts! {
    /// One of the two hosts sent RST.
    Reset = 1, "reset";
    /// The server refused the connection.
    Refused = 2, "refused";
    /// There is no route to the server.
    Unreachable = 3, "unreachable";
    /// The server did not answer, or a host stopped acknowledging.
    TimedOut = 4, "timed out";
    /// The hub's policy does not allow the destination.
    Forbidden = 5, "forbidden";
    /// A limit on connections, memory or descriptors was reached.
    Limit = 6, "over a limit";
    /// The other box did not answer for longer than the outage that is allowed.
    PeerGone = 7, "the other box is gone";
    /// Anything else.
    Failed = 8, "failed";
    /// The name does not resolve.
    NoSuchName = 9, "no such name";
}

impl CloseReason {
    /// The code in the tunnel.
    #[must_use]
    pub const fn code(self) -> u32 {
        self as u32
    }

    /// The reason that an error of a socket indicates.
    #[must_use]
    pub fn from_io(error: &io::Error) -> CloseReason {
        if let Some(libc::EMFILE | libc::ENFILE | libc::ENOBUFS | libc::ENOMEM) =
            error.raw_os_error()
        {
            return CloseReason::Limit;
        }
        match error.kind() {
            io::ErrorKind::ConnectionRefused => CloseReason::Refused,
            io::ErrorKind::TimedOut => CloseReason::TimedOut,
            io::ErrorKind::ConnectionReset
            | io::ErrorKind::ConnectionAborted
            | io::ErrorKind::BrokenPipe => CloseReason::Reset,
            io::ErrorKind::HostUnreachable
            | io::ErrorKind::NetworkUnreachable
            // What a router answers that does not permit the connection.
            | io::ErrorKind::PermissionDenied => CloseReason::Unreachable,
            _ => CloseReason::Failed,
        }
    }
}

impl fmt::Display for CloseReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.words())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_code_leads_back_to_its_reason() {
        for &cut in CloseReason::ALL {
            assert_eq!(CloseReason::from_code(u64::from(cut.code())), cut);
        }
        assert_eq!(CloseReason::from_code(0), CloseReason::Failed);
        assert_eq!(CloseReason::from_code(u64::MAX), CloseReason::Failed);
    }
}
