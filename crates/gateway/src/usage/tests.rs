use super::*;
use crate::config::{Prefix, Urgency, config_from_str};
use crate::tunnel::keys::Identity;

fn config(keys: &str) -> Config {
    let text = format!("role = \"hub\"\n[tunnel]\npeers = [\"k\"]\n{keys}");
    config_from_str(&text).unwrap_or_else(|errors| panic!("{errors}"))
}

fn holder(last: u16) -> Holder {
    let [high, low] = last.to_be_bytes();
    Holder {
        terminal: None,
        subscriber: Subscriber::new(Prefix::new([10, 0, high, low].into(), 32)),
    }
}

#[test]
fn each_subscriber_is_counted_and_all_beyond_a_number_together() {
    let (usages, config) = (Arc::new(Usages::default()), config(""));
    let count = u16::try_from(SHOWN).unwrap() + 50;
    for last in 0..count {
        let member = usages.join(holder(last), Class::Udp, &config);
        member.sent(10);
        member.received(1);
    }
    let series = usages.series();
    assert_eq!(series.len(), SHOWN + 1);
    assert_eq!(
        series[0],
        ("10.0.0.0".to_owned(), String::new(), [10, 1, 1])
    );
    assert_eq!(series[SHOWN].0, "others");
    assert_eq!(series[SHOWN].2, [500, 50, 50]);
    // Those without a connection or a series are forgotten.
    assert_eq!(usages.known().accounts.len(), SHOWN);
    let status = usages.status();
    assert_eq!(status.as_array().unwrap().len(), SHOWN);
    assert_eq!(status[0]["bytes_sent"], 10);
    assert_eq!(status[0]["connections_active"], 0);
}

#[test]
fn a_new_configuration_holds_for_connections_that_are_open() {
    let usages = Arc::new(Usages::default());
    let member = usages.join(holder(7), Class::Udp, &config(""));
    assert_eq!((member.weight(), member.is_limited()), (100, false));
    let plan = "[[subscribers.plan]]\nname = \"crew\"\nnets = [\"10.0.0.0/24\"]\nweight = 300\n\
                cap = \"1 Mbit/s\"\n";
    usages.renew(&config(plan));
    assert_eq!((member.weight(), member.is_limited()), (300, true));
    let status = usages.status();
    assert_eq!(status[0]["plan"], "crew");
    assert_eq!(status[0]["rate_bits_per_second"], 1_000_000);
    usages.renew(&config(""));
    assert_eq!((member.weight(), member.is_limited()), (100, false));
}

#[test]
fn classes_and_terminals_have_counts_of_their_own() {
    let usages = Arc::new(Usages::default());
    let key = Identity::generate().unwrap().public();
    let held = format!("[[terminal]]\nkey = \"{key}\"\nname = \"ferry\"\nweight = 300\n");
    let text = format!("role = \"hub\"\n[tunnel]\npeers = [\"{key}\"]\n{held}");
    let config = config_from_str(&text).unwrap_or_else(|errors| panic!("{errors}"));
    // More than have series of their own.
    for last in 0..u16::try_from(SHOWN).unwrap() + 50 {
        let holder = Holder {
            terminal: Some(key),
            ..holder(last)
        };
        let class = match last % 2 {
            0 => Class::Udp,
            _ => Class::Tcp(Urgency::First),
        };
        usages.join(holder, class, &config).sent(10);
    }
    let of = usages.by_class();
    assert_eq!(of[0], ("first", [1250, 0, 125]));
    assert_eq!(of[1], ("normal", [0, 0, 0]));
    assert_eq!(of[3], ("udp", [1250, 0, 125]));
    assert_eq!(
        usages.by_terminal(&config),
        [(key.to_string(), [2500, 0, 250])]
    );
    assert_eq!(usages.carried(), [2500, 0]);
    assert_eq!(usages.classes_status()["udp"]["bytes_sent"], 1250);
    let status = usages.terminals_status(&config);
    assert_eq!(status[0]["name"], "ferry");
    assert_eq!(status[0]["weight"], 300);
    assert_eq!(status[0]["connections_active"], 0);
    assert_eq!(status[0]["bytes_sent"], 2500);
}
