//! How far the requests of a connection are: before the head of one, in it, or in the answer.

use axum::body::Body;
use axum::response::Response;
use hyper::body::{Bytes, Frame, Incoming, SizeHint};
use hyper::service::Service;
use hyper::{Request, body};
use std::io;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio::time::Instant;

/// What a connection is at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Phase {
    /// No byte of a request has come since the connection began or the last answer ended.
    Idle,
    /// A head has begun to come.
    Head,
    /// A request is being answered; its body may still come.
    Answer,
}

/// The phase of a connection, and when it began.
#[derive(Debug)]
pub(super) struct Progress(Mutex<(Phase, Instant)>);

impl Progress {
    pub(super) fn new() -> Progress {
        Progress(Mutex::new((Phase::Idle, Instant::now())))
    }

    fn lock(&self) -> MutexGuard<'_, (Phase, Instant)> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The phase, and how long it has lasted.
    pub(super) fn now(&self) -> (Phase, Duration) {
        let (phase, since) = *self.lock();
        (phase, since.elapsed())
    }

    fn enter(&self, phase: Phase) {
        *self.lock() = (phase, Instant::now());
    }

    /// Bytes have come. What comes during an answer is the request's body, or the head of
    /// the next request, whose limit is that of an idle connection until more of it comes.
    fn came(&self) {
        let mut state = self.lock();
        if state.0 == Phase::Idle {
            *state = (Phase::Head, Instant::now());
        }
    }

    /// Bytes of an answer have left: a client that reads slowly is not idle.
    fn left(&self) {
        let mut state = self.lock();
        if state.0 == Phase::Idle {
            state.1 = Instant::now();
        }
    }
}

/// A connection whose bytes are noted.
#[derive(Debug)]
pub(super) struct Watched {
    stream: TcpStream,
    progress: Arc<Progress>,
}

impl Watched {
    pub(super) fn new(stream: TcpStream, progress: &Arc<Progress>) -> Watched {
        Watched {
            stream,
            progress: Arc::clone(progress),
        }
    }

    pub(super) fn into_inner(self) -> TcpStream {
        self.stream
    }

    fn note_left(&self, written: Poll<io::Result<usize>>) -> Poll<io::Result<usize>> {
        if matches!(written, Poll::Ready(Ok(1..))) {
            self.progress.left();
        }
        written
    }
}

impl AsyncRead for Watched {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        let read = Pin::new(&mut self.stream).poll_read(context, buffer);
        if buffer.filled().len() > before {
            self.progress.came();
        }
        read
    }
}

impl AsyncWrite for Watched {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write(context, bytes);
        self.note_left(written)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write_vectored(context, bytes);
        self.note_left(written)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}

/// A service that notes when an answer begins and ends.
#[derive(Debug)]
pub(super) struct Answering<S> {
    service: S,
    progress: Arc<Progress>,
}

impl<S> Answering<S> {
    pub(super) fn new(service: S, progress: &Arc<Progress>) -> Answering<S> {
        Answering {
            service,
            progress: Arc::clone(progress),
        }
    }
}

impl<S> Service<Request<Incoming>> for Answering<S>
where
    S: Service<Request<Incoming>, Response = Response>,
    S::Future: Send + 'static,
{
    type Response = Response<AnswerBody>;
    type Error = S::Error;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, S::Error>> + Send>>;

    fn call(&self, request: Request<Incoming>) -> Self::Future {
        let guard = AnswerGuard::begin(&self.progress);
        let answer = self.service.call(request);
        Box::pin(async move {
            Ok(answer.await?.map(|body| AnswerBody {
                body,
                _guard: guard,
            }))
        })
    }
}

/// Ends the answer when it is dropped.
#[derive(Debug)]
struct AnswerGuard(Arc<Progress>);

impl AnswerGuard {
    fn begin(progress: &Arc<Progress>) -> AnswerGuard {
        progress.enter(Phase::Answer);
        AnswerGuard(Arc::clone(progress))
    }
}

impl Drop for AnswerGuard {
    fn drop(&mut self) {
        self.0.enter(Phase::Idle);
    }
}

/// The body of an answer, with which the answer ends.
#[derive(Debug)]
pub(super) struct AnswerBody {
    body: Body,
    _guard: AnswerGuard,
}

impl body::Body for AnswerBody {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        Pin::new(&mut self.body).poll_frame(context)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
