use super::super::{Comparison, Loss, Orbit, Pep, Question, Trace};
use super::*;
use bentpipe_orbit::Site;
use bentpipe_units::{Bytes, Duration, Rate};

fn refused(given: &[(&str, &str)]) -> (Option<&'static str>, String) {
    let error = Question::read(given).unwrap_err();
    (error.option, error.to_string())
}

#[test]
fn texts_and_setters_ask_the_same() {
    let read = Question::read(&[
        ("rate", "2 Mbit/s"),
        ("loss", "5% in bursts of 8 packets"),
        ("size", "1 MB,30 kB"),
        ("size", "1 MB"),
        ("pep", "split"),
        ("pep", "none, split"),
        ("transport", "cubic , bbr,"),
        ("users", "20"),
        ("return-rate", "1 Mbit/s"),
    ])
    .unwrap();
    let set = Comparison::new()
        .rate(Rate::from_mbps(2))
        .loss("5% in bursts of 8 packets".parse::<Loss>().unwrap())
        .sizes([1_000_000, 30_000, 1_000_000].map(Bytes::new))
        .peps([Pep::Split, Pep::None, Pep::Split])
        .transports(["cubic", "bbr"])
        .users(20)
        .return_rate(Rate::from_mbps(1));
    assert_eq!(read, *set.question());
    assert_eq!(read.sizes(), [30_000, 1_000_000].map(Bytes::new));
    assert_eq!(read.peps(), [Pep::Split, Pep::None]);
    let nothing: [(&str, &str); 0] = [];
    assert_eq!(Question::read(&nothing).unwrap(), Question::default());
}

#[test]
fn every_option_is_described_and_its_default_is_read() {
    let default = Question::default();
    for option in Question::OPTIONS {
        assert!(
            !option.help.is_empty() && !option.name.contains('_'),
            "{}",
            option.name
        );
        if let Some(text) = option.default {
            let mut question = Question::default();
            (option.set)(option, &mut question, text.as_ref(), true).unwrap();
            assert_eq!(question, default, "{}", option.name);
        }
        let choices = (option.choices)();
        let is_choice = option.kind == Kind::Choice;
        assert!(!is_choice || !choices.is_empty(), "{}", option.name);
        for choice in choices {
            assert_eq!(
                option.check(choice.value.as_ref()),
                Ok(()),
                "{}",
                option.name
            );
        }
        for other in option.needs.iter().chain(option.excludes) {
            assert!(Question::OPTIONS.iter().any(|known| known.name == *other));
        }
    }
}

#[test]
fn what_is_wrong_is_said_with_the_option() {
    let places = [("from", "Oslo"), ("to", "Rome")];
    let with = |more: &[(&'static str, &'static str)]| [&places[..], more].concat();
    for (given, option, says) in [
        (
            vec![("rat", "5")],
            None,
            "there is no option `rat`; did you mean `rate`?",
        ),
        (
            vec![("return_rate", "5")],
            None,
            "did you mean `return-rate`?",
        ),
        (vec![("fish", "5")], None, "there is no option `fish`"),
        (
            vec![("rate", "5")],
            Some("rate"),
            "invalid value '5' for `rate`: `5` has no unit",
        ),
        (
            vec![("users", "5000")],
            Some("users"),
            "expected a whole number from 1 to 1000",
        ),
        (
            vec![("users", "many")],
            Some("users"),
            "invalid value 'many' for `users`: expected a whole number from 1 to 1000",
        ),
        (
            vec![("users", "2.5")],
            Some("users"),
            "expected a whole number",
        ),
        (
            vec![("seed", "99999999999999999999")],
            Some("seed"),
            "expected a whole number from 0 to 18446744073709551615",
        ),
        (vec![("transport", "")], Some("transport"), "it is empty"),
        (vec![("transport", " , ")], Some("transport"), "it is empty"),
        (vec![("beside", "")], Some("beside"), "it is empty"),
        (
            vec![("queue", "codle")],
            Some("queue"),
            "did you mean `codel`?",
        ),
        (
            vec![("seed", "-1")],
            Some("seed"),
            "expected a whole number from 0",
        ),
        (
            vec![("pep", "none,slit")],
            Some("pep"),
            "'slit' for `pep`: expected none, split",
        ),
        (
            vec![("rate", "1 Mbit/s"), ("rate", "2 Mbit/s")],
            Some("rate"),
            "cannot be given twice",
        ),
        (
            vec![("rate", "1 Mbit/s"), ("trace", "a")],
            Some("rate"),
            "is not for a trace",
        ),
        (
            with(&[("orbit", "geo"), ("rtt", "1 s")]),
            Some("rtt"),
            "is not for an orbit",
        ),
        (
            with(&[("orbit", "geo"), ("trace", "a")]),
            Some("trace"),
            "give one of the two",
        ),
        (
            vec![("orbit", "geo")],
            Some("from"),
            "must be set for --orbit, and so must --to",
        ),
        (
            vec![("slot", "3")],
            Some("orbit"),
            "`orbit` must be set for --slot",
        ),
        (
            vec![("over", "1 h")],
            Some("over"),
            "needs an orbit or a trace",
        ),
    ] {
        let (found, message) = refused(&given);
        assert_eq!(found, option, "{message}");
        assert!(message.contains(says), "{message}");
    }
}

#[test]
fn a_builder_is_refused_what_texts_are() {
    let site = |name: &str| name.parse::<Site>().unwrap();
    let orbit = || Orbit::new("geo", site("Oslo"), site("Rome"));
    let new = Comparison::new;
    for (comparison, option) in [
        (new().orbit(orbit()).rtt(Duration::from_secs(1)), "rtt"),
        (new().orbit(orbit()).trace(Trace::new(["a"])), "trace"),
        (
            new().rate(Rate::from_mbps(1)).trace(Trace::new(["a"])),
            "rate",
        ),
        (new().over(Duration::from_secs(3_600)), "over"),
        (new().users(5_000), "users"),
        (new().runs(0), "runs"),
        (new().peps([]), "pep"),
    ] {
        let error = comparison.run().unwrap_err();
        let crate::Error::Question(error) = error else {
            panic!("{option}: {error}");
        };
        assert_eq!(error.option, Some(option), "{error}");
        assert!(comparison.path().is_err(), "{option}");
    }
}
