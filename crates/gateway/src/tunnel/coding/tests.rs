use super::*;

const RTT: Duration = Duration::from_millis(550);

fn seen(sent: u64, lost: u64) -> Seen {
    Seen {
        sent,
        lost,
        restored: Some(0),
        rtt: RTT,
        rate: Some(Rate::from_mbps(20)),
        interrupted: false,
    }
}

fn packets(count: u8) -> Vec<Vec<u8>> {
    (0..count).map(|of| vec![of + 1; 500]).collect()
}

/// A pair of boxes: what the first sends reaches the second, but for packets of these numbers.
async fn carried(from: &Coding, to: &Coding, all: &[Vec<u8>], lost: &[usize]) -> Vec<Box<[u8]>> {
    let now = Instant::now();
    from.note_carries();
    from.sent(now, all.iter().map(Vec::as_slice), None);
    for (at, packet) in all.iter().enumerate() {
        if !lost.contains(&at) {
            assert!(to.received(now, packet).is_empty());
        }
    }
    let due = from.due(|| true).await;
    let repairs = from.repairs(&due).map(|it| to.received(now, &it));
    repairs.flatten().collect()
}

#[tokio::test]
async fn what_is_lost_before_a_pause_is_restored() {
    let paths = Arc::default();
    let (from, to) = (Coding::new(&paths), Coding::new(&paths));
    from.see(Instant::now(), &seen(1_000, 10));
    // The first repairs only show that some come.
    let all = packets(8);
    assert!(carried(&from, &to, &all, &[3]).await.is_empty());
    let restored = carried(&from, &to, &all, &[3]).await;
    assert_eq!(restored.len(), 1);
    assert_eq!(*restored[0], *all[3]);
    assert_eq!(to.restored(), 1);
}

#[tokio::test]
async fn there_are_no_repairs_without_loss_or_for_those_who_do_not_read_them() {
    let coding = Coding::new(&Arc::default());
    let now = Instant::now();
    let silent = async |what: Seen| {
        coding.see(now, &what);
        coding.note_carries();
        coding.sent(now, packets(3).iter().map(Vec::as_slice), None);
        let due = coding.due(|| true);
        tokio::time::timeout(Duration::from_millis(60), due)
            .await
            .is_err()
    };
    assert!(silent(seen(1_000, 0)).await);
    let restored = None;
    assert!(
        silent(Seen {
            restored,
            ..seen(2_000, 20)
        })
        .await
    );
    let interrupted = true;
    assert!(
        silent(Seen {
            interrupted,
            ..seen(3_000, 40)
        })
        .await
    );
}

#[tokio::test]
async fn acknowledgements_need_no_repair() {
    let coding = Coding::new(&Arc::default());
    coding.see(Instant::now(), &seen(1_000, 10));
    coding.sent(Instant::now(), packets(3).iter().map(Vec::as_slice), None);
    let due = coding.due(|| true);
    assert!(
        tokio::time::timeout(Duration::from_millis(60), due)
            .await
            .is_err()
    );
}

/// The last packets before a pause are restored before QUIC finds them lost, single ones as well.
#[tokio::test]
async fn a_single_packet_is_restored_and_counts_as_lost() {
    let paths = Arc::default();
    let (from, to) = (Coding::new(&paths), Coding::new(&paths));
    from.see(Instant::now(), &seen(1_000, 10));
    let all = packets(1);
    carried(&from, &to, &all, &[]).await;
    let restored = carried(&from, &to, &all, &[0]).await;
    assert_eq!((restored.len(), to.restored()), (1, 1));
}

/// What the other box restores was lost, too.
#[test]
fn what_is_restored_counts_as_lost() {
    let coding = Coding::new(&Arc::default());
    let restored = Some(10);
    coding.see(
        Instant::now(),
        &Seen {
            restored,
            ..seen(1_000, 0)
        },
    );
    assert!(coding.sends());
}
