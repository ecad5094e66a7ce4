//! Two processes of one gateway, while the old one lets its connections finish.
//!
//! They send into the same link, which each of them would fill. Ten times a second the old one says how much it
//! has sent, and the new one answers with the rate that is the old one's, anew twice a second: as two hubs of a
//! terminal divide their link ([`split`]). The new one also says when its configuration was read again, which its signals
//! ask of it alone. The stream is the one of the hand-over; its end tells each that the other has ended.
//!
//! Both write a count (1 byte), and so many numbers (8 bytes each, most significant first), of which all
//! but the first are those of the links. The old process writes the rate of the first link where an operator
//! has set it while it ran, else 0, and bytes of IP packets since its start; the new one how often its
//! configuration was read again, and bits a second, 0 where the rate is not limited.

use crate::tunnel::association::{WHOLE, split};
use crate::tunnel::known::Knowledge;
use bentpipe_units::Rate;
use std::io;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::UnixStream;

/// How often the old process speaks: what is beside the tunnel is counted as often, and is not to be
/// mistaken for it.
const TURN: Duration = Duration::from_millis(if cfg!(test) { 5 } else { 100 });
/// How often the rate is divided.
const DIVIDED: Duration = TURN.saturating_mul(5);
/// Numbers of one message, at most.
const MOST: usize = 64;

/// Keeps to the rate that the process says that has taken over, and calls `reread` when that has read its
/// configuration again; returns when it is gone. `set` is the rate of the first link, where an
/// operator has set it.
pub(super) async fn follow(
    mut stream: UnixStream,
    links: &[Arc<Knowledge>],
    set: Option<Rate>,
    reread: impl Fn(),
) {
    let mut turns = tokio::time::interval(TURN);
    turns.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    let mut before = None;
    loop {
        turns.tick().await;
        let mut says = vec![set.map_or(0, Rate::bps)];
        says.extend(links.iter().map(|link| link.sent_bytes()));
        let told = async {
            say(&mut stream, &says).await?;
            hear(&mut stream).await
        };
        let Ok(told) = told.await else { break };
        let Some((read, rates)) = told.split_first() else {
            break;
        };
        if before.replace(*read).is_some_and(|before| before != *read) {
            reread();
        }
        for (link, rate) in links.iter().zip(rates) {
            link.follow(Some(Rate::from_bps(*rate)).filter(|_| *rate > 0));
        }
    }
    for link in links {
        link.follow_nobody();
    }
}

/// Divides the rate with the process that this one has taken over from; returns when that has ended.
/// `set` takes the rate that an operator has set there, and `read` is how often the configuration was read
/// again.
pub(super) async fn lead(
    mut stream: UnixStream,
    links: &[Arc<Knowledge>],
    set: impl Fn(Rate),
    read: impl Fn() -> u64,
) {
    let mut before: Option<(Instant, Vec<[u64; 2]>)> = None;
    let mut parts = vec![[WHOLE; 2]; links.len()];
    while let Ok(told) = hear(&mut stream).await {
        let Some((rate, sent)) = told.split_first() else {
            break;
        };
        if before.is_none() && *rate > 0 {
            set(Rate::from_bps(*rate));
        }
        let now = Instant::now();
        let sent: Vec<[u64; 2]> = sent
            .iter()
            .zip(links)
            .map(|(other, link)| [*other, link.shaper().sent_bytes()])
            .collect();
        let mut says = vec![read()];
        let divides = before.as_ref().filter(|(then, _)| now - *then >= DIVIDED);
        if let Some((then, before)) = divides {
            for ((parts, before), sent) in parts.iter_mut().zip(before).zip(&sent) {
                *parts = divide(now - *then, before, sent);
            }
        }
        if before.is_none() || divides.is_some() {
            before = Some((now, sent.clone()));
        }
        for ((link, parts), sent) in links.iter().zip(&parts).zip(&sent) {
            link.note_fellows(sent[0]);
            link.use_part(parts[1]);
            says.push(link.part(parts[0]).map_or(0, Rate::bps));
        }
        if say(&mut stream, &says).await.is_err() {
            break;
        }
    }
    for link in links {
        link.use_part(WHOLE);
    }
}

/// The parts of two processes that had sent so many bytes before, and have now.
fn divide(elapsed: Duration, before: &[u64; 2], now: &[u64; 2]) -> [u16; 2] {
    let millis = u64::try_from(elapsed.as_millis())
        .unwrap_or(u64::MAX)
        .max(1);
    let rate = |at: usize| 1000 * now[at].saturating_sub(before[at]) / millis;
    match split(&[rate(0), rate(1)])[..] {
        [old, new] => [old, new],
        _ => [WHOLE; 2],
    }
}

async fn say(stream: &mut UnixStream, numbers: &[u64]) -> io::Result<()> {
    let numbers = numbers.get(..MOST).unwrap_or(numbers);
    // At most `MOST`.
    let mut bytes = vec![numbers.len() as u8];
    bytes.extend(numbers.iter().flat_map(|number| number.to_be_bytes()));
    stream.write_all(&bytes).await
}

async fn hear(stream: &mut UnixStream) -> io::Result<Vec<u64>> {
    let length = usize::from(stream.read_u8().await?);
    if length > MOST {
        return Err(io::ErrorKind::InvalidData.into());
    }
    let mut numbers = Vec::with_capacity(length);
    for _ in 0..length {
        numbers.push(stream.read_u64().await?);
    }
    Ok(numbers)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

    const PATIENCE: Duration = Duration::from_secs(30);

    fn link(mbps: u64) -> Arc<Knowledge> {
        Knowledge::new(Some(Rate::from_mbps(mbps)), Duration::from_millis(550))
    }

    fn send(link: &Knowledge, bytes: usize) {
        link.shaper().note_sent(bytes);
    }

    #[tokio::test]
    async fn two_processes_that_send_have_the_link_together() {
        let (here, there) = UnixStream::pair().unwrap();
        let (old, new) = ([link(20), link(5)], [link(20), link(5)]);
        let (reads, rereads) = (AtomicU64::new(0), AtomicU64::new(0));
        let reads = || reads.load(Relaxed);
        let set = |rate| new[0].set_rate(Some(rate));
        let follows = follow(here, &old, Some(Rate::from_mbps(10)), || {
            rereads.fetch_add(1, Relaxed);
        });
        let leads = lead(there, &new, set, reads);
        let work = async {
            loop {
                // The rate is the one that was set at the old process.
                let rates = [&old[0], &new[0]].map(|link| link.rate().unwrap().bps());
                if rates == [4_950_000; 2] {
                    return;
                }
                send(&old[0], 100_000);
                send(&new[0], 100_000);
                send(&new[1], 30_000);
                tokio::time::sleep(Duration::from_millis(2)).await;
            }
        };
        tokio::select! {
            () = work => {}
            () = follows => panic!("the new process is there"),
            () = leads => panic!("the old process is there"),
            () = tokio::time::sleep(PATIENCE) => panic!("they do not come to equal parts"),
        }
        // Nobody else sends there.
        assert_eq!(new[1].rate(), Some(Rate::from_bps(4_950_000)));
        assert!(new[0].sent_bytes() > new[0].shaper().sent_bytes());
        assert_eq!(rereads.load(Relaxed), 0);
    }

    #[tokio::test]
    async fn what_is_read_again_is_read_by_both_and_the_end_frees_them() {
        let (here, there) = UnixStream::pair().unwrap();
        let (old, new) = ([link(20)], [link(20)]);
        let (reads, rereads) = (AtomicU64::new(3), AtomicU64::new(0));
        let follows = follow(here, &old, None, || {
            rereads.fetch_add(1, Relaxed);
        });
        let work = async {
            tokio::time::sleep(4 * TURN).await;
            assert_eq!(rereads.load(Relaxed), 0);
            reads.fetch_add(1, Relaxed);
            new[0].set_rate(Some(Rate::from_mbps(10)));
            while old[0].rate() != Some(Rate::from_bps(9_900_000)) || rereads.load(Relaxed) == 0 {
                tokio::time::sleep(TURN).await;
            }
            assert_eq!(rereads.load(Relaxed), 1);
        };
        let leads = async {
            tokio::select! {
                () = lead(there, &new, |_| (), || reads.load(Relaxed)) => {}
                () = work => {}
                () = tokio::time::sleep(PATIENCE) => panic!("the old process does not follow"),
            }
        };
        tokio::join!(follows, leads);
        assert_eq!(old[0].rate(), Some(Rate::from_bps(19_800_000)));
        assert_eq!(new[0].rate(), Some(Rate::from_bps(9_900_000)));
    }

    #[tokio::test]
    async fn nonsense_ends_it() {
        for nonsense in [255, 0] {
            let (here, mut there) = UnixStream::pair().unwrap();
            there.write_all(&[nonsense]).await.unwrap();
            lead(here, &[link(20)], |_| (), || 0).await;
        }
    }
}
