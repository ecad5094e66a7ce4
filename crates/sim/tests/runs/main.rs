//! Whole runs: bounds, determinism, conservation, applications.

mod applications;
mod bbr;
mod bounds;
mod careful_resume;
mod copa;
mod crossings;
mod determinism;
mod hosts;
mod ideal;
mod line;
mod losses;
mod media;
mod middleboxes;
mod own_controller;
mod proactive;
mod queues;
mod routes;
mod scps;
mod snoop;
mod split;
mod table;
mod text;
mod undo;
mod video;
mod web;
mod xcp;
