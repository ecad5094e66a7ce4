//! Links, their queues, and what changes with time.

use super::text::{Text, quoted, rate, size, time};
use super::{WriteError, node, plain};
use crate::model::{Link, LinkId, Scenario};
use bentpipe_link::{
    ArqScheme, ArqSettings, ChannelSettings, CoDelSettings, InFlightPolicy, Limit, Loss, Piece,
    QueueSettings, Timeline, WhenDown,
};
use bentpipe_units::Time;

/// Writes every pair of links.
pub(super) fn write(text: &mut Text, scenario: &Scenario) -> Result<(), WriteError> {
    for (link, i) in scenario.links.iter().zip(0..) {
        let back = link
            .reverse
            .and_then(|id| scenario.links.get(id.0 as usize));
        let Some(back) = back.filter(|back| back.reverse == Some(LinkId(i))) else {
            return Err(WriteError::new(format!(
                "link `{}` has no way back",
                link.name
            )));
        };
        // The way back stands in the table of its pair.
        if link.reverse.is_some_and(|id| id.0 < i) {
            continue;
        }
        let name = plain(&link.name, "link")?;
        text.table(&["link", name]);
        let ends = [link.from, link.to].map(|end| quoted(node(scenario, end.0)));
        text.key("between", format!("[{}]", ends.join(", ")));
        if link.reports_corruption {
            text.key("reports_corruption", true);
        }
        direction(text, link, None)?;
        text.table(&["link", name, "reverse"]);
        direction(text, back, Some(link))?;
    }
    Ok(())
}

/// The keys of a direction; the way back says what it would take from the way forth.
fn direction(text: &mut Text, link: &Link, forth: Option<&Link>) -> Result<(), WriteError> {
    let settings = &link.settings;
    text.rate("rate", settings.rate);
    text.time("one_way_delay", settings.one_way_delay);
    text.key(
        "queue",
        queue(&settings.queue).ok_or_else(|| {
            let queue = settings.queue.name();
            WriteError::new(format!("the {queue} queue of link `{}`", link.name))
        })?,
    );
    text.key("channel", channel(&settings.channel));
    text.size("framing", settings.framing);
    match (&link.arq, forth.and_then(|forth| forth.arq)) {
        (Some(settings), _) => text.key("arq", arq(settings)),
        (None, Some(_)) => text.key("arq", quoted("none")),
        (None, None) => {}
    }
    match &link.timeline {
        Some(line) => timeline(text, line, &link.name),
        None => Ok(()),
    }
}

fn limit(limit: Limit) -> String {
    match limit {
        Limit::Packets(1) => quoted("1 packet"),
        Limit::Packets(n) => quoted(&format!("{n} packets")),
        Limit::Bytes(bytes) => quoted(&size(bytes)),
    }
}

/// A queue; `None` for one that has no form here.
fn queue(queue: &QueueSettings) -> Option<String> {
    let all = limit(queue.limit());
    let codel = |s: &CoDelSettings| {
        format!(
            "target = {}, interval = {}, mtu = {}, ecn = {}",
            quoted(&time(s.target)),
            quoted(&time(s.interval)),
            quoted(&size(s.mtu)),
            s.ecn
        )
    };
    Some(match queue {
        QueueSettings::DropTail(_) => all,
        QueueSettings::CoDel(s) => {
            format!("{{ kind = \"codel\", limit = {all}, {} }}", codel(s))
        }
        QueueSettings::FqCoDel(s) => format!(
            "{{ kind = \"fq-codel\", limit = {all}, flows = {}, quantum = {}, {} }}",
            s.flows,
            quoted(&size(s.quantum)),
            codel(&s.codel)
        ),
        QueueSettings::AckFilter(_) => format!("{{ kind = \"ack-filter\", limit = {all} }}"),
        QueueSettings::PriorityDrop(s) => {
            let low = s
                .low_limit
                .map(|low| format!(", low_limit = {}", limit(low)));
            let low = low.unwrap_or_default();
            format!("{{ kind = \"priority-drop\", limit = {all}{low} }}")
        }
        QueueSettings::Xcp(s) => format!(
            "{{ kind = \"xcp\", limit = {all}, p_xcp = {}, alpha = {}, beta = {}, gamma = {}, \
             longest_rtt = {} }}",
            s.p_xcp,
            s.alpha,
            s.beta,
            s.gamma,
            quoted(&time(s.longest_rtt))
        ),
        QueueSettings::Bandwidth(s) => format!(
            "{{ kind = \"bandwidth-aware\", limit = {all}, utilisation = {}, interval = {} }}",
            s.utilisation,
            quoted(&time(s.interval))
        ),
        _ => return None,
    })
}

fn channel(channel: &ChannelSettings) -> String {
    match channel {
        ChannelSettings::Perfect => quoted("perfect"),
        ChannelSettings::Uniform { packet_error_rate } => format!(
            "{{ kind = \"uniform\", packet_error_rate = {} }}",
            packet_error_rate.get()
        ),
        ChannelSettings::BitErrors { bit_error_rate } => format!(
            "{{ kind = \"bit-errors\", bit_error_rate = {} }}",
            bit_error_rate.get()
        ),
        ChannelSettings::GilbertElliott {
            packet_error_rate,
            mean_burst,
        } => format!(
            "{{ kind = \"gilbert-elliott\", packet_error_rate = {}, mean_burst = {mean_burst} }}",
            packet_error_rate.get()
        ),
        ChannelSettings::Bursts {
            packet_error_rate,
            mean_burst,
        } => format!(
            "{{ kind = \"bursts\", packet_error_rate = {}, mean_burst = {} }}",
            packet_error_rate.get(),
            quoted(&time(*mean_burst))
        ),
    }
}

fn arq(arq: &ArqSettings) -> String {
    let mut keys = match arq.scheme {
        ArqScheme::SelectiveRepeat => {
            format!("kind = \"selective-repeat\", in_order = {}", arq.in_order)
        }
        ArqScheme::GoBackN => "kind = \"go-back-n\"".to_owned(),
    };
    if arq.window != u32::MAX {
        keys += &format!(", window = {}", arq.window);
    }
    if let Some(timeout) = arq.timeout {
        keys += &format!(", timeout = {}", quoted(&time(timeout)));
    }
    format!("{{ {keys}, transmissions = {} }}", arq.transmissions)
}

fn timeline(text: &mut Text, line: &Timeline, name: &str) -> Result<(), WriteError> {
    if line.opportunities().is_some() {
        let what = format!("link `{name}` follows a trace of delivery opportunities");
        return Err(WriteError::new(what));
    }
    let pieces: Vec<String> = line.pieces().iter().map(piece).collect();
    text.key("timeline", format!("[\n  {},\n]", pieces.join(",\n  ")));
    if let Some(period) = line.period() {
        text.time("repeat", period);
    }
    let (when_down, in_flight) = line.rules();
    let when_down = match when_down {
        WhenDown::Lost => "lost",
        WhenDown::Waits => "waits",
    };
    let in_flight = match in_flight {
        InFlightPolicy::Delivered => "delivered",
        InFlightPolicy::Lost => "lost",
    };
    text.key("when_down", quoted(when_down));
    text.key("in_flight", quoted(in_flight));
    Ok(())
}

fn piece(piece: &Piece) -> String {
    let loss = match piece.loss {
        Loss::Channel => String::new(),
        Loss::Packets(share) => format!(", packet_error_rate = {}", share.get()),
        Loss::Bits(share) => format!(", bit_error_rate = {}", share.get()),
    };
    let linear = if piece.sloped { ", linear = true" } else { "" };
    format!(
        "{{ at = {}, rate = {}, one_way_delay = {}{linear}{loss}, up = {}, route = {} }}",
        quoted(&time(piece.from.since(Time::ZERO))),
        quoted(&rate(piece.rate)),
        quoted(&time(piece.one_way_delay)),
        piece.up,
        piece.route
    )
}
