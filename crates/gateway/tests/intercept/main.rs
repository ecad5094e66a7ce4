//! Interception over real interfaces: what is taken, what passes, and what is left
//! in the kernel.

#![cfg(target_os = "linux")]
#![allow(clippy::disallowed_methods, reason = "real sockets need a real clock")]

mod bed;
mod pair;

use bed::{Bed, CLIENT, echo, ping, say, started_with, udp, wait};
use bentpipe_gateway::Destination;
use bentpipe_gateway::entry::{Arrival, Kind, Listener, Serving, Settings, serve};
use bentpipe_gateway::intercept::{Passing, Plan, Rules, left, remove};
use bentpipe_gateway::relay::{Dialer, Meter, Pipes, Timeouts, connect, splice};
use std::io::{BufRead as _, ErrorKind, Read as _, Write as _};
use std::net::SocketAddr;
use std::sync::Arc;

/// The gateway's process, which a test starts in its namespace.
#[test]
#[ignore = "started by the other tests"]
fn the_gateway() {
    let Some((config, folder)) = started_with() else {
        return;
    };
    let plan = Plan::of(&config).unwrap();
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build()
        .unwrap();
    let _guard = runtime.enter();
    let mut serving: Vec<Serving> = listen(&plan);
    let mut rules = Rules::install(plan, &folder).unwrap();
    say("ready");
    for line in std::io::stdin().lock().lines() {
        match line.unwrap().as_str() {
            "direct" => rules.switch(Passing::Direct).unwrap(),
            "refused" => rules.switch(Passing::Refused).unwrap(),
            "gateway" => rules.switch(Passing::Gateway).unwrap(),
            "deaf" => serving.clear(),
            "taken" => {
                say(&rules.taken().unwrap().to_string());
                continue;
            }
            "remove" => {
                rules.remove().unwrap();
                say("removed");
                return;
            }
            other => panic!("{other}"),
        }
        say("done");
    }
}

fn listen(plan: &Plan) -> Vec<Serving> {
    let pipes = Arc::new(Pipes::new(64, 64 << 10));
    let each = |address: SocketAddr| {
        let listener = Listener::bind(Kind::Transparent, address).unwrap();
        let pipes = Arc::clone(&pipes);
        serve(listener, Settings::default(), move |arrival| {
            carry(arrival, Arc::clone(&pipes))
        })
        .unwrap()
    };
    plan.listeners().into_iter().map(each).collect()
}

async fn carry(arrival: Arrival, pipes: Arc<Pipes>) {
    let Destination::Address(to) = arrival.open.destination else {
        return;
    };
    let server = connect(to, arrival.open.source, &Dialer::default()).await;
    match server {
        Ok(server) => {
            let (patience, meter) = (Timeouts::default(), Meter::default());
            splice(arrival.tcp, server, &pipes, &patience, &meter).await;
        }
        Err(why) => arrival.reply.failed(arrival.tcp, why).await,
    }
}

#[test]
fn both_ends_keep_their_addresses() {
    let Some(bed) = Bed::new("interception") else {
        return;
    };
    bed.serve(80);
    let mut gateway = bed.gateway("interfaces = [\"lan0\"]");
    for (count, (client, server)) in CLIENT.into_iter().zip(bed.server()).enumerate() {
        let (tcp, seen) = bed.connect(&server, 80).unwrap();
        let own = tcp.local_addr().unwrap();
        assert_eq!(own.ip().to_string(), client);
        assert_eq!(seen, own.to_string());
        assert_eq!(gateway.taken(), count as u64 + 1);
        let text = vec![7; 1 << 20];
        let to_write = tcp.try_clone().unwrap();
        let written = text.clone();
        let writing = std::thread::spawn(move || {
            (&to_write).write_all(&written).unwrap();
            to_write.shutdown(std::net::Shutdown::Write).unwrap();
        });
        let mut back = Vec::new();
        (&tcp).read_to_end(&mut back).unwrap();
        writing.join().unwrap();
        assert!(back == text);
    }
    // A port where nothing listens: the gateway cannot know before it has tried.
    let refused = bed.connect(&bed.server()[0], 81).map(|(_, seen)| seen);
    assert_eq!(refused.unwrap_err().kind(), ErrorKind::ConnectionReset);
    assert_eq!(gateway.tell("remove"), "removed");
    assert_eq!(bed.traces(), "");
    assert!(left(bed.folder.path()).unwrap().is_empty());
}

#[test]
fn what_is_not_intercepted_passes_untouched() {
    let Some(bed) = Bed::new("bypass") else {
        return;
    };
    bed.serve(80);
    bed.serve(2222);
    // Older than the gateway.
    let (old, _) = bed.connect(&bed.server()[0], 80).unwrap();
    let mut gateway = bed.gateway("except_ports = [2222]\nexcept = [\"fd07:2::/64\"]");
    for server in &bed.server() {
        assert_eq!(
            echo(bed.connect(server, 2222).unwrap().0, b"direct"),
            b"direct"
        );
        assert!(udp(&bed, server), "UDP to {server}");
        assert!(ping(&bed, server), "ICMP to {server}");
    }
    assert_eq!(
        echo(bed.connect(&bed.server()[1], 80).unwrap().0, b"net"),
        b"net"
    );
    assert_eq!(echo(old, b"still here"), b"still here");
    // The gateway's own machine is not behind itself.
    let own = bed.connect("10.7.1.1", 80).map(|(_, seen)| seen);
    assert_eq!(own.unwrap_err().kind(), ErrorKind::ConnectionRefused);
    assert_eq!(gateway.taken(), 0);
    assert_eq!(
        echo(bed.connect(&bed.server()[0], 80).unwrap().0, b"taken"),
        b"taken"
    );
    assert_eq!(gateway.taken(), 1);
}

#[test]
fn a_kill_resets_what_was_open_and_lets_the_rest_pass() {
    let Some(bed) = Bed::new("a kill") else {
        return;
    };
    bed.serve(80);
    let gateway = bed.gateway("interfaces = [\"lan0\"]");
    let (mut open, _) = bed.connect(&bed.server()[0], 80).unwrap();
    open.write_all(b"half").unwrap();
    open.read_exact(&mut [0; 4]).unwrap();
    gateway.kill();
    let error = open.read(&mut [0; 1]).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::ConnectionReset);
    // The rules are still there, and let everything pass.
    assert!(bed.traces().contains("bentpipe_box"));
    for server in &bed.server() {
        let (tcp, seen) = bed.connect(server, 80).unwrap();
        assert_eq!(seen, tcp.local_addr().unwrap().to_string());
        assert_eq!(echo(tcp, b"direct"), b"direct");
    }
    // A second start takes over what the first has left.
    let mut second = bed.gateway("interfaces = [\"lan0\"]");
    assert_eq!(
        echo(bed.connect(&bed.server()[1], 80).unwrap().0, b"again"),
        b"again"
    );
    assert_eq!(second.taken(), 1);
    second.kill();
    // What is left can be removed without a start, as often as one likes.
    let leftovers = bed.inside("g", || left(bed.folder.path()).unwrap());
    assert_eq!(leftovers.len(), 1);
    assert!(leftovers[0].here);
    bed.inside("g", || {
        remove(&leftovers[0]).unwrap();
        remove(&leftovers[0]).unwrap();
    });
    assert_eq!(bed.traces(), "");
    assert!(left(bed.folder.path()).unwrap().is_empty());
    // Another mark than before leaves nothing of the old one.
    bed.gateway("mark = 20000").kill();
    let mut third = bed.gateway("mark = 30000");
    assert!(!bed.traces().contains("20000") && !bed.traces().contains("0x4e20"));
    assert_eq!(third.tell("remove"), "removed");
    assert_eq!(bed.traces(), "");
}

#[test]
fn new_connections_pass_or_are_refused_when_the_gateway_says_so() {
    let Some(bed) = Bed::new("switching") else {
        return;
    };
    bed.serve(80);
    let mut gateway = bed.gateway("interfaces = [\"lan0\"]");
    let (kept, _) = bed.connect(&bed.server()[0], 80).unwrap();
    assert_eq!(gateway.tell("direct"), "done");
    for server in &bed.server() {
        assert_eq!(
            echo(bed.connect(server, 80).unwrap().0, b"direct"),
            b"direct"
        );
    }
    assert_eq!(gateway.taken(), 0);
    assert_eq!(gateway.tell("refused"), "done");
    for server in &bed.server() {
        let refused = bed.connect(server, 80).map(|(_, seen)| seen);
        assert_eq!(refused.unwrap_err().kind(), ErrorKind::ConnectionRefused);
        assert!(udp(&bed, server));
    }
    // A connection of the gateway goes on through all of it.
    assert_eq!(echo(kept, b"kept"), b"kept");
    assert_eq!(gateway.tell("gateway"), "done");
    assert_eq!(
        echo(bed.connect(&bed.server()[0], 80).unwrap().0, b"taken"),
        b"taken"
    );
    assert_eq!(gateway.taken(), 1);
    // A process that no longer listens takes nothing. Its listeners close a moment later,
    // and may take a first attempt.
    assert_eq!(gateway.tell("deaf"), "done");
    let direct = || {
        bed.connect(&bed.server()[1], 80)
            .is_ok_and(|(tcp, _)| echo(tcp, b"direct") == b"direct")
    };
    assert!(wait(direct));
    let taken = gateway.taken();
    assert!(direct());
    assert_eq!(gateway.taken(), taken);
    assert_eq!(gateway.tell("remove"), "removed");
}

#[test]
fn the_path_mtu_beyond_the_gateway_is_found() {
    // `h` is a router with a narrow link here. The routes are narrow and not the
    // device: that would drop what comes back and is larger, with no error to it.
    let Some(bed) = Bed::pair("a narrow path") else {
        return;
    };
    bed.serve(80);
    for server in &bed.server() {
        bed.ip("h", &format!("route add {server} dev wan0 mtu 1300"));
    }
    let mut gateway = bed.gateway("interfaces = [\"lan0\"]");
    for server in &bed.server() {
        // The errors of the router go to the address of the client, and are for the
        // gateway's sockets.
        let (tcp, _) = bed.connect(server, 80).unwrap();
        let text = vec![7; 30_000];
        assert!(echo(tcp, &text) == text);
    }
    assert!(bed.too_large("h").iter().all(|&packets| packets > 0));
    assert_eq!(gateway.taken(), 2);
    assert_eq!(gateway.tell("remove"), "removed");
}

#[test]
fn masquerading_after_the_gateway_does_not_disturb_it() {
    let Some(bed) = Bed::new("masquerading") else {
        return;
    };
    bed.serve(80);
    bed.nft(
        "g",
        "table ip nat { chain post { type nat hook postrouting priority srcnat; \
         oifname \"wan0\" masquerade; }; }",
    );
    let process = one_box(&bed);
    let taken = || {
        let (tcp, seen) = bed.connect(&bed.server()[0], 80).unwrap();
        assert!(seen.starts_with("10.7.2.1:"), "{seen}");
        assert_eq!(echo(tcp, b"by another name"), b"by another name");
        bed.taken("g", "bentpipe_one") > 0
    };
    assert!(wait(taken));
    // IPv6 is not translated here.
    let (tcp, seen) = bed.connect(&bed.server()[1], 80).unwrap();
    assert!(seen.starts_with("[fd07:1::2]:"), "{seen}");
    assert_eq!(echo(tcp, b"by its own"), b"by its own");
    process.terminate();
}

/// Starts one box as a whole process, and waits for its rules.
fn one_box(bed: &Bed) -> bed::Whole {
    let file = bed.folder.path().join("one.toml");
    let text = "role = \"single\"\n[link]\ntransport = \"reno\"\nrate = \"100 Mbit/s\"\n\
                [intercept]\n";
    std::fs::write(&file, text).unwrap();
    let process = bed.whole("g", &file);
    assert!(wait(|| bed.traces().contains("bentpipe_one")));
    process
}

#[test]
fn a_firewall_that_drops_intercepted_connections_makes_them_pass() {
    let Some(bed) = Bed::new("a firewall") else {
        return;
    };
    bed.serve(80);
    bed.nft(
        "g",
        "table inet filter { chain input { type filter hook input priority filter; policy drop; \
         ct state established accept; iifname \"lo\" accept; meta l4proto ipv6-icmp accept; }; }",
    );
    let process = one_box(&bed);
    assert!(wait(|| bed.connect(&bed.server()[0], 80).is_err()));
    let passes = || {
        bed.connect(&bed.server()[0], 80)
            .is_ok_and(|(tcp, _)| echo(tcp, b"direct") == b"direct")
    };
    assert!((0..6).any(|_| wait(passes)));
    process.terminate();
}
