//! What sits on a node and touches packets, without I/O.
