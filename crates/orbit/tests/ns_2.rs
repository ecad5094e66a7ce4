//! The delay from Berkeley to Boston over a day against ns-2's own Iridium and
//! Teledesic (`fidelity/constellations.py` says how the files were made): one
//! packet every 10.01 s, handovers not randomised.
//!
//! ns-2 adds to the propagation of each hop the time of a packet of 210 bytes
//! and 16 of link headers at the link's rate; so is done here. It prints times
//! to 0.1 ms.

use bentpipe_orbit::{Node, Plan, Preset, Settings, Terminal, plan, preset};
use bentpipe_units::{Bytes, Duration, Time};

struct Packet {
    sent: Time,
    /// None: ns-2 found no path.
    delay_ms: Option<f64>,
    path: Vec<u32>,
}

fn ns_2(csv: &str) -> Vec<Packet> {
    let mut path = Vec::new();
    let mut rows = Vec::new();
    for row in csv.lines().skip(1) {
        let fields: Vec<&str> = row.split(',').collect();
        match fields[2] {
            "" => {}
            "-" => path.clear(),
            satellites => {
                path = satellites.split(' ').map(|s| s.parse().unwrap()).collect();
            }
        }
        let n: u64 = fields[0].parse().unwrap();
        rows.push(Packet {
            sent: Time::from_nanos(1_000_000_000 + n * 10_010_000_000),
            delay_ms: fields[1].parse().ok(),
            path: path.clone(),
        });
    }
    rows
}

fn ours(preset: &Preset) -> Plan {
    let at = |place: &str| Terminal {
        place: place.parse().unwrap(),
        mask: preset.mask,
    };
    let terminals = [at("37.9,-122.3"), at("42.3,-71.1")];
    let settings = Settings::default();
    plan(&preset.constellation, &terminals, &[(0, 1)], &settings).unwrap()
}

/// Transmission on every link of a path over `satellites` satellites.
fn transmission(preset: &Preset, satellites: usize) -> Duration {
    let packet = Bytes::new(210 + 16);
    let isls = (satellites - 1) as u64;
    preset.up_rate.transmission_time(packet)
        + preset.down_rate.transmission_time(packet)
        + preset.isl_rate.transmission_time(packet) * isls
}

#[derive(Default, Debug)]
struct Delays(Vec<f64>);

impl Delays {
    fn least(&self) -> f64 {
        self.0.iter().copied().fold(f64::INFINITY, f64::min)
    }
    fn mean(&self) -> f64 {
        self.0.iter().sum::<f64>() / self.0.len() as f64
    }
    fn most(&self) -> f64 {
        self.0.iter().copied().fold(0.0, f64::max)
    }
}

/// What came of the packets of a day.
#[derive(Default, Debug)]
struct Outcome {
    theirs: Delays,
    ours: Delays,
    /// Packets on the same path; on another; with a path on one side only.
    same: usize,
    other: usize,
    one_sided: usize,
    /// Greatest difference of delay on the same path, ms.
    farthest: f64,
}

fn compare(name: &str, csv: &str) -> Outcome {
    let preset = preset(name).unwrap();
    let plan = ours(&preset);
    let mut outcome = Outcome::default();
    for packet in ns_2(csv) {
        let path = plan.path_at(0, packet.sent);
        let satellites: Vec<u32> = path
            .unwrap_or(&[])
            .iter()
            .filter_map(|node| match node {
                Node::Satellite(satellite) => Some(*satellite),
                Node::Terminal(_) => None,
            })
            .collect();
        let delay = plan.delay_at(0, packet.sent).map(|propagation| {
            let total = propagation + transmission(&preset, satellites.len());
            total.as_secs() * 1e3
        });
        outcome.theirs.0.extend(packet.delay_ms);
        outcome.ours.0.extend(delay);
        match (packet.delay_ms, delay) {
            (Some(theirs), Some(ours)) if packet.path == satellites => {
                outcome.same += 1;
                outcome.farthest = outcome.farthest.max((theirs - ours).abs());
            }
            (Some(theirs), Some(ours)) => {
                // ns-2 works out a route for every packet at every hop, here
                // paths stay between two looks. So another path is either as
                // short, to what 10 s make of it, or the packet was on its way
                // at a look.
                outcome.other += 1;
                let into = packet.sent.as_nanos() % 10_000_000_000;
                let in_flight = into as f64 * 1e-9 + theirs * 1e-3 > 10.0;
                assert!(
                    in_flight || (theirs - ours).abs() < 0.7,
                    "{:?}: ns-2 {theirs} {:?}, here {ours} {satellites:?}",
                    packet.sent,
                    packet.path,
                );
            }
            (None, None) => outcome.same += 1,
            _ => outcome.one_sided += 1,
        }
    }
    outcome
}

/// Prints the results (`cargo test -- --nocapture`) and compares them with the tolerances.
#[expect(
    clippy::print_stdout,
    reason = "the figures are what the test is about"
)]
fn judge(name: &str, o: &Outcome) {
    let all = o.same + o.other + o.one_sided;
    println!(
        "{name}: {all} packets, same path {:.3}%, other {}, one-sided {}, farthest {:.3} ms",
        100.0 * o.same as f64 / all as f64,
        o.other,
        o.one_sided,
        o.farthest
    );
    for (what, ours, theirs) in [
        ("minimum", o.ours.least(), o.theirs.least()),
        ("mean", o.ours.mean(), o.theirs.mean()),
        ("maximum", o.ours.most(), o.theirs.most()),
    ] {
        let percent = 100.0 * (ours / theirs - 1.0);
        println!("  {what} {ours:.3} ms, ns-2 {theirs:.3} ms, {percent:+.3}%");
        // 2% is asked for; it is 0.15%, half of a digit of ns-2's trace.
        assert!(percent.abs() < 0.3);
    }
    assert_eq!(
        o.one_sided, 0,
        "no path where ns-2 has one, or the other way round"
    );
    // Rounding of both ends of a trace, and 10 us of our knots.
    assert!(o.farthest < 0.1);
    assert!(o.same as f64 / all as f64 > 0.99);
}

#[test]
fn iridium() {
    let o = compare("iridium", include_str!("ns-2-iridium.csv"));
    judge("iridium", &o);
}

#[test]
fn teledesic() {
    let o = compare("teledesic", include_str!("ns-2-teledesic.csv"));
    judge("teledesic", &o);
}
