//! Measures the speed of TCP between the boxes, on a connection of the fallback.
//!
//! The terminal asks with a [`Measure`](codec::Request::Measure). For the direction to the
//! terminal, the hub sends zeros; for the other the terminal does, and the hub reports every half
//! second how many bytes have arrived, as 8 bytes, most significant first.

use super::Pool;
use crate::CloseReason;
use crate::tunnel::codec::{self, Direction};
use crate::tunnel::stream::{Receiver, Sender};
use bytes::Bytes;
use std::time::{Duration, Instant};

/// Time for TCP to find its speed, which is not counted.
const START: Duration = Duration::from_secs(4);
/// Time that is counted.
const COUNTED: Duration = Duration::from_secs(4);
/// Time between reports.
const REPORT: Duration = Duration::from_millis(500);
/// Longest measurement that a hub takes part in.
const MOST: Duration = Duration::from_secs(30);
/// Bytes at a time.
const CHUNK: usize = 16 * 1024;

/// Measures, in bytes a second. `start` is called as counting begins.
pub(crate) async fn measure(
    pool: &Pool,
    direction: Direction,
    start: impl FnOnce() + Send,
) -> Result<u64, CloseReason> {
    let (mut sender, mut receiver) = pool.take().await?;
    sender.send(codec::encode_measure(direction)).await?;
    let begin = Instant::now();
    let mut counter = Counter {
        start: Some(start),
        first: None,
        last: None,
    };
    let counted = async {
        match direction {
            Direction::Down => {
                let mut total = 0;
                while begin.elapsed() < START + COUNTED {
                    let bytes = receiver
                        .receive(1 << 20)
                        .await?
                        .ok_or(CloseReason::Failed)?;
                    total += bytes.len() as u64;
                    counter.note(begin, total);
                }
                Ok(())
            }
            Direction::Up => {
                let sending = flood(&mut sender);
                let reports = async {
                    while begin.elapsed() < START + COUNTED {
                        counter.note(begin, report(&mut receiver).await?);
                    }
                    Ok::<(), CloseReason>(())
                };
                tokio::select! {
                    sent = sending => sent,
                    reported = reports => reported,
                }
            }
        }
    };
    // Where nothing moves, the rate is what it was until then.
    let limit = START + COUNTED + Duration::from_secs(1);
    let measured = tokio::time::timeout(limit, counted).await;
    sender.cut(CloseReason::Reset);
    receiver.stop(CloseReason::Reset);
    measured.unwrap_or(Ok(()))?;
    Ok(counter.rate())
}

/// Counts from the time at which TCP has found its speed.
struct Counter<F> {
    start: Option<F>,
    first: Option<(Instant, u64)>,
    last: Option<(Instant, u64)>,
}

impl<F: FnOnce()> Counter<F> {
    fn note(&mut self, begin: Instant, total: u64) {
        if begin.elapsed() < START {
            return;
        }
        if let Some(start) = self.start.take() {
            start();
        }
        let now = (Instant::now(), total);
        self.first.get_or_insert(now);
        self.last = Some(now);
    }

    fn rate(&self) -> u64 {
        let (Some(first), Some(last)) = (self.first, self.last) else {
            return 0;
        };
        let millis = u64::try_from((last.0 - first.0).as_millis()).unwrap_or(u64::MAX);
        // The totals of an upload are what the other box reports.
        let moved = last.1.saturating_sub(first.1);
        moved.saturating_mul(1000).checked_div(millis).unwrap_or(0)
    }
}

async fn flood(sender: &mut Sender) -> Result<(), CloseReason> {
    let zeros = Bytes::from(vec![0; CHUNK]);
    loop {
        sender.send(zeros.clone()).await?;
    }
}

async fn report(receiver: &mut Receiver) -> Result<u64, CloseReason> {
    let mut total = [0; 8];
    let mut filled = 0;
    while filled < total.len() {
        let bytes = receiver.receive(total.len() - filled).await?;
        let bytes = bytes.ok_or(CloseReason::Failed)?;
        total[filled..filled + bytes.len()].copy_from_slice(&bytes);
        filled += bytes.len();
    }
    Ok(u64::from_be_bytes(total))
}

/// The hub's part, until the terminal has enough.
pub(crate) async fn answer(direction: Direction, mut sender: Sender, mut receiver: Receiver) {
    let work = async {
        match direction {
            Direction::Down => tokio::select! {
                sent = flood(&mut sender) => sent,
                ended = receiver.receive(1) => ended.map(|_| ()),
            },
            Direction::Up => {
                let mut total = 0u64;
                let mut next = Instant::now() + REPORT;
                loop {
                    let bytes = receiver
                        .receive(1 << 20)
                        .await?
                        .ok_or(CloseReason::Failed)?;
                    total += bytes.len() as u64;
                    if Instant::now() >= next {
                        next += REPORT;
                        let report = Bytes::copy_from_slice(&total.to_be_bytes());
                        sender.send(report).await?;
                    }
                }
            }
        }
    };
    // However it ends, the halves are cut as they are dropped.
    let _: Result<Result<(), CloseReason>, _> = tokio::time::timeout(MOST, work).await;
}
