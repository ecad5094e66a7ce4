//! Links and what changes them, as text for the hash.

use super::Bits;
use super::queues::write_queue;
use crate::model::{Link, MediumId};
use bentpipe_link::{
    ArqScheme, ArqSettings, ChannelSettings, InFlightPolicy, LinkSettings, Loss, Piece, Timeline,
    WhenDown,
};
use std::fmt::{self, Write};

pub(super) fn write_link(w: &mut impl Write, link: &Link) -> fmt::Result {
    let Link {
        name,
        from,
        to,
        settings,
        timeline,
        arq,
        medium,
        reports_corruption,
    } = link;
    let LinkSettings {
        rate,
        one_way_delay,
        queue,
        channel,
        framing,
    } = settings;
    let (rate, delay, framing) = (rate.bps(), one_way_delay.as_nanos(), framing.get());
    write!(
        w,
        "link {name:?} {}>{} rate={rate} delay={delay} framing={framing}",
        from.0, to.0
    )?;
    if let Some(MediumId(medium)) = medium {
        write!(w, " medium={medium}")?;
    }
    // Scenarios from before there was such a thing keep their hashes.
    if *reports_corruption {
        w.write_str(" reports-corruption")?;
    }
    write_queue(w, queue)?;
    if let Some(timeline) = timeline {
        write_timeline(w, timeline)?;
    }
    if let Some(ArqSettings {
        scheme,
        window,
        timeout,
        transmissions,
        in_order,
    }) = arq
    {
        let scheme = match scheme {
            ArqScheme::SelectiveRepeat => "selective-repeat",
            ArqScheme::GoBackN => "go-back-n",
        };
        write!(w, " {scheme} {window} {transmissions} {in_order}")?;
        match timeout {
            Some(timeout) => write!(w, " {}", timeout.as_nanos())?,
            None => w.write_str(" round-trip")?,
        }
    }
    match channel {
        ChannelSettings::Perfect => writeln!(w, " perfect"),
        ChannelSettings::Uniform { packet_error_rate } => {
            writeln!(w, " uniform {}", Bits(packet_error_rate.get()))
        }
        ChannelSettings::BitErrors { bit_error_rate } => {
            writeln!(w, " bit-errors {}", Bits(bit_error_rate.get()))
        }
        ChannelSettings::GilbertElliott {
            packet_error_rate,
            mean_burst,
        } => {
            let (rate, burst) = (Bits(packet_error_rate.get()), Bits(*mean_burst));
            writeln!(w, " gilbert-elliott {rate} {burst}")
        }
    }
}

pub(super) fn write_timeline(w: &mut impl Write, timeline: &Timeline) -> fmt::Result {
    let (down, in_flight) = timeline.rules();
    let waits = down == WhenDown::Waits;
    let lost = in_flight == InFlightPolicy::Lost;
    write!(w, " timeline waits={waits} lost={lost}")?;
    if let Some(period) = timeline.period() {
        write!(w, " every {}", period.as_nanos())?;
    }
    if let Some(given) = timeline.opportunities() {
        let (times, period, bytes) = given.period();
        write!(w, " {bytes} bytes every")?;
        if let Some(period) = period {
            write!(w, " {}", period.as_nanos())?;
        }
        w.write_str(" at")?;
        times
            .iter()
            .try_for_each(|at| write!(w, " {}", at.as_nanos()))?;
    }
    for piece in timeline.pieces() {
        let Piece {
            from,
            rate,
            one_way_delay,
            sloped,
            loss,
            up,
            route,
        } = piece;
        let (from, rate, delay) = (from.as_nanos(), rate.bps(), one_way_delay.as_nanos());
        write!(w, " {from}:{rate},{delay},{sloped},{up},{route}")?;
        match loss {
            Loss::Channel => {}
            Loss::Packets(p) => write!(w, ",packets {}", Bits(p.get()))?,
            Loss::Bits(p) => write!(w, ",bits {}", Bits(p.get()))?,
        }
    }
    Ok(())
}
