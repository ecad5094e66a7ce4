//! One end of a connection: it does its steps, and says how far it came.

use crate::content::Content;
use socket2::SockRef;
use std::io;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::TcpStream;

/// What one end does. Numbers are bytes of content.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// Sends so many.
    Send(u64),
    /// Reads so many.
    Read(u64),
    /// Reads so many, at so many a second.
    ReadSlowly(u64, u64),
    /// Reads so many, and then the end.
    ReadToEnd(u64),
    /// Reads at most so many, and then a reset.
    ReadToReset(u64),
    /// Sends so many and half-closes, while it reads so many and then the end.
    Both(u64, u64),
    /// Ends its direction.
    HalfClose,
    /// Waits.
    Wait(Duration),
    /// Sends RST.
    Reset,
}

/// How a connection ended at one end.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum End {
    /// All steps were done, as planned.
    Done,
    /// The other end closed cleanly before everything had come.
    Short,
    /// More came than was sent.
    Excess,
    /// The other end closed cleanly where a reset was planned.
    NoReset,
    /// A reset.
    Reset,
    /// The connection was refused.
    Refused,
    /// TCP gave up, or a proxy said that the server does not answer.
    TimedOut,
    /// There is no route, or a proxy said so.
    Unreachable,
    /// Nothing came within the patience of this end.
    Hung,
    /// Any other error.
    Other(String),
}

impl End {
    /// What an error stands for.
    #[must_use]
    pub fn from_io(error: &io::Error) -> End {
        match error.kind() {
            io::ErrorKind::ConnectionReset
            | io::ErrorKind::BrokenPipe
            | io::ErrorKind::ConnectionAborted => End::Reset,
            io::ErrorKind::ConnectionRefused => End::Refused,
            io::ErrorKind::TimedOut => End::TimedOut,
            io::ErrorKind::HostUnreachable | io::ErrorKind::NetworkUnreachable => End::Unreachable,
            _ => End::Other(error.to_string()),
        }
    }

    /// It in words, as reports have it.
    #[must_use]
    pub fn words(&self) -> &str {
        match self {
            End::Done => "done",
            End::Short => "short",
            End::Excess => "excess",
            End::NoReset => "no reset",
            End::Reset => "reset",
            End::Refused => "refused",
            End::TimedOut => "timed out",
            End::Unreachable => "unreachable",
            End::Hung => "hung",
            End::Other(words) => words,
        }
    }
}

/// How far one end came.
#[derive(Clone, Debug)]
pub struct Seen {
    /// How the connection ended here.
    pub end: End,
    /// Bytes of content sent, into the socket.
    pub sent: u64,
    /// Bytes of content received.
    pub received: u64,
    /// Position of the first byte that is not as it was sent.
    pub wrong: Option<u64>,
}

impl Seen {
    /// A connection that did not come to carry content.
    #[must_use]
    pub const fn without_content(end: End) -> Seen {
        Seen {
            end,
            sent: 0,
            received: 0,
            wrong: None,
        }
    }
}

/// Sends and receives content, and counts it.
struct Counted {
    content: Content,
    at: u64,
}

const BUFFER: usize = 64 << 10;

impl Counted {
    async fn send(
        &mut self,
        mut bytes: u64,
        into: &mut (impl AsyncWrite + Unpin),
    ) -> Result<(), End> {
        let mut buffer = vec![0; length(bytes)];
        while bytes > 0 {
            let part = &mut buffer[..length(bytes)];
            self.content.fill(self.at, part);
            into.write_all(part)
                .await
                .map_err(|error| End::from_io(&error))?;
            self.at += part.len() as u64;
            bytes -= part.len() as u64;
        }
        Ok(())
    }

    async fn read(
        &mut self,
        mut bytes: u64,
        rate: Option<u64>,
        from: &mut (impl AsyncRead + Unpin),
        wrong: &mut Option<u64>,
    ) -> Result<(), End> {
        let mut buffer = vec![0; length(bytes)];
        while bytes > 0 {
            let mut most = length(bytes);
            if let Some(rate) = rate {
                most = most.min(usize::try_from(rate / 20).unwrap_or(BUFFER).max(1));
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
            let read = self.some(&mut buffer[..most], from, wrong).await?;
            if read == 0 {
                return Err(End::Short);
            }
            bytes -= read as u64;
        }
        Ok(())
    }

    async fn some(
        &mut self,
        into: &mut [u8],
        from: &mut (impl AsyncRead + Unpin),
        wrong: &mut Option<u64>,
    ) -> Result<usize, End> {
        let read = from
            .read(into)
            .await
            .map_err(|error| End::from_io(&error))?;
        if wrong.is_none() {
            *wrong = self.content.first_wrong(self.at, &into[..read]);
        }
        self.at += read as u64;
        Ok(read)
    }

    async fn end(
        &mut self,
        from: &mut (impl AsyncRead + Unpin),
        wrong: &mut Option<u64>,
    ) -> Result<(), End> {
        match self.some(&mut [0; 1], from, wrong).await? {
            0 => Ok(()),
            _ => Err(End::Excess),
        }
    }

    /// Reads at most `most`, then a reset.
    async fn reset(
        &mut self,
        most: u64,
        from: &mut (impl AsyncRead + Unpin),
        wrong: &mut Option<u64>,
    ) -> Result<(), End> {
        let limit = self.at + most;
        let mut buffer = vec![0; length(most.max(1))];
        loop {
            match self.some(&mut buffer, from, wrong).await {
                Ok(0) => return Err(End::NoReset),
                Ok(_) if self.at > limit => return Err(End::Excess),
                Ok(_) => {}
                Err(End::Reset) => return Ok(()),
                Err(other) => return Err(other),
            }
        }
    }
}

fn length(bytes: u64) -> usize {
    usize::try_from(bytes).map_or(BUFFER, |bytes| bytes.min(BUFFER))
}

/// Does `steps` on `stream`, which it closes: sending content of the seed `send`,
/// and receiving that of the seed `receive`.
pub async fn play(mut stream: TcpStream, steps: &[Step], send: u64, receive: u64) -> Seen {
    let counted = |seed| Counted {
        content: Content::new(seed),
        at: 0,
    };
    let (mut out, mut into) = (counted(send), counted(receive));
    let mut wrong = None;
    let mut end = End::Done;
    for &step in steps {
        if let Err(other) = one(step, &mut stream, &mut out, &mut into, &mut wrong).await {
            end = other;
            break;
        }
    }
    Seen {
        end,
        sent: out.at,
        received: into.at,
        wrong,
    }
}

async fn one(
    step: Step,
    stream: &mut TcpStream,
    out: &mut Counted,
    into: &mut Counted,
    wrong: &mut Option<u64>,
) -> Result<(), End> {
    match step {
        Step::Send(bytes) => out.send(bytes, stream).await,
        Step::Read(bytes) => into.read(bytes, None, stream, wrong).await,
        Step::ReadSlowly(bytes, rate) => into.read(bytes, Some(rate), stream, wrong).await,
        Step::ReadToEnd(bytes) => {
            into.read(bytes, None, stream, wrong).await?;
            into.end(stream, wrong).await
        }
        Step::ReadToReset(most) => into.reset(most, stream, wrong).await,
        Step::Both(sent, received) => {
            let (mut reader, mut writer) = stream.split();
            let sending = async {
                out.send(sent, &mut writer).await?;
                writer
                    .shutdown()
                    .await
                    .map_err(|error| End::from_io(&error))
            };
            let receiving = async {
                into.read(received, None, &mut reader, wrong).await?;
                into.end(&mut reader, wrong).await
            };
            tokio::try_join!(sending, receiving).map(|_| ())
        }
        Step::HalfClose => stream
            .shutdown()
            .await
            .map_err(|error| End::from_io(&error)),
        Step::Wait(time) => {
            tokio::time::sleep(time).await;
            Ok(())
        }
        Step::Reset => {
            reset_at_close(stream);
            Ok(())
        }
    }
}

/// Makes the close of `stream` a reset.
pub fn reset_at_close(stream: &TcpStream) {
    // It fails only for a socket that is no socket.
    let _ = SockRef::from(stream).set_linger(Some(Duration::ZERO));
}
