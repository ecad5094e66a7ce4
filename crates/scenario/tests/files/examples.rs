//! The ready-made scenarios and the template are good, and say what they mean.

use bentpipe_link::{ChannelSettings, Limit, QueueSettings};
use bentpipe_scenario::{Document, Handshake, Scenario, template};
use bentpipe_tcp::{CongestionControlChoice, Pacing};
use bentpipe_units::{Bytes, Duration, Rate, Time};

fn read(name: &str) -> Scenario {
    let path = format!("{}/../../scenarios/{name}.toml", env!("CARGO_MANIFEST_DIR"));
    let bytes = std::fs::read(path).unwrap();
    let document = Document::parse_bytes(&format!("scenarios/{name}.toml"), &bytes).unwrap();
    document
        .validate()
        .unwrap_or_else(|errors| panic!("{}", errors.render(false)))
}

#[test]
fn every_example_is_good_and_described() {
    let folder = format!("{}/../../scenarios", env!("CARGO_MANIFEST_DIR"));
    let mut found = 0;
    for file in std::fs::read_dir(folder).unwrap() {
        let path = file.unwrap().path();
        if path.extension().is_some_and(|e| e == "toml") {
            let name = path.file_stem().unwrap().to_str().unwrap().to_string();
            let scenario = read(&name);
            assert_eq!(scenario.name, name, "named after the file");
            assert!(
                !scenario.description.is_empty(),
                "{name} has no description"
            );
            found += 1;
        }
    }
    assert!(found >= 4);
}

#[test]
fn the_template_is_good() {
    let scenario = Document::parse("new.toml", template())
        .unwrap()
        .validate()
        .unwrap();
    assert_eq!(
        scenario.flows[0].transport.as_deref().unwrap().name,
        "tuned"
    );
}

#[test]
fn geo() {
    let scenario = read("geo");
    let satellite = scenario
        .links
        .iter()
        .find(|l| l.name == "satellite")
        .unwrap();
    assert_eq!(satellite.settings.rate, Rate::from_mbps(2));
    assert_eq!(
        satellite.settings.one_way_delay,
        Duration::from_micros(255_500)
    );
    let back = scenario
        .links
        .iter()
        .find(|l| l.name == "satellite.reverse")
        .unwrap();
    assert_eq!((back.from, back.to), (satellite.to, satellite.from));
    assert_eq!(back.settings, satellite.settings);
    let flow = &scenario.flows[0];
    assert_eq!(flow.handshake, Handshake::NotCounted);
    assert_eq!(flow.forward.len(), 2);
    assert_eq!(flow.reverse.len(), 2);
    assert_eq!(flow.transport.as_deref().unwrap().initial_window, 6.0);
}

#[test]
fn geo_ka_asymmetric() {
    let scenario = read("geo-ka-asymmetric");
    let down = &scenario.links[2].settings;
    let up = &scenario.links[3].settings;
    // 50 Mbit/s x 540 ms.
    let bdp = Limit::Bytes(Bytes::new(3_375_000));
    assert_eq!(down.queue, QueueSettings::drop_tail(bdp));
    assert_eq!(up.queue, QueueSettings::drop_tail(Limit::Packets(200)));
    assert!(matches!(
        down.channel,
        ChannelSettings::GilbertElliott { .. }
    ));
    assert!(matches!(up.channel, ChannelSettings::Uniform { .. }));
    assert_eq!(up.framing, Bytes::new(12), "what is left out is as forth");
}

#[test]
fn shared_bottleneck() {
    let scenario = read("shared-bottleneck");
    assert_eq!(scenario.flows.len(), 6);
    assert!(
        scenario
            .flows
            .iter()
            .all(|f| f.forward.len() == 3 && f.reverse.len() == 3)
    );
    let transport = scenario.flows[0].transport.as_deref().unwrap();
    assert_eq!(
        transport.pacing,
        Pacing::Window {
            gain: 1.2,
            initial_burst: 10
        }
    );
    let voice = scenario.flows.iter().find(|f| f.name == "voice").unwrap();
    assert_eq!(voice.transport, None);
    assert_eq!(voice.stop, Some(Time::from_nanos(100_000_000_000)));
    let name = &scenario.nodes[voice.from.0 as usize].name;
    assert_eq!(name, "sender[6]");
}

#[test]
fn leo_hop() {
    let scenario = read("leo-hop");
    let mixed = scenario.flows[0].transport.as_deref().unwrap();
    let slots = CongestionControlChoice::Slots {
        start: "mtsi".to_string(),
        avoidance: "reno".to_string(),
        reaction: "westwood+".to_string(),
    };
    assert_eq!(mixed.congestion_control, slots);
    let parallel: Vec<_> = scenario.flows[1..]
        .iter()
        .map(|f| (&*f.name, f.start))
        .collect();
    let at = |ms: u64| Time::ZERO + Duration::from_millis(ms);
    let expected = [
        ("parallel[1]", at(2000)),
        ("parallel[2]", at(2500)),
        ("parallel[3]", at(3000)),
        ("parallel[4]", at(3500)),
    ];
    assert_eq!(parallel, expected);
}

#[test]
fn heterogeneous() {
    let scenario = read("heterogeneous");
    let round_trip = |name: &str| {
        let flow = scenario.flows.iter().find(|f| f.name == name).unwrap();
        let links = flow.forward.iter().chain(&flow.reverse);
        links.fold(Duration::ZERO, |sum, l| {
            sum + scenario.links[l.0 as usize].settings.one_way_delay
        })
    };
    assert_eq!(round_trip("satellite[1]"), Duration::from_millis(600));
    assert_eq!(round_trip("terrestrial[3]"), Duration::from_millis(25));
    // All share one link forth and one back, and no others.
    let shared = |path: fn(&bentpipe_scenario::Flow) -> &Vec<bentpipe_scenario::LinkId>| {
        let crosses = |f: &bentpipe_scenario::Flow, l: u32| path(f).iter().any(|x| x.0 == l);
        let users = |l: u32| scenario.flows.iter().filter(|f| crosses(f, l)).count();
        let links = 0..scenario.links.len() as u32;
        links.filter(|l| users(*l) > 1).collect::<Vec<_>>()
    };
    let name = |l: u32| scenario.links[l as usize].name.as_str();
    let (forth, back) = (shared(|f| &f.forward), shared(|f| &f.reverse));
    assert_eq!((forth.len(), back.len()), (1, 1));
    assert_eq!(
        (name(forth[0]), name(back[0])),
        ("bottleneck", "bottleneck.reverse")
    );
    let transport = |i: usize| scenario.flows[i].transport.as_deref().unwrap();
    assert_eq!(
        (&*transport(0).name, &*transport(5).name),
        ("foreground", "background")
    );
    assert!(
        scenario
            .flows
            .iter()
            .all(|f| f.transport.as_deref().unwrap().mss == 1500)
    );
}
