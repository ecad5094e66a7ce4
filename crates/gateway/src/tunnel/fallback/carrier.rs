//! One TLS connection as the two halves of a stream.

use super::frame::{self, Frame, HEADER, MOST};
use crate::CloseReason;
use crate::usage::Terminal;
use bytes::{Bytes, BytesMut};
use socket2::SockRef;
use std::io;
use std::os::fd::AsFd;
use std::pin::pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::sync::{Notify, mpsc, watch};
use tokio::time::timeout;

/// Chunks that wait for the socket, or for whoever receives.
const WAITING: usize = 2;
/// After a cut, how long data that was being written may take.
const HURRY: Duration = Duration::from_secs(5);
/// After a cut or a stop, how long the other box may take to end the connection.
/// After an orderly end it may take as long as its host takes to read what is under
/// way; keepalive and TCP_USER_TIMEOUT find a box that is gone.
const ENDING: Duration = Duration::from_secs(60);

/// State shared by both halves and the task between them.
#[derive(Debug)]
struct Shared {
    /// Why the other end wants no more, or that the connection is lost.
    stopped: watch::Sender<Option<CloseReason>>,
    /// How the incoming direction ended.
    end: Mutex<Option<Result<(), CloseReason>>>,
    /// A direction was cut: what is being written must not wait for ever.
    hurry: Notify,
    /// This end has cut the outgoing direction, or wants no more of the other.
    cut: AtomicBool,
    /// True once the connection has ended, in whatever way.
    over: watch::Sender<bool>,
}

impl Shared {
    fn end(&self) -> Option<Result<(), CloseReason>> {
        *self.end.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes how the incoming direction ended; the first note holds.
    fn note_end(&self, end: Result<(), CloseReason>) {
        let mut noted = self.end.lock().unwrap_or_else(PoisonError::into_inner);
        noted.get_or_insert(end);
    }

    /// True if the incoming direction has ended, and neither end has cut or stopped anything.
    fn is_orderly(&self) -> bool {
        let cut = self.cut.load(Ordering::Relaxed) || self.stopped.borrow().is_some();
        !cut && self.end() == Some(Ok(()))
    }

    fn note_stopped(&self, why: CloseReason) {
        self.stopped.send_if_modified(|stopped| {
            let first = stopped.is_none();
            stopped.get_or_insert(why);
            first
        });
    }
}

#[derive(Debug)]
enum Outgoing {
    Data(Bytes),
    End,
}

/// Orders that precede waiting data.
#[derive(Debug)]
enum Order {
    Cut(CloseReason),
    Stop(CloseReason),
    /// The incoming direction has ended.
    Ended,
}

/// The sending half of a TLS connection.
#[derive(Debug)]
pub(crate) struct TlsSender {
    outgoing: mpsc::Sender<Outgoing>,
    orders: mpsc::UnboundedSender<Order>,
    shared: Arc<Shared>,
    /// The terminal whose cap holds for it.
    terminal: Option<Arc<Terminal>>,
}

/// The receiving half of a TLS connection.
#[derive(Debug)]
pub(crate) struct TlsReceiver {
    incoming: mpsc::Receiver<Bytes>,
    rest: Bytes,
    orders: mpsc::UnboundedSender<Order>,
    shared: Arc<Shared>,
}

impl TlsSender {
    /// Holds it to the cap of the terminal at its other end.
    pub(crate) fn hold_to(&mut self, terminal: &Arc<Terminal>) {
        self.terminal = Some(Arc::clone(terminal));
    }

    /// Sends data; waits while there is no room, or the terminal's cap is reached.
    pub(crate) async fn send(&mut self, mut data: Bytes) -> Result<(), CloseReason> {
        while let Some(terminal) = &self.terminal
            && !data.is_empty()
        {
            let most = tokio::select! {
                biased;
                why = stopped(self.shared.stopped.subscribe()) => return Err(why),
                most = terminal.pace(data.len()) => most,
            };
            let piece = data.split_to(most);
            if data.is_empty() {
                data = piece;
                break;
            }
            self.put(Outgoing::Data(piece)).await?;
        }
        self.put(Outgoing::Data(data)).await
    }

    /// Ends this direction.
    pub(crate) async fn finish(&mut self) -> Result<(), CloseReason> {
        self.put(Outgoing::End).await
    }

    async fn put(&self, what: Outgoing) -> Result<(), CloseReason> {
        tokio::select! {
            biased;
            why = stopped(self.shared.stopped.subscribe()) => Err(why),
            sent = self.outgoing.send(what) => sent.map_err(|_| CloseReason::PeerGone),
        }
    }

    /// The end of the connection.
    pub(crate) fn end(&self) -> TlsEnd {
        TlsEnd(Arc::clone(&self.shared))
    }

    /// Cuts this direction.
    pub(crate) fn cut(&self, why: CloseReason) {
        // It fails where the connection has ended.
        let _ = self.orders.send(Order::Cut(why));
        self.shared.hurry.notify_one();
    }
}

/// The end of a TLS connection, for those who wait for it.
#[derive(Clone, Debug)]
pub(crate) struct TlsEnd(Arc<Shared>);

impl TlsEnd {
    /// Completes when the other end wants no more, or the connection is lost.
    pub(crate) fn stopped(&self) -> impl Future<Output = CloseReason> + Send + 'static + use<> {
        stopped(self.0.stopped.subscribe())
    }

    /// Completes when the connection has ended, with the reason if that was not in
    /// order.
    pub(crate) fn over(
        &self,
    ) -> impl Future<Output = Option<CloseReason>> + Send + 'static + use<> {
        let mut over = self.0.over.subscribe();
        let stopped = self.0.stopped.subscribe();
        async move {
            // It fails where the task has been dropped with its runtime.
            let _ = over.wait_for(|over| *over).await;
            *stopped.borrow()
        }
    }
}

async fn stopped(mut stopped: watch::Receiver<Option<CloseReason>>) -> CloseReason {
    match stopped.wait_for(Option::is_some).await.map(|why| *why) {
        Ok(Some(why)) => why,
        // Both directions ended in order.
        Ok(None) | Err(_) => std::future::pending().await,
    }
}

impl TlsReceiver {
    /// The end of the connection.
    pub(crate) fn end(&self) -> TlsEnd {
        TlsEnd(Arc::clone(&self.shared))
    }

    /// The next bytes; `None` after a half-close.
    pub(crate) async fn receive(&mut self, most: usize) -> Result<Option<Bytes>, CloseReason> {
        if self.rest.is_empty() {
            match self.incoming.recv().await {
                Some(bytes) => self.rest = bytes,
                None => {
                    let end = self.shared.end().unwrap_or(Err(CloseReason::PeerGone));
                    return end.map(|()| None);
                }
            }
        }
        Ok(Some(self.rest.split_to(most.min(self.rest.len()))))
    }

    /// Wants no more.
    pub(crate) fn stop(&mut self, why: CloseReason) {
        self.incoming.close();
        // It fails where the connection has ended.
        let _ = self.orders.send(Order::Stop(why));
        self.shared.hurry.notify_one();
    }

    /// True where this direction has ended.
    pub(crate) fn has_ended(&self) -> bool {
        self.shared.end().is_some()
    }
}

impl Drop for TlsReceiver {
    fn drop(&mut self) {
        if self.shared.end().is_none() {
            self.stop(CloseReason::Failed);
        }
    }
}

/// Carries a stream on a connection that is authenticated and greeted, in a task of
/// its own. `read` are bytes that were read from it already.
pub(super) fn carry<S>(connection: S, read: BytesMut) -> (TlsSender, TlsReceiver)
where
    S: AsyncRead + AsyncWrite + AsSocket + Send + Unpin + 'static,
{
    let (outgoing, from_sender) = mpsc::channel(WAITING);
    let (to_receiver, incoming) = mpsc::channel(WAITING);
    let (orders, to_writer) = mpsc::unbounded_channel();
    let shared = Arc::new(Shared {
        stopped: watch::Sender::new(None),
        end: Mutex::new(None),
        hurry: Notify::new(),
        cut: AtomicBool::new(false),
        over: watch::Sender::new(false),
    });
    let sender = TlsSender {
        outgoing,
        orders: orders.clone(),
        shared: Arc::clone(&shared),
        terminal: None,
    };
    let receiver = TlsReceiver {
        incoming,
        rest: Bytes::new(),
        orders: orders.clone(),
        shared: Arc::clone(&shared),
    };
    tokio::spawn(async move {
        let (reading, writing) = tokio::io::split(connection);
        let reader = Reader {
            reading,
            buffer: read,
            to_receiver: Some(to_receiver),
            orders,
            shared: &shared,
        };
        let writer = Writer {
            writing,
            from_sender,
            to_writer,
            shared: &shared,
        };
        let ended = async {
            let mut reader = pin!(reader.run());
            let mut writer = pin!(writer.run());
            tokio::select! {
                reading = &mut reader => io::Result::Ok((reading?, writer.await?)),
                writing = &mut writer => {
                    let writing = writing?;
                    Ok((patiently(shared.is_orderly(), reader).await?, writing))
                }
            }
        };
        match ended.await {
            Ok((reading, writing)) => reading.unsplit(writing).end_orderly(),
            Err(error) => {
                // The socket lingers for no time, so that dropping it resets it.
                tracing::debug!(%error, "a connection of the fallback is lost");
                shared.note_end(Err(CloseReason::PeerGone));
                shared.note_stopped(CloseReason::PeerGone);
            }
        }
        shared.over.send_replace(true);
    });
    (sender, receiver)
}

/// Waits for `work`: for ever after an orderly end, otherwise for a while.
async fn patiently<T>(orderly: bool, work: impl Future<Output = io::Result<T>>) -> io::Result<T> {
    if orderly {
        work.await
    } else {
        timeout(ENDING, work).await?
    }
}

/// A connection whose socket can be told to end in order.
pub(super) trait AsSocket {
    /// Clears what would make closing it a reset.
    fn end_orderly(&self);
}

/// As [`AsSocket::end_orderly`], of a socket.
pub(super) fn end_orderly(socket: &impl AsFd) {
    // It fails where the connection is lost.
    let _ = SockRef::from(socket).set_linger(None);
}

struct Reader<'a, S> {
    reading: tokio::io::ReadHalf<S>,
    buffer: BytesMut,
    to_receiver: Option<mpsc::Sender<Bytes>>,
    orders: mpsc::UnboundedSender<Order>,
    shared: &'a Shared,
}

impl<S: AsyncRead> Reader<'_, S> {
    /// Reads until the other box ends the connection.
    async fn run(mut self) -> io::Result<tokio::io::ReadHalf<S>> {
        loop {
            let next = frame::decode(&self.buffer);
            match next.map_err(|_| io::Error::from(io::ErrorKind::InvalidData))? {
                Some((Frame::Data(length), header)) => {
                    while self.buffer.len() < header + length {
                        self.more().await?;
                    }
                    let mut whole = self.buffer.split_to(header + length);
                    let data = whole.split_off(header).freeze();
                    // Where it is not wanted any more, it is read away.
                    if let Some(to_receiver) = &self.to_receiver {
                        let _ = to_receiver.send(data).await;
                    }
                    continue;
                }
                Some((Frame::Stop(why), header)) => {
                    self.shared.note_stopped(why);
                    let _ = self.buffer.split_to(header);
                    continue;
                }
                Some((end @ (Frame::End | Frame::Cut(_)), header)) => {
                    let end = match end {
                        Frame::Cut(why) => Err(why),
                        _ => Ok(()),
                    };
                    let _ = self.buffer.split_to(header);
                    self.shared.note_end(end);
                    self.to_receiver = None;
                    // It fails where the writer has ended.
                    let _ = self.orders.send(Order::Ended);
                    continue;
                }
                None => {}
            }
            let ended = self.to_receiver.is_none() && self.buffer.is_empty();
            match self.more().await {
                Ok(()) => {}
                Err(error) if ended && error.kind() == io::ErrorKind::UnexpectedEof => {
                    return Ok(self.reading);
                }
                Err(error) => return Err(error),
            }
        }
    }

    async fn more(&mut self) -> io::Result<()> {
        self.buffer.reserve(HEADER + MOST);
        match self.reading.read_buf(&mut self.buffer).await? {
            0 => Err(io::ErrorKind::UnexpectedEof.into()),
            _ => Ok(()),
        }
    }
}

struct Writer<'a, S> {
    writing: tokio::io::WriteHalf<S>,
    from_sender: mpsc::Receiver<Outgoing>,
    to_writer: mpsc::UnboundedReceiver<Order>,
    shared: &'a Shared,
}

impl<S: AsyncWrite> Writer<'_, S> {
    /// Writes until both directions have ended, and ends the connection.
    async fn run(mut self) -> io::Result<tokio::io::WriteHalf<S>> {
        let (mut sent_end, mut stop_sent, mut received_end) = (false, false, false);
        let mut sender_gone = false;
        while !(sent_end && (received_end || stop_sent)) {
            let mut bytes = Vec::new();
            tokio::select! {
                biased;
                order = self.to_writer.recv() => match order {
                    Some(Order::Cut(why)) if !sent_end => {
                        frame::encode(Frame::Cut(why), &mut bytes);
                        self.shared.cut.store(true, Ordering::Relaxed);
                        sent_end = true;
                    }
                    Some(Order::Stop(why)) if !received_end && !stop_sent => {
                        frame::encode(Frame::Stop(why), &mut bytes);
                        self.shared.cut.store(true, Ordering::Relaxed);
                        stop_sent = true;
                    }
                    Some(Order::Ended) => received_end = true,
                    Some(_) => {}
                    None => return Err(io::ErrorKind::BrokenPipe.into()),
                },
                outgoing = self.from_sender.recv(), if !sent_end && !sender_gone => match outgoing {
                    Some(Outgoing::Data(data)) => {
                        self.write_data(&data).await?;
                        continue;
                    }
                    Some(Outgoing::End) => {
                        frame::encode(Frame::End, &mut bytes);
                        sent_end = true;
                    }
                    // Whoever drops a sender before its end has ordered a cut.
                    None => sender_gone = true,
                },
            }
            if !bytes.is_empty() {
                self.write(&bytes).await?;
            }
        }
        patiently(self.shared.is_orderly(), self.writing.shutdown()).await?;
        Ok(self.writing)
    }

    async fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        let Writer {
            writing, shared, ..
        } = self;
        hurried(shared, async {
            writing.write_all(bytes).await?;
            writing.flush().await
        })
        .await
    }

    /// Writes data in frames, one at a time, so that no second copy of all is held.
    async fn write_data(&mut self, data: &[u8]) -> io::Result<()> {
        let Writer {
            writing, shared, ..
        } = self;
        hurried(shared, async {
            let mut bytes = Vec::new();
            for part in data.chunks(MOST) {
                bytes.clear();
                frame::encode(Frame::Data(part.len()), &mut bytes);
                bytes.extend_from_slice(part);
                writing.write_all(&bytes).await?;
            }
            writing.flush().await
        })
        .await
    }
}

/// Writes; after a cut, only for a while.
async fn hurried(shared: &Shared, write: impl Future<Output = io::Result<()>>) -> io::Result<()> {
    let mut write = pin!(write);
    tokio::select! {
        biased;
        written = &mut write => written,
        () = shared.hurry.notified() => timeout(HURRY, write).await?,
    }
}
