//! Media, as text for the hash.

use crate::model::Medium;
use bentpipe_link::medium::{
    AccessSettings, AlohaSettings, FrameSettings, MediumSettings, Requests, Scheduler,
};
use std::fmt::{self, Write};

pub(super) fn write_medium(w: &mut impl Write, medium: &Medium) -> fmt::Result {
    let Medium {
        name,
        settings:
            MediumSettings {
                rate,
                one_way_delay,
                access,
            },
    } = medium;
    let (rate, delay) = (rate.bps(), one_way_delay.as_nanos());
    write!(w, "medium {name:?} rate={rate} delay={delay}")?;
    match access {
        AccessSettings::Tdma { frame } => {
            w.write_str(" tdma")?;
            write_frame(w, frame)?;
        }
        AccessSettings::Dama { frame, scheduler } => {
            w.write_str(" dama")?;
            write_frame(w, frame)?;
            write_scheduler(w, scheduler)?;
        }
        AccessSettings::CfDama {
            frame,
            scheduler,
            requests,
        } => {
            w.write_str(" cf-dama")?;
            write_frame(w, frame)?;
            write_scheduler(w, scheduler)?;
            match requests {
                Requests::Preassigned => w.write_str(" preassigned")?,
                Requests::Piggyback => w.write_str(" piggyback")?,
                Requests::Random { minislots } => write!(w, " random {minislots}")?,
            }
        }
        AccessSettings::Aloha(AlohaSettings {
            slot,
            timeout,
            mean_backoff,
            retransmissions,
            spread,
        }) => {
            let slot = slot.map_or(0, |slot| slot.as_nanos());
            let (timeout, backoff) = (timeout.as_nanos(), mean_backoff.as_nanos());
            let spread = spread.as_nanos();
            write!(
                w,
                " aloha {slot} {timeout} {backoff} {retransmissions} {spread}"
            )?;
        }
    }
    writeln!(w)
}

pub(super) fn write_frame(w: &mut impl Write, frame: &FrameSettings) -> fmt::Result {
    let FrameSettings {
        length,
        slots,
        overhead,
        minislot,
    } = frame;
    let (overhead, minislot) = (overhead.get(), minislot.get());
    write!(w, " {} {slots} {overhead} {minislot}", length.as_nanos())
}

pub(super) fn write_scheduler(w: &mut impl Write, scheduler: &Scheduler) -> fmt::Result {
    match scheduler {
        Scheduler::Ground => w.write_str(" ground"),
        Scheduler::OnBoard { to_satellite } => {
            write!(w, " on-board {}", to_satellite.as_nanos())
        }
    }
}
