//! The harness finds what it is to find: nothing on a direct path and through a
//! relay without fault, and each fault of one that has it.

mod relay;

use gateway_bench::drive::Drive;
use gateway_bench::judge::{Allowed, Fault as Found};
use gateway_bench::plan::Kind;
use gateway_bench::proxy::Way;
use gateway_bench::report::Summary;
use gateway_bench::serve::{Listen, Server};
use relay::Fault;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU16, Ordering};
use std::time::Duration;

/// A server's first port; each test has its own.
static NEXT: AtomicU16 = AtomicU16::new(0);

fn listen() -> Listen {
    let port = 20_000
        + u16::try_from(std::process::id() % 300).unwrap() * 40
        + NEXT.fetch_add(1, Ordering::Relaxed) * 40 % 10_000;
    let name = format!("bp-bench-{}-{port}", std::process::id());
    Listen {
        address: [127, 0, 0, 1].into(),
        port,
        more: 0,
        control: Some(std::env::temp_dir().join(name)),
    }
}

fn drive(server: SocketAddr, control: Option<PathBuf>) -> Drive {
    let mut kinds: Vec<_> = Kind::ALL.iter().map(|&kind| (kind, 1.0)).collect();
    kinds.retain(|&(kind, _)| kind != Kind::Silent);
    Drive {
        ways: vec![Way::Direct],
        servers: vec![server],
        control,
        transfers: 300,
        at_once: 64,
        pace: None,
        seed: 3,
        kinds,
        largest: 100_000,
        big: 1_000_000,
        slow: 100_000,
        hold: Duration::from_millis(100),
        patience: Duration::from_secs(5),
        silence: Duration::from_secs(2),
        more: 0,
        eager: 0.0,
        allowed: Allowed::default(),
    }
}

async fn through(fault: Option<Fault>) -> (Summary, Vec<Found>) {
    let listen = listen();
    let _server = Server::start(&listen).await.unwrap();
    let server = SocketAddr::new(listen.address, listen.port);
    let mut drive = drive(server, listen.control.clone());
    if let Some(fault) = fault {
        drive.servers = vec![relay::start(server, 5, fault).await.unwrap()];
        drive.allowed.early = true;
    }
    if matches!(fault, Some(Fault::LostEnd | Fault::WaitsForClient)) {
        drive.transfers = 100;
        drive.patience = Duration::from_secs(3);
    }
    let mut found = Vec::new();
    let summary = drive.run(|fault| found.push(fault.clone())).await.unwrap();
    std::fs::remove_file(listen.control.unwrap()).unwrap();
    (summary, found)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_direct_path_has_no_violation() {
    let (summary, found) = through(None).await;
    assert_eq!(summary.transfers, 300);
    assert_eq!(summary.as_planned, 300);
    assert_eq!(summary.client.len(), Kind::ALL.len() - 1);
    assert!(found.is_empty(), "{found:#?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_relay_without_fault_has_no_violation() {
    let (summary, found) = through(Some(Fault::None)).await;
    assert_eq!(summary.as_planned, 300);
    assert!(found.is_empty(), "{found:#?}");
}

/// Every `violation` that a relay with `fault` causes includes one of these.
async fn finds(fault: Fault, violations: &[&str]) {
    let (summary, found) = through(Some(fault)).await;
    assert!(summary.violations > 0, "{fault:?}: nothing found");
    for violation in violations {
        let seen = found.iter().any(|found| found.violation == *violation);
        assert!(seen, "{fault:?}: no `{violation}` in {found:#?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_end_in_place_of_a_reset_is_found() {
    finds(Fault::EndForReset, &["reset became an end"]).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_end_in_place_of_a_refusal_is_found() {
    finds(Fault::EndForRefusal, &["refusal became an end"]).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_reset_in_place_of_an_end_is_found() {
    finds(Fault::ResetForEnd, &["reset that nobody sent"]).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn lost_last_bytes_are_found() {
    finds(Fault::LastBytes, &["clean end before everything had come"]).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn repeated_swapped_and_changed_bytes_are_found() {
    finds(Fault::Repeat, &["bytes differ"]).await;
    finds(Fault::Swap, &["bytes differ"]).await;
    finds(Fault::Flip, &["bytes differ"]).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_half_close_that_closes_both_ways_is_found() {
    finds(
        Fault::NoHalfClose,
        &["clean end before everything had come"],
    )
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_end_that_is_not_passed_on_is_found() {
    finds(Fault::LostEnd, &["hung"]).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn waiting_for_the_client_before_the_server_is_asked_is_found() {
    finds(Fault::WaitsForClient, &["hung"]).await;
}
