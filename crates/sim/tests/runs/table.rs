//! Behaviour as a small frozen table: goodput over loss x buffer.
//!
//! A change here is a change of results and belongs into the changelog.

use crate::line::{Line, named};
use bentpipe_sim::{Options, run};
use bentpipe_tcp::Recovery;
use bentpipe_traffic::Application;
use bentpipe_units::{Duration, Rate};
use std::fmt::Write;

#[test]
fn goodput_over_loss_and_buffer() {
    let mut table = String::from("goodput in kbit/s, 10 Mbit/s, RTT 600 ms, 120 s, 4 seeds\n");
    let _ = writeln!(
        table,
        "{:12}{:>22}{:>22}{:>22}",
        "", "queue 50", "queue 500", "queue 2000"
    );
    let _ = write!(table, "{:12}", "loss");
    for _ in 0..3 {
        for loss in ["0", "0.1%", "1%"] {
            let _ = write!(table, "{loss:>7}");
        }
        table.push(' ');
    }
    table.push('\n');
    for (cc, recovery) in [
        ("newreno", Recovery::NewReno),
        ("newreno", Recovery::Sack),
        ("mtsi", Recovery::Sack),
        ("westwood", Recovery::Sack),
        ("westwood+", Recovery::Sack),
        ("hybla", Recovery::Sack),
        ("cubic", Recovery::Sack),
        ("bbr", Recovery::Sack),
    ] {
        let name = if recovery == Recovery::Sack && cc == "newreno" {
            "sack"
        } else {
            cc
        };
        let _ = write!(table, "{name:12}");
        for queue in [50, 500, 2000] {
            for loss in [0.0, 0.001, 0.01] {
                let line = Line {
                    rate: Rate::from_mbps(10),
                    rtt: Duration::from_millis(600),
                    queue,
                    loss,
                    duration: Duration::from_secs(120),
                    flows: Vec::new(),
                };
                let scenario = line
                    .with(Application::Persistent, Some(named(cc, recovery)))
                    .scenario();
                let bits: u64 = (1..=4)
                    .map(|seed| {
                        let options = Options {
                            seed,
                            ..Options::default()
                        };
                        run(&scenario, &options).unwrap().flows[0].delivered.get() * 8
                    })
                    .sum();
                let _ = write!(table, "{:>7}", bits / 4 / 120_000);
            }
            table.push(' ');
        }
        table.push('\n');
    }
    insta::assert_snapshot!(table);
}
