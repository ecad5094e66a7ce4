//! Boxes on nodes, as text for the hash.

use super::Bits;
use super::transports::write_transport;
use crate::model::{Middlebox, SplitPep};
use bentpipe_middlebox::split::{Accept, Pool, SplitSettings};
use bentpipe_middlebox::{Settings, SnoopSettings, SnoopVariant, SpoofSettings};
use std::fmt::{self, Write};

pub(super) fn write_middlebox(w: &mut impl Write, middlebox: &Middlebox) -> fmt::Result {
    let Middlebox {
        name,
        node,
        toward,
        back: _, // what the links say
        settings,
    } = middlebox;
    write!(w, "middlebox {name:?} at {} toward=", node.0)?;
    toward
        .iter()
        .try_for_each(|link| write!(w, "{},", link.0))?;
    match settings {
        Settings::Snoop(snoop) => write_snoop(w, snoop),
        Settings::Spoof(SpoofSettings {
            cache,
            threshold,
            tick,
        }) => writeln!(w, " spoof {cache} {threshold} {}", tick.as_nanos()),
    }
}

pub(super) fn write_pep(w: &mut impl Write, pep: &SplitPep) -> fmt::Result {
    let SplitPep {
        name,
        node,
        toward,
        settings:
            SplitSettings {
                buffer,
                receive_buffer,
                accept,
                pool,
                transport,
                flows,
            },
    } = pep;
    write!(w, "pep {name:?} at {} toward=", node.0)?;
    toward
        .iter()
        .try_for_each(|link| write!(w, "{},", link.0))?;
    write!(w, " {}", buffer.get())?;
    match receive_buffer {
        Some(bytes) => write!(w, ",{}", bytes.get())?,
        None => w.write_str(",same")?,
    }
    w.write_str(match accept {
        Accept::Early => " early",
        Accept::Late => " late",
    })?;
    w.write_str(match pool {
        Pool::Separate => " separate",
        Pool::Shared => " shared",
    })?;
    write!(w, " {flows:?}")?;
    match transport {
        Some(transport) => write_transport(w, transport),
        None => w.write_str(" over the flow's\n"),
    }
}

pub(super) fn write_snoop(w: &mut impl Write, snoop: &SnoopSettings) -> fmt::Result {
    let SnoopSettings {
        cache,
        threshold,
        tick,
        srtt,
        rttvar,
        gain,
        retransmissions,
        variant,
    } = snoop;
    let (tick, srtt, rttvar) = (tick.as_nanos(), srtt.as_nanos(), rttvar.as_nanos());
    let gain = Bits(*gain);
    write!(
        w,
        " snoop {cache} {threshold} {tick} {srtt} {rttvar} {gain} {retransmissions}"
    )?;
    w.write_str(match variant {
        SnoopVariant::Standard => " standard\n",
        SnoopVariant::Ns2 => " ns-2\n",
    })
}
