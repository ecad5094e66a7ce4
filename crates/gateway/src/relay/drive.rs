//! Both directions of a connection, run until they end or something breaks.

use std::future::poll_fn;
use std::pin::{Pin, pin};
use std::task::Poll;

/// How the two directions stand when [`both`] returns.
pub(super) struct Ended<B> {
    /// What broke; `None` if both directions came to an orderly end.
    pub(super) broken: Option<B>,
    /// True if the first direction has not ended, and may be polled again.
    pub(super) out_runs: bool,
    /// The same of the second direction.
    pub(super) back_runs: bool,
}

/// Polls both directions, and `watch` for what neither of them would notice
/// while it is blocked.
pub(super) async fn both<B>(
    mut out: Pin<&mut impl Future<Output = Result<(), B>>>,
    mut back: Pin<&mut impl Future<Output = Result<(), B>>>,
    watch: impl Future<Output = B>,
) -> Ended<B> {
    let mut watch = pin!(watch);
    let mut ended = Ended {
        broken: None,
        out_runs: true,
        back_runs: true,
    };
    ended.broken = poll_fn(|cx| {
        if ended.out_runs
            && let Poll::Ready(result) = out.as_mut().poll(cx)
        {
            ended.out_runs = false;
            if let Err(broken) = result {
                return Poll::Ready(Some(broken));
            }
        }
        if ended.back_runs
            && let Poll::Ready(result) = back.as_mut().poll(cx)
        {
            ended.back_runs = false;
            if let Err(broken) = result {
                return Poll::Ready(Some(broken));
            }
        }
        if !ended.out_runs && !ended.back_runs {
            return Poll::Ready(None);
        }
        watch.as_mut().poll(cx).map(Some)
    })
    .await;
    ended
}

/// The first of three futures.
pub(super) async fn first<T>(
    a: impl Future<Output = T>,
    b: impl Future<Output = T>,
    c: impl Future<Output = T>,
) -> T {
    let (mut a, mut b, mut c) = (pin!(a), pin!(b), pin!(c));
    poll_fn(|cx| {
        if let Poll::Ready(value) = a.as_mut().poll(cx) {
            return Poll::Ready(value);
        }
        if let Poll::Ready(value) = b.as_mut().poll(cx) {
            return Poll::Ready(value);
        }
        c.as_mut().poll(cx)
    })
    .await
}
