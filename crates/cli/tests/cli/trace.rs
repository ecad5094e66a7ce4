//! `bentpipe trace`, as a user runs it.

use crate::common::bentpipe_in;

const SCENARIO: &str = "\
duration = \"2 s\"
[node.a]
[node.b]
[link.satellite]
between = [\"a\", \"b\"]
rate = \"12 Mbit/s\"
one_way_delay = \"20 ms\"
queue = \"50 packets\"
timeline = [
  { at = \"3 ms\", rate = \"6 Mbit/s\", one_way_delay = \"30 ms\", linear = true },
  { at = \"7 ms\", one_way_delay = \"34 ms\", up = false, route = 1 },
]
repeat = \"10 ms\"
[link.satellite.reverse]
rate = \"3 Mbit/s\"
timeline = [{ at = \"1 s\", packet_error_rate = 0.5 }]
[flow.f]
from = \"a\"
to = \"b\"
transport = \"sack\"
application = \"persistent\"
";

#[test]
fn traces_are_written_and_read_again() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("s.toml"), SCENARIO).unwrap();
    let trace = |link: &str, format: &str| {
        let arguments = ["trace", "s.toml", link, "--format", format, "--step", "2ms"];
        bentpipe_in(folder.path(), &arguments)
    };
    let down = trace("satellite", "mahimahi").ok();
    assert_eq!(down, "1\n2\n3\n5\n7\n");
    let csv = trace("satellite", "theaterq").ok();
    let expected = "\
# KEEP,LATENCY,JITTER,RATE,LOSS,LIMIT,DUP_PROB,DUP_DELAY,ROUTE_ID
3000,20000000,0,12000000,0,50,0,0,1
2000,30000000,0,6000000,0,50,0,0,1
2000,32000000,0,6000000,0,50,0,0,1
3000,34000000,0,6000000,4294967295,50,0,0,2
";
    assert_eq!(csv, expected);
    let back = trace("satellite.reverse", "theaterq-simple").ok();
    assert_eq!(
        back.lines().last(),
        Some("1000000,20000000,3000000,2147483648,50")
    );
    // Read as a link, they make the same traces.
    for (format, name, text) in [
        ("mahimahi", "down.trace", &down),
        ("theaterq", "t.csv", &csv),
    ] {
        std::fs::write(folder.path().join(name), text).unwrap();
        let begins = SCENARIO.find("timeline").unwrap();
        let ends = SCENARIO.find("[link.satellite.reverse]").unwrap();
        let line = format!("trace = {{ file = \"{name}\", format = \"{format}\" }}\n");
        let scenario = format!("{}{line}{}", &SCENARIO[..begins], &SCENARIO[ends..]);
        std::fs::write(folder.path().join("again.toml"), scenario).unwrap();
        let arguments = ["trace", "again.toml", "satellite", "--format", format];
        assert_eq!(&bentpipe_in(folder.path(), &arguments).ok(), text);
        let run = bentpipe_in(folder.path(), &["run", "again.toml"]).ok();
        assert!(run.contains("satellite"), "{run}");
    }
}

#[test]
fn what_cannot_be_written_is_said() {
    let folder = tempfile::tempdir().unwrap();
    let waits = SCENARIO.replace("repeat =", "when_down = \"waits\"\nrepeat =");
    std::fs::write(folder.path().join("s.toml"), waits).unwrap();
    let trace = |link: &str, format: &str| {
        let arguments = ["trace", "s.toml", link, "--format", format];
        bentpipe_in(folder.path(), &arguments).refused()
    };
    let error = trace("satellite", "theaterq");
    assert!(
        error.contains("the transmitter waits at some time"),
        "{error}"
    );
    let error = trace("satelite", "theaterq");
    assert!(error.contains("satellite"), "{error}");
}

#[test]
fn slots_are_fitted_to_pings() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
    let ping = |i: u32| {
        let at = 1_694_476_800.0 + f64::from(i);
        let ms = 50 + 10 * ((i + 3) / 15 % 2) + i % 5;
        format!("{at}\t{i}\t{ms}\n")
    };
    write("pings.tsv", &(0..600).map(ping).collect::<String>());
    let fit = |file: &str| bentpipe_in(folder.path(), &["trace", "fit", file]);
    let scenario = fit("pings.tsv").ok();
    assert!(scenario.contains("slots]"), "{scenario}");
    write("fitted.toml", &scenario);
    bentpipe_in(folder.path(), &["check", "fitted.toml"]).ok();
    write("wrong.tsv", "1 1 5\nhello\n");
    let failed = fit("wrong.tsv");
    assert!(
        failed
            .stderr
            .contains("wrong.tsv: line 2: expected a line of `ping -D`")
    );
}
