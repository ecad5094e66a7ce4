//! Two processes of one gateway, while the old one lets its connections finish.
//!
//! They send into the same link, which each of them would fill. Twice a second the old one says how much it
//! has sent, and the new one answers with the rate that is the old one's: as two hubs of a terminal divide
//! their link ([`split`]). The stream is the one of the hand-over; its end tells each that the other has
//! ended.
//!
//! Both say the same on the wire: how many links there are (1 byte), and a number for each (8 bytes, most
//! significant first). The old process says bytes of IP packets since its start, the new one bits a second,
//! 0 where the rate is not limited.

use crate::tunnel::association::{WHOLE, split};
use crate::tunnel::known::Knowledge;
use bentpipe_units::Rate;
use std::io;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::UnixStream;

/// How often the rate is divided.
const TURN: Duration = Duration::from_millis(500);
/// Links, at most.
const MOST: usize = 64;

/// Keeps to the rate that the process says that has taken over; returns when that is gone.
pub(super) async fn follow(mut stream: UnixStream, links: Vec<Arc<Knowledge>>) {
    let mut turns = tokio::time::interval(TURN);
    turns.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    loop {
        turns.tick().await;
        let sent: Vec<u64> = links.iter().map(|link| link.sent_bytes()).collect();
        let told = async {
            say(&mut stream, &sent).await?;
            hear(&mut stream).await
        };
        let Ok(rates) = told.await else { return };
        for (link, rate) in links.iter().zip(rates) {
            link.follow(Some(Rate::from_bps(rate)).filter(|_| rate > 0));
        }
    }
}

/// Divides the rate with the process that this one has taken over from; returns when that has ended.
pub(super) async fn lead(mut stream: UnixStream, links: Vec<Arc<Knowledge>>) {
    let mut before: Option<(Instant, Vec<[u64; 2]>)> = None;
    while let Ok(sent) = hear(&mut stream).await {
        let now = Instant::now();
        let sent = sent.into_iter().zip(&links);
        let sent: Vec<[u64; 2]> = sent
            .map(|(other, link)| [other, link.shaper().sent_bytes()])
            .collect();
        let mut rates = vec![0; sent.len()];
        for (at, (link, sent)) in links.iter().zip(&sent).enumerate() {
            let parts = match &before {
                Some((then, before)) => divide(now - *then, before.get(at).unwrap_or(sent), sent),
                None => [WHOLE; 2],
            };
            link.note_fellows(sent[0]);
            link.use_part(parts[1]);
            rates[at] = link.part(parts[0]).map_or(0, Rate::bps);
        }
        before = Some((now, sent));
        if say(&mut stream, &rates).await.is_err() {
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

    fn link(mbps: u64) -> Arc<Knowledge> {
        Knowledge::new(Some(Rate::from_mbps(mbps)), Duration::from_millis(550))
    }

    fn send(link: &Knowledge, bytes: usize) {
        link.shaper().sent(None, bytes, Instant::now());
    }

    #[tokio::test(start_paused = true)]
    async fn two_processes_that_send_have_the_link_together() {
        let (here, there) = UnixStream::pair().unwrap();
        let (old, new) = ([link(20), link(5)], [link(20), link(5)]);
        let follows = tokio::spawn(follow(here, old.to_vec()));
        let leads = tokio::spawn(lead(there, new.to_vec()));
        for _ in 0..20 {
            send(&old[0], 1_000_000);
            send(&new[0], 1_000_000);
            send(&new[1], 300_000);
            tokio::time::sleep(TURN).await;
        }
        let rates = [&old[0], &new[0]].map(|link| link.rate().unwrap().bps());
        assert_eq!(rates, [9_900_000; 2]);
        // Nobody else sends there.
        assert_eq!(new[1].rate(), Some(Rate::from_bps(4_950_000)));
        assert_eq!(new[0].sent_bytes(), 40_000_000);
        // A new rate reaches both.
        new[0].set_rate(Some(Rate::from_mbps(10)));
        tokio::time::sleep(2 * TURN).await;
        assert!(old[0].rate().unwrap() <= Rate::from_bps(9_900_000));
        follows.abort();
        leads.await.unwrap();
        assert_eq!(new[0].rate(), Some(Rate::from_bps(9_900_000)));
    }

    #[tokio::test]
    async fn nonsense_ends_it() {
        let (here, mut there) = UnixStream::pair().unwrap();
        let leads = tokio::spawn(lead(here, vec![link(20)]));
        there.write_all(&[255]).await.unwrap();
        leads.await.unwrap();
    }
}
