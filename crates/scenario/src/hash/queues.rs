//! Queues, as text for the hash.

use super::Bits;
use bentpipe_link::{
    AdaptiveSettings, CoDelSettings, Limit, QueueSettings, RedMode, RedSettings, XcpSettings,
};
use std::fmt::{self, Write};

pub(super) fn write_queue(w: &mut impl Write, queue: &QueueSettings) -> fmt::Result {
    match queue {
        QueueSettings::DropTail { limit } => {
            w.write_str(" drop-tail")?;
            write_limit(w, *limit)
        }
        QueueSettings::Red(red) => write_red(w, red),
        QueueSettings::CoDel(CoDelSettings {
            limit,
            target,
            interval,
            mtu,
            ecn,
        }) => {
            w.write_str(" codel")?;
            write_limit(w, *limit)?;
            let (target, interval) = (target.as_nanos(), interval.as_nanos());
            write!(w, " {target} {interval} {} {ecn}", mtu.get())
        }
        QueueSettings::Xcp(XcpSettings {
            limit,
            alpha,
            beta,
            gamma,
            longest_rtt,
            p_xcp,
        }) => {
            w.write_str(" xcp")?;
            write_limit(w, *limit)?;
            let [alpha, beta, gamma] = [alpha, beta, gamma].map(|x| Bits(*x));
            let longest = longest_rtt.as_nanos();
            write!(w, " {alpha} {beta} {gamma} {longest} {p_xcp}")
        }
        QueueSettings::AckFilter { limit } => {
            w.write_str(" ack-filter")?;
            write_limit(w, *limit)
        }
        QueueSettings::PriorityDrop { limit, low_limit } => {
            w.write_str(" priority-drop")?;
            write_limit(w, *limit)?;
            w.write_str(" low")?;
            low_limit.map_or(Ok(()), |low| write_limit(w, low))
        }
    }
}

pub(super) fn write_limit(w: &mut impl Write, limit: Limit) -> fmt::Result {
    match limit {
        Limit::Packets(n) => write!(w, " packets={n}"),
        Limit::Bytes(n) => write!(w, " bytes={}", n.get()),
    }
}

pub(super) fn write_red(w: &mut impl Write, red: &RedSettings) -> fmt::Result {
    let RedSettings {
        limit,
        mode,
        mean_packet,
        minimum,
        maximum,
        weight,
        max_p,
        gentle,
        wait,
        ecn,
        mark_below,
        target_delay,
        adaptive,
    } = red;
    w.write_str(" red")?;
    write_limit(w, *limit)?;
    let mode = match mode {
        RedMode::Packets => "packets",
        RedMode::Bytes => "bytes",
    };
    write!(w, " {mode} of {}", mean_packet.get())?;
    for value in [minimum, maximum, weight, mark_below] {
        match value {
            Some(x) => write!(w, " {}", Bits(*x))?,
            None => w.write_str(" automatic")?,
        }
    }
    let (max_p, target) = (Bits(max_p.get()), target_delay.as_nanos());
    write!(w, " {max_p} {gentle} {wait} {ecn} {target}")?;
    let Some(AdaptiveSettings {
        interval,
        alpha,
        beta,
        bottom,
        top,
    }) = adaptive
    else {
        return Ok(());
    };
    write!(w, " adaptive {}", interval.as_nanos())?;
    write!(w, " {} {} {}", Bits(*alpha), Bits(*beta), Bits(*top))?;
    match bottom {
        Some(bottom) => write!(w, " {}", Bits(*bottom)),
        None => w.write_str(" automatic"),
    }
}
