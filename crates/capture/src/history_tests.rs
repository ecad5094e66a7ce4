//! Tests of the sender's view.

use super::*;

const MSS: u32 = 1000;

/// Sends `count` segments at `at`, from number `from` on.
fn send(builder: &mut Builder, at: f64, from: u64, count: u64) {
    for n in from..from + count {
        builder.data(at, n * u64::from(MSS), MSS);
    }
}

fn builder() -> Builder {
    let mut builder = Builder::new(MSS, 40, true);
    builder.handshake(Some(0.1), true);
    builder
}

fn fates(history: &History) -> Vec<Fate> {
    history.sent.iter().map(|s| s.fate).collect()
}

const K: u64 = MSS as u64;

#[test]
fn a_segment_that_selective_acknowledgements_skip_and_that_is_sent_again_was_lost() {
    let mut b = builder();
    send(&mut b, 0.0, 0, 4);
    b.ack(0.1, K, &[], None, true);
    b.ack(0.11, K, &[(2 * K, 3 * K)], None, true);
    b.ack(0.12, K, &[(2 * K, 4 * K)], None, true);
    b.data(0.12, K, MSS);
    b.ack(0.22, 4 * K, &[], None, true);
    let history = b.build();
    use Fate::{Delivered as D, Lost as L};
    assert_eq!(fates(&history), [D, L, D, D, D]);
    assert!(history.sent[4].again);
    let newest: Vec<usize> = history.acks.iter().map(|a| a.newest).collect();
    assert_eq!(newest, [1, 3, 4, 5]);
    assert!((history.acks[3].rtt.unwrap() - 0.1).abs() < 1e-9);
    assert_eq!(history.payload, 4 * K);
}

/// The acknowledgement comes sooner after the retransmission than any round trip takes.
#[test]
fn a_retransmission_that_crosses_the_acknowledgement_was_not_needed() {
    let mut b = builder();
    send(&mut b, 0.0, 0, 2);
    b.ack(0.1, K, &[], None, true);
    b.data(0.3, K, MSS);
    b.ack(0.35, 2 * K, &[], None, true);
    b.ack(0.4, 2 * K, &[(K, 2 * K)], None, true);
    let history = b.build();
    assert_eq!(
        fates(&history),
        [Fate::Delivered, Fate::Delivered, Fate::Duplicate]
    );
    assert_eq!(history.duplicates, 1);
}

/// The acknowledgement looks like one of the retransmission, until a duplicate is reported.
#[test]
fn a_reported_duplicate_takes_a_loss_back() {
    let mut b = builder();
    send(&mut b, 0.0, 0, 2);
    b.ack(0.1, K, &[], None, true);
    b.data(0.3, K, MSS);
    b.ack(0.41, 2 * K, &[], None, true);
    assert_eq!(b.history.sent[1].fate, Fate::Lost);
    b.ack(0.42, 2 * K, &[(K, 2 * K)], None, true);
    let history = b.build();
    assert_eq!(
        fates(&history),
        [Fate::Delivered, Fate::Delivered, Fate::Duplicate]
    );
}

#[test]
fn segments_for_the_device_to_split_are_as_many_as_they_become() {
    let mut b = builder();
    b.data(0.0, 0, 20 * MSS + 300);
    b.ack(0.1, 20 * K, &[], None, true);
    b.ack(0.1, 20 * K + 300, &[], None, true);
    let history = b.build();
    assert_eq!(history.sent.len(), 21);
    assert_eq!(history.sent[20].bytes, 340);
    assert_eq!(history.acks[0].covers, 20);
    assert!(fates(&history).iter().all(|f| *f == Fate::Delivered));
}

#[test]
fn packets_that_the_capture_lacks_are_known_and_not_lost() {
    let mut b = builder();
    send(&mut b, 0.0, 0, 2);
    send(&mut b, 0.0, 4, 1);
    b.ack(0.1, 5 * K, &[], None, true);
    // The last ones are acknowledged and were never seen.
    b.ack(0.2, 7 * K, &[], None, true);
    let history = b.build();
    assert_eq!((history.sent.len(), history.unseen()), (7, 4));
    assert!(fates(&history).iter().all(|f| *f == Fate::Delivered));
    assert_eq!(history.acks[1].rtt, None);
}

#[test]
fn an_acknowledgement_of_a_part_of_a_segment_waits_for_the_rest() {
    let mut b = builder();
    send(&mut b, 0.0, 0, 2);
    b.ack(0.1, K / 2, &[], None, true);
    b.ack(0.2, 2 * K, &[], None, true);
    let history = b.build();
    let covers: Vec<u32> = history.acks.iter().map(|a| a.covers).collect();
    assert_eq!(covers, [0, 2]);
}

proptest::proptest! {
    /// Whatever comes, no transmission is counted twice and nothing lies beyond what was sent.
    #[test]
    fn any_order_of_packets_keeps_the_counts_together(
        steps in proptest::collection::vec((0_u64..40, 0_u64..40, proptest::bool::ANY), 1..200)
    ) {
        let mut b = builder();
        for (n, (x, y, is_data)) in steps.iter().enumerate() {
            let at = n as f64 * 0.02;
            let (low, high) = (x.min(y) * 700, (x.max(y) + 1) * 700);
            if *is_data {
                b.data(at, low, (high - low) as u32);
            } else {
                b.ack(at, low, &[(low + 700, high + 700)], None, true);
            }
        }
        let history = b.build();
        let mut newest = 0;
        for ack in &history.acks {
            proptest::prop_assert!(ack.newest >= newest && ack.newest <= ack.sent);
            newest = ack.newest;
        }
    }
}
