//! Files of traces become profiles, or errors that say what is missing.

use super::*;

fn file(name: &str, text: &str) -> PathBuf {
    let folder = std::env::temp_dir().join(format!("bentpipe-trace-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let file = folder.join(name);
    std::fs::write(&file, text).unwrap();
    file
}

const ALONE: Rest = Rest {
    rtt: None,
    return_rate: None,
    over: None,
};

/// 1 s with an opportunity each 2 ms: 6 Mbit/s.
fn rates() -> String {
    (1..=500).map(|i| format!("{}\n", 2 * i)).collect()
}

#[test]
fn the_formats_are_told_apart() {
    let rate = file("rate", &rates());
    let delay = file("delay", "20\n30\n25.5\n24.5\n");
    let queue = file(
        "queue.csv",
        "1000000,5000000,7000000,0,10\n3000000,9000000,3000000,858993459,10\n",
    );
    let ms = Duration::from_millis;

    let needs = Trace::new([&rate]).profile(ALONE).unwrap_err().to_string();
    assert!(
        needs.contains("rate has no delays: give the round-trip time"),
        "{needs}"
    );
    let rest = Rest {
        rtt: Some(ms(60)),
        ..ALONE
    };
    let profile = Trace::new([&rate]).profile(rest).unwrap();
    assert_eq!(profile.rate, Rate::from_mbps(6));
    assert_eq!((profile.rtt, profile.span), ([ms(60); 3], ms(1000)));
    assert_eq!(profile.text, "a trace of mahimahi of 1.0 s");

    // In either order.
    for files in [[&rate, &delay], [&delay, &rate]] {
        let profile = Trace::new(files).profile(ALONE).unwrap();
        assert_eq!(profile.rate, Rate::from_mbps(6));
        assert_eq!(profile.rtt, [ms(40), ms(50), ms(60)]);
        assert!(!profile.has_losses && profile.changes());
        // Nothing else is constant on the way back.
        let back = profile.timelines[1].means(Time::ZERO, ms(40));
        assert_eq!(
            (back.rate, back.one_way_delay[1]),
            (Rate::from_bps(1_200_000), ms(25))
        );
    }
    let profile = Trace::new([&queue]).profile(ALONE).unwrap();
    assert_eq!(
        (profile.rate, profile.has_losses),
        (Rate::from_mbps(4), true)
    );
    assert_eq!(profile.rtt, [ms(10), ms(16), ms(18)]);
    // What it loses counts as lost by the link.
    let path = crate::Comparison::new()
        .trace(Trace::new([&queue]))
        .path()
        .unwrap();
    assert!(path.loss.is_none() && (path.lost() - 0.1125).abs() < 1e-6);
    let given = Trace::new([&queue]).profile(rest).unwrap_err().to_string();
    assert!(given.contains("has delays of its own"), "{given}");
}

/// Two minutes are asked for, and the last packet leaves a little before.
#[test]
fn a_trace_is_as_long_as_its_length_is_printed() {
    let rate = file("two-minutes", "1\n60000\n119998\n");
    let noted = |asked: u64| {
        let rest = Rest {
            rtt: Some(Duration::from_millis(60)),
            over: Some(Duration::from_secs(asked)),
            ..ALONE
        };
        Trace::new([&rate]).profile(rest).unwrap().notes
    };
    assert!(noted(120).is_empty(), "{:?}", noted(120));
    assert_eq!(noted(150).len(), 1);
}

#[test]
fn what_is_no_trace_says_why() {
    let rate = file("up", &rates());
    let delay = file("ms", "20\n10\n");
    let words = file("words", "hello\n");
    let broken = file("broken", "1\n2\n7\n3.5x\n");
    let wrong = |files: &[&PathBuf]| {
        let trace = Trace::new(files.iter().copied());
        trace.profile(ALONE).unwrap_err().to_string()
    };
    assert!(wrong(&[&delay]).contains("ms has delays alone"));
    assert!(wrong(&[&words]).contains("words is no trace: expected a line of milliseconds"));
    assert!(wrong(&[&broken]).contains("is no trace"));
    assert!(wrong(&[&delay, &delay]).contains("one of delivery opportunities and one of delays"));
    assert!(wrong(&[&rate, &rate, &rate]).contains("not 3"));
    assert!(wrong(&[]).contains("not 0"));
    let none = Trace::new([rate]).interval(Duration::ZERO).profile(ALONE);
    assert!(none.is_err());
    assert!(wrong(&[&PathBuf::from("/nowhere/at/all")]).contains("/nowhere/at/all"));
}

#[test]
fn lengths_are_written_as_people_do() {
    let text = |s: f64| lasting(Duration::from_secs_f64(s));
    let all = [0.5, 12.0, 60.0, 100.0, 3600.0, 5400.0, 86400.0].map(text);
    assert_eq!(
        all,
        [
            "0.5 s",
            "12 s",
            "1 min",
            "1 min 40 s",
            "1 h",
            "1 h 30 min",
            "24 h"
        ]
    );
}

/// What `bentpipe trace` writes of a fade comes back as the same link, an outage included.
#[test]
fn a_fade_that_is_written_is_the_same_link_when_it_is_read() {
    use bentpipe_link::trace::theaterq::Style;
    use bentpipe_link::{Fade, Limit, LinkSettings, ModCod, QueueSettings};

    let ms = Duration::from_millis;
    let clear: ModCod = "16APSK 3/4".parse().unwrap();
    let rate = Rate::from_mbps(50);
    let base = Piece {
        from: Time::ZERO,
        rate,
        one_way_delay: ms(300),
        sloped: false,
        loss: Loss::Channel,
        up: true,
        route: 0,
        jitter: None,
    };
    let fade = Fade {
        depth_db: 20.0,
        begins: Duration::from_secs(20),
        slope: Duration::from_secs(10),
        stays: Duration::from_secs(15),
        modes: clear.adaptive(1.0),
    };
    let line = fade.timeline(base).unwrap();
    let lasts = Duration::from_secs(120);
    let means = line.means(Time::ZERO, lasts);
    // A fifth of the time is down or slow.
    assert!(
        (0.7..0.85).contains(&(means.rate.bps_f64() / rate.bps_f64())),
        "{means:?}"
    );
    let queue = QueueSettings::drop_tail(Limit::Packets(100));
    let settings = LinkSettings::new(rate, ms(300), queue);
    let style = Style {
        extended: true,
        step: ms(10),
    };
    let theaterq = theaterq::write(&settings, &line, lasts, style).unwrap();
    let mahimahi = mahimahi::write(&line, lasts).unwrap();
    let read =
        |name: &str, text: &str, rest: Rest| Trace::new([file(name, text)]).profile(rest).unwrap();
    let rest = Rest {
        rtt: Some(ms(600)),
        ..ALONE
    };
    for profile in [
        read("fade.csv", &theaterq, ALONE),
        read("fade.trace", &mahimahi, rest),
    ] {
        let off = profile.rate.bps_f64() / means.rate.bps_f64() - 1.0;
        assert!(off.abs() < 0.001, "{}: {off}", profile.text);
        assert_eq!(profile.rtt, [ms(600); 3]);
    }
    let profile = read("fade.csv", &theaterq, ALONE);
    assert!((profile.availability - means.up).abs() < 1e-6);
    assert!(profile.longest_outage > Duration::from_secs(15));
}
