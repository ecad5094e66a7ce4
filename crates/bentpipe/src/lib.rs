//! TCP over satellite links: describe a network, simulate it, compare
//! transports.
