//! Real-time streams: what RCS keeps over a link with errors, what it leaves to others
//! at congestion, and what a viewer sees.

use crate::text::read;
use bentpipe_outcome::{FlowOutcome, Outcome};
use bentpipe_sim::{Options, run};

/// A link of `rate` with a round trip of 500 ms and losses of `per` on the way forth.
fn network(rate: &str, per: f64, more: &str, flows: &str) -> Outcome {
    let text = format!(
        "duration = \"300 s\"\n[node.a]\n[node.b]\n[link.satellite]\n\
         between = [\"a\", \"b\"]\nrate = \"{rate}\"\none_way_delay = \"250 ms\"\n\
         queue = {{ kind = \"priority-drop\", limit = \"50 packets\" }}\n\
         channel = {{ kind = \"uniform\", packet_error_rate = {per} }}\n{more}\
         [link.satellite.reverse]\nchannel = \"perfect\"\n{flows}"
    );
    run(&read(&text), &Options::default()).unwrap()
}

fn constant_rate(name: &str, rate: &str, control: &str) -> String {
    format!(
        "[flow.{name}]\nfrom = \"a\"\nto = \"b\"\napplication = {{ kind = \"constant-rate\", \
         rate = \"{rate}\", packet_size = \"1000 B\", control = {control} }}\n"
    )
}

/// Mbit/s at the IP layer of packets of 1000 bytes.
fn goodput(flow: &FlowOutcome) -> f64 {
    flow.delivered.as_f64() / 972.0 * 1000.0 * 8e-6 / 300.0
}

/// What is measured: over a link of 2 Mbit/s with an error in a hundred packets.
#[test]
fn rcs_keeps_most_of_a_link_with_errors_where_halving_alone_does_not() {
    let over = |control: &str, per| {
        let outcome = network(
            "2 Mbit/s",
            per,
            "",
            &constant_rate("f", "2 Mbit/s", control),
        );
        let flow = outcome.flows[0].clone();
        assert_eq!((flow.retransmissions, flow.timeouts), (0, 0));
        flow
    };
    let (rcs, aimd) = (over("\"rcs\"", 0.01), over("\"aimd\"", 0.01));
    let share = goodput(&rcs) / 2.0;
    assert!(share > 0.5, "{share} {rcs:?}");
    assert!(
        goodput(&rcs) > 3.0 * goodput(&aimd),
        "{} {}",
        goodput(&rcs),
        goodput(&aimd)
    );
    assert!(rcs.probes_sent > 0 && aimd.probes_sent == 0);
    // What is lost stays lost.
    let arrived = rcs.delivered.as_f64() / rcs.sent.as_f64();
    assert!((0.98..0.999).contains(&arrived), "{arrived}");
    // Without errors it has its target.
    assert!(goodput(&over("\"rcs\"", 0.0)) > 1.9);
}

/// A stream of 2.7 Mbit/s without a control comes over a link of 4: the first one, of 3, makes
/// room, and what dummies there are cost data nothing.
#[test]
fn rcs_yields_to_what_comes_and_its_dummies_are_dropped_first() {
    let two = format!(
        "{}{}start = \"100 s\"\n",
        constant_rate("one", "3 Mbit/s", "\"rcs\""),
        "[flow.two]\nfrom = \"a\"\nto = \"b\"\napplication = { kind = \"constant-rate\", \
         rate = \"2.7 Mbit/s\", packet_size = \"700 B\" }\n"
    );
    let outcome = network("4 Mbit/s", 0.0, "", &two);
    let [one, two] = &outcome.flows[..] else {
        panic!("two flows")
    };
    // 100 s at 3 Mbit/s, and 200 s at the rest: 1.87 Mbit/s in the mean.
    let rate = goodput(one);
    assert!((1.3..1.9).contains(&rate), "{rate} {one:?}");
    let arrived = two.delivered.as_f64() / two.sent.as_f64();
    assert!(arrived > 0.93, "{arrived} {two:?}");
    // Beside full data the dummies are what is dropped.
    assert!(one.probes_sent > 100, "{one:?}");
    assert!(one.queue_drops > two.queue_drops * 3, "{one:?} {two:?}");
}

#[test]
fn two_streams_share_a_link() {
    let two =
        constant_rate("one", "3 Mbit/s", "\"rcs\"") + &constant_rate("two", "3 Mbit/s", "\"rcs\"");
    let outcome = network("4 Mbit/s", 0.0, "", &two);
    let rates: Vec<f64> = outcome.flows.iter().map(goodput).collect();
    assert!(rates.iter().all(|r| *r > 1.0), "{rates:?}");
    assert!(rates.iter().sum::<f64>() > 2.8, "{rates:?}");
}

fn video(control: &str) -> String {
    format!(
        "[flow.f]\nfrom = \"a\"\nto = \"b\"\napplication = {{ kind = \"video\", \
         bitrate = \"3 Mbit/s\", segment = \"2 s\", startup = \"1 s\", length = \"120 s\", \
         control = {control} }}\n"
    )
}

/// Streamed video adapts to 2 Mbit/s of the 3 that it could use, and ends when it
/// has been watched.
#[test]
fn video_is_encoded_at_the_rate_that_is_allowed() {
    let flow = &network("2 Mbit/s", 0.0, "", &video("\"rcs\"")).flows[0];
    let seen = flow.delivered.as_f64() * 8e-6 / 120.0;
    assert!((1.2..2.0).contains(&seen), "{seen} {flow:?}");
    let video = flow.video.unwrap();
    assert_eq!((video.segments, video.stalls), (60, 0), "{flow:?}");
    // Opening, two round trips and half of one behind a queue of dummies, and a second.
    let delay = video.startup_delay.unwrap().as_secs();
    assert!((2.7..3.5).contains(&delay), "{delay}");
    let time = flow.transfer_time.unwrap().as_secs();
    assert!((120.0 + delay - time).abs() < 0.1, "{time}");
}

/// Ten seconds without the link, and up to five until the stream is opened again, are what
/// nobody sees; after them the rate is there again.
#[test]
fn an_outage_is_a_stall_and_the_rate_comes_back() {
    let timeline = "in_flight = \"lost\"\n\
                    timeline = [{ at = \"60 s\", up = false }, { at = \"70 s\", up = true }]\n";
    let cut = &network("4 Mbit/s", 0.0, timeline, &video("\"rcs\"")).flows[0];
    let video = cut.video.unwrap();
    assert_eq!(video.stalls, 1, "{cut:?}");
    let stalled = video.stall_time.as_secs();
    assert!((8.0..=16.0).contains(&stalled), "{stalled}");
    // 105 of 120 s at 3 Mbit/s.
    let seen = cut.delivered.as_f64() * 8e-6 / 105.0;
    assert!(seen > 2.7, "{seen} {cut:?}");
    assert!(cut.reductions >= 3, "{cut:?}");
}
