use super::*;
use crate::{Ack, ParameterValue, Window};

#[derive(Debug)]
struct Still;

impl CongestionControl for Still {
    fn name(&self) -> &str {
        "still"
    }
    fn on_ack(&mut self, _: &Ack, _: &mut Window) {}
}

fn still(name: &str, fingerprint: &str) -> Result<OwnControl, BuildError> {
    OwnControl::new(Definition::new(name, fingerprint), |_| Ok(Box::new(Still)))
}

#[test]
fn a_name_is_found_and_replaced_and_forgotten() {
    register(still("own-still", "1").unwrap()).unwrap();
    let first = find("own-still").unwrap();
    register(still("own-still", "2").unwrap()).unwrap();
    assert_eq!(find("own-still").unwrap().fingerprint(), "2");
    assert_eq!(
        first.fingerprint(),
        "1",
        "what has resolved the name keeps it"
    );
    assert_ne!(first, find("own-still").unwrap());
    let built = crate::build("own-still", &Parameters::new()).unwrap();
    assert_eq!(built.name(), "own-still");
    assert_eq!(crate::find("own-still").unwrap().family, Family::Own);
    assert!(registered().iter().any(|it| it.name() == "own-still"));
    assert!(unregister("own-still").is_some());
    assert!(crate::build("own-still", &Parameters::new()).is_err());
}

#[test]
fn names_that_cannot_be_typed_or_are_taken_are_refused() {
    for name in ["", "1st", "my control", "a+b", "a,b", "é", &"x".repeat(41)] {
        let error = still(name, "").unwrap_err();
        assert!(matches!(error, BuildError::Name { .. }), "{name}");
    }
    let definition = Definition {
        origin: "mine/cubic.c".into(),
        ..Definition::new("cubic", "1")
    };
    let cubic = OwnControl::new(definition, |_| Ok(Box::new(Still))).unwrap();
    let error = register(cubic).unwrap_err().to_string();
    assert!(error.contains("`cubic` of mine/cubic.c"), "{error}");
    assert!(error.contains("built-in"), "{error}");
}

#[test]
fn a_factory_gets_every_parameter_and_may_fail() {
    let definition = Definition {
        parameters: vec![Parameter::of_number(
            "gain",
            0.5,
            (0.0, 1.0),
            "",
            "how fast",
        )],
        ..Definition::new("own-gain", "1")
    };
    let control = OwnControl::new(definition, |parameters| match parameters.number("gain") {
        gain if gain > 0.9 => Err("gain above 0.9 is unstable".to_owned()),
        gain if gain < 0.1 => panic!("gain of {gain}"),
        _ => Ok(Box::new(Still)),
    })
    .unwrap();
    let with = |gain: f64| control.build(&Parameters::new().with("gain", gain));
    assert!(control.build(&Parameters::new()).is_ok());
    let message = |gain| with(gain).unwrap_err().to_string();
    assert_eq!(
        message(0.95),
        "congestion control `own-gain`: gain above 0.9 is unstable"
    );
    assert!(message(0.05).ends_with("it panicked: gain of 0.05"));
    assert!(message(2.0).contains("a number from 0 to 1"));
    let unknown = control.build(&Parameters::new().with("gian", 0.5));
    assert!(
        unknown
            .unwrap_err()
            .to_string()
            .contains("did you mean `gain`?")
    );
    let text = Parameters::new().with("gain", ParameterValue::Text("x".into()));
    assert!(control.build(&text).is_err());
}

#[test]
fn calls_are_told_before_they_are_made() {
    use std::sync::{Arc, Mutex};
    /// Notes in `made` that the call got through to it.
    #[derive(Debug)]
    struct Noting(Arc<Mutex<Vec<String>>>);
    impl CongestionControl for Noting {
        fn name(&self) -> &str {
            "own-noting"
        }
        fn on_ack(&mut self, _: &Ack, _: &mut Window) {}
        fn on_restart(&mut self, _: Time, _: &mut Window) {
            self.0.lock().unwrap().push("made".to_owned());
        }
    }
    let all = Arc::new(Mutex::new(Vec::new()));
    let told = all.clone();
    watch(move |control, call, now| {
        // Other tests of this process have controls of their own.
        if control == "own-noting" {
            told.lock()
                .unwrap()
                .push(format!("{call} at {} ns", now.as_nanos()));
        }
    });
    let made = Box::new(Noting(all.clone()));
    let mut guarded = crate::Guarded::new("own-noting", made);
    guarded.on_restart(Time::from_nanos(2_000_000_000), &mut Window::new(10.0));
    assert_eq!(
        *all.lock().unwrap(),
        ["on_restart at 2000000000 ns", "made"]
    );
}
