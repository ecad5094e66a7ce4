//! curl through the SOCKS and CONNECT listeners, with names, addresses, users,
//! refusals and bodies of some size.

#![cfg(target_os = "linux")]
#![allow(clippy::disallowed_methods, reason = "real sockets need a real clock")]

use bentpipe_gateway::CloseReason;
use bentpipe_gateway::config::{Answer, Config, config_from_str};
use bentpipe_gateway::entry::{Arrival, Kind, Listener, Serving, Settings, Users, serve};
use bentpipe_gateway::policy::Policy;
use bentpipe_gateway::relay::{Dialer, Meter, Pipes, Timeouts, connect, splice};
use std::io::{BufRead as _, BufReader, Write as _};
use std::net::{SocketAddr, TcpListener};
use std::process::{Command, Output};
use std::sync::Arc;

/// Bytes of the body that the web server sends.
const BODY: usize = 3 << 20;

/// A web server that sends [`BODY`] bytes for every request.
fn web() -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for tcp in listener.incoming() {
            let mut tcp = tcp.unwrap();
            std::thread::spawn(move || {
                let mut lines = BufReader::new(tcp.try_clone().unwrap()).lines();
                while lines
                    .next()
                    .is_some_and(|line| line.is_ok_and(|l| !l.is_empty()))
                {}
                let head = format!("HTTP/1.1 200 OK\r\nContent-Length: {BODY}\r\n\r\n");
                tcp.write_all(head.as_bytes()).unwrap();
                tcp.write_all(&vec![b'x'; BODY]).unwrap();
            });
        }
    });
    address
}

/// The rules of a hub that may reach its own web server, and nothing else of its
/// own.
fn rules() -> Config {
    let text = "role = \"single\"\n[intercept]\n[policy]\nallow = [\"127.0.0.1\"]\ndeny_ports = 25";
    config_from_str(text).unwrap()
}

async fn carry(mut arrival: Arrival, policy: Policy, pipes: Arc<Pipes>) {
    let found = async {
        let mut why = CloseReason::NoSuchName;
        for address in policy.resolve(&arrival.open.destination).await? {
            match connect(address, None, &Dialer::default()).await {
                Ok(server) => return Ok(server),
                Err(cut) => why = cut,
            }
        }
        Err(why)
    };
    match found.await {
        Ok(server) => {
            arrival.reply.connected(&mut arrival.tcp).await.unwrap();
            let (patience, meter) = (Timeouts::default(), Meter::default());
            splice(arrival.tcp, server, &pipes, &patience, &meter).await;
        }
        Err(why) => arrival.reply.failed(arrival.tcp, why).await,
    }
}

fn proxy(kind: Kind, settings: Settings) -> (SocketAddr, Serving) {
    let listener = Listener::bind(kind, "127.0.0.1:0".parse().unwrap()).unwrap();
    let address = listener.address();
    let policy = Policy::new(rules().policy, rules().role);
    let pipes = Arc::new(Pipes::new(16, 64 << 10));
    let handle = move |arrival| carry(arrival, policy.clone(), Arc::clone(&pipes));
    (address, serve(listener, settings, handle).unwrap())
}

/// Runs curl off the runtime; it prints the status and the bytes of the body.
async fn curl(arguments: String) -> Output {
    let run = move || {
        Command::new("curl")
            .args(["-sS", "-o", "/dev/null", "--max-time", "20"])
            .args(["-w", "%{http_code} %{size_download} %{http_connect}"])
            .args(arguments.split_whitespace())
            .env_remove("http_proxy")
            .env_remove("https_proxy")
            .env_remove("ALL_PROXY")
            .env("no_proxy", "")
            .output()
            .unwrap()
    };
    tokio::task::spawn_blocking(run).await.unwrap()
}

fn printed(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn has_curl(test: &str) -> bool {
    let has = Command::new("curl").arg("--version").output().is_ok();
    if !has {
        bentpipe_testing::skip(test, "curl");
    }
    has
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn curl_fetches_through_socks() {
    if !has_curl("SOCKS") {
        return;
    }
    let web = web();
    for answer in [Answer::Early, Answer::Confirmed] {
        let settings = Settings {
            answer,
            users: None,
        };
        let (proxy, _serving) = proxy(Kind::Socks, settings);
        for url in [
            format!("http://{web}/"),
            format!("http://localhost:{}/", web.port()),
        ] {
            let found = curl(format!("--socks5-hostname {proxy} {url}")).await;
            assert_eq!(printed(&found), format!("200 {BODY} 000"), "{found:?}");
        }
    }
    let (proxy, _serving) = proxy(Kind::Socks, Settings::default());
    // curl reports the code of the reply: 5 refused, 2 not allowed.
    let unused = TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap();
    for (url, code) in [
        (format!("http://{unused}/"), "(5)"),
        (format!("http://127.0.0.2:{}/", web.port()), "(2)"),
        ("http://127.0.0.1:25/".to_owned(), "(2)"),
        ("http://169.254.169.254/latest/meta-data/".to_owned(), "(2)"),
        ("http://no-such-name.invalid/".to_owned(), "(4)"),
    ] {
        let failed = curl(format!("--socks5-hostname {proxy} {url}")).await;
        assert_eq!(failed.status.code(), Some(97), "{failed:?}");
        let said = String::from_utf8_lossy(&failed.stderr);
        assert!(said.contains(code), "{url}: {said}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn curl_fetches_through_connect() {
    if !has_curl("CONNECT") {
        return;
    }
    let web = web();
    let (proxy, _serving) = proxy(Kind::Connect, Settings::default());
    let through = |url: String| curl(format!("-p -x http://{proxy} {url}"));
    let found = through(format!("http://localhost:{}/", web.port())).await;
    assert_eq!(printed(&found), format!("200 {BODY} 200"), "{found:?}");
    let unused = TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap();
    for (url, status) in [
        (format!("http://{unused}/"), "502"),
        ("http://169.254.169.254/".to_owned(), "403"),
        ("http://[::1]:80/".to_owned(), "403"),
        ("http://no-such-name.invalid/".to_owned(), "502"),
    ] {
        let failed = through(url.clone()).await;
        assert!(printed(&failed).ends_with(status), "{url}: {failed:?}");
    }
    // Without a tunnel, curl asks for the page itself.
    let plain = curl(format!("-x http://{proxy} http://{web}/")).await;
    assert!(printed(&plain).starts_with("405"), "{plain:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn users_are_asked_for_their_passwords() {
    if !has_curl("users") {
        return;
    }
    let web = web();
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("users");
    std::fs::write(&file, "ann:secret\n").unwrap();
    let settings = Settings {
        answer: Answer::Confirmed,
        users: Some(Arc::new(Users::read(&file).unwrap())),
    };
    let (socks, _socks) = proxy(Kind::Socks, settings.clone());
    let (connect, _connect) = proxy(Kind::Connect, settings);
    let done = format!("200 {BODY}");
    for (user, admitted) in [("ann:secret@", true), ("ann:wrong@", false), ("", false)] {
        let by_socks = curl(format!("-x socks5h://{user}{socks} http://{web}/")).await;
        assert_eq!(
            printed(&by_socks).starts_with(&done),
            admitted,
            "{by_socks:?}"
        );
        let by_connect = curl(format!("-p -x http://{user}{connect} http://{web}/")).await;
        assert_eq!(
            printed(&by_connect).starts_with(&done),
            admitted,
            "{by_connect:?}"
        );
        assert_eq!(
            printed(&by_connect).ends_with("407"),
            !admitted,
            "{by_connect:?}"
        );
    }
}
