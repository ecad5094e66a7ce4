//! Real-time streams: the rate control of an application, and what is no use with it.

use bentpipe_scenario::Document;
use bentpipe_traffic::{Application, RateControl};
use bentpipe_units::Duration;

fn read(flow: &str) -> Result<Application, String> {
    let text = format!(
        "duration = \"10 s\"\n[node.a]\n[node.b]\n[link.l]\nbetween = [\"a\", \"b\"]\n\
         rate = \"2 Mbit/s\"\none_way_delay = \"250 ms\"\n\
         queue = {{ kind = \"priority-drop\", limit = \"50 packets\" }}\n\
         [flow.f]\nfrom = \"a\"\nto = \"b\"\n{flow}\n"
    );
    let document = Document::parse("test.toml", &text).map_err(|e| e.render(false))?;
    let scenario = document.validate().map_err(|e| e.render(false))?;
    assert!(scenario.flows[0].transport.is_none());
    Ok(scenario.flows[0].application.clone())
}

const VIDEO: &str = "kind = \"video\", bitrate = \"1 Mbit/s\", length = \"60 s\"";

#[test]
fn a_rate_control_is_a_word_or_a_table() {
    let usual = RateControl::Rcs {
        dummies: 1000,
        give_up: 8,
    };
    for (written, expected) in [
        ("\"rcs\"", usual.clone()),
        (
            "{ kind = \"rcs\", dummies = 5, give_up = 2 }",
            RateControl::Rcs {
                dummies: 5,
                give_up: 2,
            },
        ),
        ("\"aimd\"", RateControl::Aimd),
    ] {
        let kind = "kind = \"constant-rate\", rate = \"1 Mbit/s\"";
        for kind in [kind, VIDEO] {
            let application = read(&format!("application = {{ {kind}, control = {written} }}"));
            assert_eq!(application.unwrap().rate_control(), Some(&expected));
        }
    }
    // Segments may be longer than a buffer that nobody fills.
    let long = read(&format!(
        "application = {{ {VIDEO}, segment = \"60 s\", control = \"rcs\" }}"
    ));
    assert!(matches!(long, Ok(Application::Video(video))
        if video.segment == Duration::from_secs(60) && video.control == Some(usual)));
}

#[test]
fn what_makes_no_sense_is_refused_where_it_stands() {
    for (flow, expected) in [
        (
            format!("transport = \"rcs\"\napplication = {{ {VIDEO}, control = \"rcs\" }}"),
            "has no transport",
        ),
        (
            format!("application = {{ {VIDEO}, buffer = \"20 s\", control = \"rcs\" }}"),
            "is streamed",
        ),
        (
            format!("application = {{ {VIDEO}, request = \"1 kB\", control = \"rcs\" }}"),
            "remove `buffer` and `request`, or `control`",
        ),
        (format!("application = {{ {VIDEO} }}"), "transport"),
        (
            format!("application = {{ {VIDEO}, control = \"rsc\" }}"),
            "rcs",
        ),
        (
            format!("application = {{ {VIDEO}, control = {{ kind = \"rcs\", dummies = 0 }} }}"),
            "dummies",
        ),
        (
            format!("application = {{ {VIDEO}, control = {{ kind = \"aimd\", give_up = 1 }} }}"),
            "give_up",
        ),
    ] {
        let message = read(&flow).unwrap_err();
        assert!(message.contains(expected), "{flow}: {message}");
    }
}
