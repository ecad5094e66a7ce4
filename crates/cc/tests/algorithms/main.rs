//! The published numbers of every algorithm, their behaviour over scripted
//! rounds, and what must hold for any stream of events.

mod bbr;
mod bbr3;
mod behaviour;
mod careful_resume;
mod copa;
mod cubic;
mod custom;
mod dvegas;
mod explicit;
mod host;
mod hybla;
mod invariants;
mod kernel;
mod linux;
mod marchese;
mod new_vegas;
mod peach;
mod picoquic;
mod priority;
mod proactive;
mod probed_rate;
mod registry;
mod satellite;
mod scalable;
mod search;
mod shared;
mod standard;
mod vegas;
mod veno;
mod westwood;
mod westwood_agent;
mod wire;
