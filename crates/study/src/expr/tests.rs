//! Claims over the times that Marchese (2006) prints in Tables 3 and 8: the
//! verdicts are those of the paper's own numbers.

use super::*;
use crate::catalogue::{Catalogue, Unknown};
use crate::collection::Collection;
use crate::metric::METRICS;
use crate::results::StudyResults;
use crate::study::Study;
use crate::testing::{fake_results, outcome, printed};
use bentpipe_units::Bytes;
use proptest::prelude::*;
use std::collections::BTreeMap;
use std::sync::Arc;

fn world() -> (Collection, BTreeMap<String, StudyResults>) {
    let papers = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/");
    let paths = ["table-3.toml", "table-8.toml"].map(|f| format!("{papers}{f}"));
    let studies = Collection::load(&paths).unwrap();
    let results = studies
        .iter()
        .map(|s| (s.study.name.clone(), printed(s)))
        .collect();
    (studies, results)
}

fn finding(text: &str) -> Finding {
    let (studies, results) = world();
    let home = studies.study("table-3").unwrap();
    let scope = Scope::new(home, &studies, text);
    let formula = formula(&parse(text).unwrap(), &scope).unwrap();
    judge(&formula, &Context::new("table-3"), &results)
}

fn holds(text: &str) -> bool {
    finding(text).truth == Truth::Holds
}

fn fault(text: &str) -> String {
    let (studies, _) = world();
    let home = studies.study("table-3").unwrap();
    let fault = match parse(text) {
        Err(fault) => fault,
        Ok(expr) => match formula(&expr, &Scope::new(home, &studies, text)) {
            Ok(_) => return "no fault".into(),
            Err(fault) => fault,
        },
    };
    let mut shown = format!("{}^ {}", " ".repeat(fault.span.start), fault.message);
    if !fault.label.is_empty() {
        shown.push_str(&format!(" | {}", fault.label));
    }
    for help in fault.help {
        shown.push_str(&format!(" | help: {help}"));
    }
    format!("{text}\n{shown}")
}

#[test]
fn claims_of_the_paper_get_the_verdicts_of_its_numbers() {
    let (studies, results) = world();
    let mut verdicts = Vec::new();
    for loaded in studies.iter() {
        for claim in &loaded.study.claims {
            let found = crate::claim::check("", claim, &loaded.study, &studies, &results, None);
            verdicts.push(format!(
                "{} {}: {}",
                found.id,
                found.verdict.name(),
                found.evidence
            ));
        }
    }
    insta::assert_snapshot!(verdicts.join("\n"));
}

#[test]
fn quantifiers_run_over_the_points_that_are_meant() {
    assert!(holds(
        "for all bandwidth, file except {\"10 Kbytes\"}: time(mtsi) < time(iw6)"
    ));
    assert!(!holds("for all bandwidth, file: time(mtsi) < time(iw6)"));
    assert!(holds(
        "for all bandwidth in {\"1 Mbit/s\"}, file in {\"1 Mbyte\"}: time(iw2) ~ 20.22 s within 0.001 s"
    ));
    assert!(holds(
        "for all bandwidth >= 1 Mbit/s, file >= 1 MB: time(mtsi) < time(iw6)"
    ));
    assert!(holds(
        "exists file: time(mtsi, bandwidth = \"1 Mbit/s\") = time(iw6, bandwidth = 1 Mbit/s)"
    ));
    assert!(holds(
        "count(bandwidth, file: time(mtsi) < time(iw6)) = 12 of 15"
    ));
    assert!(holds(
        "count(bandwidth, file: time(mtsi) < time(iw6)) >= 10"
    ));
    assert_eq!(
        finding("count(bandwidth: time(mtsi, file = \"1 Mbyte\") > 0) >= 1 of 5").truth,
        Truth::Open
    );
    assert!(holds(
        "for all bandwidth, file where file < \"1 Mbyte\" or bandwidth = \"2 Mbit/s\": time(iw6) <= time(iw2)"
    ));
    assert!(holds(
        "not for all file: time(mtsi, bandwidth = \"2 Mbit/s\") < 1 s"
    ));
}

#[test]
fn numbers_can_be_computed_over_axes() {
    assert!(holds(
        "max(time(mtsi, bandwidth = \"2 Mbit/s\") over file) ~ 44.99 within 0.001"
    ));
    assert!(holds(
        "mean(time(transport = mtsi) over bandwidth, file) < mean(time(transport = iw2) over bandwidth, file)"
    ));
    assert!(holds(
        "for all bandwidth, file: min(time(mtsi), time(iw2)) = time(mtsi)"
    ));
    assert!(holds(
        "for all bandwidth, file: table-3.time(ideal) * 2 - time(ideal) = time(ideal)"
    ));
    assert!(holds(
        "weak time(mtsi, file = \"1 Mbyte\") falls with bandwidth"
    ));
    assert!(holds(
        "drops(iw2, file = \"1 Mbyte\", bandwidth = \"2 Mbit/s\", flow = transfer) = 3"
    ));
    assert!(holds(
        "max_queue(iw2, \"1 Mbyte\", \"2 Mbit/s\", link = satellite) ~ 40 within 1%"
    ));
}

#[test]
fn precedence_is_that_of_arithmetic() {
    for (text, value) in [
        ("1 + 2 * 3", 7.0),
        ("(1 + 2) * 3", 9.0),
        ("-2 * 3 - 1", -7.0),
        ("8 / 4 / 2", 1.0),
    ] {
        assert!(holds(&format!("{text} = {value}")), "{text}");
    }
}

#[test]
fn missing_results_leave_a_claim_open() {
    let (studies, mut results) = world();
    results.remove("table-8");
    let text = "for all bandwidth, file >= \"1 Mbyte\": table-8.time(mtsi) > time(mtsi)";
    let home = studies.study("table-3").unwrap();
    let formula = formula(&parse(text).unwrap(), &Scope::new(home, &studies, text)).unwrap();
    let found = judge(&formula, &Context::new("table-3"), &results);
    assert_eq!(found.truth, Truth::Open);
    assert!(
        found.text.contains("study `table-8` was not run"),
        "{}",
        found.text
    );
    let found = finding("for all bandwidth, file: table-8.time(mtsi) > time(mtsi)");
    assert_eq!(found.truth, Truth::Open);
    assert!(
        found.text.contains("has no point `10 Kbytes` of file"),
        "{}",
        found.text
    );
}

#[test]
fn overlapping_intervals_decide_nothing_unless_weak_is_said() {
    let text = "name = 's'\nscenario = 'x'\nreplications = 3\n[[axis]]\nname = 't'\npath = 't'\nvalues = ['a', 'b', 'c']\n";
    let study = Arc::new(Study::parse("s.toml", text).unwrap());
    let times = [[10.0, 11.0, 12.0], [10.5, 11.5, 12.5], [20.0, 21.0, 22.0]];
    let results = fake_results(&study, |cell, replication| {
        Ok(outcome(times[cell][replication]))
    });
    let results = BTreeMap::from([("s".to_owned(), results)]);
    let judge = |text: &str| {
        let formula = formula(&parse(text).unwrap(), &Scope::new(&study, &Unknown, text)).unwrap();
        judge(&formula, &Context::new("s"), &results).truth
    };
    assert_eq!(judge("time(a) < time(b)"), Truth::Open);
    assert_eq!(judge("weak time(a) < time(b)"), Truth::Holds);
    assert_eq!(judge("time(b) < time(a)"), Truth::Fails);
    assert_eq!(judge("time(b) <= time(a)"), Truth::Open);
    assert_eq!(judge("time(a) <= time(b)"), Truth::Holds);
    assert_eq!(judge("time(c) <= time(a)"), Truth::Fails);
    assert_eq!(judge("weak time(b) <= time(a)"), Truth::Fails);
    assert_eq!(judge("time(b) < time(c)"), Truth::Holds);
    assert_eq!(judge("time(b) - time(a) = 0.5"), Truth::Holds, "paired");
    assert_eq!(
        judge("time(b) - time(a) > 0.4"),
        Truth::Holds,
        "paired: no width"
    );
}

#[test]
fn mistakes_are_pointed_at() {
    let faults = [
        "for all bandwith: time(mtsi) < 3",
        "time(mtsi) < 3",
        "for all bandwidth, file: time(mtis) < 3",
        "for all bandwidth, file: tiem(mtsi) < 3",
        "for all bandwidth, file: mtsi < iw6",
        "for all bandwidth, file: time(mtsi) < 3 kB",
        "for all bandwidth, file: time(mtsi) + goodput(mtsi) > 3",
        "for all bandwidth, file: time(mtsi)",
        "for all bandwidth, file: time(mtsi) ~ 3",
        "for all bandwidth, file: time(mtsi) <",
        "for all bandwidth, bandwidth: time(mtsi) < 3",
        "for al bandwidth: time(mtsi) < 3",
        "for all bandwidth, file: table-9.time(mtsi) < 3",
        "for all bandwidth, file: p95_queueing_delay(mtsi) < 3 s",
        "for all bandwidth, file: cwnd_at(mtsi, at = 4 s) > 3",
        "for all bandwidth, file: cwnd_at(mtsi) > 3",
        "for all bandwidth, file: time(mtsi, color = red) < 3",
        "for all bandwidth, file: time(mtsi, iw2) < 3",
        "for all bandwidth, file >= \"2 Mbytes\": time(mtsi) < 3",
        "for all file, bandwidth > 3 Mbit/s: time(mtsi) < 3",
        "for all bandwidth, file: gain(mtsi) > 3",
        "for all bandwidth: transport = mtsi",
        "time(mtsi) rises with file",
    ];
    let shown: Vec<String> = faults.iter().map(|text| fault(text)).collect();
    insta::assert_snapshot!(shown.join("\n\n"));
}

#[test]
fn deep_expressions_are_refused() {
    for text in [
        "(".repeat(5000),
        "-".repeat(5000),
        "not ".repeat(2000),
        "f(".repeat(3000),
        format!("1{}", "+1".repeat(4000)),
        "for all a: ".repeat(800),
    ] {
        assert!(parse(&text).is_err());
    }
}

proptest! {
    #[test]
    fn no_text_panics(text in "\\PC{0,60}") {
        let _ = parse(&text);
    }

    #[test]
    fn no_sequence_of_words_panics(
        words in proptest::collection::vec(proptest::sample::select(vec![
            "for", "all", "exists", "count", "where", "in", "except", "and", "or", "not", "weak",
            "rises", "falls", "with", "within", "over", "bandwidth", "file", "transport", "mtsi",
            "iw2", "time", "goodput", "gain", "max", "table-3", "table-8", ".", "(", ")", "{", "}",
            ",", ":", "<", "<=", "=", "~", "+", "-", "*", "/", "\"1 Mbyte\"", "5%", "3 s", "7", "of",
            "link", "flow", "cwnd_at", "at",
        ]), 0..24)
    ) {
        let text = words.join(" ");
        if let Ok(expr) = parse(&text) {
            let source = include_str!("../../tests/data/table-3.toml");
            let study = Study::parse("table-3.toml", source).unwrap();
            let results = BTreeMap::from([(
                "table-3".to_owned(),
                fake_results(&Arc::new(study.clone()), |_, _| Ok(outcome(1.0))),
            )]);
            if let Ok(formula) = formula(&expr, &Scope::new(&study, &Unknown, &text)) {
                let _ = judge(&formula, &Context::new("table-3"), &results);
            }
        }
    }
}

#[test]
fn every_metric_can_be_asked_for() {
    let text = "name = 's'\nscenario = 'x'\nseries = '100 ms'\nmarks = ['4 s']\n";
    let study = Arc::new(Study::parse("s.toml", text).unwrap());
    let results = BTreeMap::from([(
        "s".to_owned(),
        fake_results(&study, |_, _| {
            Ok(crate::testing::with_series(outcome(10.0)))
        }),
    )]);
    for metric in METRICS.iter() {
        let arguments: Vec<String> = metric
            .arguments()
            .filter_map(|name| {
                let value = match name {
                    "link" => "satellite",
                    "at" | "to" => "4 s",
                    "rate" => "1 kbit/s",
                    "size" => "10 kB",
                    _ => return None,
                };
                Some(format!("{name} = {value}"))
            })
            .collect();
        let text = format!("{}({}) >= 0", metric.name, arguments.join(", "));
        let formula = formula(&parse(&text).unwrap(), &Scope::new(&study, &Unknown, &text))
            .unwrap_or_else(|e| panic!("{text}: {e:?}"));
        let found = judge(&formula, &Context::new("s"), &results);
        assert_eq!(found.truth, Truth::Holds, "{text}: {}", found.text);
    }
}

/// The friendliness of `LANGUAGE.md`: two flows in the background get 2 Mbit/s against their own
/// kind, 1.6 against Hybla and 2.1 against Vegas.
#[test]
fn friendliness_is_an_expression_across_cells() {
    let language = include_str!("../../LANGUAGE.md");
    let example = language
        .split("```toml\n")
        .find(|part| part.contains("\"harm\""));
    let example = example.and_then(|part| part.split("```").next()).unwrap();
    let text = format!(
        "name = 's'\nscenario = 'x'\n[[axis]]\nname = 'transport'\npath = 'flow.f.transport'\n\
         values = ['sack', 'hybla', 'vegas']\n{example}"
    );
    let study = Arc::new(Study::parse("s.toml", &text).unwrap_or_else(|e| panic!("{e}")));
    let results = BTreeMap::from([(
        "s".to_owned(),
        fake_results(&study, |cell, _| {
            let mut o = outcome(10.0);
            o.links[0].name = "bottleneck".into();
            let mut background = o.flows[0].clone();
            o.flows[0].name = "f".into();
            for (i, part) in [0.9, 1.1].iter().enumerate() {
                background.name = format!("background[{}]", i + 1);
                let bytes = [2_000_000, 1_600_000, 2_100_000][cell] * 10 / 8;
                background.delivered = Bytes::new((bytes as f64 * part + 0.5) as u64);
                o.flows.push(background.clone());
            }
            Ok(o)
        }),
    )]);
    let number_at = |text: &str| {
        let (number, _) =
            number(&parse(text).unwrap(), &Scope::new(&study, &Unknown, text)).unwrap();
        let value = evaluate(&number, &Context::new("s"), &results).unwrap();
        value.mean
    };
    assert!((number_at("harm(hybla)") - 20.0).abs() < 1e-3);
    assert!((number_at("harm(vegas)") + 5.0).abs() < 1e-3);
    assert!((number_at("harm(sack)")).abs() < 1e-12);
    // 1.6 Mbit/s of a sixth of 2 Mbit/s.
    assert!((number_at("background_part(hybla)") - 4.8).abs() < 1e-3);
    let check = &study.claims[0].parts[0].check;
    let scope = Scope::new(&study, &Unknown, &check.text);
    let found = judge(
        &formula(&check.expr, &scope).unwrap(),
        &Context::new("s"),
        &results,
    );
    assert_eq!(found.truth, Truth::Fails, "{}", found.text);
}

#[test]
fn an_interval_must_be_marked() {
    let text = "name = 's'\nscenario = 'x'\nmarks = ['100 s', '4 s', '4 s']\n";
    let study = Study::parse("s.toml", text).unwrap();
    assert_eq!(study.marks.len(), 2);
    let checked = |text: &str| number(&parse(text).unwrap(), &Scope::new(&study, &Unknown, text));
    for good in [
        "goodput(from = 100 s)",
        "goodput(from = 4 s, to = 100 s)",
        "unused(link = 'x', from = 0 s)",
        "jain(flow = 'a, b', link = 'x', to = 4 s)",
    ] {
        assert!(checked(&good.replace('\'', "\"")).is_ok(), "{good}");
    }
    for (bad, message) in [
        (
            "goodput(from = 5 s)",
            "`goodput` needs counts at 5 s, and `s` notes none then",
        ),
        ("goodput(from = 5)", "expected a time with its unit"),
        ("min_rtt(from = 4 s)", "`min_rtt` takes no `from`"),
        (
            "wire_share(from = 4 s)",
            "`wire_share` needs `link = \"...\"`",
        ),
        ("goodput(link = x)", "`goodput` takes no `link`"),
    ] {
        let fault = checked(bad).map(|_| ()).unwrap_err();
        assert_eq!(fault.message, message);
    }
}

/// The axes of the studies of Tables 1 and 2 and of Figures 3 to 12.
const STARTS: &str = r#"
name = "starts"
scenario = "x"
series = "100 ms"
[[axis]]
name = "transport"
points = [
  { label = "IW=1", alias = "iw1" }, { label = "IW=2", alias = "iw2" },
  { label = "IW=6", alias = "iw6" }, { label = "MTSI 20-30-40", alias = "mtsi" },
  { label = "MTSI 10-20-30", alias = "mtsi-10" }, { label = "K=2", alias = "k2" },
  { label = "K=4", alias = "k4" }, { label = "K=8", alias = "k8" },
  { label = "K=10 large buffers", alias = "k10-large" }, { label = "K=10", alias = "k10" },
  { label = "Linear 10", alias = "linear10" }, { label = "Linear 20", alias = "linear20" },
  { label = "Linear 30", alias = "linear30" }, { label = "Linear 50", alias = "linear50" },
  { label = "Westwood+", alias = "westwood" }, { label = "NewReno", alias = "newreno" },
  { label = "Ideal", alias = "ideal" },
]
[[axis]]
name = "connections"
path = "flow.transfer.count"
values = [1, 3, 5, 7, 10, 15, 20]
"#;

#[test]
fn the_other_claims_of_both_papers_can_be_said() {
    let study = Study::parse("starts.toml", STARTS).unwrap();
    let modified = "{iw6, mtsi, k2, linear10, linear20}";
    let one = "connections = 1";
    for claim in [
        // 000-1 to 000-7
        format!("gain(mtsi, iw1, {one}) > 74% and gain(mtsi-10, iw1, {one}) > 74%"),
        "for all connections = 1: time(mtsi) < time(k4) < time(linear50) < time(linear20) < \
         time(k2) < time(linear10) < time(iw6) < time(iw1)"
            .into(),
        format!("gain(mtsi, iw6, {one}) ~ 9.957 within 1"),
        format!("time(mtsi, {one}) <= time(mtsi-10, {one})"),
        "(for all connections <= 5: connection_throughput(mtsi) > connection_throughput(iw1)) and \
         gain(goodput(iw1), goodput(mtsi)) falls with connections"
            .into(),
        format!(
            "for all connections > 5: max(goodput over transport in {modified}) ~ \
             min(goodput over transport in {modified}) within 5%"
        ),
        format!("gain(iw2, iw1, {one}) ~ 2.2% within 0.5"),
        // 000-12, 000-16
        "for all connections: time(westwood) = time(newreno)".into(),
        "(for all connections in {3, 5}: goodput(mtsi) > max(goodput(iw6), goodput(westwood), \
         goodput(iw2))) and for all connections = 10: weak goodput(mtsi) > goodput(iw6)"
            .replace("{3, 5}", "{\"3\", \"5\"}"),
        // 000-25, 000-26
        format!(
            "for all {one}: drops(k10-large) = 0 and \
             peak_sent_rate(k10-large, window = 1 s, to = 5 s) ~ 600 kB/s within 20% and \
             max_queue(k10-large, link = satellite) ~ 1200 within 10% and \
             timeouts(k10-large) >= 1 and spurious_retransmissions(k10-large) > 0 and \
             time(k10-large) > time(k10)"
        ),
        format!("drops(iw6, {one}) = 0"),
        // 001-1 to 001-6
        format!("time(k8, {one}) > time(k4, {one}) or drops(k8, {one}) > 0"),
        "(for all connections: goodput(k2) > goodput(iw1)) and (exists connections: \
         goodput(k4) <= goodput(iw1)) and for all connections > 3: goodput(k2) ~ goodput(iw6) within 5%"
            .into(),
        "for all connections = 1: gain(linear10, iw1) < gain(linear20, iw1) ~ gain(linear30, iw1) \
         within 1 and gain(linear20, iw1) < gain(linear50, iw1)"
            .into(),
        "for all connections = 1: time(k2) ~ time(linear10) within 5% and time(k4) < time(k2)".into(),
        "(for all connections < 15: drops(linear20) = 0) and exists connections < 15: \
         drops(linear50) > 0"
            .into(),
        format!(
            "for all connections > 15: weak max(goodput over transport in {modified}) <= \
             goodput(iw1) * 1.05"
        ),
    ] {
        let expr = parse(&claim).unwrap_or_else(|e| panic!("{claim}: {e:?}"));
        let scope = Scope::new(&study, &Unknown, &claim);
        if let Err(e) = formula(&expr, &scope) {
            panic!("{claim}: {e:?}");
        }
    }
}
