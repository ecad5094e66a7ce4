use super::*;
use bentpipe_units::{Duration, Rate};

fn question() -> Comparison {
    Comparison::new()
        .rate(Rate::from_mbps(2))
        .loss(Loss::NONE)
        .size(Bytes::new(100_000))
        .transports(["cubic", "cubic + IW 32"])
        .time(Duration::from_secs(1))
}

#[test]
fn values_are_those_that_can_be_typed() {
    let text = |value: Value, factor: f64| value.times(factor, 1).map(Value::text);
    let loss = |text: &str| Value::Loss(text.parse().unwrap());
    assert_eq!(text(loss("0.1%"), 0.5).unwrap(), "0.05%");
    assert_eq!(text(loss("0.15%"), 3.3333).unwrap(), "0.5%");
    assert_eq!(
        text(loss("2% in bursts of 8 packets"), 2.0).unwrap(),
        "4% in bursts of 8 packets"
    );
    assert_eq!(text(loss("30%"), 2.0), None);
    let queue = |text: &str| Value::Queue(text.parse().unwrap());
    assert_eq!(text(queue("1 BDP"), 0.5).unwrap(), "0.5 BDP");
    assert_eq!(text(queue("5 packets"), 0.5).unwrap(), "3 packets");
    assert_eq!(text(queue("1 packets"), 0.1), None);
    assert_eq!(text(queue("64 kB"), 2.0).unwrap(), "130 kB");
    assert_eq!(text(Value::Users(3), 2.0).unwrap(), "6");
    assert_eq!(text(Value::Users(1), 0.4), None);
    assert_eq!(text(Value::Users(900), 2.0), None);
    assert_eq!(Value::Users(3).over(Value::Users(6)), 0.5);
}

#[test]
fn neighbours_are_what_asking_them_gives() {
    let answer = question().robust(true).run().unwrap();
    assert_eq!(answer.recommended().unwrap().name, "cubic + IW 32");
    let robust = answer.robustness.as_ref().unwrap();
    assert_eq!(robust.rows, [0, 1]);
    let [loss, queue, users] = &robust.dimensions[..] else {
        panic!("{robust:?}");
    };
    // Nothing is lost: there is no half of it.
    assert_eq!(
        (loss.asked.as_str(), &loss.half, &loss.twice),
        ("0%", &None, &None)
    );
    assert_eq!(loss.below, Turn::Unknown);
    // Nor of one user.
    assert_eq!((users.half.as_ref(), &users.below), (None, &Turn::Unknown));
    let half = queue.half.as_ref().unwrap();
    assert_eq!((half.value.as_str(), half.factor), ("0.5 BDP", 0.5));
    let asked = question()
        .queue("0.5 BDP".parse::<crate::compare::Queue>().unwrap())
        .run()
        .unwrap();
    assert_eq!(half.pick, asked.verdict.pick);
    assert_eq!(half.certainty, asked.verdict.certainty);
    assert_eq!(half.gain, asked.verdict.gain);
    assert_eq!(half.holds, Some(true));
    // The answer itself is that without the neighbours.
    assert_eq!(question().run().unwrap().verdict, answer.verdict);
}

#[test]
fn threads_and_the_order_of_runs_change_nothing() {
    let question = || question().loss(Ratio::new(0.01).unwrap()).robust(true);
    let one = question().threads(1).run().unwrap();
    let many = question().threads(4).run().unwrap();
    assert_eq!(one.robustness, many.robustness);
}

#[test]
fn real_hosts_are_too_slow_for_it() {
    #[derive(Debug)]
    struct Idle;
    impl super::super::Runner for Idle {
        fn run(
            &self,
            _: &bentpipe_scenario::Scenario,
            _: &bentpipe_sim::Options,
        ) -> Result<bentpipe_outcome::Outcome, Error> {
            Err(Error::Runner("idle".to_owned()))
        }
    }
    let error = question()
        .robust(true)
        .runner(std::sync::Arc::new(Idle))
        .run()
        .unwrap_err();
    assert!(
        error.to_string().starts_with("`robust` needs many runs"),
        "{error}"
    );
}
