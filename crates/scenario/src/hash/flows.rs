//! Flows and their applications, as text for the hash.

use super::Bits;
use crate::model::{Flow, Handshake, LinkId, RouteChange};
use bentpipe_traffic::{Application, PageConnection, Period, WebSettings};
use std::fmt::{self, Write};

pub(super) fn write_flow(w: &mut impl Write, flow: &Flow) -> fmt::Result {
    let Flow {
        name,
        from,
        to,
        transport: _,
        application,
        start,
        stop,
        handshake,
        forward,
        reverse,
        changes,
        split: _, // what the middleboxes and the routes say
    } = flow;
    write!(
        w,
        "flow {name:?} {}>{} start={}",
        from.0,
        to.0,
        start.as_nanos()
    )?;
    match stop {
        Some(stop) => write!(w, " stop={}", stop.as_nanos())?,
        None => w.write_str(" stop=never")?,
    }
    w.write_str(match handshake {
        Handshake::Counted => " counted",
        Handshake::NotCounted => " not-counted",
        Handshake::Skipped => " skipped",
    })?;
    write_paths(w, forward, reverse)?;
    for RouteChange {
        at,
        forward,
        reverse,
    } in changes
    {
        write!(w, " from {}:", at.as_nanos())?;
        write_paths(w, forward, reverse)?;
    }
    match application {
        Application::Transfer { size } => write!(w, " transfer {}", size.get()),
        Application::Persistent => w.write_str(" persistent"),
        Application::RequestResponse {
            request,
            response,
            count,
            think_time,
        } => {
            let (request, response) = (request.get(), response.get());
            let think_time = think_time.as_nanos();
            write!(
                w,
                " request-response {request} {response} {count} {think_time}"
            )
        }
        Application::ConstantRate { rate, packet_size } => {
            write!(w, " constant-rate {} {}", rate.bps(), packet_size.get())
        }
        Application::OnOff {
            on,
            off,
            rate,
            packet_size,
        } => {
            w.write_str(" on-off")?;
            write_period(w, on)?;
            write_period(w, off)?;
            write!(w, " {} {}", rate.bps(), packet_size.get())
        }
        Application::Web(web) => write_web(w, web),
    }
}

pub(super) fn write_paths(
    w: &mut impl Write,
    forward: &[LinkId],
    reverse: &[LinkId],
) -> fmt::Result {
    for (label, path) in [("forward", forward), ("reverse", reverse)] {
        write!(w, " {label}=")?;
        for link in path {
            write!(w, "{},", link.0)?;
        }
    }
    Ok(())
}

pub(super) fn write_web(w: &mut impl Write, web: &WebSettings) -> fmt::Result {
    let WebSettings {
        mean,
        deviation,
        largest,
        reading,
        request,
        connection,
        count,
    } = web;
    let (mean, deviation, largest) = (mean.get(), deviation.get(), largest.get());
    let (reading, request) = (reading.as_nanos(), request.get());
    write!(w, " web {mean} {deviation} {largest} {reading} {request}")?;
    w.write_str(match connection {
        PageConnection::Page => " page",
        PageConnection::Persistent => " persistent",
    })?;
    count.map_or(Ok(()), |count| write!(w, " {count}"))
}

pub(super) fn write_period(w: &mut impl Write, period: &Period) -> fmt::Result {
    match period {
        Period::Constant(length) => write!(w, " {}", length.as_nanos()),
        Period::Exponential { mean } => write!(w, " exponential {}", mean.as_nanos()),
        Period::Pareto { mean, shape } => {
            write!(w, " pareto {} {}", mean.as_nanos(), Bits(*shape))
        }
    }
}
