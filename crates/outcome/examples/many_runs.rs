//! Writes the results of a study of a million runs that were never simulated, in the
//! layout of a large study: for tests of what reads such results.
//!
//! ```text
//! cargo run -p bentpipe-outcome --example many_runs -- FOLDER [REPLICATIONS]
//! ```
//!
//! 4 rates, 5 delays, 5 losses and 5 transports, with 2000 replications each. Run `n`
//! took 1 s and `(7919 n) mod 1000` ms, and every 97th run did not finish.

use bentpipe_outcome::{AxisColumn, AxisPoint, AxisUnit, Column, Kind, Provenance, RowWriter};
use std::error::Error;
use std::path::PathBuf;

const RATES: [(&str, f64); 4] = [
    ("500 kbit/s", 5e5),
    ("1 Mbit/s", 1e6),
    ("2 Mbit/s", 2e6),
    ("10 Mbit/s", 1e7),
];
const DELAYS: [(&str, f64); 5] = [
    ("20 ms", 0.02),
    ("50 ms", 0.05),
    ("150 ms", 0.15),
    ("250 ms", 0.25),
    ("300 ms", 0.3),
];
const LOSSES: [(&str, f64); 5] = [
    ("0.1%", 0.001),
    ("1%", 0.01),
    ("2%", 0.02),
    ("5%", 0.05),
    ("10%", 0.1),
];
const TRANSPORTS: [&str; 5] = ["cubic", "hybla", "newreno", "bbr", "westwood"];

fn axis(name: &str, unit: Option<AxisUnit>, in_path: bool) -> AxisColumn {
    AxisColumn {
        name: name.to_owned(),
        unit,
        in_path,
    }
}

fn point((label, number): (&str, f64)) -> AxisPoint {
    AxisPoint {
        label: label.to_owned(),
        number: Some(number),
    }
}

fn columns() -> Vec<Column> {
    let number = |name: &str, about: &str| Column::new(name, Kind::Number, about);
    let integer = |name: &str, about: &str| Column::new(name, Kind::Integer, about);
    vec![
        integer("run", "number of the run"),
        integer("seed", "seed of the run"),
        Column::new("scenario_hash", Kind::Text, "hash of the scenario"),
        Column::new("failure", Kind::Text, "why the run failed"),
        number("transfer_time_s", "time of the transfer"),
        number("goodput_bps", "payload over the time"),
        integer("retransmissions", "data packets sent again"),
        integer("timeouts", "retransmission timeouts"),
        integer("unfinished", "flows that did not finish"),
    ]
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut given = std::env::args().skip(1);
    let folder = PathBuf::from(given.next().ok_or("many_runs FOLDER [REPLICATIONS]")?);
    let replications: u64 = given.next().map_or(Ok(2000), |text| text.parse())?;
    let axes = [
        axis("rate", Some(AxisUnit::BitRate), true),
        axis("delay", Some(AxisUnit::Seconds), true),
        axis("loss", Some(AxisUnit::Ratio), false),
        axis("kind", None, false),
    ];
    let provenance = Provenance::new("many-runs", "0", &[1]);
    let mut run: u64 = 0;
    for rate in RATES {
        for delay in DELAYS {
            let escaped = |label: &str| label.replace(' ', "%20").replace('/', "%2F");
            let below = folder.join("results").join(format!(
                "rate={}/delay={}",
                escaped(rate.0),
                escaped(delay.0)
            ));
            std::fs::create_dir_all(&below)?;
            let path = below.join("part-0.parquet");
            let mut file = RowWriter::create(&path, &axes, columns(), &provenance)?;
            for loss in LOSSES {
                for transport in TRANSPORTS {
                    let points = [
                        point(rate),
                        point(delay),
                        point(loss),
                        AxisPoint::text(transport),
                    ];
                    let labels = file.axes(&points)?;
                    for replication in 0..replications {
                        let time = 1.0 + ((7919 * run) % 1000) as f64 / 1000.0;
                        let time = (!run.is_multiple_of(97)).then_some(time);
                        let mut row = labels.clone();
                        row.extend([
                            run.into(),
                            (replication + 1).into(),
                            transport.into(),
                            "".into(),
                            time.into(),
                            time.map(|time| 120_000.0 / time).into(),
                            (run % 13).into(),
                            (run % 3).into(),
                            u64::from(time.is_none()).into(),
                        ]);
                        file.row(&row)?;
                        run += 1;
                    }
                }
            }
            file.finish()?;
        }
    }
    Ok(())
}
