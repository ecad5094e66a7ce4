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
    from.note_eliciting();
    from.sent(now, all.iter().map(Vec::as_slice), None);
    for (at, packet) in all.iter().enumerate() {
        if !lost.contains(&at) {
            assert!(to.received(now, packet).is_empty());
        }
    }
    let due = from.due(|| true).await;
    let repairs = due.datagrams.iter().map(|it| to.received(now, it));
    repairs.flatten().collect()
}

#[tokio::test]
async fn what_is_lost_before_a_pause_is_restored() {
    let common = Arc::default();
    let (from, to) = (Coding::new(&common), Coding::new(&common));
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
        coding.note_eliciting();
        coding.sent(now, packets(3).iter().map(Vec::as_slice), None);
        let due = coding.due(|| true);
        tokio::time::timeout(WAIT.1 * 3, due).await.is_err()
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
    assert!(tokio::time::timeout(WAIT.1 * 3, due).await.is_err());
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
    assert!(coding.sends.load(Relaxed));
}

#[test]
fn few_associations_keep_packets_at_a_time() {
    let common = Arc::default();
    let all: Vec<Coding> = (0..MOST_KEEPING + 1)
        .map(|_| Coding::new(&common))
        .collect();
    all.iter()
        .for_each(|it| it.see(Instant::now(), &seen(1_000, 10)));
    let sends = |all: &[Coding]| all.iter().filter(|it| it.sends.load(Relaxed)).count();
    assert_eq!(sends(&all), MOST_KEEPING);
    all[0].see(Instant::now(), &seen(100_000, 10));
    assert!(common.any_keeps());
    drop(all);
    assert!(!common.any_keeps());
}
