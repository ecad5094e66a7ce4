//! What is refused, before anything is built.

use crate::common::{pair, transfer, transport};
use bentpipe_linux::testbed::{self, Error, Options};
use bentpipe_tcp::TransportSettings;

/// The messages about a transfer over `name`.
fn refused(name: &str, above: TransportSettings) -> Vec<String> {
    let (mut builder, server, client) = pair();
    builder
        .flow("file", server, client, transfer(1000))
        .transport(transport(name, above));
    testbed::refusals(&builder.build().unwrap())
}

#[test]
fn what_linux_cannot_do_is_said_in_words() {
    for (name, words) in [
        ("ideal", "the analytic bound is computed, not run"),
        (
            "scps-tp",
            "negative acknowledgements (SCPS-TP) are none of Linux",
        ),
        (
            "careful-resume",
            "`careful-resume` has no counterpart in the kernel",
        ),
        ("peach", "`peach` has no counterpart in the kernel"),
    ] {
        let refused = refused(name, TransportSettings::default());
        assert!(
            refused.iter().any(|why| why.contains(words)),
            "{name}: {refused:?}"
        );
        assert!(refused.iter().all(|why| why.starts_with("flow `file`: ")));
    }
    let acks = TransportSettings {
        ack_count: Some(8),
        ..TransportSettings::default()
    };
    assert_eq!(
        refused("cubic", acks),
        ["flow `file`: Linux acknowledges every second segment at the latest, not every 8"]
    );
    for mss in [60, 40_000] {
        let segments = TransportSettings {
            mss: Some(mss),
            ..TransportSettings::default()
        };
        assert_eq!(
            refused("cubic", segments),
            [format!(
                "flow `file`: an MSS of {mss} bytes cannot be set: Linux takes 88 to 32767"
            )]
        );
    }
    assert!(refused("cubic", TransportSettings::default()).is_empty());
}

#[test]
fn a_refusal_is_an_error_before_anything_is_built() {
    let (mut builder, server, client) = pair();
    builder
        .flow("file", server, client, transfer(1000))
        .transport(transport("ideal", TransportSettings::default()));
    let options = Options::new(1).unwrap();
    let error = testbed::run(&builder.build().unwrap(), options).unwrap_err();
    let Error::Refused(why) = &error else {
        panic!("{error}");
    };
    assert_eq!(why.len(), 1, "{error}");
}
