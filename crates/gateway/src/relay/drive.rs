//! Both directions of a connection, run until they end or something breaks.

use std::future::poll_fn;
use std::pin::Pin;
use std::task::{Context, Poll};

/// The state of the two directions when [`both`] returns.
pub(super) struct Ended<B> {
    /// What broke; `None` if both directions came to an orderly end.
    pub(super) broken: Option<B>,
    /// True if the first direction has not ended, and may be polled again.
    pub(super) out_runs: bool,
    /// As above, for the second direction.
    pub(super) back_runs: bool,
}

/// Polls both directions, and `watch` for what neither of them would notice
/// while it is blocked.
///
/// It takes everything by reference: an argument of an async function is stored
/// twice in its future, which each connection would hold.
pub(super) async fn both<B>(
    mut out: Pin<&mut impl Future<Output = Result<(), B>>>,
    mut back: Pin<&mut impl Future<Output = Result<(), B>>>,
    mut watch: impl FnMut(&mut Context<'_>) -> Poll<B>,
) -> Ended<B> {
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
        watch(cx).map(Some)
    })
    .await;
    ended
}
