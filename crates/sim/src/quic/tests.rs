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

/// Pages over QUIC: the first takes the handshake, the request's round trip and slow start; each has
/// its stream.
#[test]
fn pages_come_on_streams_of_their_own() {
    let pages = "application = { kind = \"web\", mean = \"300 kB\", deviation = \"1 B\", count = 4, \
                 reading = \"1 s\" }";
    let over = |protocol: &str| {
        let transport = format!("base = \"cubic\"\nprotocol = \"{protocol}\"");
        outcome(&scenario(&transport, pages, ""))
    };
    let (tcp, quic) = (over("tcp"), over("quic"));
    for o in [&tcp, &quic] {
        let flow = &o.flows[0];
        assert!((1_199_000..=1_201_000).contains(&flow.delivered.get()));
        assert_eq!(flow.pages.as_ref().map(|pages| pages.completed), Some(4));
    }
    let mean = |o: &bentpipe_outcome::Outcome| {
        let pages = o.flows[0].pages.as_ref().unwrap();
        pages.mean_time.unwrap().as_secs()
    };
    // Both take a round trip to open, and begin with ten packets. QUIC keeps its window while the
    // reader reads.
    let ratio = mean(&quic) / mean(&tcp);
    assert!((0.5..=1.05).contains(&ratio), "{ratio}");
    assert_eq!(quic, over("quic"));
}

#[test]
fn a_video_plays_over_quic() {
    let video = "application = { kind = \"video\", bitrate = \"2 Mbit/s\", length = \"20 s\" }";
    let o = outcome(&scenario("base = \"bbr\"\nprotocol = \"quic\"", video, ""));
    assert_eq!(o.flows[0].delivered, Bytes::new(5_000_000));
    assert!(o.flows[0].transfer_time.is_some());
}

/// Who downloads opens the connection, and the data leave half a round trip later.
#[test]
fn the_receiver_may_open_the_connection() {
    let took = |opener: &str| {
        let transport = format!("base = \"newreno\"\nprotocol = \"quic\"\nopener = \"{opener}\"");
        let small = "application = { kind = \"transfer\", size = \"5 kB\" }";
        outcome(&scenario(&transport, small, "")).flows[0]
            .transfer_time
            .unwrap()
            .as_secs()
    };
    let later = took("to") - took("from");
    assert!((0.14..=0.16).contains(&later), "{later}");
}

/// 20 MB take 8.4 s at the link's rate. With a queue of ten bandwidth-delay products these starts
/// leave long before it is full.
#[test]
fn the_starts_leave_in_time_over_both_protocols() {
    for protocol in ["tcp", "quic"] {
        let of = |start: &str, more: &str| {
            let transport = format!(
                "base = \"newreno\"\nprotocol = \"{protocol}\"\nstart = \"{start}\"\n{more}"
            );
            let twenty = TEN.replace("10 MB", "20 MB");
            let text = scenario(&transport, &twenty, "").replace("500 packets", "5000 packets");
            outcome(&text).flows[0].clone()
        };
        let standard = of("standard", "byte_counting = 1000");
        for start in ["search", "picoquic"] {
            let flow = of(start, "");
            let took = flow.transfer_time.unwrap().as_secs();
            assert!((8.4..=14.0).contains(&took), "{protocol} {start}: {took}");
            assert_eq!(flow.retransmissions, 0, "{protocol} {start}");
            let part = flow.max_cwnd / standard.max_cwnd;
            assert!(part < 0.9, "{protocol} {start}: {part}");
        }
    }
}
