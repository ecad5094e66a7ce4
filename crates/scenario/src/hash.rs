//! What makes two runs the same scenario.

use crate::model::{
    Flow, Handshake, Limits, Link, LinkId, Medium, MediumId, Middlebox, Node, RouteChange,
    Scenario, SplitPep, Stranded,
};
use bentpipe_link::medium::{
    AccessSettings, AlohaSettings, FrameSettings, MediumSettings, Requests, Scheduler,
};
use bentpipe_link::{
    AdaptiveSettings, ArqScheme, ArqSettings, ChannelSettings, CoDelSettings, InFlight, Limit,
    LinkSettings, Loss, Piece, QueueSettings, RedMode, RedSettings, Timeline, WhenDown,
    XcpSettings,
};
use bentpipe_middlebox::split::{Accept, Pool, SplitSettings};
use bentpipe_middlebox::{Settings, SnoopSettings, SnoopVariant, SpoofSettings};
use bentpipe_tcp::{CongestionControlChoice, DelayedAck, Pacing, Transport};
use bentpipe_traffic::{Application, PageConnection, Period, WebSettings};
use std::fmt::{self, Write};

/// Content hash of a scenario: 128 bits, printed as 32 hexadecimal digits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ScenarioHash(pub u128);

impl fmt::Display for ScenarioHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:032x}", self.0)
    }
}

/// Where FNV-1a with 128 bits starts.
const OFFSET_BASIS: u128 = 0x6c62_272e_07bb_0142_62b8_2175_6295_c58d;

/// FNV-1a with 128 bits, over text.
struct Fnv(u128);

impl Write for Fnv {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        for byte in text.bytes() {
            self.0 ^= u128::from(byte);
            self.0 = self
                .0
                .wrapping_mul(0x0000_0000_0100_0000_0000_0000_0000_013B);
        }
        Ok(())
    }
}

impl Scenario {
    /// Hash of everything that can change what a run of the scenario does,
    /// the same on every machine: nodes, links, flows with their transports
    /// and routes, duration and limits. Name, description and seed do not
    /// count, so that replications share it.
    ///
    /// The hash is FNV-1a (128 bits) over a canonical text: fields in a fixed
    /// order, quantities as whole numbers, fractions by their bits. It changes
    /// when a version of the program adds a field.
    #[must_use]
    pub fn hash(&self) -> ScenarioHash {
        let mut fnv = Fnv(OFFSET_BASIS);
        // Writing into a hash cannot fail.
        let _ = write_scenario(&mut fnv, self);
        ScenarioHash(fnv.0)
    }

    /// The text that [`Scenario::hash`] is computed from, to see why two
    /// hashes differ.
    #[must_use]
    pub fn canonical_text(&self) -> String {
        let mut text = String::new();
        let _ = write_scenario(&mut text, self);
        text
    }
}

// Every function below takes its value apart completely: a field that is added
// to the model must be added here, or this file does not compile.

fn write_scenario(w: &mut impl Write, scenario: &Scenario) -> fmt::Result {
    let Scenario {
        name: _,
        description: _,
        duration,
        seed: _,
        nodes,
        links,
        media,
        flows,
        stranded,
        middleboxes,
        peps,
        limits,
    } = scenario;
    let Limits { events, packets } = limits;
    writeln!(
        w,
        "scenario 1 duration={} events={events} packets={packets}",
        duration.as_nanos()
    )?;
    // A scenario in which it makes no difference keeps its hash.
    if *stranded == Stranded::Rerouted {
        writeln!(w, "stranded packets are rerouted")?;
    }
    for Node { name } in nodes {
        writeln!(w, "node {name:?}")?;
    }
    for link in links {
        write_link(w, link)?;
    }
    for medium in media {
        write_medium(w, medium)?;
    }
    let mut last: Option<&Transport> = None;
    for flow in flows {
        write_flow(w, flow)?;
        match &flow.transport {
            None => writeln!(w, " datagrams")?,
            Some(transport) if last == Some(transport) => writeln!(w, " same")?,
            Some(transport) => write_transport(w, transport)?,
        }
        last = flow.transport.as_ref();
    }
    middleboxes.iter().try_for_each(|b| write_middlebox(w, b))?;
    peps.iter().try_for_each(|p| write_pep(w, p))
}

fn write_middlebox(w: &mut impl Write, middlebox: &Middlebox) -> fmt::Result {
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

fn write_pep(w: &mut impl Write, pep: &SplitPep) -> fmt::Result {
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

fn write_snoop(w: &mut impl Write, snoop: &SnoopSettings) -> fmt::Result {
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

fn write_link(w: &mut impl Write, link: &Link) -> fmt::Result {
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

fn write_timeline(w: &mut impl Write, timeline: &Timeline) -> fmt::Result {
    let (down, in_flight) = timeline.rules();
    let waits = down == WhenDown::Waits;
    let lost = in_flight == InFlight::Lost;
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

fn write_medium(w: &mut impl Write, medium: &Medium) -> fmt::Result {
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

fn write_frame(w: &mut impl Write, frame: &FrameSettings) -> fmt::Result {
    let FrameSettings {
        length,
        slots,
        overhead,
        minislot,
    } = frame;
    let (overhead, minislot) = (overhead.get(), minislot.get());
    write!(w, " {} {slots} {overhead} {minislot}", length.as_nanos())
}

fn write_scheduler(w: &mut impl Write, scheduler: &Scheduler) -> fmt::Result {
    match scheduler {
        Scheduler::Ground => w.write_str(" ground"),
        Scheduler::OnBoard { to_satellite } => {
            write!(w, " on-board {}", to_satellite.as_nanos())
        }
    }
}

fn write_queue(w: &mut impl Write, queue: &QueueSettings) -> fmt::Result {
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

fn write_limit(w: &mut impl Write, limit: Limit) -> fmt::Result {
    match limit {
        Limit::Packets(n) => write!(w, " packets={n}"),
        Limit::Bytes(n) => write!(w, " bytes={}", n.get()),
    }
}

fn write_red(w: &mut impl Write, red: &RedSettings) -> fmt::Result {
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

fn write_flow(w: &mut impl Write, flow: &Flow) -> fmt::Result {
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

fn write_paths(w: &mut impl Write, forward: &[LinkId], reverse: &[LinkId]) -> fmt::Result {
    for (label, path) in [("forward", forward), ("reverse", reverse)] {
        write!(w, " {label}=")?;
        for link in path {
            write!(w, "{},", link.0)?;
        }
    }
    Ok(())
}

fn write_web(w: &mut impl Write, web: &WebSettings) -> fmt::Result {
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

fn write_period(w: &mut impl Write, period: &Period) -> fmt::Result {
    match period {
        Period::Constant(length) => write!(w, " {}", length.as_nanos()),
        Period::Exponential { mean } => write!(w, " exponential {}", mean.as_nanos()),
        Period::Pareto { mean, shape } => {
            write!(w, " pareto {} {}", mean.as_nanos(), Bits(*shape))
        }
    }
}

fn write_transport(w: &mut impl Write, transport: &Transport) -> fmt::Result {
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

fn write_parameter(w: &mut impl Write, value: &bentpipe_cc::ParameterValue) -> fmt::Result {
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

/// A fraction, exactly.
struct Bits(f64);

impl fmt::Display for Bits {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The two zeros are the same number.
        let x = if self.0 == 0.0 { 0.0 } else { self.0 };
        write!(f, "{:x}", f64::to_bits(x))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_reference_values_of_fnv_1a() {
        let hash = |text: &str| {
            let mut fnv = Fnv(OFFSET_BASIS);
            let _ = fnv.write_str(text);
            ScenarioHash(fnv.0).to_string()
        };
        assert_eq!(hash(""), "6c62272e07bb014262b821756295c58d");
        assert_eq!(hash("a"), "d228cb696f1a8caf78912b704e4a8964");
        assert_eq!(hash("foobar"), "343e1662793c64bf6f0d3597ba446f18");
    }
}
