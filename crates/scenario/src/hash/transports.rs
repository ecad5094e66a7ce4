//! Transports, as text for the hash.

use super::Bits;
use bentpipe_tcp::{CongestionControlChoice, DelayedAck, Pacing, Transport};
use std::fmt::{self, Write};

pub(super) fn write_transport(w: &mut impl Write, transport: &Transport) -> fmt::Result {
    let Transport {
        name,
        congestion_control,
        parameters,
        profile,
        recovery,
        mss,
        initial_window,
        initial_ssthresh,
        send_buffer,
        receive_buffer,
        delayed_ack:
            DelayedAck {
                count,
                timer,
                quick_acks,
            },
        timestamps,
        limited_transmit,
        recovery_fix,
        undo,
        pacing,
        ecn,
        minimum_rto,
    } = transport;
    write!(w, " over {name:?}")?;
    match congestion_control {
        CongestionControlChoice::Named(name) => write!(w, " {name:?}")?,
        CongestionControlChoice::Slots {
            start,
            avoidance,
            reaction,
        } => {
            write!(w, " {start:?}/{avoidance:?}/{reaction:?}")?;
        }
        CongestionControlChoice::Ideal => w.write_str(" ideal")?,
    }
    for (name, value) in parameters.iter() {
        write!(w, " {name:?}=")?;
        write_parameter(w, value)?;
    }
    let recovery = bentpipe_tcp::Recovery::ALL
        .iter()
        .find(|(_, r)| r == recovery);
    let recovery = recovery.map_or("?", |(name, _)| name);
    write!(
        w,
        " {} {recovery} mss={mss} iw={}",
        profile.name(),
        Bits(*initial_window)
    )?;
    match initial_ssthresh {
        Some(ssthresh) => write!(w, " ssthresh={}", Bits(*ssthresh))?,
        None => w.write_str(" ssthresh=unlimited")?,
    }
    write!(w, " buffers={},{}", send_buffer.get(), receive_buffer.get())?;
    write!(w, " ack={count},{},{quick_acks}", timer.as_nanos())?;
    write!(
        w,
        " {timestamps} {limited_transmit} {recovery_fix} {undo} {ecn}"
    )?;
    match pacing {
        Pacing::Off => w.write_str(" unpaced")?,
        Pacing::Window {
            gain,
            initial_burst,
        } => {
            write!(w, " paced {} {initial_burst}", Bits(*gain))?;
        }
    }
    match minimum_rto {
        Some(rto) => writeln!(w, " minimum_rto={}", rto.as_nanos()),
        None => writeln!(w, " minimum_rto=profile"),
    }
}

pub(super) fn write_parameter(
    w: &mut impl Write,
    value: &bentpipe_cc::ParameterValue,
) -> fmt::Result {
    use bentpipe_cc::ParameterValue;
    match value {
        ParameterValue::Number(x) => write!(w, "{}", Bits(*x)),
        ParameterValue::Text(text) => write!(w, "{text:?}"),
        ParameterValue::Numbers(list) => list.iter().try_for_each(|x| write!(w, "{},", Bits(*x))),
        ParameterValue::Flag(flag) => write!(w, "{flag}"),
        ParameterValue::Duration(duration) => write!(w, "{}ns", duration.as_nanos()),
        ParameterValue::Rate(rate) => write!(w, "{}bps", rate.bps()),
    }
}
