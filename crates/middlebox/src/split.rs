//! The split-connection PEP: two connections for one, and a relay between them.
//!
//! Source: RFC 3135, sections 2.1, 2.4 and 3.1; Salamanca 2008, section 2.2;
//! Marchese 2006, figure 1 (the architecture that is named "Complete Knowledge"
//! puts a transport that is given the capacity of its path on the satellite leg).
//!
//! A SYN that passes the node is answered by the PEP, which opens a connection
//! of its own onwards. Each leg is a connection with its own window, timers and
//! transport. What arrives on one leg is read, written to the other and
//! acknowledged to the first sender before the receiver has it: the end-to-end
//! meaning of an acknowledgement is lost. A FIN follows once everything before
//! it has been handed on; a RST is handed on at once and what the relay holds is
//! dropped with it.
//!
//! | parameter | default | unit |
//! |---|---|---|
//! | buffer | 1 MB | bytes relayed and not acknowledged by the onward leg, each direction |
//! | receive_buffer | as buffer | bytes that have arrived and wait for room in the relay, each direction |
//! | accept | early | early: a SYN is answered at once; late: when the onward leg is open |
//! | pool | separate | separate: the two buffers are two; shared: one of `buffer` bytes for both |
//! | transport | the flow's | of the onward leg |
//! | tunnel | none | none: a connection for each that is split; gateway: a stream in one association |
//! | rate | reported | with a tunnel: reported: the timeline of the link; verified: the first rate, held against what arrives |
//! | confirms | not at all | bytes from one end-to-end confirmation to the next |
//! | proxy_control | window | window: that of the leg's transport; grants: of the receiving PEP |
//! | backlog | four BDPs | with grants: bytes held for the next leg, or granted and to arrive |
//! | discovery | none | syn-option: an option on the SYN that another PEP on the way answers |
//! | alone | integrated | what it does where none answers; end-to-end: it lets the connection pass |
//! | fails_at, recovers_at | never | a failure, and its end for new connections |
//! | failure | reset | what the ends see: RST or silence |
//! | gives_up | 100 s | a host gives up a connection that is silent for so long (RFC 1122, section 4.2.3.5) |
//!
//! Left open, and the reading chosen:
//! - Where the bytes wait that no window lets go. A PEP of two sockets has a receive buffer and a
//!   send buffer: with the relay full, data pile up in the receive buffer, the window that is
//!   advertised upstream shrinks by them, and at zero the upstream sender stops. The steady rate is
//!   then min(C, buffer / RTT of the onward leg, receive_buffer / RTT of the leg before). With one
//!   pool for both, data in flight to the PEP needs reserved space, too: min(C, buffer / (RTT of
//!   both legs)).
//! - **PETRA** (M. Marchese, M. Rossi, G. Morabito, IEEE JSAC 22(2), 2004, pages 320-332) isolates
//!   the satellite between relay entities that have complete knowledge of it, and runs a transport
//!   of its own there that recovers errors (the paper's abstract). J. Salamanca's thesis (2008,
//!   section 1.2.3.2) adds that it is STP with a congestion control between the proxies, and that a
//!   layer above STP keeps the end-to-end meaning of acknowledgements. We have read the abstract
//!   and the thesis, not the paper: the parts are theirs, their rules our reading. `confirms` is
//!   that layer, `proxy_control = "grants"` the control, `transport = "stp"` (or `"sack"`) the
//!   recovery.
//! - **Confirmation.** The receiver's host sends a message of [`CONFIRMATION`] back through
//!   the PEPs for each `confirms` bytes that its application has, and for the last.
//!   A transfer's time then ends when the sender has the last of them.
//! - **Grants.** Two PEPs that follow each other and both grant regulate the leg between them;
//!   nothing else does, so no loss reduces anything.
//!   - *How much*: the receiving PEP grants what it can hold, `backlog` bytes less what waits in it
//!     or is not acknowledged by its next leg. The grant is the window that it advertises, which
//!     never shrinks: what it holds stays within `backlog` whatever becomes of the next leg. The
//!     grant travels with acknowledgements and status reports, and in a packet of its own when it
//!     has grown by an eighth of the backlog or the sender could not fill a segment with the last.
//!     A PEP that may send no more fills its own backlog, and then grants less, or advertises less
//!     to a host: so backpressure reaches the server. Hop by hop, in the place of one window for
//!     the path; like other such schemes, a backlog below the bandwidth-delay product of the leg
//!     limits the rate to backlog / RTT.
//!   - *When*: the sending PEP knows the rate of the link. Its connections share one sender that is
//!     paced at that rate and gives each that has data and a grant its turn
//!     (`crates/sim/src/tunnel.rs`). So the grants share the rate, and what one flow cannot use
//!     goes to the others.
//!   - *Repair*: losses are found as the leg's transport finds them, by status reports of STP or by
//!     SACK with the detection of lost retransmissions, and are sent again in the next turns,
//!     before new data, on the same grant.
//!   - Example: 6 Mbit/s and 0.5 s: 375 kB in flight. With `backlog = "200 kB"` and a client behind
//!     1 Mbit/s the PEP before it has 200 kB held or under way, and grants 1 Mbit/s: a segment for
//!     each that the client has acknowledged.
//! - **Discovery** (J. Salamanca's thesis, 2008, section 4.2, wishes for "some form
//!   of acknowledge" by which a PEP learns whether there is another on the path).
//!   Our reading: a TCP option on the SYN, to which the other PEP puts its own on
//!   the SYN-ACK. A PEP that asks answers a SYN late, since it waits for that.
//!   The four bytes of the option are not counted.
//! - **Failure** (the same section wishes for recovery when a PEP fails). A PEP that fails loses
//!   its connections and what it holds of them: bytes that it has acknowledged and not delivered.
//!   With `reset` the next packet to it is answered with a RST; with `silence` the hosts retransmit
//!   until they give up (counted from the failure). Then the application reconnects, past the dead
//!   PEP, and sends what its peer lacks: the peer says where it left off. Only transfers and
//!   endless streams do so here. Connections that begin while the PEP is down bypass it; one that
//!   reconnected stays end to end after the PEP has recovered.
//! - **Tunnel.** With `tunnel = "gateway"` at two PEPs that follow each other the leg between them
//!   is a stream of one permanent association, as in `bentpipe gateway`. The first bytes open it,
//!   without a round trip. The streams of a box share one sender, which is paced at the rate of the
//!   link and picks the stream at the last moment (`crates/sim/src/tunnel.rs`); losses are found
//!   and repaired as QUIC does (`crates/tcp/src/quic.rs`) and reduce nothing.
//! - A SYN that comes again while a late PEP waits is dropped: it is a repetition.

use bentpipe_units::Bytes;

/// Bytes of an end-to-end confirmation.
pub const CONFIRMATION: Bytes = Bytes::new(40);

mod relay;
mod settings;

pub use relay::{Occupancy, Relay};
pub use settings::TUNNEL_BUFFER;
pub use settings::{
    Accept, Alone, Discovery, Failure, KnownRate, Pool, ProxyControl, SplitSettings, Symptom,
    Tunnel,
};
