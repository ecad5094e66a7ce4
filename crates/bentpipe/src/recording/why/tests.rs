//! Every transport over several links: words, figures and the table agree.

use super::*;
use crate::Comparison;
use crate::compare::{Hosts, Pep, Row, Traffic};
use crate::recording::{Detail, StepKind};
use bentpipe_scenario::QueueLength;
use bentpipe_sim::LossCause;
use bentpipe_units::{Bytes, Duration, Rate, Ratio};

fn geo() -> Comparison {
    Comparison::new()
        .rate(Rate::from_mbps(2))
        .rtt(Duration::from_millis(511))
        .queue(QueueLength::Packets(60.0))
        .size(Bytes::new(400_000))
        .loss(Ratio::ZERO)
        .runs(1)
}

fn lossy() -> Comparison {
    let loss = Ratio::new(0.01).unwrap();
    geo().loss(loss).seed(3)
}

fn low() -> Comparison {
    Comparison::new()
        .rate(Rate::from_mbps(10))
        .rtt(Duration::from_millis(40))
        .queue(QueueLength::Packets(20.0))
        .size(Bytes::new(1_000_000))
        .loss(Ratio::new(0.001).unwrap())
        .runs(1)
}

fn recorded(answer: &Answer, row: &Row) -> Recording {
    answer.record(row, 0, &Detail::default()).unwrap()
}

/// What must be so of any run.
fn check(answer: &Answer, row: &Row) {
    let recording = recorded(answer, row);
    let why = recording.why(answer);
    let name = format!("{} behind {}", row.name, row.pep.name());
    // The table is about the same run.
    let run = row.cells[0]
        .median_run()
        .map_or(answer.seed, |run| run.seed);
    assert_eq!(recording.seed, run, "{name}");
    let time = row.cells[0].runs.iter().find(|r| r.seed == run).unwrap();
    let took = recording
        .ended_at
        .map(|at| at.since(recording.started_at).as_secs());
    assert_eq!(took, time.own[0].time_s, "{name}");
    if recording.series.sender.is_empty() {
        assert!(why.acts.is_empty(), "{name}");
        return;
    }
    counts(&recording, row, &name);
    acts(&recording, &why, &name);
    spent(&recording, answer, &name);
    for act in &why.acts {
        words(&recording, act, &name);
    }
}

/// What was seen is what was counted.
fn counts(recording: &Recording, row: &Row, name: &str) {
    let outcome = &recording.outcome;
    let flow = &outcome.flows[0];
    let crosses = usize::from(row.pep == Pep::Split || row.pep == Pep::Gateway);
    let (resent, timeouts) = match outcome
        .legs
        .iter()
        .find(|leg| leg.flow == 0 && leg.leg == crosses)
    {
        Some(leg) if crosses > 0 => (leg.retransmissions, leg.timeouts),
        _ => (flow.retransmissions, flow.timeouts),
    };
    assert_eq!(recording.resent.len() as u64, resent, "{name}: sent again");
    assert_eq!(
        recording.timeouts.len() as u64,
        timeouts,
        "{name}: timeouts"
    );
    if crosses == 0 && row.pep == Pep::None {
        let seen =
            recording.losses.len() + recording.lost_acks.len() + recording.lost_openings.len();
        let counted = flow.queue_drops + flow.channel_losses + flow.outage_losses;
        assert!(
            seen as u64 <= counted + 2,
            "{name}: {seen} of {counted} lost"
        );
        // Those without data on their way to the receiver: probes, and polls of STP.
        let empty = flow.probes_sent + 3;
        assert!(
            counted <= seen as u64 + empty,
            "{name}: {seen} of {counted} lost"
        );
    }
    let top = recording.queue.iter().map(|(_, n)| *n).max().unwrap_or(0);
    let link = &outcome.links[0];
    assert!(top <= link.max_queue_packets, "{name}: {top} packets wait");
    let bytes = recording.series.delivered.last().map(|d| d.1);
    assert_eq!(bytes, Some(flow.delivered), "{name}");
}

/// The parts of the time add up to what the table has.
fn spent(recording: &Recording, answer: &Answer, name: &str) {
    let spent = recording.time_spent(answer).unwrap();
    let sum = spent
        .parts
        .iter()
        .fold(Duration::ZERO, |sum, part| sum + part.time);
    assert_eq!(sum, spent.total(), "{name}: {spent:?}");
    assert_eq!(spent.to, recording.end(), "{name}");
    let first = recording.first_data_at.unwrap();
    let opening = first.since(recording.started_at);
    assert_eq!(spent.of(Doing::Handshake), opening, "{name}");
    let ended = recording.timeouts.iter().any(|at| *at < recording.end());
    let waited = !spent.of(Doing::Timeout).is_zero();
    assert!(
        ended || !waited,
        "{name}: waits for a timeout that does not come"
    );
    for part in &spent.parts {
        assert!(
            part.busy.is_none_or(|busy| (0.0..=1.0).contains(&busy)),
            "{name}"
        );
        assert!(part.cwnd.is_none_or(f64::is_finite), "{name}");
    }
    let idle = spent.idle_s().filter(|idle| *idle >= 0.0);
    assert!(idle.is_some() || answer.path.profile.is_some(), "{name}");
}

/// Acts follow each other from the first data to the end, and leave nothing out.
fn acts(recording: &Recording, why: &Why, name: &str) {
    assert!(
        why.acts.len() <= MOST_ACTS + 1,
        "{name}: {} acts",
        why.acts.len()
    );
    for pair in why.acts.windows(2) {
        assert_eq!(
            pair[0].to, pair[1].from,
            "{name}: {} and {}",
            pair[0].title, pair[1].title
        );
        assert!(pair[0].from < pair[0].to, "{name}: {}", pair[0].title);
    }
    let last = why.acts.last().unwrap();
    assert_eq!(last.to, recording.end(), "{name}");
    let sum = |of: fn(&Facts) -> u64| why.acts.iter().map(|act| of(&act.facts)).sum::<u64>();
    let first = recording.first_data_at.unwrap();
    let lost = recording
        .losses
        .iter()
        .filter(|l| l.at >= first && l.at <= last.to);
    assert_eq!(
        sum(Facts::lost_in_all),
        lost.count() as u64,
        "{name}: losses"
    );
    let resent = recording.resent.iter().filter(|r| r.at <= last.to).count();
    assert_eq!(sum(|f| f.resent), resent as u64, "{name}: sent again");
    let timeouts = recording
        .timeouts
        .iter()
        .filter(|at| **at >= first && **at <= last.to);
    assert_eq!(
        sum(|f| f.timeouts.len() as u64),
        timeouts.count() as u64,
        "{name}: timeouts"
    );
    let known = recording
        .phases()
        .iter()
        .all(|span| span.phase.title != span.phase.name);
    assert!(
        known,
        "{name}: a phase has no title: {:?}",
        recording
            .phases()
            .iter()
            .map(|s| s.phase.name)
            .collect::<Vec<_>>()
    );
}

/// The numbers of an act are those of the series.
fn words(recording: &Recording, act: &Act, name: &str) {
    let text = act.sentences.join(" ");
    let at = format!("{name}, {}: {text}", act.title);
    assert!(!text.contains("NaN") && !text.contains("inf"), "{at}");
    let inside = |at: Time| at >= act.from && at < act.to;
    let windows: Vec<f64> = recording
        .series
        .sender
        .iter()
        .filter(|s| inside(s.at))
        .map(|s| s.cwnd)
        .collect();
    let most = windows.iter().copied().fold(0.0, f64::max);
    if let Some(cwnd) = act.facts.cwnd.filter(|_| !windows.is_empty()) {
        assert!(cwnd.most >= most && cwnd.least <= cwnd.mean + 1e-9, "{at}");
        assert!(
            cwnd.mean <= cwnd.most + 1e-9,
            "{at}: mean {} most {}",
            cwnd.mean,
            cwnd.most
        );
        let told = shared::count(cwnd.last);
        let widest = shared::count(cwnd.most);
        assert!(text.contains(&told) || text.contains(&widest), "{at}");
    }
    let lost = act.facts.lost_in_all();
    assert_eq!(lost > 0, text.contains(" lost"), "{at}");
    if lost > 0 {
        assert!(text.contains(&shared::counted(lost, "segment")), "{at}");
    }
    for (cause, place) in [
        (LossCause::QueueFull, "at the full queue"),
        (LossCause::Channel, "to channel errors"),
    ] {
        assert_eq!(
            act.facts.lost.contains_key(&cause),
            text.contains(place),
            "{at}"
        );
    }
    assert_eq!(act.facts.resent > 0, text.contains("sent again"), "{at}");
    assert_eq!(
        act.facts.timeouts.is_empty(),
        !text.contains("timer expires"),
        "{at}"
    );
    if let Some(busy) = act.facts.busy {
        assert!((0.0..=1.0).contains(&busy), "{at}");
    }
}

/// Every transport of both kinds of hosts on these links.
fn every(comparison: &Comparison) {
    for hosts in [Hosts::Linux, Hosts::Rfc] {
        let answer = comparison
            .clone()
            .hosts(hosts)
            .transports(["all"])
            .run()
            .unwrap();
        assert!(answer.rows.len() > 20, "{}", answer.rows.len());
        for row in &answer.rows {
            check(&answer, row);
        }
    }
}

#[test]
fn every_transport_over_a_clean_satellite() {
    every(&geo());
}

#[test]
fn every_transport_over_a_lossy_satellite() {
    every(&lossy());
}

#[test]
fn every_transport_over_a_short_link() {
    every(&low());
}

#[test]
fn proxies_and_users() {
    let names = ["cubic", "bbr", "hybla", "vegas", "westwood"];
    let server = Duration::from_millis(40);
    for pep in [Pep::Split, Pep::Snoop, Pep::Gateway] {
        let answer = lossy()
            .server_rtt(server)
            .pep(pep)
            .transports(names)
            .run()
            .unwrap();
        for row in &answer.rows {
            check(&answer, row);
        }
    }
    let answer = geo().users(3).transports(names).run().unwrap();
    for row in &answer.rows {
        for user in 0..3 {
            let detail = Detail {
                user,
                ..Detail::default()
            };
            let recording = answer.record(row, 0, &detail).unwrap();
            let summary = recording.why(&answer).summary.join(" ");
            assert!(
                summary.contains(&format!("user {} of 3", user + 1)),
                "{summary}"
            );
        }
        let detail = Detail {
            user: 3,
            ..Detail::default()
        };
        assert!(answer.record(row, 0, &detail).is_err());
    }
}

#[test]
fn quic_over_a_lossy_satellite() {
    let question = lossy().server_rtt(Duration::from_millis(40));
    let question = question.peps([Pep::None, Pep::Split]);
    let answer = question.transports(["cubic + QUIC", "bbr + QUIC"]).run();
    let answer = answer.unwrap();
    for row in answer.rows.iter().filter(|row| row.name.ends_with("QUIC")) {
        check(&answer, row);
        let recording = recorded(&answer, row);
        assert_eq!(recording.rtt, Duration::from_millis(551), "{}", row.name);
        let handshake = recording.first_data_at.unwrap().since(recording.started_at);
        let all = [Time::ZERO, Time::MAX];
        let index = answer.row_named(&answer.row_name(row)).unwrap();
        let trace = answer.trace(index, 0, all).unwrap();
        assert!(trace.packets.is_quic);
        let of = |kind| {
            trace
                .packets
                .steps
                .iter()
                .filter(|s| s.kind == kind)
                .count()
        };
        assert_eq!(
            of(StepKind::Resent) + of(StepKind::Ahead) + of(StepKind::Duplicate),
            0
        );
        assert!(of(StepKind::Sent) > 250 && of(StepKind::Received) > 250);
        let mut log = Vec::new();
        let provenance = bentpipe_outcome::Provenance::new("", "", &[1]);
        crate::recording::write_qlog(&mut log, &trace, &provenance).unwrap();
        let log = String::from_utf8(log).unwrap();
        assert!(log.contains("\"protocol_type\":[\"QUIC\"]"), "{log:.300}");
        // A round trip, with a flight of certificates over the return link: 68 ms at 400 kbit/s.
        assert!((0.615..0.64).contains(&handshake.as_secs()), "{handshake}");
    }
}

#[test]
fn the_same_words_over_iridium() {
    let place = |name: &str| name.parse::<bentpipe_orbit::Site>().unwrap();
    let orbit = crate::compare::Orbit::new("iridium", place("Berkeley"), place("Boston"));
    let answer = Comparison::new()
        .orbit(orbit)
        .size(Bytes::new(200_000))
        .runs(2)
        .transports(["cubic", "bbr", "bp_hybla", "vegas"])
        .run()
        .unwrap();
    for row in &answer.rows {
        check(&answer, row);
    }
}

/// The acts of a run as text.
fn told(answer: &Answer, row: &Row) -> String {
    let why = recorded(answer, row).why(answer);
    let mut text = why.summary.join("\n");
    for act in &why.acts {
        text += &format!(
            "\n{}, {} to {}: {}",
            act.title,
            shared::at(act.from),
            shared::at(act.to),
            act.sentences.join(" ")
        );
    }
    text
}

/// Worked examples: read them when they change. With `BENTPIPE_EXAMPLES` set they are
/// written again.
fn examples(comparison: Comparison, file: &str) {
    let names = [
        "cubic",
        "bbr",
        "vegas",
        "bp_hybla",
        "bp_mtsi",
        "bp_westwood",
    ];
    let answer = comparison
        .size(Bytes::new(3_000_000))
        .transports(names)
        .run()
        .unwrap();
    let told = answer
        .rows
        .iter()
        .map(|row| format!("# {}\n\n{}\n", row.name, told(&answer, row)));
    let text = told.collect::<Vec<_>>().join("\n");
    kept(&text, file);
}

/// The text is the one of the file.
fn kept(text: &str, file: &str) {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/src/recording/why/examples");
    let path = std::path::Path::new(folder).join(file);
    if std::env::var_os("BENTPIPE_EXAMPLES").is_some() {
        std::fs::create_dir_all(folder).unwrap();
        std::fs::write(&path, text).unwrap();
    }
    let kept = std::fs::read_to_string(&path).unwrap();
    assert_eq!(text, kept, "{}", path.display());
}

/// Each of a few transports beside cubic.
fn differences(comparison: Comparison) -> String {
    let names = ["cubic", "bbr", "vegas", "bp_hybla", "bp_mtsi"];
    let answer = comparison
        .size(Bytes::new(3_000_000))
        .transports(names)
        .run()
        .unwrap();
    let row = |name: &str| answer.row_named(name).unwrap();
    let told = names[1..].iter().map(|name| {
        let both = answer
            .explain_beside(&[row("cubic"), row(name)], 0)
            .unwrap();
        let [base, other] = both.as_slice() else {
            panic!("two rows");
        };
        assert_eq!(base.recording.seed, other.recording.seed);
        let told = difference(
            &answer,
            (&base.name, &base.recording),
            (&other.name, &other.recording),
        );
        told.join(" ") + "\n"
    });
    told.collect::<Vec<_>>().join("\n")
}

#[test]
fn examples_of_differences() {
    let text = format!(
        "# Without losses\n\n{}\n# 1% of losses\n\n{}\n# A queue of 5 packets\n\n{}",
        differences(geo()),
        differences(lossy()),
        differences(geo().queue(QueueLength::Packets(5.0))),
    );
    kept(&text, "difference.txt");
}

#[test]
fn a_run_with_itself_takes_the_same_time() {
    let answer = lossy().transports(["cubic"]).run().unwrap();
    let one = answer.explain(0, 0).unwrap();
    let told = difference(&answer, ("a", &one.recording), ("b", &one.recording));
    assert_eq!(told.len(), 1);
    assert!(told[0].ends_with("about the same."), "{}", told[0]);
}

#[test]
fn a_small_receive_buffer_is_told() {
    // The path takes 7.5 MB, and the receive window of Linux grows to 3.1 MB.
    let question = Comparison::new()
        .rate(Rate::from_mbps(100))
        .rtt(Duration::from_millis(600))
        .loss(Ratio::ZERO)
        .size(Bytes::new(30_000_000))
        .runs(1)
        .transports(["cubic", "cubic + buffers"]);
    let answer = question.run().unwrap();
    let rows = ["cubic", "cubic + buffers"].map(|name| answer.row_named(name).unwrap());
    let both = answer.explain_beside(&rows, 0).unwrap();
    let spent = |i: usize| both[i].spent.as_ref().unwrap();
    let waited = spent(0).of(Doing::ReceiveWindow);
    assert!(waited > spent(0).total() / 3, "{:?}", spent(0));
    assert!(spent(1).of(Doing::ReceiveWindow).is_zero());
    let told = difference(
        &answer,
        (&both[0].name, &both[0].recording),
        (&both[1].name, &both[1].recording),
    );
    let last = told.last().unwrap();
    assert!(
        last.starts_with("cubic's receiver has a buffer of 3.145728 MB"),
        "{told:?}"
    );
}

#[test]
fn examples_over_a_clean_satellite() {
    examples(geo(), "clean.txt");
}

#[test]
fn examples_over_a_lossy_satellite() {
    examples(lossy(), "lossy.txt");
}

#[test]
fn examples_behind_a_proxy() {
    examples(lossy().pep(Pep::Split), "split.txt");
}

/// A download ends also where others read pages and watch videos meanwhile.
#[test]
fn of_mixed_traffic_a_download_ends_and_the_others_do_not() {
    let question = low().traffic(Traffic::Mixed).transports(["cubic"]);
    let answer = question.run().unwrap();
    let row = &answer.rows[0];
    let users = [0, 1, 2].map(|user| {
        let detail = Detail {
            user,
            ..Detail::default()
        };
        answer.record(row, 0, &detail).unwrap()
    });
    let run = row.cells[0].median_run().unwrap();
    let took = users[0].ended_at.unwrap().since(users[0].started_at);
    assert_eq!(Some(took.as_secs()), run.own[0].time_s);
    let said = users
        .each_ref()
        .map(|user| user.why(&answer).summary[0].clone());
    assert!(
        said[0].starts_with("The download of 1 MB takes "),
        "{said:?}"
    );
    for other in 1..3 {
        assert_eq!(users[other].ended_at, None);
        assert!(said[other].starts_with("The run of seed "), "{said:?}");
    }
}
