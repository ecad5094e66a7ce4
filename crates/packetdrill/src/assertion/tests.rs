use super::{Code, Outcome, Value, Variables};

fn look_up(name: &str) -> Result<Value, String> {
    match name {
        "tcpi_snd_cwnd" => Ok(Value::Integer(10)),
        "tcpi_rtt" => Ok(Value::Integer(101_000)),
        _ => Err(format!("the name `{name}`")),
    }
}

fn run(text: &str) -> (Outcome, Vec<String>) {
    let code = Code::parse(text, 0).unwrap_or_else(|error| panic!("{}", error.message()));
    let mut printed = Vec::new();
    let outcome = code.run(&mut Variables::new(), &look_up, &mut |text| {
        printed.push(text);
    });
    (outcome, printed)
}

fn holds(text: &str) -> bool {
    run(text).0 == Outcome::Holds
}

#[test]
fn assertions_hold_or_do_not() {
    assert!(holds("assert tcpi_snd_cwnd == 10, tcpi_snd_cwnd"));
    assert!(holds(
        "assert 9 < tcpi_snd_cwnd <= 10 and not tcpi_snd_cwnd == 11"
    ));
    assert!(holds("assert tcpi_snd_cwnd == 11 or (tcpi_rtt > 100000)"));
    assert!(holds(
        "assert tcpi_snd_cwnd * 2 - 5 == 15; assert 7 // 2 == 3; assert 7 % 3 == 1"
    ));
    assert!(holds(
        "assert -7 // 2 == -4; assert -7 % 3 == 2; assert 7 // -2 == -4"
    ));
    assert!(holds(
        "assert 0x7fffffff == 2147483647 and (6 & 4) == 4 and 1 << 3 == 8"
    ));
    assert!(holds(
        "assert abs(-3) == 3 and max(1, 2) == 2 and 1 / 2 == 0.5"
    ));
    let (outcome, _) = run("assert tcpi_snd_cwnd == 12, 'cwnd=%d' % tcpi_snd_cwnd");
    assert_eq!(
        outcome,
        Outcome::Fails {
            at: 0,
            compared: Some(("10".to_owned(), "12".to_owned())),
            message: Some("cwnd=10".to_owned()),
        }
    );
}

#[test]
fn variables_are_set_and_printed() {
    let (outcome, printed) = run(
        "# a comment\ncwnd = 9\ncwnd += 1; assert tcpi_snd_cwnd == cwnd, \\\n  cwnd\nprint(cwnd, 'is')",
    );
    assert_eq!(outcome, Outcome::Holds);
    assert_eq!(printed, ["10 is"]);
}

#[test]
fn what_is_not_known_is_not_modelled() {
    for text in [
        "assert tcpi_pmtu == 1",
        "if x:\n  pass",
        "assert len(3)",
        "assert 1 / 0",
    ] {
        let (outcome, _) = run(text);
        assert!(
            matches!(outcome, Outcome::NotModelled { .. }),
            "{text}: {outcome:?}"
        );
    }
}

#[test]
fn nonsense_is_an_error() {
    for text in [
        "assert",
        "assert 1 2",
        "assert (1",
        "x",
        "assert 'a",
        "1 = 2",
        "assert 0xg",
    ] {
        assert!(Code::parse(text, 0).is_err(), "{text}");
    }
}
