use crate::recording::{PacketRecorder, PacketTrace, write_qlog};
use bentpipe_outcome::{FlowOutcome, Provenance};
use bentpipe_sim::Simulation;
use bentpipe_units::{Duration, Time};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// A download over QUIC, its trace between two times and what it yields.
fn record(transport: &str, loss: &str, between: [Time; 2]) -> (PacketTrace, FlowOutcome) {
    let text = format!(
        "duration = \"300 s\"\n[node.a]\n[node.b]\n[link.satellite]\nbetween = [\"a\", \"b\"]\n\
         rate = \"20 Mbit/s\"\none_way_delay = \"300 ms\"\nqueue = \"500 packets\"\n\
         channel = {{ kind = \"uniform\", packet_error_rate = \"{loss}\" }}\n\
         [transport.mine]\nbase = \"cubic\"\nprotocol = \"quic\"\n{transport}\n\
         [flow.download]\nfrom = \"a\"\nto = \"b\"\ntransport = \"mine\"\n\
         application = {{ kind = \"transfer\", size = \"2 MB\" }}\n"
    );
    let scenario = crate::parse(&text).unwrap();
    let mut recorder = PacketRecorder::new(&scenario, &[], between).unwrap();
    let options = recorder.options(3);
    let simulation = Simulation::new(&scenario, &options).unwrap();
    let outcome = simulation.run(&mut recorder).unwrap();
    let trace = recorder.finish(&outcome).unwrap().remove(0);
    (trace, outcome.flows[0].clone())
}

fn log(trace: &PacketTrace) -> String {
    let provenance = Provenance::new("test", "", &[3]);
    let bytes = write_qlog(Vec::new(), trace, &provenance).unwrap();
    String::from_utf8(bytes).unwrap()
}

/// The records of a log after its head.
fn events(log: &str) -> Vec<Value> {
    let records = log.split('\u{1e}').skip(2);
    records
        .map(|record| serde_json::from_str(record).unwrap())
        .collect()
}

const ALWAYS: [Time; 2] = [Time::ZERO, Time::MAX];

#[test]
fn the_handshake_stands_frame_by_frame() {
    let (trace, _) = record("opener = \"to\"", "0%", ALWAYS);
    let log = log(&trace);
    let lines: Vec<&str> = log.lines().skip(1).take(6).collect();
    assert_eq!(
        lines,
        [
            "\u{1e}{\"time\":300.4912,\"name\":\"transport:packet_received\",\"data\":{\"header\":\
             {\"packet_type\":\"initial\",\"packet_number\":0},\"raw\":{\"length\":1200,\
             \"payload_length\":1145},\"frames\":[{\"frame_type\":\"crypto\",\"offset\":0,\"length\":372},\
             {\"frame_type\":\"padding\",\"payload_length\":769}],\"is_coalesced\":false}}",
            "\u{1e}{\"time\":300.4912,\"name\":\"transport:packet_sent\",\"data\":{\"header\":\
             {\"packet_type\":\"initial\",\"packet_number\":0},\"raw\":{\"length\":142,\"payload_length\":99},\
             \"frames\":[{\"frame_type\":\"ack\",\"ack_delay\":0.0,\"acked_ranges\":[[0,0]]},\
             {\"frame_type\":\"crypto\",\"offset\":0,\"length\":90}],\"is_coalesced\":true}}",
            "\u{1e}{\"time\":300.4912,\"name\":\"transport:packet_sent\",\"data\":{\"header\":\
             {\"packet_type\":\"handshake\",\"packet_number\":0},\"raw\":{\"length\":1058,\
             \"payload_length\":1016},\"frames\":[{\"frame_type\":\"crypto\",\"offset\":0,\"length\":1012}],\
             \"is_coalesced\":true}}",
            "\u{1e}{\"time\":300.4912,\"name\":\"transport:packet_sent\",\"data\":{\"header\":\
             {\"packet_type\":\"handshake\",\"packet_number\":1},\"raw\":{\"length\":1200,\
             \"payload_length\":1158},\"frames\":[{\"frame_type\":\"crypto\",\"offset\":1012,\"length\":1153}],\
             \"is_coalesced\":false}}",
            "\u{1e}{\"time\":300.4912,\"name\":\"transport:packet_sent\",\"data\":{\"header\":\
             {\"packet_type\":\"handshake\",\"packet_number\":2},\"raw\":{\"length\":940,\
             \"payload_length\":898},\"frames\":[{\"frame_type\":\"crypto\",\"offset\":2165,\"length\":893}],\
             \"is_coalesced\":true}}",
            "\u{1e}{\"time\":300.4912,\"name\":\"transport:packet_sent\",\"data\":{\"header\":\
             {\"packet_type\":\"1RTT\",\"packet_number\":0},\"raw\":{\"length\":138,\"payload_length\":112},\
             \"frames\":[{\"frame_type\":\"new_connection_id\",\"sequence_number\":1,\"retire_prior_to\":0,\
             \"connection_id_length\":8,\"connection_id\":\"\"},{\"frame_type\":\"new_connection_id\",\
             \"sequence_number\":2,\"retire_prior_to\":0,\"connection_id_length\":8,\"connection_id\":\"\"},\
             {\"frame_type\":\"new_connection_id\",\"sequence_number\":3,\"retire_prior_to\":0,\
             \"connection_id_length\":8,\"connection_id\":\"\"},{\"frame_type\":\"new_connection_id\",\
             \"sequence_number\":4,\"retire_prior_to\":0,\"connection_id_length\":8,\"connection_id\":\"\"}],\
             \"is_coalesced\":true}}",
        ]
    );
    assert!(log.contains("\"type\":\"server\""));
    // The window begins with ten packets of 1200 bytes.
    assert!(log.contains("\"congestion_window\":12000"));
}

/// Numbers count up in each space, what is lost was sent and not acknowledged before, and the counts
/// are the flow's.
#[test]
fn a_log_agrees_with_the_flow() {
    for transport in [
        "",
        "opener = \"to\"",
        "resumption = \"0-rtt\"",
        "mss = \"1400 B\"",
    ] {
        let (trace, flow) = record(transport, "2%", ALWAYS);
        let text = log(&trace);
        let opens = transport != "opener = \"to\"";
        assert_eq!(text.contains("\"type\":\"client\""), opens, "{transport}");
        let space = |data: &Value| match data["header"]["packet_type"].as_str().unwrap() {
            "0RTT" => "1RTT".to_owned(),
            other => other.to_owned(),
        };
        let number = |data: &Value| data["header"]["packet_number"].as_u64().unwrap();
        let mut sent: BTreeMap<String, BTreeSet<u64>> = BTreeMap::new();
        let mut acknowledged = BTreeSet::new();
        let mut offsets = BTreeSet::new();
        let (mut last, mut lost, mut acks) = (0.0, 0, 0);
        for event in events(&text) {
            let time = event["time"].as_f64().unwrap();
            assert!(time >= last, "{event}");
            last = time;
            let data = &event["data"];
            match event["name"].as_str().unwrap() {
                "transport:packet_sent" => {
                    let numbers = sent.entry(space(data)).or_default();
                    assert!(numbers.last() < Some(&number(data)), "{event}");
                    numbers.insert(number(data));
                    for frame in data["frames"].as_array().unwrap() {
                        if frame["frame_type"] == "stream" {
                            let first = frame["offset"].as_u64().unwrap();
                            offsets.insert((first, first + frame["length"].as_u64().unwrap()));
                        }
                    }
                }
                "transport:packet_received" => {
                    for frame in data["frames"].as_array().unwrap() {
                        if frame["frame_type"] != "ack" {
                            continue;
                        }
                        acks += 1;
                        for range in frame["acked_ranges"].as_array().unwrap() {
                            let [first, last] = [0, 1].map(|i| range[i].as_u64().unwrap());
                            assert!(Some(&last) <= sent[&space(data)].last(), "{event}");
                            acknowledged.extend((first..=last).map(|n| (space(data), n)));
                        }
                    }
                }
                "recovery:packet_lost" => {
                    lost += 1;
                    assert!(sent[&space(data)].contains(&number(data)), "{event}");
                    let known = (space(data), number(data));
                    assert!(!acknowledged.contains(&known), "{event}");
                }
                "recovery:metrics_updated" | "recovery:congestion_state_updated" => {}
                other => panic!("{other}"),
            }
        }
        assert!(flow.retransmissions > 10, "{}", flow.retransmissions);
        assert_eq!(lost, flow.retransmissions, "{transport}");
        assert_eq!(acks, flow.acks_received, "{transport}");
        // The whole file was sent.
        let mut end = 0;
        for (first, last) in offsets {
            assert!(first <= end);
            end = end.max(last);
        }
        assert_eq!(end, 2_000_000);
        // The same bytes each time.
        let (again, _) = record(transport, "2%", ALWAYS);
        assert_eq!(text, log(&again));
    }
}

/// A part of the time has the events of that time, losses of what was sent before included.
#[test]
fn a_part_has_the_same_events() {
    let (whole, _) = record("", "2%", ALWAYS);
    let between = [
        Time::ZERO + Duration::from_secs(2),
        Time::ZERO + Duration::from_secs(9),
    ];
    let (part, _) = record("", "2%", between);
    let of = |trace: &PacketTrace| {
        let mut events = events(&log(trace));
        // The first sample of a part says everything and not only what has changed.
        events.retain(|event| {
            let time = event["time"].as_f64().unwrap();
            let name = event["name"].as_str().unwrap();
            (2000.0..=9000.0).contains(&time) && !name.ends_with("updated")
        });
        events
    };
    assert!(of(&part).len() > 50, "{}", of(&part).len());
    assert_eq!(of(&part), of(&whole));
    assert!(part.datagrams.fits > 1200);
}
