//! Readers of pages.

use crate::line::{Line, sack};
use bentpipe_outcome::{FlowOutcome, PageOutcome};
use bentpipe_scenario::Handshake;
use bentpipe_sim::{Options, run};
use bentpipe_traffic::{Application, PageConnection, WebSettings};
use bentpipe_units::{Bytes, Duration};

/// Pages of nearly one size without pauses over 2 Mbit/s, RTT 511 ms.
fn equal(size: u64, count: u32, connection: PageConnection) -> WebSettings {
    WebSettings {
        mean: Bytes::new(size),
        deviation: Bytes::new(1),
        largest: Bytes::new(2 * size),
        reading: Duration::ZERO,
        connection,
        count: Some(count),
        ..WebSettings::default()
    }
}

fn reader(web: WebSettings, handshake: Handshake, line: Line) -> (FlowOutcome, PageOutcome) {
    let mut line = line.with(Application::Web(web), Some(sack()));
    line.flows[0].handshake = handshake;
    let flow = run(&line.scenario(), &Options::default())
        .unwrap()
        .flows
        .remove(0);
    let pages = flow.pages.unwrap();
    (flow, pages)
}

#[test]
fn a_connection_for_each_page_or_one_for_all() {
    let time = |connection, handshake| {
        let (flow, pages) = reader(equal(1_000, 5, connection), handshake, Line::geo());
        assert_eq!(pages.completed, 5);
        assert!(flow.transfer_time.is_some());
        pages.mean_time.unwrap().as_secs()
    };
    // A round trip and the transmission of page and request, 0.52 s.
    let skipped = time(PageConnection::Page, Handshake::Skipped);
    assert!((skipped - 0.518).abs() < 0.004, "{skipped}");
    // With a handshake for each page another round trip; for the first, a
    // fifth of one.
    let each = time(PageConnection::Page, Handshake::Counted);
    assert!((each - skipped - 0.511).abs() < 0.002, "{each}");
    let one = time(PageConnection::Persistent, Handshake::Counted);
    assert!((one - skipped - 0.511 / 5.0).abs() < 0.002, "{one}");
}

#[test]
fn a_new_connection_starts_slowly_again() {
    // 40 segments: from a window of 10 in three round trips, each time; a
    // persistent connection has the window from the page before.
    let time = |connection| {
        let (flow, pages) = reader(
            equal(58_000, 6, connection),
            Handshake::Skipped,
            Line::geo(),
        );
        assert_eq!(flow.retransmissions, 0);
        assert!(flow.delivered.get().abs_diff(6 * 58_000) < 60, "{flow:?}");
        assert_eq!(flow.delivered, flow.sent);
        pages.mean_time.unwrap().as_secs()
    };
    let (each, one) = (time(PageConnection::Page), time(PageConnection::Persistent));
    assert!(each > one + 0.511, "{each} {one}");
}

#[test]
fn every_page_arrives_over_a_lossy_line() {
    let line = || Line {
        loss: 0.1,
        duration: Duration::from_secs(100_000),
        ..Line::geo()
    };
    for connection in [PageConnection::Page, PageConnection::Persistent] {
        let web = WebSettings {
            reading: Duration::from_millis(1),
            count: Some(500),
            connection,
            ..WebSettings::of_1997()
        };
        let (flow, pages) = reader(web, Handshake::Counted, line());
        assert_eq!(pages.completed, 500);
        assert!(flow.retransmissions > 100 && flow.timeouts > 0, "{flow:?}");
        // RTTs of all connections count, and none is of another one's packet.
        assert!(
            flow.min_rtt.unwrap() >= Duration::from_millis(511),
            "{flow:?}"
        );
        assert!(pages.p95_time.unwrap() > pages.mean_time.unwrap());
        // The same pages, whatever carries them.
        let (again, _) = reader(web, Handshake::Counted, line());
        assert_eq!(flow, again);
        let (other, _) = reader(web, Handshake::Counted, Line::geo());
        assert_eq!(flow.delivered, other.delivered);
    }
}

#[test]
fn readers_without_end_read_on() {
    let line = Line {
        duration: Duration::from_secs(1000),
        ..Line::geo()
    };
    let (flow, pages) = reader(WebSettings::of_1997(), Handshake::Counted, line);
    // 10 s of reading, a bit more than a second for a page.
    assert!((70..=115).contains(&pages.completed), "{pages:?}");
    assert_eq!((flow.transfer_time, flow.offered), (None, None));
}
