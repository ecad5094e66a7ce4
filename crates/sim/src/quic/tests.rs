use super::*;
use crate::{Options, run};

fn scenario(transport: &str, flow: &str, more: &str) -> String {
    format!(
        "duration = \"300 s\"\n[node.hub]\n[node.terminal]\n[link.satellite]\n\
         between = [\"hub\", \"terminal\"]\nrate = \"20 Mbit/s\"\none_way_delay = \"150 ms\"\n\
         queue = {{ kind = \"drop-tail\", limit = \"500 packets\" }}\n{more}\n\
         [transport.mine]\n{transport}\n\
         [flow.download]\nfrom = \"hub\"\nto = \"terminal\"\ntransport = \"mine\"\n{flow}\n"
    )
}

const TEN: &str = "application = { kind = \"transfer\", size = \"10 MB\" }";

fn outcome(text: &str) -> bentpipe_outcome::Outcome {
    let scenario = bentpipe_scenario::Document::parse("test", text)
        .and_then(|document| document.validate())
        .unwrap_or_else(|error| panic!("{error}\n{text}"));
    run(&scenario, &Options::default()).unwrap()
}

#[test]
fn a_transfer_ends_the_same_each_time() {
    let text = scenario("base = \"newreno\"\nprotocol = \"quic\"", TEN, "");
    let first = outcome(&text);
    let flow = &first.flows[0];
    let took = flow.transfer_time.unwrap().as_secs();
    // 10 MB take 4.2 s at the link's rate; slow start and the handshake come before.
    assert!((5.0..=9.0).contains(&took), "{took}");
    assert_eq!(flow.delivered, Bytes::new(10_000_000));
    assert!(flow.min_rtt.unwrap() >= bentpipe_units::Duration::from_millis(300));
    assert!(flow.max_cwnd > 100.0);
    assert_eq!(first, outcome(&text));
}

#[test]
fn losses_are_found_and_sent_again() {
    let loss = "channel = { kind = \"uniform\", packet_error_rate = 0.01 }";
    for control in ["newreno", "cubic", "bbr", "hybla"] {
        let transport = format!("base = \"{control}\"\nprotocol = \"quic\"");
        let o = outcome(&scenario(&transport, TEN, loss));
        let flow = &o.flows[0];
        assert_eq!(flow.delivered, Bytes::new(10_000_000), "{control}");
        assert!(
            flow.retransmissions > 20,
            "{control}: {}",
            flow.retransmissions
        );
    }
}
