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
//!
//! Left open, and the reading chosen:
//! - Where the bytes wait that no window lets go. A PEP of two sockets has a
//!   receive buffer and a send buffer: with the relay full, data pile up in the
//!   receive buffer, the window that is advertised upstream shrinks by them, and
//!   at zero the upstream sender stops. The steady rate is then
//!   min(C, buffer / RTT of the onward leg, receive_buffer / RTT of the leg
//!   before). With one pool for both, what is under way to the PEP must have a
//!   place reserved, too: min(C, buffer / (RTT of both legs)).
//! - A SYN that comes again while a late PEP waits is dropped: it is a repetition.

mod relay;
mod settings;

pub use relay::{Occupancy, Relay};
pub use settings::{Accept, Pool, SplitSettings};
