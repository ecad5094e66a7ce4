//! A terminal and a hub as whole processes, with interception at both.

use crate::bed::{Bed, CLIENT, CONFIG, echo, ping, say_by_udp, udp, wait};
use bentpipe_gateway::gateway::{Options, run};
use bentpipe_gateway::tunnel::keys::Identity;
use std::io::ErrorKind;
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// The gateway's process, which a test starts in a namespace.
#[test]
#[ignore = "started by the other tests"]
fn the_whole_gateway() {
    if let Some(file) = std::env::var_os(CONFIG) {
        let file = PathBuf::from(file);
        run(&Options {
            file,
            take_over: false,
        })
        .unwrap();
    }
}

/// Writes the keys and the files of a terminal and its hub.
fn files(bed: &Bed, when_down: &str) -> [PathBuf; 2] {
    let folder = bed.folder.path();
    let mut public = Vec::new();
    for name in ["ship", "hub"] {
        let identity = Identity::generate().unwrap();
        identity
            .write_new(&folder.join(format!("{name}.key")))
            .unwrap();
        public.push(identity.public().to_string());
    }
    let ship = format!(
        "role = \"terminal\"\n[link]\nrate = \"100 Mbit/s\"\n[tunnel]\naddress = \"10.7.2.2\"\n\
         peers = [\"{}\"]\nwhen_down = \"{when_down}\"\noutage = \"20 s\"\n\
         [intercept]\nexcept_ports = 2222\n",
        public[1]
    );
    let hub = format!(
        "role = \"hub\"\n[link]\nrate = \"100 Mbit/s\"\n[tunnel]\npeers = [\"{}\"]\n\
         [intercept]\n[policy]\nallow = [\"10.7.3.0/24\", \"fd07:3::/64\"]\ndeny_ports = 25\n",
        public[0]
    );
    [("ship", ship), ("hub", hub)].map(|(name, text)| {
        let file = folder.join(format!("{name}.toml"));
        std::fs::write(&file, text).unwrap();
        file
    })
}

/// The terminal's table.
const SHIP: &str = "bentpipe_ship";

/// Whether a connection carries a question and its answer, and went to the terminal.
fn is_taken(bed: &Bed, question: &[u8]) -> bool {
    let taken = |tcp| echo(tcp, question) == question && bed.taken("g", SHIP) > 0;
    let connected = bed.connect(&bed.server()[0], 80);
    bed.traces().contains(SHIP) && connected.is_ok_and(|(tcp, _)| taken(tcp))
}

#[test]
fn nothing_passes_from_the_start_of_a_terminal_that_may_not_let_it() {
    let Some(bed) = Bed::pair("closed") else {
        return;
    };
    bed.serve(80);
    let [ship, hub] = files(&bed, "closed");
    let ship_process = bed.whole("g", &ship);
    assert!(wait(|| bed.traces().contains(SHIP)));
    let server = &bed.server()[0];
    let end = Instant::now() + Duration::from_secs(5);
    while Instant::now() < end {
        // A connection that is intercepted in vain is reset.
        let passed = bed.connect(server, 80);
        assert!(passed.is_err(), "{passed:?}");
    }
    let hub_process = bed.whole("h", &hub);
    assert!((0..4).any(|_| wait(|| is_taken(&bed, b"taken"))));
    ship_process.terminate();
    hub_process.terminate();
}

#[test]
fn two_boxes_keep_both_addresses_and_let_connections_pass_without_the_hub() {
    let Some(bed) = Bed::pair("two boxes") else {
        return;
    };
    bed.serve(80);
    bed.serve(2222);
    let [ship, hub] = files(&bed, "open");
    let hub_process = bed.whole("h", &hub);
    let ship_process = bed.whole("g", &ship);
    assert!(wait(|| is_taken(&bed, b"first")));
    for (client, server) in CLIENT.into_iter().zip(bed.server()) {
        let before = bed.taken("g", SHIP);
        let (tcp, seen) = bed.connect(&server, 80).unwrap();
        assert_eq!(seen, tcp.local_addr().unwrap().to_string());
        assert!(seen.contains(client));
        assert_eq!(echo(tcp, b"through both"), b"through both");
        assert_eq!(bed.taken("g", SHIP), before + 1);
        // What is not intercepted passes both boxes.
        assert_eq!(
            echo(bed.connect(&server, 2222).unwrap().0, b"past"),
            b"past"
        );
        assert!(udp(&bed, &server) && ping(&bed, &server));
        assert_eq!(bed.taken("g", SHIP), before + 1);
        // What the hub refuses, and what the server refuses, is a reset.
        for port in [25, 81] {
            let refused = bed.connect(&server, port).map(|(_, seen)| seen);
            assert_eq!(refused.unwrap_err().kind(), ErrorKind::ConnectionReset);
        }
    }
    // The hub dies; a few seconds later connections pass without it.
    drop(hub_process);
    let server = &bed.server()[0];
    let passes = || {
        let Ok((tcp, _)) = bed.connect(server, 80) else {
            return false;
        };
        echo(tcp, b"direct") == b"direct" && bed.taken("g", SHIP) == 0
    };
    assert!((0..4).any(|_| wait(passes)));
    // It comes back, and so do they.
    let hub_process = bed.whole("h", &hub);
    assert!((0..4).any(|_| wait(|| is_taken(&bed, b"again"))));
    ship_process.terminate();
    assert_eq!(bed.traces(), "");
    hub_process.terminate();
}

#[test]
fn connections_pass_from_the_start_of_a_terminal_whose_hub_does_not_answer() {
    let Some(bed) = Bed::pair("no hub") else {
        return;
    };
    bed.serve(80);
    let [ship, hub] = files(&bed, "open");
    // Rules of a process that was killed would go on to intercept.
    let killed = bed.whole("g", &ship);
    assert!(wait(|| bed.traces().contains(SHIP)));
    drop(killed);
    let ship_process = bed.whole("g", &ship);
    let server = &bed.server()[0];
    // Beyond the time for which a short outage is no reason to let them pass.
    let end = Instant::now() + Duration::from_secs(5);
    while Instant::now() < end {
        let (tcp, _) = bed.connect(server, 80).unwrap();
        assert_eq!(echo(tcp, b"direct"), b"direct");
    }
    assert!(bed.traces().contains(SHIP));
    assert_eq!(bed.taken("g", SHIP), 0);
    let hub_process = bed.whole("h", &hub);
    assert!((0..4).any(|_| wait(|| is_taken(&bed, b"taken"))));
    ship_process.terminate();
    assert_eq!(bed.traces(), "");
    hub_process.terminate();
}

/// Both ends see each other's address, whatever is forwarded beside the tunnel: nothing.
#[test]
fn udp_is_carried_blocked_or_passes_as_the_file_says() {
    let Some(bed) = Bed::pair("UDP") else {
        return;
    };
    for port in [443, 444, 445] {
        bed.serve_udp(port);
    }
    let [ship, hub] = files(&bed, "open");
    let rules = "[udp]\n[[udp.rule]]\naction = \"block\"\nports = 444\n\
                 [[udp.rule]]\naction = \"pass\"\nports = 445\nlargest = 100\n";
    let text = std::fs::read_to_string(&ship).unwrap();
    std::fs::write(&ship, format!("{text}{rules}")).unwrap();
    let hub_process = bed.whole("h", &hub);
    let ship_process = bed.whole("g", &ship);
    assert!(wait(|| bed.traces().contains(SHIP)));
    bed.nft(
        "g",
        "add table inet only; add chain inet only f { type filter hook forward priority 0; }; \
         add rule inet only f meta l4proto udp drop",
    );
    let [v4, v6] = &bed.server();
    let carried = |server: &str| {
        let back = say_by_udp(&bed, (server, 443), b"question");
        back.is_ok_and(|back| back == b"question")
    };
    // Until the boxes are associated, it passes: here, it is dropped.
    assert!(wait(|| carried(v4)));
    for server in [v4, v6] {
        // A datagram may be lost.
        for length in [0, 1200, 1500, 20_000] {
            let payload = vec![7; length];
            let to = (server.as_str(), if length > 1200 { 445 } else { 443 });
            let arrives = || say_by_udp(&bed, to, &payload).is_ok_and(|back| back == payload);
            assert!((0..3).any(|_| arrives()), "{length} bytes to {server}");
        }
        let blocked = say_by_udp(&bed, (server, 444), b"question").unwrap_err();
        assert_eq!(blocked.kind(), ErrorKind::ConnectionRefused, "{server}");
        // It passes beside the tunnel, where it is dropped.
        assert!(say_by_udp(&bed, (server, 445), b"short").is_err());
    }
    bed.nft("g", "delete table inet only");
    for server in [v4, v6] {
        let passes = say_by_udp(&bed, (server, 445), b"short");
        assert_eq!(passes.unwrap(), b"short", "{server}");
    }
    // Without the hub, flows go on beside the tunnel.
    drop(hub_process);
    assert!((0..4).any(|_| wait(|| carried(v4))));
    ship_process.terminate();
    assert_eq!(bed.traces(), "");
}
