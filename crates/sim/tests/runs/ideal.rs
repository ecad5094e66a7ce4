//! The Ideal bound against every printed cell of Marchese 2006, Tables 3 and 8.

use crate::line::{Line, ideal};
use bentpipe_sim::{Options, run};
use bentpipe_units::Rate;

fn time(kbps: u64, bytes: u64, loss: f64) -> String {
    let line = Line {
        rate: Rate::from_bps(kbps * 1000),
        loss,
        ..Line::geo()
    };
    let outcome = run(
        &line.transfer(bytes, ideal()).scenario(),
        &Options::default(),
    )
    .unwrap();
    format!("{:.2}", outcome.flows[0].transfer_time.unwrap().as_secs())
}

#[test]
fn table_3_to_the_printed_digit() {
    let sizes = [10_136, 102_808, 1_048_352, 3_145_056, 10_486_416];
    for (kbps, printed) in [
        (500, ["0.68", "2.22", "17.89", "52.64", "174.32"]),
        (1000, ["0.60", "1.36", "9.20", "26.58", "87.42"]),
        (2000, ["0.55", "0.94", "4.86", "13.54", "43.96"]),
    ] {
        assert_eq!(sizes.map(|s| time(kbps, s, 0.0)), printed);
    }
}

#[test]
fn table_8_with_the_survivors_of_one_percent() {
    let sizes = [1_048_352, 3_145_056];
    for (kbps, printed) in [
        (500, ["18.06", "53.17"]),
        (1000, ["9.29", "26.84"]),
        (2000, ["4.90", "13.67"]),
    ] {
        assert_eq!(sizes.map(|s| time(kbps, s, 0.01)), printed);
    }
}

#[test]
fn nothing_is_faster_than_the_ideal() {
    for (loss, bytes) in [(0.0, 100_000), (0.0, 3_000_000), (0.01, 1_000_000)] {
        let line = Line {
            loss,
            ..Line::geo()
        };
        let one = |t| {
            let outcome = run(
                &line.clone().transfer(bytes, t).scenario(),
                &Options::default(),
            );
            outcome.unwrap().flows[0].transfer_time.unwrap()
        };
        let bound = one(ideal());
        for cc in ["newreno", "mtsi", "const", "hybla", "cubic", "westwood+"] {
            let time = one(crate::line::named(cc, bentpipe_tcp::Recovery::Sack));
            // With loss the bound is a mean, so a lucky run may pass it.
            assert!(loss > 0.0 || time >= bound, "{cc}: {time} before {bound}");
        }
    }
}
