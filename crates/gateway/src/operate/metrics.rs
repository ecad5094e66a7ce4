//! Metrics in the text format of Prometheus (version 0.0.4).

use super::associations::Told;
use super::state::{HubState, SharedState, process};
use crate::counters::{Kind, Unit};
use crate::tunnel::association::Health;
use bentpipe_units::Rate;
use std::fmt::Write;

const PREFIX: &str = "bentpipe_gateway";

/// Every number, as Prometheus reads it.
#[must_use]
pub fn text(state: &SharedState) -> String {
    let mut page = String::new();
    for (it, value) in state.numbers() {
        let suffix = match (it.unit, it.kind) {
            (Unit::Count | Unit::BitsPerSecond, Kind::Gauge) => "",
            (Unit::Count | Unit::BitsPerSecond, Kind::Counter) => "_total",
            (Unit::Bytes, Kind::Gauge) => "_bytes",
            (Unit::Bytes, Kind::Counter) => "_bytes_total",
            (Unit::Microseconds, _) => "_seconds",
        };
        let name = it.name.strip_prefix("bytes_").unwrap_or(it.name);
        let name = format!("{PREFIX}_{name}{suffix}");
        let kind = match it.kind {
            Kind::Counter => "counter",
            Kind::Gauge => "gauge",
        };
        let value = match it.unit {
            Unit::Microseconds => value as f64 / 1e6,
            _ => value as f64,
        };
        head(&mut page, &name, kind, it.meaning);
        let _ = writeln!(page, "{name} {value}");
    }
    let name = format!("{PREFIX}_connections_cut_total");
    head(
        &mut page,
        &name,
        "counter",
        "connections that were cut short, by reason",
    );
    for (why, count) in state.counters.cuts() {
        let _ = writeln!(page, "{name}{{reason=\"{}\"}} {count}", why.words());
    }
    gauges(state, &mut page);
    hubs(state, &mut page);
    associations(&state.told(), &mut page);
    carried(state, &mut page);
    page
}

fn gauges(state: &SharedState, page: &mut String) {
    let (resident, descriptors) = process();
    let rate = state.rate().borrow().map(Rate::bps);
    let all = [
        (
            "rate_bits_per_second",
            rate,
            "the rate that holds for the satellite link",
        ),
        (
            "verified_bits_per_second",
            state.verified().map(Rate::bps),
            "the rate that the satellite link delivers: the one that holds, unless less is found to arrive",
        ),
        (
            "delivered_bits_per_second",
            Some(state.delivered().bps()),
            "how fast the satellite link took data in the last second",
        ),
        (
            "uptime_seconds",
            Some(state.uptime().as_secs()),
            "how long the gateway runs",
        ),
        ("resident_bytes", resident, "resident memory of the process"),
        (
            "descriptors",
            descriptors,
            "open descriptors of the process",
        ),
    ];
    for (name, value, meaning) in all {
        if let Some(value) = value {
            let name = format!("{PREFIX}_{name}");
            head(page, &name, "gauge", meaning);
            let _ = writeln!(page, "{name} {value}");
        }
    }
}

/// How a terminal's hubs answer.
fn hubs(state: &SharedState, page: &mut String) {
    let hubs = state.hubs();
    type Is = fn(&HubState) -> bool;
    let all: [(&str, &str, Is); 2] = [
        (
            "up",
            "1 where connections can be carried to this hub, over QUIC or TLS",
            |hub| matches!(hub.health, Health::Up | Health::Fallback),
        ),
        ("used", "1 where new connections go to this hub", |hub| {
            hub.used
        }),
    ];
    for (name, meaning, is) in all {
        if hubs.is_empty() {
            return;
        }
        let name = format!("{PREFIX}_hub_{name}");
        head(page, &name, "gauge", meaning);
        for hub in &hubs {
            let wan = label_of(hub.wan.as_ref());
            let (hub, is) = (&hub.hub, u8::from(is(hub)));
            let _ = writeln!(page, "{name}{{hub=\"{hub}\"{wan}}} {is}");
        }
    }
}

/// The label of a WAN after another label, where there are several.
fn label_of(wan: Option<&String>) -> String {
    wan.map_or_else(String::new, |wan| format!(",wan={wan:?}"))
}

/// What QUIC says of each association.
fn associations(told: &[Told], page: &mut String) {
    type Of = fn(&Told) -> f64;
    let all: [(&str, &str, &str, Of); 5] = [
        (
            "rtt_seconds",
            "gauge",
            "smoothed round trip to the other box",
            |told| told.rtt.as_secs_f64(),
        ),
        ("window_bytes", "gauge", "congestion window", |told| {
            told.window as f64
        }),
        (
            "packets_sent_total",
            "counter",
            "QUIC packets sent",
            |told| told.packets.sent as f64,
        ),
        (
            "packets_lost_total",
            "counter",
            "QUIC packets lost and sent again",
            |told| told.packets.lost as f64,
        ),
        (
            "mtu_bytes",
            "gauge",
            "largest QUIC packet that the path takes",
            |told| f64::from(told.mtu),
        ),
    ];
    for (name, kind, meaning, of) in all {
        let name = format!("{PREFIX}_association_{name}");
        head(page, &name, kind, meaning);
        for one in told {
            let wan = label_of(one.wan.as_ref());
            let _ = writeln!(page, "{name}{{peer=\"{}\"{wan}}} {}", one.peer, of(one));
        }
    }
}

/// What each subscriber carried, all beyond a number of them together; each terminal of a hub; and the
/// connections of each class.
fn carried(state: &SharedState, page: &mut String) {
    let (usages, config) = (state.usages(), state.config());
    let subscribers = usages.series().into_iter();
    let subscribers = subscribers.map(|(subscriber, terminal, values)| match terminal.as_str() {
        "" => (format!("subscriber=\"{subscriber}\""), values),
        terminal => (
            format!("subscriber=\"{subscriber}\",terminal=\"{terminal}\""),
            values,
        ),
    });
    carried_for("subscriber", "a subscriber", subscribers.collect(), page);
    let terminals = usages.by_terminal(&config).into_iter();
    let terminals = terminals.map(|(key, values)| (format!("terminal=\"{key}\""), values));
    carried_for("terminal", "a terminal", terminals.collect(), page);
    let named = config
        .terminals
        .iter()
        .filter_map(|it| Some((&it.key, it.name.as_ref()?)));
    let name = format!("{PREFIX}_terminal_info");
    head(page, &name, "gauge", "1, with the name of a terminal");
    for (key, called) in named {
        let _ = writeln!(page, "{name}{{terminal=\"{key}\",name={called:?}}} 1");
    }
    let classes = usages.by_class().into_iter();
    let classes = classes.map(|(class, values)| (format!("class=\"{class}\""), values));
    carried_for("class", "a class", classes.collect(), page);
}

/// Series of bytes sent, bytes received and connections, each with its labels.
fn carried_for(of: &str, whom: &str, series: Vec<(String, [u64; 3])>, page: &mut String) {
    let all = [
        ("sent_bytes_total", "bytes sent over the satellite for"),
        (
            "received_bytes_total",
            "bytes that came over the satellite for",
        ),
        ("connections_total", "connections, and flows of UDP, of"),
    ];
    for (at, (name, meaning)) in all.into_iter().enumerate() {
        let name = format!("{PREFIX}_{of}_{name}");
        head(page, &name, "counter", &format!("{meaning} {whom}"));
        for (labels, values) in &series {
            let _ = writeln!(page, "{name}{{{labels}}} {}", values[at]);
        }
    }
}

fn head(page: &mut String, name: &str, kind: &str, meaning: &str) {
    let _ = writeln!(page, "# HELP {name} {meaning}\n# TYPE {name} {kind}");
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::config_from_str;
    use crate::operate::associations::tests::told;

    /// A gateway with two hubs.
    fn state() -> std::sync::Arc<SharedState> {
        let text_of = "role = \"hub\"\nlink.rate = \"1 Mbit/s\"\n[tunnel]\npeers = [\"k\"]\n";
        let state = SharedState::new(&config_from_str(text_of).unwrap());
        let hub = |name: &str, health, used| HubState {
            wan: None,
            hub: name.to_owned(),
            address: None,
            health,
            since: std::time::Instant::now(),
            rtt: None,
            reason: None,
            used,
        };
        state.note_hubs(vec![
            hub("one:4433", Health::Draining, false),
            hub("two:4433", Health::Fallback, true),
        ]);
        state
    }

    /// What `packaging/grafana/gateway.json` draws is there.
    #[test]
    fn the_dashboard_asks_for_what_is_served() {
        let file = concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/../../packaging/grafana/gateway.json"
        );
        let dashboard = std::fs::read_to_string(file).unwrap();
        let dashboard: serde_json::Value = serde_json::from_str(&dashboard).unwrap();
        let page = text(&state());
        let mut asked = 0;
        for panel in dashboard["panels"].as_array().unwrap() {
            for target in panel["targets"].as_array().unwrap() {
                let query = target["expr"].as_str().unwrap();
                // They have a series for each WAN, and no two lines have one name.
                if ["_association_", "_hub_"]
                    .iter()
                    .any(|it| query.contains(it))
                {
                    let legend = target["legendFormat"].as_str().unwrap();
                    assert!(legend.contains("{{wan}}"), "{legend} of {query}");
                    assert!(!query.contains("sum "), "{query}");
                }
                for rest in query.split(PREFIX).skip(1) {
                    let is_name = |c: char| c.is_ascii_lowercase() || c == '_';
                    let name = rest.split(|c| !is_name(c)).next().unwrap();
                    let head = format!("# TYPE {PREFIX}{name} ");
                    assert!(page.contains(&head), "{PREFIX}{name} of {query}");
                    // Counters are drawn by their rate.
                    let grows = page.contains(&format!("{head}counter"));
                    assert_eq!(
                        grows,
                        query.contains("rate(") || query.contains("increase(")
                    );
                    asked += 1;
                }
            }
        }
        assert!(asked > 25, "{asked}");
    }

    #[test]
    fn each_wan_has_series_of_its_own() {
        let of = |wan, rtt| told(Some(wan), rtt, 100);
        let mut page = String::new();
        associations(&[of("5g", 60), of("link", 600)], &mut page);
        for line in [
            "bentpipe_gateway_association_rtt_seconds{peer=\"ship\",wan=\"5g\"} 0.06",
            "bentpipe_gateway_association_rtt_seconds{peer=\"ship\",wan=\"link\"} 0.6",
            "bentpipe_gateway_association_packets_sent_total{peer=\"ship\",wan=\"5g\"} 100",
        ] {
            assert!(
                page.lines().any(|it| it == line),
                "{line} is not in\n{page}"
            );
        }
        let mut alone = String::new();
        associations(&[told(None, 600, 100)], &mut alone);
        assert!(
            alone.contains("_mtu_bytes{peer=\"ship\"} 1200\n"),
            "{alone}"
        );
    }

    #[test]
    fn the_page_is_in_the_format_of_prometheus() {
        let state = state();
        state.counters.bytes_to_satellite.add(7);
        state.counters.cut(crate::CloseReason::Refused).increment();
        let holder = crate::usage::Holder::default();
        let class = crate::usage::Class::Udp;
        state.usages().join(holder, class, &state.config()).sent(3);
        let page = text(&state);
        for line in [
            "# TYPE bentpipe_gateway_to_satellite_bytes_total counter",
            "bentpipe_gateway_to_satellite_bytes_total 7",
            "bentpipe_gateway_connections_active 0",
            "bentpipe_gateway_connections_cut_total{reason=\"refused\"} 1",
            "bentpipe_gateway_subscriber_sent_bytes_total{subscriber=\"unknown\"} 3",
            "bentpipe_gateway_class_sent_bytes_total{class=\"udp\"} 3",
            "bentpipe_gateway_class_connections_total{class=\"first\"} 0",
            "bentpipe_gateway_hub_up{hub=\"one:4433\"} 0",
            "bentpipe_gateway_hub_up{hub=\"two:4433\"} 1",
            "bentpipe_gateway_hub_used{hub=\"one:4433\"} 0",
            "bentpipe_gateway_hub_used{hub=\"two:4433\"} 1",
        ] {
            assert!(
                page.lines().any(|it| it == line),
                "{line} is not in\n{page}"
            );
        }
        for line in page.lines().filter(|line| !line.starts_with('#')) {
            let (name, value) = line.rsplit_once(' ').unwrap();
            assert!(
                name.starts_with(PREFIX) && value.parse::<f64>().is_ok(),
                "{line}"
            );
        }
    }
}
