//! TheaterQ's traces, read and written.

use super::*;
use crate::QueueSettings;
use bentpipe_units::Bytes;
use proptest::prelude::*;

fn wrong(text: &str) -> String {
    read(text, true).unwrap_err().to_string()
}

fn settings() -> LinkSettings {
    LinkSettings::new(
        Rate::from_mbps(8),
        Duration::from_millis(10),
        QueueSettings::drop_tail(Limit::Bytes(Bytes::new(150_000))),
    )
}

const STYLE: Style = Style {
    extended: true,
    step: Duration::from_millis(5),
};

#[test]
fn a_simple_trace() {
    let text = "KEEP,LATENCY,RATE,LOSS,LIMIT\n\
                10000,20000000,8000000,0,100\n\
                5000,10000000,4000000,42949673,50\n\
                5000,15000000,4000000,4294967295,50\n";
    let line = read(text, true).unwrap();
    assert_eq!(line.period(), Some(Duration::from_millis(20)));
    let [a, b, c] = line.pieces() else {
        panic!("three lines")
    };
    assert_eq!(a.one_way_delay, Duration::from_millis(20));
    assert_eq!(
        (a.rate, a.loss, a.up),
        (Rate::from_mbps(8), Loss::Channel, true)
    );
    let Loss::Packets(p) = b.loss else {
        panic!("{:?}", b.loss)
    };
    assert!((p.get() - 0.01).abs() < 1e-9);
    // The latency falls: packets may overtake; then it rises.
    assert!(a.route != b.route && b.route == c.route);
    assert!(!c.up);
    assert_eq!(read(text, false).unwrap().period(), None);
}

#[test]
fn an_extended_trace_keeps_its_routes() {
    let text = "1,20,0,9,0,1,0,0,7\n1,10,0,9,0,1,0,0,7\n1,10,0,9,0,1,0,0,3\n";
    let line = read(text, true).unwrap();
    let routes: Vec<u32> = line.pieces().iter().map(|p| p.route).collect();
    assert_eq!(routes, [7, 7, 3]);
}

#[test]
fn mistakes_are_told_with_their_lines() {
    for (text, expected) in [
        ("", "line 1: the trace is empty"),
        ("# nothing\n", "line 1: the trace is empty"),
        ("1,2,3\n", "line 1: expected 5 or 8 to 10 columns, found 3"),
        (
            "1,2,3,4,5\n1,2,3,4\n",
            "line 2: expected 5 columns as in the lines above, found 4",
        ),
        (
            "#\n1,2,x,4,5\n",
            "line 2: expected a whole number in column 3, found `x`",
        ),
        (
            "1,2,3,4,-5\n",
            "line 1: expected a whole number in column 5, found `-5`",
        ),
        ("0,2,3,4,5\n", "line 1: KEEP must be above zero"),
        ("1,2,0,4,5\n", "line 1: RATE must be above zero"),
        (
            "1,2,3,4294967296,5\n",
            "line 1: LOSS is 4294967296; 4294967295 is always",
        ),
        (
            "1,2,316224000000000001,3,4,5,0,0,1\n",
            "line 1: JITTER is longer than ten years",
        ),
        (
            "1,2,0,3,4,5,8,0,1\n",
            "line 1: DUP_PROB is 8; only 0 is understood",
        ),
    ] {
        assert!(
            wrong(text).starts_with(expected),
            "{text:?}: {}",
            wrong(text)
        );
    }
}

#[test]
fn what_is_written_is_read_again() {
    let piece = |ms: u64, delay: u64, up, route, sloped| Piece {
        from: Time::from_nanos(ms * 1_000_000),
        rate: Rate::from_mbps(8),
        one_way_delay: Duration::from_millis(delay),
        sloped,
        loss: Loss::Packets(Ratio::new(0.25).unwrap()),
        up,
        route,
        jitter: None,
    };
    let line = Timeline::new(vec![
        piece(0, 20, true, 5, false),
        piece(10, 20, true, 9, true),
        piece(20, 40, false, 9, false),
    ])
    .unwrap();
    let text = write(&settings(), &line, Duration::from_millis(30), STYLE).unwrap();
    assert_eq!(
        text,
        "# KEEP,LATENCY,JITTER,RATE,LOSS,LIMIT,DUP_PROB,DUP_DELAY,ROUTE_ID\n\
         10000,20000000,0,8000000,1073741824,100,0,0,1\n\
         5000,20000000,0,8000000,1073741824,100,0,0,2\n\
         5000,30000000,0,8000000,1073741824,100,0,0,2\n\
         10000,40000000,0,8000000,4294967295,100,0,0,2\n"
    );
    let again = read(&text, true).unwrap();
    let twice = write(&settings(), &again, Duration::from_millis(30), STYLE);
    assert_eq!(twice.as_ref(), Ok(&text));
    let simple = Style {
        extended: false,
        ..STYLE
    };
    let text = write(&settings(), &line, Duration::from_millis(10), simple).unwrap();
    assert_eq!(
        text,
        "# KEEP,LATENCY,RATE,LOSS,LIMIT\n10000,20000000,8000000,1073741824,100\n"
    );
}

#[test]
fn jitter_is_read_and_written() {
    let text = "# KEEP,LATENCY,JITTER,RATE,LOSS,LIMIT,DUP_PROB,DUP_DELAY,ROUTE_ID\n\
                10000,20000000,3000000,8000000,0,100,0,0,1\n\
                10000,20000000,0,8000000,0,100,0,0,1\n";
    let line = read(text, false).unwrap();
    let spreads: Vec<_> = line.pieces().iter().map(|piece| piece.jitter).collect();
    assert_eq!(spreads, [3, 0].map(|ms| Some(Duration::from_millis(ms))));
    let length = Duration::from_millis(20);
    assert_eq!(
        write(&settings(), &line, length, STYLE).as_deref(),
        Ok(text)
    );
    let simple = Style {
        extended: false,
        ..STYLE
    };
    let refused = write(&settings(), &line, length, simple);
    assert_eq!(refused, Err(Unwritable::Jitter));
}

#[test]
fn what_has_no_word_is_refused() {
    let piece = Piece {
        from: Time::ZERO,
        rate: Rate::from_mbps(1),
        one_way_delay: Duration::ZERO,
        sloped: false,
        loss: Loss::Channel,
        up: true,
        route: 0,
        jitter: None,
    };
    let write = |piece: Piece, rule| {
        let line = Timeline::new(vec![piece]).unwrap().when_down(rule);
        write(&settings(), &line, Duration::from_secs(1), STYLE).map(|_| ())
    };
    let down = Piece { up: false, ..piece };
    assert_eq!(write(down, WhenDown::Lost), Ok(()));
    assert_eq!(write(down, WhenDown::Waits), Err(Unwritable::Waits));
    let dark = Piece {
        rate: Rate::ZERO,
        ..piece
    };
    assert_eq!(write(dark, WhenDown::Lost), Err(Unwritable::Waits));
    let bits = Piece {
        loss: Loss::Bits(Ratio::new(1e-6).unwrap()),
        ..piece
    };
    assert_eq!(write(bits, WhenDown::Lost), Err(Unwritable::BitErrors));
}

proptest! {
    #[test]
    fn any_text_is_read_or_refused(text in "[0-9,\n# ]{0,80}", wraps in any::<bool>()) {
        match read(&text, wraps) {
            Ok(line) => prop_assert!(line.pieces().len() <= text.lines().count()),
            Err(error) => prop_assert!(error.line <= text.lines().count().max(1)),
        }
    }
}
