//! The link behind a captured connection, and what its sender ran.
//!
//! ```no_run
//! let fit = bentpipe::fit("transfer.pcapng", None)?;
//! println!("{:.2} Mbit/s, {:.0} ms", fit.link.rate.value / 1e6, 1e3 * fit.link.rtt.value);
//! std::fs::write("fitted.toml", fit.scenario()).ok();
//! # Ok::<(), bentpipe::Error>(())
//! ```
//!
//! The capture must have been made at the sender. The link's properties are estimated from what
//! was sent and acknowledged ([`bentpipe_capture::Link`]); the congestion control is the one
//! whose twin on that link sends most alike.

mod control;
pub mod record;
mod scenario;
mod twin;

pub use bentpipe_capture::{Connection, Estimate, Link, Losses, Proportion};
pub use control::{CANDIDATES, Score};
pub use scenario::shown_share;

use crate::Error;
use crate::compare::Loss;
use bentpipe_capture::{Connections, ReadError, Seen};
use bentpipe_scenario::QueueLength;
use bentpipe_units::{Bytes, Duration, Rate, Ratio};
use std::fs::File;
use std::io::BufReader;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};

/// Memory of a reader, bytes.
const BUFFER: usize = 1 << 16;

/// What a capture shows.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(not(feature = "exhaustive"), non_exhaustive)]
pub struct Fit {
    /// The file.
    pub file: PathBuf,
    /// The connection's number, by the payload that connections carried, from 1.
    pub flow: usize,
    /// TCP connections in the capture.
    pub flows: usize,
    /// Address and port of the sender.
    pub from: SocketAddr,
    /// Address and port of the receiver.
    pub to: SocketAddr,
    /// Data packets that were sent, those that were sent again included.
    pub packets: u64,
    /// Of these, packets that were sent again.
    pub resent: u64,
    /// Payload, each byte counted once.
    pub payload: Bytes,
    /// From the first data packet to the last acknowledgement.
    pub duration: Duration,
    /// Payload of a full segment, bytes.
    pub mss: u32,
    /// IP and TCP headers of a data packet, bytes.
    pub headers: u32,
    /// The link.
    pub link: Link,
    /// The sender's congestion control by its name in Linux; `None` if it is unknown.
    pub control: Option<String>,
    /// How far the candidates are from the capture, the nearest first.
    pub scores: Vec<Score>,
    /// Why the control is unknown.
    pub doubt: Option<String>,
    /// What there is to know about the capture, a sentence each.
    pub notes: Vec<String>,
}

/// Fits a link to a connection of the capture `path`: to number `flow` by payload, from 1, or
/// to the one with an end `flow`, such as `192.0.2.1:443`; to the one with the most payload
/// unless it is given.
///
/// # Errors
/// [`Error::Capture`] if the file cannot be read, is no capture, or does not show enough.
pub fn fit(path: impl AsRef<Path>, flow: Option<&str>) -> Result<Fit, Error> {
    let path = path.as_ref();
    let wrong = |why: String| Error::Capture {
        file: path.to_owned(),
        why,
    };
    let connections = Connections::read(open(path)?).map_err(|e| unread(path, &e))?;
    let number = chosen(&connections, flow).map_err(wrong)?;
    let connection = &connections.list[number];
    let seen = Seen::read(open(path)?, connection).map_err(|e| unread(path, &e))?;
    let sender = connection.sender();
    let [from, to] = connection.from_to();
    if seen.is_from_the_receiver(sender) {
        return Err(wrong(format!(
            "it was made at the receiver of the data, {to}: the sender's packets are answered at \
             once there; expected a capture made at the sender, {from}"
        )));
    }
    let history = seen
        .history(sender)
        .ok_or_else(|| wrong(format!("the connection {from} > {to} carried no data")))?;
    let link = Link::of(&history).ok_or_else(|| {
        wrong(format!(
            "nothing of what {from} sent is acknowledged in it: expected the packets of both ways"
        ))
    })?;
    let verdict = control::of(&history, &link);
    let begin = history.sent.first().map_or(0.0, |sent| sent.at);
    let end = history.acks.last().map_or(begin, |ack| ack.at);
    Ok(Fit {
        file: path.to_owned(),
        flow: number + 1,
        flows: connections.list.len(),
        from,
        to,
        packets: history.sent.len() as u64,
        resent: history.sent.iter().filter(|sent| sent.again).count() as u64,
        payload: Bytes::new(history.payload),
        duration: Duration::from_secs_f64((end - begin).max(0.0)),
        mss: history.mss,
        headers: history.headers,
        notes: notes(&connections, &seen, &history, &link),
        link,
        control: verdict.control,
        scores: verdict.scores,
        doubt: verdict.doubt,
    })
}

impl Fit {
    /// The rate of the link; the fastest that was seen where the capture shows no limit.
    #[must_use]
    pub fn rate(&self) -> Rate {
        Rate::from_bps_f64(round(self.link.rate.value).max(1.0))
    }

    /// The round trip without queues.
    #[must_use]
    pub fn rtt(&self) -> Duration {
        Duration::from_secs_f64(round(self.link.rtt.value))
    }

    /// What the channel loses.
    #[must_use]
    pub fn loss(&self) -> Loss {
        let losses = &self.link.losses;
        let share = Ratio::new(round(losses.channel.share.value)).unwrap_or(Ratio::ZERO);
        match &losses.burst {
            Some(burst) => Loss::bursts(share, round(burst.value)),
            None => Loss::independent(share),
        }
    }

    /// What the queue before the link holds; at least what waited in it, where nothing was
    /// dropped.
    #[must_use]
    pub fn queue_bytes(&self) -> Bytes {
        let packet = f64::from(self.mss + self.headers);
        Bytes::new(round(self.link.queue.value.max(packet)) as u64)
    }

    /// The length of the queue to simulate with: where nothing was dropped, one bandwidth-delay
    /// product, or what waited if that was more.
    #[must_use]
    pub fn queue(&self) -> QueueLength {
        match self.link.queue.is_bound() && self.link.queue.value < self.link.bdp() {
            true => QueueLength::Bdp(1.0),
            false => QueueLength::Bytes(self.queue_bytes()),
        }
    }
}

/// Four digits: what an interval leaves of a value.
fn round(value: f64) -> f64 {
    use bentpipe_units::math::{floor, log10, pow};
    if value <= 0.0 || !value.is_finite() {
        return 0.0;
    }
    let unit = pow(10.0, floor(log10(value)) - 3.0);
    let rounded = floor(value / unit + 0.5) * unit;
    // Of 1e-7 and less nothing but the last bits would be lost.
    floor(rounded * 1e9 + 0.5) / 1e9
}

fn open(path: &Path) -> Result<BufReader<File>, Error> {
    let file = File::open(path).map_err(|e| Error::Capture {
        file: path.to_owned(),
        why: e.to_string(),
    })?;
    Ok(BufReader::with_capacity(BUFFER, file))
}

fn unread(path: &Path, error: &ReadError) -> Error {
    Error::Capture {
        file: path.to_owned(),
        why: error.to_string(),
    }
}

/// The index of the connection that `flow` names.
fn chosen(connections: &Connections, flow: Option<&str>) -> Result<usize, String> {
    const SHOWN: usize = 10;
    let list = &connections.list;
    let Some(first) = list.first() else {
        return Err(format!(
            "there is no TCP connection in it, among {} packets",
            connections.others + connections.unreadable
        ));
    };
    let Some(flow) = flow else {
        return match first.bytes.iter().max() {
            Some(0) => Err("no TCP connection in it carried data".to_owned()),
            _ => Ok(0),
        };
    };
    let listed = || {
        let lines = list.iter().take(SHOWN).enumerate().map(|(index, c)| {
            let [from, to] = c.from_to();
            let bytes = c.bytes.iter().max().copied().unwrap_or(0);
            format!("\n  {}: {from} > {to}, {}", index + 1, Bytes::new(bytes))
        });
        lines.collect::<String>()
    };
    let flow = flow.trim();
    if let Ok(number) = flow.parse::<usize>() {
        return match (1..=list.len()).contains(&number) {
            true => Ok(number - 1),
            false => Err(format!(
                "there is no connection {number}: expected 1 to {}{}",
                list.len(),
                listed()
            )),
        };
    }
    let named = |c: &Connection| {
        c.ends
            .iter()
            .any(|end| end.to_string() == flow || end.ip().to_string() == flow)
    };
    list.iter().position(named).ok_or_else(|| {
        format!(
            "no connection has an end `{flow}`: expected a number, or an address such as \
             192.0.2.1:443{}",
            listed()
        )
    })
}

/// What there is to know about a capture.
fn notes(
    connections: &Connections,
    seen: &Seen,
    history: &bentpipe_capture::History,
    link: &Link,
) -> Vec<String> {
    let mut notes = Vec::new();
    if !history.is_whole {
        notes.push("it begins within the connection: the handshake is not in it".to_owned());
    }
    if let unseen @ 1.. = history.unseen() {
        notes.push(format!(
            "{unseen} packets of the sender are missing in it; they count neither as lost nor as \
             delivered"
        ));
    }
    if let copies @ 1.. = seen.copies {
        notes.push(format!("{copies} packets are in it twice and counted once"));
    }
    if let steps @ 1.. = seen.clock_steps {
        let times = if steps == 1 { "once" } else { "several times" };
        notes.push(format!(
            "its clock was set {times}; the times behind that were corrected by TCP timestamps"
        ));
    }
    if let Some(offset) = connections.cut_at {
        notes.push(format!(
            "it ends in the middle of a record, at offset {offset}"
        ));
    }
    if let unreadable @ 1.. = connections.unreadable {
        notes.push(format!(
            "{unreadable} packets end before their TCP header does"
        ));
    }
    if !history.has_sack {
        notes.push(
            "the receiver sends no selective acknowledgements: which packets were lost is \
             known by the retransmissions alone"
                .to_owned(),
        );
    }
    if let Some(window) = link.window {
        notes.push(format!(
            "the receive window of {} limited the sender",
            Bytes::new(window)
        ));
    }
    notes
}

#[cfg(test)]
mod tests;
