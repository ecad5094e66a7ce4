//! Segmentation offload: super-segments on links that carry them whole, and cut into segments.

use crate::text::read;
use bentpipe_outcome::{FlowOutcome, LinkOutcome};
use bentpipe_sim::{Options, run};

/// A download of a minute over a slow link and one that loses 2% both ways: the flow, and the link
/// that loses.
fn download(transport: &str, links: &str) -> (FlowOutcome, LinkOutcome) {
    let text = format!(
        "duration = \"60 s\"\nseed = 3\n[node.a]\n[node.b]\n[node.c]\n\
         [link.satellite]\nbetween = [\"a\", \"b\"]\nrate = \"10 Mbit/s\"\n\
         one_way_delay = \"20 ms\"\nqueue = \"1000 packets\"\n{links}\n\
         [link.radio]\nbetween = [\"b\", \"c\"]\nrate = \"1 Gbit/s\"\none_way_delay = \"1 ms\"\n\
         queue = \"1000 packets\"\n{links}\n\
         channel = {{ kind = \"uniform\", packet_error_rate = \"2%\" }}\n\
         [transport.t]\nbase = \"cubic\"\nprofile = \"linux\"\n{transport}\n\
         [flow.f]\nfrom = \"a\"\nto = \"c\"\ntransport = \"t\"\napplication = \"persistent\"\n"
    );
    let mut outcome = run(&read(&text), &Options::default()).unwrap();
    (outcome.flows.remove(0), outcome.links.remove(2))
}

/// Segments for each packet that the lossy link was offered.
fn segments_a_packet((flow, link): &(FlowOutcome, LinkOutcome)) -> f64 {
    flow.packets_sent as f64 / link.offered_packets as f64
}

/// netem between containers: losses come in twos, so that there are about half as many loss events,
/// and cubic, whose window goes with 1/sqrt(events), carries about 1.4 times as much.
#[test]
fn super_segments_are_lost_whole() {
    let single = download("offload = false", "offload = \"whole\"");
    let cut = download("", "");
    let whole = download("", "offload = \"whole\"");
    assert!((segments_a_packet(&single) - 1.0).abs() < 0.01);
    assert!((segments_a_packet(&cut) - 1.0).abs() < 0.01);
    let together = segments_a_packet(&whole);
    assert!((1.5..=2.0).contains(&together), "{together}");
    let gain = whole.0.delivered.as_f64() / single.0.delivered.as_f64();
    assert!((1.2..=1.6).contains(&gain), "{gain}");
    assert_eq!(cut.0.delivered, single.0.delivered);
}

/// One link that cuts, and all packets are those of the wire.
#[test]
fn one_link_that_cuts_is_enough() {
    let text = |links: &str| {
        format!(
            "duration = \"10 s\"\n[node.a]\n[node.b]\n[node.c]\n\
             [link.x]\nbetween = [\"a\", \"b\"]\nrate = \"10 Mbit/s\"\none_way_delay = \"20 ms\"\n\
             queue = \"100 packets\"\noffload = \"whole\"\n\
             [link.y]\nbetween = [\"b\", \"c\"]\nrate = \"1 Gbit/s\"\none_way_delay = \"1 ms\"\n\
             queue = \"100 packets\"\n{links}\n[transport.t]\nbase = \"cubic\"\n\
             profile = \"linux\"\n[flow.f]\nfrom = \"a\"\nto = \"c\"\n\
             transport = \"t\"\napplication = \"persistent\"\n"
        )
    };
    let offered = |links: &str| {
        let outcome = run(&read(&text(links)), &Options::default()).unwrap();
        (
            outcome.links[0].offered_packets,
            outcome.flows[0].packets_sent,
        )
    };
    let (packets, segments) = offered("");
    assert_eq!(packets, segments + 2, "two packets of the handshake");
    let (packets, segments) = offered("offload = \"whole\"");
    assert!(packets < segments * 2 / 3, "{packets} of {segments}");
}

/// A connection for each page, and super-segments in all of them.
#[test]
fn a_connection_that_opens_again_sends_whole_as_well() {
    let offered = |connection: &str| {
        let text = format!(
            "duration = \"30 s\"\n[node.a]\n[node.b]\n[link.x]\nbetween = [\"a\", \"b\"]\n\
             rate = \"10 Mbit/s\"\none_way_delay = \"20 ms\"\nqueue = \"100 packets\"\n\
             offload = \"whole\"\n[transport.t]\nbase = \"cubic\"\nprofile = \"linux\"\n\
             [flow.f]\nfrom = \"a\"\nto = \"b\"\ntransport = \"t\"\n\
             application = {{ kind = \"web\", connection = \"{connection}\" }}\n"
        );
        let outcome = run(&read(&text), &Options::default()).unwrap();
        (
            outcome.links[0].offered_packets,
            outcome.flows[0].packets_sent,
        )
    };
    for connection in ["persistent", "page"] {
        let (packets, segments) = offered(connection);
        assert!(
            packets < segments * 2 / 3,
            "{connection}: {packets} of {segments}"
        );
    }
}
