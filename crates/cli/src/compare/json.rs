//! The comparison as one JSON document, units in the names.

use super::advice::Risk;
use super::lineup::{Candidate, DEFAULT};
use super::measure::Measured;
use super::{Comparison, print, words};
use crate::output::number;
use bentpipe_study::stats::Summary;
use serde_json::{Value, json};

/// The whole document.
pub(super) fn document(comparison: &Comparison, candidates: &[Candidate]) -> Value {
    let path = &comparison.path;
    let results: Vec<Value> = comparison
        .results
        .iter()
        .map(|m| result(m, candidates.iter().find(|c| c.name == m.name)))
        .collect();
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
        "ideal_transfer_time_s": number(comparison.ideal),
        "recommendation": recommendation(comparison),
        "results": results,
        "comparable_only_with": print::points(comparison, candidates),
    })
}

fn result(m: &Measured, candidate: Option<&Candidate>) -> Value {
    let transport = candidate.map(|c| &c.transport);
    json!({
        "transport": m.name,
        "about": m.about,
        "availability": m.reach.name(),
        "switch": m.switch,
        "transfer_time_s": m.times.map_or(Value::Null, |t| spread(&t)),
        "unfinished": m.unfinished,
        "goodput_bps": number(m.goodput),
        "share_of_ideal": number(m.of_ideal),
        "resent_share": number(m.resent),
        "timeouts_per_transfer": number(m.timeouts),
        "queue_drops_per_transfer": number(m.queue_drops),
        "p95_queueing_delay_s": number(m.others_wait),
        "max_cwnd_segments": number(m.max_window),
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

fn recommendation(comparison: &Comparison) -> Value {
    let Some(advice) = &comparison.advice else {
        return Value::Null;
    };
    let name = |i: usize| comparison.results[i].name.as_str();
    let pick = &comparison.results[advice.pick];
    let names = |list: &[usize]| list.iter().map(|i| name(*i)).collect::<Vec<_>>();
    json!({
        "transport": pick.name,
        "availability": pick.reach.name(),
        "switch": pick.switch,
        "default": advice.default.map(name),
        "speedup_over_default": advice.speedup.map(number),
        "as_fast": names(&advice.as_fast),
        "on_stock_linux": advice.today.map(name),
        "gentler": advice.gentler.map(name),
        "text": words::reasons(comparison, advice),
        "risks": comparison.risks.iter().map(|r| risk(r, &pick.name)).collect::<Vec<_>>(),
        "default_beside_default_s": comparison.sharing.map(|s| number(s.beside_default.mean)),
        "default_beside_it_s": comparison.sharing.map(|s| number(s.beside_other.mean)),
    })
}

fn risk(risk: &Risk, name: &str) -> Value {
    let kind = match risk {
        Risk::Queueing { .. } => "queueing",
        Risk::Resending { .. } => "retransmissions",
        Risk::Overflow { .. } => "overflow",
        Risk::Timeouts { .. } => "timeouts",
        Risk::Spread { .. } => "spread",
        Risk::Unfinished { .. } => "unfinished",
        Risk::Unfair { .. } => "unfairness",
    };
    json!({ "kind": kind, "text": words::risk(risk, name, DEFAULT) })
}
