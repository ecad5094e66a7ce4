//! A terminal with several WANs: each connection uses all, and goes on when some are lost.

use crate::bed::{Bed, Keys, connect};
use crate::closes::{echo, echoes, server};
use bentpipe_gateway::tunnel::association::Health;
use socket2::SockRef;
use std::collections::HashSet;
use std::time::{Duration, Instant};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::time::{sleep, timeout};

const SOON: Duration = Duration::from_secs(30);

/// Bytes that each association has carried, by the name of its WAN.
fn carried(bed: &Bed) -> Vec<(String, u64)> {
    let status = bed.state.status();
    let all = status["associations"].as_array().unwrap().iter();
    let carried = all.map(|it| {
        let bytes = it["bytes_sent"].as_u64().unwrap() + it["bytes_received"].as_u64().unwrap();
        (it["wan"].as_str().unwrap().to_owned(), bytes)
    });
    carried.collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_transfer_uses_both_and_nothing_of_it_is_lost() {
    let bed = Bed::start_with_wan("").await;
    let (echo, _task) = echo().await;
    echoes(bed.connect(echo).await, 8_000_000).await;
    let carried = carried(&bed);
    assert_eq!(carried.len(), 2, "{carried:?}");
    for (wan, bytes) in &carried {
        assert!(*bytes > 500_000, "{wan}: {carried:?}");
    }
    // Each WAN has metrics of its own: of a series that is there twice Prometheus keeps one value.
    let page = bentpipe_gateway::operate::metrics::text(&bed.state);
    let lines = page.lines().filter(|line| !line.starts_with('#'));
    let series: Vec<&str> = lines.map(|it| it.rsplit_once(' ').unwrap().0).collect();
    let different: HashSet<&&str> = series.iter().collect();
    assert_eq!(different.len(), series.len(), "{page}");
    for (wan, _) in &carried {
        let label = format!(",wan=\"{wan}\"}}");
        for name in [
            "association_rtt_seconds",
            "association_packets_sent",
            "hub_up",
        ] {
            let has = |it: &&&str| it.contains(name) && it.ends_with(&label);
            assert_eq!(series.iter().filter(has).count(), 1, "{name} {page}");
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn connections_go_on_when_a_wan_is_lost_and_use_it_when_it_is_back() {
    let bed = Bed::start_with_wan("").await;
    let (echo, _task) = echo().await;
    for gone in [&bed.proxy, &bed.wans[0]] {
        let mut idle = bed.connect(echo).await;
        idle.write_all(b"begun").await.unwrap();
        idle.read_exact(&mut [0; 5]).await.unwrap();
        let running = echoes(bed.connect(echo).await, 6_000_000);
        let lost = async {
            sleep(Duration::from_millis(50)).await;
            gone.go_dark(true);
            sleep(Duration::from_millis(100)).await;
            // One that was open, and a new one.
            let begin = Instant::now();
            idle.write_all(b"still").await.unwrap();
            let mut answer = [0; 5];
            timeout(SOON, idle.read_exact(&mut answer))
                .await
                .unwrap()
                .unwrap();
            assert_eq!(&answer, b"still");
            echoes(bed.connect(echo).await, 10_000).await;
            let took = begin.elapsed();
            assert!(took < Duration::from_secs(6), "{took:?}");
        };
        tokio::join!(running, lost);
        gone.go_dark(false);
        timeout(SOON, bed.is_up()).await.unwrap();
        echoes(idle, 100_000).await;
    }
    assert_eq!(bed.terminal.status().borrow().health, Health::Up);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn connections_outlast_the_loss_of_all_wans() {
    let bed = Bed::start_with_wan("").await;
    let (echo, _task) = echo().await;
    let transfer = echoes(bed.connect(echo).await, 4_000_000);
    let lost = async {
        sleep(Duration::from_millis(30)).await;
        for proxy in [&bed.proxy, &bed.wans[0]] {
            proxy.go_dark(true);
        }
        sleep(Duration::from_secs(3)).await;
        for proxy in [&bed.wans[0], &bed.proxy] {
            proxy.go_dark(false);
            sleep(Duration::from_secs(1)).await;
        }
    };
    tokio::join!(transfer, lost);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn four_are_used_and_any_of_them_carries_on_alone() {
    let bed = Bed::start_with_wans::<3>("").await;
    let (echo, _task) = echo().await;
    echoes(bed.connect(echo).await, 16_000_000).await;
    let carried = carried(&bed);
    assert_eq!(carried.len(), 4, "{carried:?}");
    for (wan, bytes) in &carried {
        assert!(*bytes > 300_000, "{wan}: {carried:?}");
    }
    let all = || std::iter::once(&bed.proxy).chain(&bed.wans);
    for alone in 0..4 {
        let running = echoes(bed.connect(echo).await, 3_000_000);
        let lost = async {
            sleep(Duration::from_millis(50)).await;
            for (_, proxy) in all().enumerate().filter(|(at, _)| *at != alone) {
                proxy.go_dark(true);
            }
            let begin = Instant::now();
            echoes(bed.connect(echo).await, 10_000).await;
            let took = begin.elapsed();
            assert!(took < Duration::from_secs(6), "alone {alone}: {took:?}");
        };
        tokio::join!(running, lost);
        for proxy in all() {
            proxy.go_dark(false);
        }
        timeout(SOON, bed.is_up()).await.unwrap();
    }
}

/// One direction of one WAN is enough to lose for what it carried to go over the other.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_lost_in_one_direction_goes_over_the_other_wan() {
    let bed = Bed::start_with_wan("").await;
    let (echo, _task) = echo().await;
    let wan = &bed.wans[0];
    let transfer = echoes(bed.connect(echo).await, 6_000_000);
    let lost = async {
        sleep(Duration::from_millis(50)).await;
        wan.go_dark_upward(true);
        sleep(Duration::from_secs(1)).await;
        wan.go_dark_upward(false);
        wan.go_dark_downward(true);
        sleep(Duration::from_secs(1)).await;
        wan.go_dark_downward(false);
    };
    tokio::join!(transfer, lost);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_hub_that_goes_resets_connections() {
    let bed = Bed::start_with_wan("").await;
    let (echo, _task) = echo().await;
    let mut client = bed.connect(echo).await;
    client.write_all(b"begun").await.unwrap();
    client.read_exact(&mut [0; 5]).await.unwrap();
    bed.hub.stop().await;
    let read = timeout(SOON, client.read(&mut [0; 10])).await.unwrap();
    assert_eq!(
        read.unwrap_err().kind(),
        std::io::ErrorKind::ConnectionReset
    );
}

/// A hub that has no section for the WAN is used over the link.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_wan_that_the_hub_does_not_have_changes_nothing() {
    let keys = Keys::make();
    let hub = keys.hub(crate::bed::ANY, "");
    let wan = "[[wan]]\nname = \"5g\"\nport = 1\n";
    let terminal = keys.terminal(hub.address().unwrap(), wan);
    terminal.ready().await;
    let (echo, _task) = echo().await;
    for _ in 0..3 {
        echoes(connect(&terminal, echo, false).await, 300_000).await;
    }
}

/// None gives a turn back because having it makes its WAN look slower.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn short_connections_never_wait() {
    let bed = Bed::start_with_wan("").await;
    let (address, _task) = server(|mut tcp| async move {
        let _ = tcp.read(&mut [0]).await;
        SockRef::from(&tcp)
            .set_linger(Some(Duration::ZERO))
            .unwrap();
    })
    .await;
    for at in 0..1000 {
        let mut client = bed.connect(address).await;
        client.write_all(b"r").await.unwrap();
        let mut got = Vec::new();
        let end = timeout(SOON, client.read_to_end(&mut got)).await;
        assert!(end.is_ok_and(|end| end.is_err()), "connection {at}");
    }
}
