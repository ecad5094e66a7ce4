//! The comparison as one JSON document, units in the names.

use super::print;
use crate::output::number;
use bentpipe::compare::{Ranking, TransportResult};
use bentpipe_study::stats::Summary;
use serde_json::{Value, json};

/// The whole document.
pub(super) fn document(comparison: &Ranking) -> Value {
    let path = &comparison.path;
    let results = comparison.results.iter();
    let results: Vec<Value> = results.map(|m| result(m, comparison)).collect();
    json!({
        "link": {
            "rate_bps": path.rate.bps(),
            "return_rate_bps": path.return_rate.bps(),
            "rtt_ns": path.rtt.as_nanos(),
            "packet_error_rate": path.loss.get(),
            "queue": path.queue.to_string(),
            "queue_bytes": path.queue_bytes().get(),
            "bdp_bytes": path.bdp().get(),
            "server_rtt_ns": path.server_rtt.map(|t| t.as_nanos()),
            "pep": path.pep.name(),
            "orbit": path.orbit.as_ref().map(|orbit| json!({
                "name": orbit.name,
                "way": orbit.text,
                "min_rtt_ns": orbit.rtt[0].as_nanos(),
                "mean_rtt_ns": orbit.rtt[1].as_nanos(),
                "max_rtt_ns": orbit.rtt[2].as_nanos(),
                "path_changes_per_hour": orbit.changes,
                "availability": number(orbit.availability),
            })),
        },
        "size_bytes": path.size.get(),
        "runs": comparison.seeds.len(),
        "seed": comparison.seeds.first(),
        "ideal_transfer_time_s": number(comparison.ideal.as_secs()),
        "recommendation": recommendation(comparison),
        "results": results,
        "comparable_only_with": print::points(comparison),
    })
}

fn result(m: &TransportResult, comparison: &Ranking) -> Value {
    let transport = comparison.candidate(&m.name).map(|c| &c.transport);
    json!({
        "transport": m.name,
        "about": m.about,
        "availability": m.availability.name(),
        "switch": m.switch,
        "transfer_time_s": m.times.map_or(Value::Null, |t| spread(&t)),
        "unfinished": m.unfinished,
        "goodput_bps": number(m.goodput_bps),
        "share_of_ideal": number(m.share_of_ideal),
        "resent_share": number(m.resent_share),
        "timeouts_per_transfer": number(m.timeouts_per_transfer),
        "queue_drops_per_transfer": number(m.queue_drops_per_transfer),
        "p95_queueing_delay_s": number(m.p95_queueing_delay_s),
        "max_cwnd_segments": number(m.max_cwnd),
        "initial_window_segments": transport.map(|t| t.initial_window),
        "receive_buffer_bytes": transport.map(|t| t.receive_buffer.get()),
        "mss_bytes": transport.map(|t| t.mss),
        "ack_count": transport.map(|t| t.delayed_ack.count),
        "host_profile": transport.map(|t| t.profile.name()),
    })
}

fn spread(s: &Summary) -> Value {
    json!({
        "mean": number(s.mean),
        "ci95": s.ci95.map(number),
        "standard_deviation": s.sd.map(number),
        "median": number(s.median),
        "min": number(s.min),
        "max": number(s.max),
        "runs": s.n,
    })
}

fn recommendation(comparison: &Ranking) -> Value {
    let Some(advice) = &comparison.recommendation else {
        return Value::Null;
    };
    let name = |i: usize| comparison.results[i].name.as_str();
    let pick = &comparison.results[advice.pick];
    let names = |list: &[usize]| list.iter().map(|i| name(*i)).collect::<Vec<_>>();
    json!({
        "transport": pick.name,
        "availability": pick.availability.name(),
        "switch": pick.switch,
        "default": advice.default.map(name),
        "speedup_over_default": advice.speedup.map(number),
        "as_fast": names(&advice.as_fast),
        "on_stock_linux": advice.today.map(name),
        "gentler": advice.gentler.map(name),
        "text": comparison.reasons(),
        "risks": comparison.risks.iter().map(|r| json!({ "kind": r.kind(), "text": r.explain(&pick.name) })).collect::<Vec<_>>(),
        "default_beside_default_s": comparison.sharing.map(|s| number(s.beside_default.mean)),
        "default_beside_it_s": comparison.sharing.map(|s| number(s.beside_other.mean)),
    })
}
