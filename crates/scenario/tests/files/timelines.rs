//! What a scenario says about links that change with time.

use bentpipe_link::{InFlightPolicy, Loss, State, Timeline, WhenDown};
use bentpipe_scenario::{Document, LinkDownPolicy, Scenario};
use bentpipe_units::{Duration, Rate, Ratio, Time};

fn text(link: &str) -> String {
    format!(
        "duration = \"100 s\"\n[node.a]\n[node.b]\n[link.l]\nbetween = [\"a\", \"b\"]\n\
         rate = \"8 Mbit/s\"\none_way_delay = \"10 ms\"\n{link}\n[flow.f]\nfrom = \"a\"\n\
         to = \"b\"\ntransport = \"sack\"\napplication = \"persistent\"\n"
    )
}

fn parse(link: &str) -> Result<Scenario, String> {
    let document = Document::parse("test.toml", &text(link)).unwrap();
    document.validate().map_err(|e| e.render(false))
}

fn lines(link: &str) -> [Option<Timeline>; 2] {
    let scenario = parse(link).unwrap_or_else(|e| panic!("{e}"));
    [0, 1].map(|i| scenario.links[i].timeline.as_deref().cloned())
}

fn at(line: &Timeline, seconds: u64) -> State {
    line.at(Time::ZERO + Duration::from_secs(seconds))
}

#[test]
fn what_a_piece_does_not_say_stays() {
    let [forth, back] = lines(
        "timeline = [
           { at = \"10 s\", rate = \"2 Mbit/s\", packet_error_rate = \"1%\" },
           { at = \"20 s\", one_way_delay = \"30 ms\", linear = true, route = 1 },
           { at = \"30 s\", one_way_delay = \"50 ms\", up = false },
         ]
         repeat = \"60 s\"
         when_down = \"waits\"
         in_flight = \"lost\"",
    );
    let line = forth.unwrap();
    assert_eq!(back.as_ref(), Some(&line));
    assert_eq!(line.rules(), (WhenDown::Waits, InFlightPolicy::Lost));
    assert_eq!(line.period(), Some(Duration::from_secs(60)));
    let state = |mbps, ms, loss, up, route| State {
        rate: Rate::from_mbps(mbps),
        one_way_delay: Duration::from_millis(ms),
        loss,
        up,
        route,
    };
    let one = Loss::Packets(Ratio::new(0.01).unwrap());
    for (seconds, expected) in [
        (0, state(8, 10, Loss::Channel, true, 0)),
        (10, state(2, 10, one, true, 0)),
        (25, state(2, 40, one, true, 1)),
        (30, state(2, 50, one, false, 1)),
        (60, state(8, 10, Loss::Channel, true, 0)),
    ] {
        assert_eq!(at(&line, seconds), expected, "{seconds} s");
    }
}

#[test]
fn the_way_back_changes_as_forth_around_its_own_rate() {
    let [forth, back] = lines(
        "timeline = [{ at = \"10 s\", one_way_delay = \"20 ms\" }]
         [link.l.reverse]
         rate = \"1 Mbit/s\"",
    );
    let (forth, back) = (forth.unwrap(), back.unwrap());
    assert_eq!(at(&forth, 10).rate, Rate::from_mbps(8));
    assert_eq!(at(&back, 10).rate, Rate::from_mbps(1));
    assert_eq!(at(&back, 10).one_way_delay, Duration::from_millis(20));
    // Or in its own way.
    let [forth, back] = lines(
        "[link.l.reverse]
         timeline = [{ at = \"0 s\", bit_error_rate = 1e-6 }, { at = \"1 s\", up = false }]",
    );
    assert_eq!(forth, None);
    let back = back.unwrap();
    assert_eq!(back.pieces().len(), 2);
    assert_eq!(at(&back, 0).loss, Loss::Bits(Ratio::new(1e-6).unwrap()));
}

#[test]
fn a_fade_changes_codings() {
    let [line, _] = lines(
        "fade = { depth_db = 12, begins = \"10 s\", slope = \"12 s\", stays = \"5 s\", coding = [
           { up_to_db = 3 },
           { up_to_db = 6, code_rate = 0.5, bit_error_rate = 1e-8 },
           { up_to_db = 9, rate = \"2 Mbit/s\", code_rate = 0.5 },
         ] }",
    );
    let line = line.unwrap();
    let rates: Vec<(u64, u64, bool)> = line
        .pieces()
        .iter()
        .map(|p| {
            (
                p.from.as_nanos() / 1_000_000_000,
                p.rate.bps() / 1_000_000,
                p.up,
            )
        })
        .collect();
    let expected = [
        (0, 8, true),
        (13, 4, true),
        (16, 1, true),
        (19, 8, false),
        (30, 1, true),
        (33, 4, true),
        (36, 8, true),
    ];
    assert_eq!(rates, expected);
    assert_eq!(at(&line, 14).loss, Loss::Bits(Ratio::new(1e-8).unwrap()));
}

#[test]
fn a_fade_steps_down_the_modcods_of_dvb_s2() {
    let line = |keys: &str| {
        let fade = "fade = { depth_db = 10, begins = \"10 s\", slope = \"0 s\", stays = \"5 s\"";
        let [line, _] = lines(&format!("{fade}, {keys} }}"));
        line.unwrap()
    };
    // 16APSK 3/4 needs 10.21 dB; with 1 dB of margin 1.21 dB are left, enough for QPSK 1/2.
    let fade = line("modcod = \"16APSK 3/4\"");
    let rate = at(&fade, 12).rate.bps_f64() / 8e6;
    assert!((rate - 0.988_858 / 2.966_728).abs() < 1e-6, "{rate}");
    assert_eq!(at(&fade, 16).rate, Rate::from_mbps(8));
    let without = line("modcod = \"QPSK 2/3\", margin_db = 4");
    assert!(!at(&without, 12).up);
    // 3.1 and 7 dB less 10 are 0.1: more than the -0.3 dB of QPSK 2/5.
    let just = line("modcod = \"QPSK 2/3\", margin_db = 7");
    let rate = at(&just, 12).rate.bps_f64() / 8e6;
    assert!((rate - 0.789_412 / 1.322_253).abs() < 1e-6, "{rate}");
}

#[test]
fn a_scenario_without_changes_has_no_timeline() {
    let plain = parse("").unwrap();
    assert!(plain.links.iter().all(|l| l.timeline.is_none()));
    assert_eq!(plain.stranded, LinkDownPolicy::Stays);
    assert!(plain.canonical_text().contains("\"timeline\":null"));
    let changing = parse("timeline = [{ at = \"1 s\", up = false }]").unwrap();
    assert_ne!(plain.hash(), changing.hash());
    let waits = parse("timeline = [{ at = \"1 s\", up = false }]\nwhen_down = \"waits\"").unwrap();
    assert_ne!(waits.hash(), changing.hash());
}

/// The same scenario with a trace.
fn with_trace(format: &str, trace: &str, more: &str) -> Result<Scenario, String> {
    let link = format!("trace = {{ file = \"a.trace\", format = \"{format}\"{more} }}");
    let mut document = Document::parse("test.toml", &text(&link)).unwrap();
    assert_eq!(document.wanted_files(), ["a.trace"]);
    document.give_file("a.trace", trace);
    document
        .validate()
        .map_err(|e| e.errors[0].expected().to_owned())
}

#[test]
fn a_trace_of_leoreplayer_has_two_files() {
    let read = |keys: &str, delays: &str| {
        let text = text(&format!("trace = {{ format = \"leoreplayer\", {keys} }}"));
        let mut document = Document::parse("test.toml", &text).unwrap();
        for name in document.wanted_files() {
            let content = if name == "rate" {
                "1\n2\n2\n10\n"
            } else {
                delays
            };
            document.give_file(&name, content);
        }
        document.validate().map_err(|e| e.to_string())
    };
    let keys = "rate = \"rate\", delay = \"delay\", interval = \"10 ms\"";
    let line = read(keys, "20\n31.5\n31.5\n").unwrap().links[0]
        .timeline
        .clone()
        .unwrap();
    assert!(line.opportunities().is_some());
    assert_eq!(line.period(), Some(Duration::from_millis(30)));
    let at = |ms: u64| line.at(Time::from_nanos(ms * 1_000_000)).one_way_delay;
    let delays = [0, 9, 10, 29, 30].map(|ms| at(ms).as_nanos() / 1000);
    assert_eq!(delays, [20_000, 20_000, 31_500, 31_500, 20_000]);
    let wrong = read(keys, "20\nslow\n").unwrap_err();
    assert!(
        wrong.contains("cannot read the trace of link `l`"),
        "{wrong}"
    );
    let wrong = read("rate = \"rate\", interval = \"10 ms\"", "20\n").unwrap_err();
    assert!(wrong.contains("has no `delay`"), "{wrong}");
    let wrong = read(&format!("{keys}, file = \"x\""), "20\n").unwrap_err();
    assert!(
        wrong.contains("`file` belongs to another format"),
        "{wrong}"
    );
}

#[test]
fn traces_are_read_beside_the_scenario() {
    let scenario = with_trace("mahimahi", "1\n2\n2\n10\n", "").unwrap();
    let line = scenario.links[0].timeline.clone().unwrap();
    let given = line.opportunities().unwrap();
    assert_eq!(given.at(5), Some(Time::from_nanos(12_000_000)));
    assert_eq!(at(&line, 0).one_way_delay, Duration::from_millis(10));
    let other = with_trace("mahimahi", "1\n2\n2\n10\n", ", wraps = false").unwrap();
    assert_ne!(other.hash(), scenario.hash());
    let scenario = with_trace("theaterq", "1000000,5000000,7000000,0,10\n", "").unwrap();
    let line = scenario.links[1].timeline.clone().unwrap();
    assert_eq!(at(&line, 3).rate, Rate::from_mbps(7));
    let wrong = with_trace("mahimahi", "1\n2\nx\n", "").unwrap_err();
    assert!(wrong.contains(":3: expected a whole number"), "{wrong}");
}

macro_rules! mistakes {
    ($($name:ident: $link:literal;)+) => {
        $(#[test]
        fn $name() {
            insta::assert_snapshot!(stringify!($name), parse($link).unwrap_err());
        })+
    };
}

mistakes! {
    times_out_of_order: "timeline = [{ at = \"2 s\" }, { at = \"1 s\", up = false }]";
    no_time: "timeline = [{ up = false }]";
    not_a_list: "timeline = { at = \"2 s\" }";
    nothing_in_it: "timeline = []";
    unknown_key_of_a_piece: "timeline = [{ at = \"2 s\", rat = \"2 Mbit/s\" }]";
    too_short_a_period: "timeline = [{ at = \"2 s\", up = false }]\nrepeat = \"2 s\"";
    two_ways: "timeline = [{ at = \"2 s\" }]\nfade = { }";
    nothing_to_repeat: "repeat = \"2 s\"";
    losses_twice: "timeline = [{ at = \"2 s\", packet_error_rate = 0, bit_error_rate = 0 }]";
    codings_out_of_order: "fade = { depth_db = 3, begins = \"1 s\", slope = \"1 s\", coding = [{ up_to_db = 2 }, { up_to_db = 1 }] }";
    no_such_trace: "trace = { file = \"nowhere/at.all\", format = \"mahimahi\" }";
    no_such_format: "trace = { file = \"x\", format = \"netem\" }";
    no_such_modcod: "fade = { depth_db = 3, begins = \"1 s\", slope = \"1 s\", modcod = \"16APSK 3/5\" }";
    a_modcod_and_codings: "fade = { depth_db = 3, begins = \"1 s\", slope = \"1 s\", modcod = \"QPSK 1/2\", coding = [{ up_to_db = 2 }] }";
    a_margin_alone: "fade = { depth_db = 3, begins = \"1 s\", slope = \"1 s\", margin_db = 2, coding = [{ up_to_db = 2 }] }";
    no_coding: "fade = { depth_db = 3, begins = \"1 s\", slope = \"1 s\" }";
}

/// A link of which a trace says the rate, and perhaps the delay.
fn traced(keys: &str) -> Result<Scenario, String> {
    let text = format!(
        "duration = \"10 s\"\n[node.a]\n[node.b]\n[link.l]\nbetween = [\"a\", \"b\"]\n\
         queue = \"1 BDP\"\n{keys}\n[flow.f]\nfrom = \"a\"\nto = \"b\"\n\
         transport = \"sack\"\napplication = \"persistent\"\n"
    );
    let mut document = Document::parse("test.toml", &text).unwrap();
    document.give_file("rate", "1\n2\n2\n10\n");
    document.give_file("delay", "20\n30\n");
    document.give_file(
        "queue",
        "1000000,5000000,7000000,0,10\n3000000,9000000,3000000,0,10\n",
    );
    document.validate().map_err(|e| e.render(false))
}

#[test]
fn a_trace_stands_in_for_the_rate_and_the_delay_that_it_has() {
    let settings = |keys: &str| {
        let scenario = traced(keys).unwrap_or_else(|e| panic!("{e}"));
        let of = |i: usize| {
            let settings = &scenario.links[i].settings;
            (settings.rate.bps(), settings.one_way_delay)
        };
        [of(0), of(1)]
    };
    let ms = Duration::from_millis;
    // 4 opportunities of 1500 bytes in 10 ms.
    let mahimahi = "trace = { format = \"mahimahi\", file = \"rate\" }\none_way_delay = \"7 ms\"";
    assert_eq!(settings(mahimahi), [(4_800_000, ms(7)); 2]);
    let both = "trace = { format = \"leoreplayer\", rate = \"rate\", delay = \"delay\", \
                interval = \"10 ms\" }";
    assert_eq!(settings(both), [(4_800_000, ms(25)); 2]);
    let theaterq = "trace = { format = \"theaterq\", file = \"queue\" }";
    assert_eq!(settings(theaterq), [(4_000_000, ms(8)); 2]);
    // What is written as well still counts.
    let written = format!("{theaterq}\nrate = \"2 Mbit/s\"\none_way_delay = \"1 ms\"");
    assert_eq!(settings(&written), [(2_000_000, ms(1)); 2]);
    let back = format!("{theaterq}\n[link.l.reverse]\nrate = \"1 Mbit/s\"");
    assert_eq!(settings(&back), [(4_000_000, ms(8)), (1_000_000, ms(8))]);
    let wrong = traced("trace = { format = \"mahimahi\", file = \"rate\" }").unwrap_err();
    assert!(wrong.contains("one_way_delay"), "{wrong}");
    let wrong = traced("trace = { format = \"mahimahi\", file = \"delay\" }").unwrap_err();
    assert!(
        wrong.contains("one_way_delay") && !wrong.contains("`rate`"),
        "{wrong}"
    );
}
