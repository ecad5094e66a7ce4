//! Written tables read back equal, in both formats, and a rerun gives the same bytes.

use super::*;
use crate::fields::Fields;
use crate::model::samples::{any_outcome, name, outcome};
use crate::{AxisUnit, FlowOutcome, LinkOutcome, RunInfo, columns, remove_leftovers};
use proptest::prelude::*;
use std::fs;

/// A row read back: one part of one run.
struct Row<T> {
    axes: Vec<(String, String)>,
    key: RunKey,
    run: RunInfo,
    part: T,
}

/// The rows of a table as the record that wrote them.
fn rows_of<T: Part>(table: &Table) -> Result<Vec<Row<T>>, String> {
    let row = |row: &Vec<Value>| {
        let axes = table.columns.iter().zip(row).take(table.axes);
        let get = |name: &str| {
            let cell = table.column(name).and_then(|c| row.get(c));
            cell.cloned().unwrap_or_default()
        };
        let fields = Fields::new(&get);
        Ok(Row {
            axes: axes
                .map(|(name, value)| (name.clone(), value.to_text()))
                .collect(),
            key: RunKey::read(&fields)?,
            run: RunInfo::read(&fields)?,
            part: T::read(&fields)?,
        })
    };
    table.rows.iter().map(row).collect()
}

fn provenance() -> Provenance {
    Provenance::new("geo", "9f3c0a", &[1, 2])
}

fn write(path: &Path, table: TableKind, outcome: &Outcome, axes: &[(&str, &str)]) {
    let names: Vec<AxisColumn> = axes.iter().map(|a| AxisColumn::text(a.0)).collect();
    let points: Vec<AxisPoint> = axes.iter().map(|a| AxisPoint::text(a.1)).collect();
    write_numbers(path, table, outcome, &names, &points);
}

fn write_numbers(
    path: &Path,
    table: TableKind,
    outcome: &Outcome,
    axes: &[AxisColumn],
    points: &[AxisPoint],
) {
    let key = RunKey {
        study: "sweep".to_owned(),
        run: 7,
    };
    let mut writer = RowWriter::create(path, axes, columns(table), &provenance()).unwrap();
    writer.run(table, &key, outcome, points).unwrap();
    writer.finish().unwrap();
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
        "link.satellite.rate,study,run,scenario,seed,ended_at_ns,events,packet_hops,jain_index,flow,\
         transport,started_at_ns,transfer_time_s,goodput_bps,throughput_bps,goodput_share,\
         offered_bytes,delivered_bytes,acknowledged_bytes,first_delivery_at_ns,\
         last_delivery_at_ns,sent_bytes,packets_sent,retransmissions,retransmitted_bytes,\
         spurious_retransmissions,retransmission_share,probes_sent,timeouts,recoveries,reductions,acks_received,queue_drops,\
         channel_losses,outage_losses,no_route_losses,pages,mean_page_time_ns,\
         p95_page_time_ns,mean_render_time_ns,p95_render_time_ns,video_segments,startup_delay_ns,stalls,stall_time_ns,\
         packets_due,packets_missed,mean_packet_delay_ns,p95_packet_delay_ns,min_rtt_ns,mean_rtt_ns,max_cwnd_segments,\
         completion"
    );
    assert!(
        lines[1].starts_with("2 Mbit/s,sweep,7,geo,18446744073709551615,60000000000,123456,6000,")
    );
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
    let start = "sweep,7,geo,18446744073709551615,a";
    assert_eq!(
        text.lines().skip(1).collect::<Vec<_>>(),
        [
            format!("{start},sender,5,5e-9,2.5,inf,2,,0,0,slow_start,,,"),
            format!("{start},sent,5,5e-9,,,,,,,,,1448,"),
            format!("{start},delivered,300000000,0.3,,,,,,,,1448,,"),
            format!("{start},sender,600000000,0.6,2.5,20,2,511000000,0,0,recovery,,,"),
        ]
    );
}

#[test]
fn csv_and_parquet_hold_the_same() {
    let folder = tempfile::tempdir().unwrap();
    for kind in TableKind::ALL {
        let [csv, parquet] = ["t.csv", "t.parquet"].map(|name| {
            let path = folder.path().join(name);
            let axis = |name: &str, unit| AxisColumn {
                name: name.to_owned(),
                unit,
                in_path: false,
            };
            let axes = [
                axis("size", Some(AxisUnit::Bytes)),
                axis("transport", None),
                axis("seed", Some(AxisUnit::Value)),
            ];
            let size = AxisPoint {
                label: "100 kB".to_owned(),
                number: Some(1e5),
            };
            let points = [size, AxisPoint::text(""), AxisPoint::text("none")];
            write_numbers(&path, kind, &outcome(), &axes, &points);
            let mut table = Table::read(&path).unwrap();
            table.path = PathBuf::new();
            table
        });
        assert_eq!(csv, parquet);
        assert_eq!(csv.axes, 5);
        let names = [
            "size",
            "size_bytes",
            "axis_transport",
            "axis_seed",
            "axis_seed_value",
        ];
        assert_eq!(csv.columns[..5], names);
        let expected = [
            Value::from("100 kB"),
            Value::from(1e5),
            Value::Missing,
            Value::from("none"),
            Value::Missing,
        ];
        if let Some(row) = csv.rows.first() {
            assert_eq!(row[..5], expected);
        }
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
    // No temporary file is left next to them.
    assert_eq!(remove_leftovers(folder.path()).unwrap(), 0);
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 3);
}

#[test]
fn many_row_groups_read_back() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("runs.parquet");
    let axes = [AxisColumn::text("n")];
    let mut writer =
        RowWriter::create(&path, &axes, columns(TableKind::Runs), &provenance()).unwrap();
    for run in 0..20_000 {
        let key = RunKey {
            run,
            ..RunKey::default()
        };
        let point = AxisPoint::text(&run.to_string());
        let written = writer.run(TableKind::Runs, &key, &outcome(), &[point]);
        written.unwrap();
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
        let axes: Vec<AxisColumn> = axes.iter().map(|name| AxisColumn::text(name)).collect();
        RowWriter::create(path, &axes, columns(TableKind::Runs), &provenance())
    };
    let text = |e: Option<Error>| e.unwrap().to_string();
    assert!(text(create(&path, &["a", "a"]).err()).ends_with("runs.csv: two axes are named `a`"));
    assert!(text(create(&folder.path().join("x.txt"), &[]).err()).contains("x.txt: the name"));
    let mut writer = create(&path, &["a"]).unwrap();
    let points = ["1", "2"].map(AxisPoint::text);
    let key = RunKey::default();
    let e = writer.run(TableKind::Runs, &key, &outcome(), &points);
    let e = e.unwrap_err();
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
    let table = Table::read(&path).unwrap();
    let e = rows_of::<FlowOutcome>(&table).err();
    assert_eq!(e.as_deref(), Some("`ended_at_ns` is missing"));
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
        let _ = Table::read(&path).map(|t| rows_of::<LinkOutcome>(&t));
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
        let back = rows_of::<FlowOutcome>(&Table::read(&runs).unwrap()).unwrap();
        prop_assert_eq!(back.len(), outcome.flows.len());
        for (row, flow) in back.iter().zip(&outcome.flows) {
            prop_assert_eq!(&row.axes, &[("bundle".to_owned(), axis.clone())]);
            prop_assert_eq!(row.key.run, 7);
            prop_assert_eq!(&row.run.scenario, &outcome.scenario);
            prop_assert_eq!(row.run.seed, outcome.seed);
            prop_assert_eq!(row.run.ended_at, outcome.ended_at);
            prop_assert_eq!(&row.part, flow);
        }
        let links = folder.path().join(format!("links.{end}"));
        write(&links, TableKind::Links, &outcome, &[("bundle", &axis)]);
        let back = rows_of::<LinkOutcome>(&Table::read(&links).unwrap()).unwrap();
        prop_assert_eq!(&back[0].part, &outcome.links[0]);
    }
}

#[test]
fn a_parquet_file_says_what_its_columns_are() {
    use parquet::file::reader::{FileReader, SerializedFileReader};

    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("links.parquet");
    write(&path, TableKind::Links, &outcome(), &[]);
    let reader = SerializedFileReader::new(fs::File::open(&path).unwrap()).unwrap();
    let entries = reader.metadata().file_metadata().key_value_metadata();
    let entry = |name: &str| {
        let mut entries = entries.unwrap().iter();
        let found = entries.find(|entry| entry.key == name).unwrap();
        found.value.clone().unwrap()
    };
    assert_eq!(entry("bentpipe.schema"), crate::SCHEMA.to_string());
    let described: serde_json::Value = serde_json::from_str(&entry("bentpipe.columns")).unwrap();
    assert_eq!(described["rate_bps"]["unit"], "bit/s");
    assert_eq!(described["rate_bps"]["about"], "rate of the link");
    assert_eq!(described["utilisation"]["unit"], "ratio");
}
