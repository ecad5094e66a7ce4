//! CUBIC with SEARCH.

use super::common::{ack, connection, lose, recover};
use bentpipe_bpf::Native;

/// A round trip, us.
const RTT: u32 = 100_000;

/// Doubles from 10 segments with an ACK for each segment, where the path takes `full` in a round trip and
/// has an endless queue; the segments per round trip that arrived when slow start ended.
fn search(native: &mut Native, full: u32, rounds: u32) -> Option<(u32, u32)> {
    for round in 0..rounds {
        let arrive = (10 << round.min(16)).min(full);
        for _ in 0..arrive {
            let gap = u64::from(RTT / arrive);
            ack(native, gap, 1, RTT);
            if native.socket.snd_ssthresh < 1 << 30 {
                return Some((round, native.socket.snd_cwnd));
            }
        }
    }
    None
}

#[test]
fn slow_start_ends_where_deliveries_stop_doubling() {
    // 10, 20, 40, 80, 160, 320 and from then on 400: with a constant RTT the threshold is reached 2.1
    // round trips after the path is full (draft-chung-ccwg-search).
    let mut native = connection("bp_cubic_search", &[], 10);
    let (round, cwnd) = search(&mut native, 400, 40).unwrap();
    assert!((7..=9).contains(&round), "{round}");
    // What came on top of the path's window is taken off: no less than half of cwnd is left.
    assert!((400..=900).contains(&cwnd), "{cwnd}");
    assert_eq!(native.socket.snd_ssthresh, cwnd);
    let mut keeps = connection("bp_cubic_search", &["rolls_back=false"], 10);
    let (again, more) = search(&mut keeps, 400, 40).unwrap();
    assert_eq!(again, round);
    assert!(more > cwnd, "{more} {cwnd}");
}

#[test]
fn a_path_that_keeps_doubling_is_not_left() {
    let mut native = connection("bp_cubic_search", &[], 10);
    assert_eq!(search(&mut native, u32::MAX, 13), None);
    assert!(native.socket.snd_cwnd > 80_000);
}

/// More in a bin than 16 bits hold.
#[test]
fn large_bins_are_scaled() {
    let mut native = connection("bp_cubic_search", &[], 10);
    native.socket.snd_cwnd_clamp = 1 << 30;
    let mut found = None;
    for round in 0..60 {
        let arrive = (1_000_u32 << round.min(20)).min(2_000_000);
        for _ in 0..100 {
            ack(&mut native, 1_000, arrive / 100 + 1, RTT);
            if native.socket.snd_ssthresh < 1 << 30 {
                found = found.or(Some(round));
            }
        }
    }
    // 2 million are reached after 11 rounds.
    assert!(matches!(found, Some(12..=15)), "{found:?}");
}

#[test]
fn an_idle_time_begins_anew() {
    let mut native = connection("bp_cubic_search", &[], 10);
    search(&mut native, 80, 4);
    ack(&mut native, 60_000_000, 1, RTT);
    // Ten bins have to pass before anything is found.
    for _ in 0..30 {
        ack(&mut native, 10_000, 1, RTT);
        assert!(native.socket.snd_ssthresh >= 1 << 30);
    }
}

/// RFC 9438, section 4.2: K = cbrt((100 - 70) / 0.4) = 4.217 s, when the window is where it was.
#[test]
fn cubic_is_back_after_k() {
    let mut native = connection("bp_cubic_search", &["reno_friendly=false"], 100);
    native.socket.snd_ssthresh = 50;
    assert_eq!(lose(&mut native, 100), 70);
    recover(&mut native);
    assert_eq!(native.socket.snd_cwnd, 70);
    let mut windows = Vec::new();
    for _ in 0..8_500 {
        ack(&mut native, 1_000, 1, RTT);
        windows.push(native.socket.snd_cwnd);
    }
    // At half of K seven eighths of the rise are done.
    assert!((94..=96).contains(&windows[2_108]), "{}", windows[2_108]);
    assert!((98..=100).contains(&windows[4_217]), "{}", windows[4_217]);
    // As far behind K as the cut was before it.
    assert!((125..=135).contains(&windows[8_434]), "{}", windows[8_434]);
}
