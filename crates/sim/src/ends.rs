//! The two ends of a flow, by what carries it.

use crate::quic::QuicFlow;
use crate::split::Chain;
use crate::stream::MediaStream;
use bentpipe_cc::Fault;
use bentpipe_tcp::Endpoint;
use bentpipe_units::Bytes;

/// The two ends of a flow.
#[derive(Debug)]
pub(crate) enum Ends {
    /// A TCP connection: the `from` side and the `to` side.
    Tcp(Box<[Endpoint; 2]>),
    /// Several connections in a row, with PEPs between them.
    Split(Box<Chain>),
    /// Datagrams and their payload: sent so far, and arrived.
    Datagrams {
        sent: u64,
        sent_bytes: u64,
        arrived_bytes: u64,
    },
    /// Datagrams under a rate control, and their answers.
    Stream(Box<MediaStream>),
    /// A QUIC connection.
    Quic(Box<QuicFlow>),
    /// The analytic bound, computed instead of simulated.
    Ideal,
}

impl Ends {
    /// Why a user's congestion control was stopped, if one was.
    pub(crate) fn fault(&self) -> Option<Fault> {
        match self {
            Ends::Tcp(ends) => ends.iter().find_map(Endpoint::fault).cloned(),
            Ends::Split(chain) => chain.all().find_map(Endpoint::fault).cloned(),
            Ends::Quic(quic) => quic.fault(),
            Ends::Datagrams { .. } | Ends::Stream(_) | Ends::Ideal => None,
        }
    }

    /// True where a congestion control is a user's own.
    pub(crate) fn has_own_control(&self) -> bool {
        match self {
            Ends::Tcp(ends) => ends.iter().any(Endpoint::has_own_control),
            Ends::Split(chain) => chain.all().any(Endpoint::has_own_control),
            Ends::Quic(quic) => quic.has_own_control,
            Ends::Datagrams { .. } | Ends::Stream(_) | Ends::Ideal => false,
        }
    }

    /// The first bytes of the `from` side, and of the `to` side, are not the application's.
    pub(crate) fn add_preface(&mut self, [from, to]: [Bytes; 2]) {
        let add = |place: usize, end: &mut Endpoint| match place % 2 {
            0 => end.add_preface(from, to),
            _ => end.add_preface(to, from),
        };
        match self {
            Ends::Tcp(ends) => (0..).zip(ends.iter_mut()).for_each(|(i, end)| add(i, end)),
            Ends::Split(chain) => {
                (0..chain.ends_of_legs()).for_each(|i| add(i, chain.end_mut(i)));
            }
            Ends::Datagrams { .. } | Ends::Stream(_) | Ends::Quic(_) | Ends::Ideal => {}
        }
    }

    /// The application's two endpoints.
    pub(crate) fn pair(&mut self) -> Option<(&mut Endpoint, &mut Endpoint)> {
        match self {
            Ends::Tcp(ends) => {
                let [from, to] = &mut **ends;
                Some((from, to))
            }
            Ends::Split(chain) => Some((&mut chain.server, &mut chain.client)),
            Ends::Datagrams { .. } | Ends::Stream(_) | Ends::Quic(_) | Ends::Ideal => None,
        }
    }
}
