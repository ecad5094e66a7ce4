//! What is written reads back, in both formats, and a rerun gives the same
//! bytes.

use super::*;
use crate::model::samples::{any_outcome, name, outcome};
use crate::{FlowOutcome, LinkOutcome, remove_leftovers};
use proptest::prelude::*;
use std::fs;

fn provenance() -> Provenance {
    Provenance::new("geo", "9f3c0a", &[1, 2])
}

fn write(path: &Path, table: TableKind, outcome: &Outcome, axes: &[(&str, &str)]) {
    let names: Vec<&str> = axes.iter().map(|a| a.0).collect();
    let values = axes.iter().map(|a| a.1.to_owned()).collect();
    write_table(path, table, &names, &provenance(), [(outcome, values)]).unwrap();
}

#[test]
fn the_runs_table_looks_as_documented() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("runs.csv");
    write(
        &path,
        TableKind::Runs,
        &outcome(),
        &[("link.satellite.rate", "2 Mbit/s")],
    );
    let text = fs::read_to_string(&path).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(
        lines[0],
        "link.satellite.rate,scenario,seed,ended_at_ns,events,packet_hops,jain_index,flow,\
         transport,started_at_ns,transfer_time_s,goodput_bps,throughput_bps,goodput_share,\
         offered_bytes,delivered_bytes,acknowledged_bytes,first_delivery_at_ns,\
         last_delivery_at_ns,sent_bytes,packets_sent,retransmissions,retransmitted_bytes,\
         spurious_retransmissions,retransmission_share,probes_sent,timeouts,recoveries,reductions,acks_received,queue_drops,\
         channel_losses,outage_losses,no_route_losses,pages,mean_page_time_ns,\
         p95_page_time_ns,video_segments,startup_delay_ns,stalls,stall_time_ns,min_rtt_ns,mean_rtt_ns,max_cwnd_segments,\
         completion"
    );
    assert!(lines[1].starts_with("2 Mbit/s,geo,18446744073709551615,60000000000,123456,6000,"));
    assert!(
        lines[1].contains(",a,newreno,0,12.5,1920000,1920000,"),
        "{}",
        lines[1]
    );
    assert!(
        lines[2].contains(",\"b, \"\"quoted\"\"\",newreno,0,,400000,400000,"),
        "{}",
        lines[2]
    );
    let json = fs::read_to_string(folder.path().join("runs.csv.json")).unwrap();
    assert!(json.contains("\"scenario_hash\": \"9f3c0a\""), "{json}");
}

#[test]
fn series_are_merged_in_the_order_of_time() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("series.csv");
    write(&path, TableKind::Series, &outcome(), &[]);
    let text = fs::read_to_string(&path).unwrap();
    let start = "geo,18446744073709551615,a";
    assert_eq!(
        text.lines().skip(1).collect::<Vec<_>>(),
        [
            format!("{start},sender,5,2.5,inf,2,,0,0,slow_start,,,"),
            format!("{start},sent,5,,,,,,,,,1448,"),
            format!("{start},delivered,300000000,,,,,,,,1448,,"),
            format!("{start},sender,600000000,2.5,20,2,511000000,0,0,recovery,,,"),
        ]
    );
}

#[test]
fn csv_and_parquet_hold_the_same() {
    let folder = tempfile::tempdir().unwrap();
    for kind in TableKind::ALL {
        let [csv, parquet] = ["t.csv", "t.parquet"].map(|name| {
            let path = folder.path().join(name);
            write(
                &path,
                kind,
                &outcome(),
                &[("size", "100 kB"), ("transport", "")],
            );
            let mut table = Table::read(&path).unwrap();
            table.path = PathBuf::new();
            table
        });
        assert_eq!(csv, parquet);
        assert_eq!(csv.axes, 2);
        assert_eq!(csv.columns[1], "axis_transport");
        assert_eq!(csv.provenance, Some(provenance()));
    }
}

#[test]
fn a_rerun_gives_the_same_bytes() {
    let folder = tempfile::tempdir().unwrap();
    for kind in TableKind::ALL {
        for name in ["t.csv", "t.parquet"] {
            let path = folder.path().join(name);
            write(&path, kind, &outcome(), &[("size", "100 kB")]);
            let first = fs::read(&path).unwrap();
            write(&path, kind, &outcome(), &[("size", "100 kB")]);
            assert_eq!(first, fs::read(&path).unwrap());
        }
    }
    // No temporary file is left beside them.
    assert_eq!(remove_leftovers(folder.path()).unwrap(), 0);
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 3);
}

#[test]
fn many_row_groups_read_back() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("runs.parquet");
    let mut writer = TableWriter::create(&path, TableKind::Runs, &["n"], &provenance()).unwrap();
    for n in 0..20_000 {
        writer.push(&outcome(), &[n.to_string()]).unwrap();
    }
    writer.finish().unwrap();
    let table = Table::read(&path).unwrap();
    assert_eq!(table.rows.len(), 40_000);
    assert_eq!(table.rows[39_999][0], Value::from("19999"));
}

#[test]
fn mistakes_are_errors_with_the_path() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("runs.csv");
    let create = |path: &Path, axes: &[&str]| {
        TableWriter::create(path, TableKind::Runs, axes, &provenance())
    };
    let text = |e: Option<Error>| e.unwrap().to_string();
    assert!(text(create(&path, &["a", "a"]).err()).ends_with("runs.csv: two axes are named `a`"));
    assert!(text(create(&folder.path().join("x.txt"), &[]).err()).contains("x.txt: the name"));
    let mut writer = create(&path, &["a"]).unwrap();
    let e = writer.push(&outcome(), &["1", "2"]).unwrap_err();
    assert!(
        e.to_string()
            .ends_with("runs.csv: 2 axis values for 1 axes")
    );
    drop(writer);
    assert!(!path.exists());

    fs::write(&path, "scenario,seed\ngeo,minus one\n").unwrap();
    let e = Table::read(&path).unwrap_err().to_string();
    assert!(
        e.ends_with("runs.csv:2: `seed` is `minus one`, not a whole number"),
        "{e}"
    );
    fs::write(&path, "scenario,seed\ngeo\n").unwrap();
    assert!(Table::read(&path).is_err());
    fs::write(&path, "scenario,seed\ngeo,1\n").unwrap();
    let e = Table::read(&path)
        .unwrap()
        .rows_of::<FlowOutcome>()
        .unwrap_err()
        .to_string();
    assert!(
        e.ends_with("runs.csv: row 1: `ended_at_ns` is missing"),
        "{e}"
    );
}

#[test]
fn a_damaged_parquet_file_is_no_reason_to_panic() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("runs.parquet");
    write(&path, TableKind::Links, &outcome(), &[("size", "100 kB")]);
    let good = fs::read(&path).unwrap();
    for cut in (0..good.len()).rev().step_by(7) {
        fs::write(&path, &good[..cut]).unwrap();
        assert!(Table::read(&path).is_err(), "cut to {cut} bytes");
    }
    for i in 0..good.len() {
        let mut bad = good.clone();
        bad[i] ^= 1 << (i % 8);
        fs::write(&path, &bad).unwrap();
        let _ = Table::read(&path).and_then(|t| t.rows_of::<LinkOutcome>());
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn runs_and_links_read_back_bit_for_bit(
        outcome in any_outcome(),
        axis in name(),
        parquet in any::<bool>(),
    ) {
        let folder = tempfile::tempdir().unwrap();
        let end = if parquet { "parquet" } else { "csv" };
        let runs = folder.path().join(format!("runs.{end}"));
        write(&runs, TableKind::Runs, &outcome, &[("bundle", &axis)]);
        let back = Table::read(&runs).unwrap().rows_of::<FlowOutcome>().unwrap();
        prop_assert_eq!(back.len(), outcome.flows.len());
        for (row, flow) in back.iter().zip(&outcome.flows) {
            prop_assert_eq!(&row.axes, &[("bundle".to_owned(), axis.clone())]);
            prop_assert_eq!(&row.run.scenario, &outcome.scenario);
            prop_assert_eq!(row.run.seed, outcome.seed);
            prop_assert_eq!(row.run.ended_at, outcome.ended_at);
            prop_assert_eq!(&row.part, flow);
        }
        let links = folder.path().join(format!("links.{end}"));
        write(&links, TableKind::Links, &outcome, &[("bundle", &axis)]);
        let back = Table::read(&links).unwrap().rows_of::<LinkOutcome>().unwrap();
        prop_assert_eq!(&back[0].part, &outcome.links[0]);
    }
}
