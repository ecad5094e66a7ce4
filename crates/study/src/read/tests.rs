use crate::study::Study;
use proptest::prelude::*;

const GOOD: &str = include_str!("../../tests/data/table-3.toml");

fn rendered(text: &str) -> String {
    match Study::parse("study.toml", text) {
        Ok(_) => "no error\n".to_owned(),
        Err(diagnostics) => diagnostics.render(false),
    }
}

/// A study with one line changed.
fn changed(from: &str, to: &str) -> String {
    assert!(GOOD.contains(from), "{from}");
    GOOD.replacen(from, to, 1)
}

#[test]
fn the_papers_study_reads() {
    let study = Study::parse("table-3.toml", GOOD).unwrap();
    assert_eq!(
        (study.cells(), study.tables.len(), study.claims.len()),
        (75, 5, 8)
    );
    assert_eq!(
        study.axis("file").unwrap().points[2].value.unwrap().0,
        1_048_352.0
    );
    assert_eq!(study.axis("transport").unwrap().point("mtsi"), Some(4));
    let setting = &study.axis("bandwidth").unwrap().points[0].settings[0];
    assert_eq!(setting.value, "\"500 kbit/s\"");
}

#[test]
fn a_bar_that_is_missed_needs_what_is_recorded() {
    let bar = "mean = \"1.5%\"";
    let alone = rendered(&changed(bar, "mean = \"1.5%\"\nmissed = \"a slip\""));
    assert!(alone.contains("needs `recorded`"), "{alone}");
    let recorded =
        "mean = \"1.5%\"\nmissed = \"a slip\"\nrecorded = { mean = \"120%\", band = \"2%\" }";
    let study = Study::parse("study.toml", &changed(bar, recorded)).unwrap();
    let limits = &study.tables[0].bar.as_ref().unwrap().limits;
    let mean = limits.recorded.unwrap().mean.unwrap();
    assert_eq!((mean.value, mean.band), (1.2, 0.02));
    let own = "recorded = { mean = \"12%\", spread = \"90%\", mean_band = \"1%\", band = \"9%\" }";
    let study = Study::parse("study.toml", &changed(bar, own)).unwrap();
    let recorded = study.tables[0].bar.as_ref().unwrap().limits.recorded;
    let bands = recorded.map(|r| (r.mean.unwrap().band, r.spread.unwrap().band));
    assert_eq!(bands, Some((0.01, 0.09)));
    let open = rendered(&changed(
        bar,
        "mean = \"1.5%\"\nrecorded = { mean = \"120%\" }",
    ));
    assert!(open.contains("`band`"), "{open}");
}

#[test]
fn a_claim_says_what_its_verdict_rests_on() {
    let study = Study::parse("study.toml", GOOD).unwrap();
    assert_eq!(study.claims[0].basis, "");
    let id = format!("id = \"{}\"", study.claims[0].id);
    let text = changed(&id, &format!("{id}\nbasis = \"by fit\""));
    assert_eq!(
        Study::parse("study.toml", &text).unwrap().claims[0].basis,
        "by fit"
    );
}

#[test]
fn mistakes_are_pointed_at() {
    let studies = [
        "name = ",
        "title = 'x'\nscenario = 'y.toml'\n[[axis]]\nname = 'a'\nvalues = []\npath = 'p'\n",
        &changed(
            "scenario = \"emulator.toml\"",
            "scenario = \"emulator.toml\"\nreplications = 0",
        ),
        &changed("paper = ", "papre = "),
        &changed("name = \"file\"", "name = \"bandwidth\""),
        &changed("labels = [\"500 Kbit/s\", ", "labels = ["),
        &changed(
            "rows = [\"bandwidth\", \"file\"]",
            "rows = [\"bandwidht\", \"file\"]",
        ),
        &changed("columns = [\"transport\"]", ""),
        &changed("metric = \"transfer_time\"", "metric = \"transfer_tmie\""),
        &changed("unit = \"s\"", "unit = \"kB\""),
        &changed("mean = \"1.5%\"", "mean = \"1.5 s\""),
        &changed("\"TCP Westwood+\" = { worst", "\"TCP Westwood\" = { worst"),
        &changed("alias = \"iw6\"", "alias = \"iw2\""),
        &changed("< time(westwood) <", "< time(westwod) <"),
        &changed(
            "metric = \"gain(mtsi, iw2)\"",
            "metric = \"gain(mtsi, iw22)\"",
        ),
        &changed("recorded = \"holds\"", "recorded = \"true\""),
        &changed("slug = \"table-4\"", "slug = \"table-3\""),
        &changed("path = \"link.satellite.rate\"", "path = 5"),
    ]
    .map(rendered);
    insta::assert_snapshot!(studies.join("\n"));
}

#[test]
fn figures_are_checked() {
    let figure = |lines: &str| format!("{GOOD}\n[[figure]]\nslug = \"figure-1\"\n{lines}\n");
    let bars =
        "kind = \"bars\"\ngroups = [\"bandwidth\", \"file\"]\nseries = \"transport\"\ny = \"time\"";
    let line = "kind = \"line\"\nx = \"file\"\nseries = \"transport\"\ny = \"time\"\nat = { bandwidth = \"2 Mbit/s\" }";
    assert_eq!(rendered(&figure(bars)), "no error\n");
    assert_eq!(rendered(&figure(line)), "no error\n");
    let boxes = "kind = \"box\"\ngroups = [\"file\"]\nfacets = \"bandwidth\"\nseries = \"transport\"\ny = \"time\"\ny_scale = \"log\"";
    let cdf = "kind = \"cdf\"\nseries = \"transport\"\ny = \"time\"\nat = { bandwidth = \"2 Mbit/s\", file = \"1 Mbyte\" }";
    let heat = "kind = \"heat\"\nx = \"file\"\nseries = \"bandwidth\"\ny = \"time\"\nat = { transport = \"mtsi\" }";
    let published = format!(
        "{line}\npublished = [{{ x = \"1 MB\", y = 5, series = \"mtsi\", text = \"p. 1\" }}, {{ y = 2.5, text = \"p. 2\" }}]"
    );
    for good in [boxes, cdf, heat, &published] {
        assert_eq!(rendered(&figure(good)), "no error\n");
    }
    let faults = [
        &format!("{line}\nx_scale = \"logarithmic\"\ny_break = {{ from = 9, to = 3 }}"),
        &format!(
            "{line}\npublished = [{{ x = \"9\", y = 5, series = \"cubic\", text = \"p. 1\" }}, {{ x = \"1 MB\", text = \"p\" }}]"
        ),
        &format!("{bars}\npublished = [{{ x = \"here\", y = 5, facet = \"a\", text = \"p. 1\" }}]"),
        "kind = \"heat\"\nx = \"file\"\ny = \"time\"\nat = { transport = \"mtsi\", bandwidth = \"2 Mbit/s\" }",
        "kind = \"pie\"",
        "kind = \"series\"\ny = \"cwn\"",
        "kind = \"series\"\ny = \"cwnd\"\nseries = \"transport\"\nat = { bandwidth = \"1 Mbit/s\" }",
        "kind = \"line\"\nx = \"file\"\nseries = \"transport\"\ny = \"time\"",
        "kind = \"series\"\ny = \"rate\"\nwindow = \"0 s\"\nat = { bandwidth = \"1 Mbit/s\", file = \"100 kbytes\", transport = \"mtsi\" }",
    ];
    let shown: Vec<String> = faults
        .iter()
        .map(|lines| rendered(&figure(lines)))
        .collect();
    insta::assert_snapshot!(shown.join("\n"));
}

#[test]
fn a_rate_over_less_than_an_interval_is_refused() {
    let study = |lines: &str| {
        format!("title = 't'\nname = 'n'\nscenario = 's.toml'\nseries = '10 s'\n{lines}\n")
    };
    let figure = |window: &str| {
        let text = format!("[[figure]]\nslug = 'f'\nkind = 'series'\ny = 'rate'\n{window}");
        rendered(&study(&text))
    };
    assert_eq!(figure(""), "no error\n");
    assert_eq!(figure("window = '10 s'"), "no error\n");
    let short = figure("window = '500 ms'");
    assert!(
        short.contains("a rate over 500 ms, but `n` records a sample every 10 s"),
        "{short}"
    );
    let metric = |call: &str| {
        rendered(&study(&format!(
            "[[metric]]\nname = 'x'\nexpression = '{call}'"
        )))
    };
    assert_eq!(metric("peak_received_rate(window = 10 s)"), "no error\n");
    for call in [
        "peak_received_rate()",
        "time_to_rate(rate = 1 Mbit/s, window = 2 s)",
        "received_rate(from = 10 s, to = 12 s)",
    ] {
        let short = metric(call);
        assert!(short.contains("records a sample every 10 s"), "{short}");
    }
}

#[test]
fn a_scenario_is_refused_in_one_message() {
    let scenario = "duration = '1 s'\n[node.a]\n[node.b]\n[link.l]\n[flow.f]\n";
    let shown = rendered(scenario);
    assert!(shown.contains("this is a scenario, not a study"), "{shown}");
    assert!(
        shown.ends_with("error: study.toml has 1 error\n"),
        "{shown}"
    );
}

proptest! {
    #[test]
    fn no_text_panics(text in "\\PC{0,80}") {
        let _ = rendered(&text);
    }

    #[test]
    fn no_damage_panics(at in 0..GOOD.len(), length in 0..40_usize, with in "[a-z0-9\"={}\\[\\],. \n]{0,6}") {
        let mut text = GOOD.as_bytes().to_vec();
        let end = (at + length).min(text.len());
        text.splice(at..end, with.bytes());
        crate::fuzz_study(&text);
    }
}
