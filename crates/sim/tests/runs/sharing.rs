//! Windows that connections of a host share (STCP), over a satellite link.

use crate::text::read;
use bentpipe_outcome::Outcome;
use bentpipe_sim::{Options, run};
use bentpipe_units::{Duration, Time};

fn outcome(flows: &str) -> Outcome {
    let text = format!(
        "duration = \"120 s\"\n[node.server]\n[node.client]\n[node.other]\n\
         [link.satellite]\nbetween = [\"server\", \"client\"]\n\
         rate = \"10 Mbit/s\"\none_way_delay = \"250 ms\"\nqueue = \"1 BDP\"\n\
         [link.lan]\nbetween = [\"client\", \"other\"]\nrate = \"100 Mbit/s\"\n\
         one_way_delay = \"1 ms\"\nqueue = \"1000 packets\"\n{flows}"
    );
    let options = Options {
        series: Some(Duration::from_millis(50)),
        ..Options::default()
    };
    run(&read(&text), &options).unwrap()
}

/// A transfer of 2 MB, and one of 500 kB to `to` that begins at 20 s.
fn one_after_another(transport: &str, to: &str) -> [f64; 2] {
    let outcome = outcome(&format!(
        "[flow.first]\nfrom = \"server\"\nto = \"client\"\ntransport = \"{transport}\"\n\
         application = {{ kind = \"transfer\", size = \"2 MB\" }}\n\
         [flow.second]\nfrom = \"server\"\nto = \"{to}\"\ntransport = \"{transport}\"\n\
         application = {{ kind = \"transfer\", size = \"500 kB\" }}\nstart = \"20 s\"\n"
    ));
    [0, 1].map(|i: usize| outcome.flows[i].transfer_time.unwrap().as_secs())
}

#[test]
fn the_next_connection_goes_on_where_the_last_one_ended() {
    let [first, second] = one_after_another("stcp", "client");
    let [plain_first, plain_second] = one_after_another("newreno", "client");
    assert!(
        (first / plain_first - 1.0).abs() < 0.2,
        "{first} {plain_first}"
    );
    assert!(second < 0.6 * plain_second, "{second} {plain_second}");
    // Nothing is shared with what goes to another peer.
    let [_, elsewhere] = one_after_another("stcp", "other");
    assert!(elsewhere > 1.5 * second, "{elsewhere} {second}");
}

/// Three transfers at once: when one joins, the windows are divided; when two end, the
/// last has their windows.
#[test]
fn connections_at_once_divide_one_window() {
    let flow = |name: &str, size: &str, start: u32| {
        format!(
            "[flow.{name}]\nfrom = \"server\"\nto = \"client\"\ntransport = \"stcp\"\n\
             application = {{ kind = \"transfer\", size = \"{size}\" }}\nstart = \"{start} s\"\n"
        )
    };
    let flows = [
        flow("a", "20 MB", 0),
        flow("b", "1 MB", 10),
        flow("c", "1 MB", 11),
    ];
    let outcome = outcome(&flows.concat());
    let window = |flow: usize, at: f64| {
        let samples = &outcome.series[flow].sender;
        let at = Time::ZERO + Duration::from_secs_f64(at);
        let next = samples.partition_point(|s| s.at <= at);
        samples[next.max(1) - 1].cwnd
    };
    // Handshakes take a round trip: b has data to send from its start on.
    let (before, after) = (window(0, 9.9), window(0, 10.1));
    assert!((after / before - 0.5).abs() < 0.05, "{before} -> {after}");
    assert!(
        (window(1, 10.8) / after - 1.0).abs() < 0.2,
        "{}",
        window(1, 10.8)
    );
    let two = outcome.flows[1].transfer_time.unwrap().as_secs();
    let three = outcome.flows[2].transfer_time.unwrap().as_secs();
    let end = (10.0 + two).max(11.0 + three);
    let (shared, whole) = (window(0, end - 0.1), window(0, end + 0.6));
    assert!(whole > 1.5 * shared, "{shared} -> {whole}");
}

/// Pages over a connection each: the next page finds what the last one left.
#[test]
fn pages_share_too() {
    let time = |transport: &str| {
        let outcome = outcome(&format!(
            "[flow.pages]\nfrom = \"server\"\nto = \"client\"\ntransport = \"{transport}\"\n\
             application = {{ kind = \"web\", count = 15, mean = \"200 kB\", \
             deviation = \"10 kB\", largest = \"300 kB\", reading = \"1 s\" }}\n"
        ));
        let pages = outcome.flows[0].pages.unwrap();
        assert_eq!(pages.completed, 15);
        pages.mean_time.unwrap().as_secs()
    };
    let (stcp, plain) = (time("stcp"), time("newreno"));
    assert!(stcp < 0.75 * plain, "{stcp} {plain}");
}

#[test]
fn a_run_is_repeatable() {
    let flows = "[flow.f]\nfrom = \"server\"\nto = \"client\"\ntransport = \"stcp\"\n\
                 count = 5\nspacing = \"1 s\"\n\
                 application = { kind = \"transfer\", size = \"1 MB\" }\n";
    assert_eq!(
        format!("{:?}", outcome(flows)),
        format!("{:?}", outcome(flows))
    );
}
