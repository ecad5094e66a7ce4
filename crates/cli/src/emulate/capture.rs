//! Real packets as a capture. The file is written by a thread of its own, so
//! that a slow disk makes no packet late.

use crate::args::PcapAt;
use crate::exit::Failure;
use bentpipe_linux::emulator::{Cause, Pair, Seen, Tap};
use bentpipe_outcome::{Capture, CaptureError, Interface, MAX_HEADERS, Provenance, WholeFile};
use bentpipe_scenario::{LinkId, Scenario};
use bentpipe_units::{Duration, Time};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{SyncSender, TrySendError, sync_channel};
use std::thread::JoinHandle;

/// Packets that are handed to the writer together.
const BATCH: usize = 256;

/// Batches that wait to be written, at most: those of half a second and more.
const WAITING: usize = 400;

/// The first bytes of a packet.
struct Kept {
    at: Time,
    interface: u32,
    length: u32,
    kept: u8,
    bytes: [u8; MAX_HEADERS],
}

/// Sees the packets of the ends of pairs; each end is a tap point, `NAME/from`
/// or `NAME/to`.
pub(super) struct Recorder {
    at: PcapAt,
    batch: Vec<Kept>,
    writer: Option<SyncSender<Vec<Kept>>>,
    /// Packets that came faster than they were written.
    lost: u64,
    written: Option<JoinHandle<Result<(), CaptureError>>>,
    path: PathBuf,
}

impl Recorder {
    /// Begins the capture `path`.
    pub(super) fn create(
        path: &Path,
        scenario: &Scenario,
        (seed, pairs): (u64, &[Pair]),
        at: PcapAt,
    ) -> Result<Recorder, Failure> {
        let named = |pair: &Pair, end| Interface::named(&format!("{}/{end}", pair.name));
        let interfaces: Vec<Interface> = pairs
            .iter()
            .flat_map(|pair| [named(pair, "from"), named(pair, "to")])
            .collect();
        let provenance = Provenance::new(&scenario.name, &scenario.hash().to_string(), &[seed]);
        let failed = |e: CaptureError| Failure::file("write", path, e);
        let mut capture = Capture::create(path, &provenance, &interfaces).map_err(failed)?;
        let (writer, batches) = sync_channel::<Vec<Kept>>(WAITING);
        let written = std::thread::spawn(move || {
            for batch in batches {
                write(&mut capture, &batch)?;
            }
            capture.commit()
        });
        Ok(Recorder {
            at,
            batch: Vec::with_capacity(BATCH),
            writer: Some(writer),
            lost: 0,
            written: Some(written),
            path: path.to_owned(),
        })
    }

    /// Completes the file, and returns how many packets it lacks because they
    /// came faster than they were written.
    pub(super) fn finish(mut self) -> Result<u64, Failure> {
        if let Some(writer) = self.writer.take() {
            // Now there is time to wait.
            let _ = writer.send(std::mem::take(&mut self.batch));
        }
        let ended = self.written.take().map(JoinHandle::join);
        match ended {
            Some(Ok(result)) => result.map_err(|e| Failure::file("write", &self.path, e))?,
            Some(Err(panic)) => std::panic::resume_unwind(panic),
            None => {}
        }
        Ok(self.lost)
    }

    fn hand_over(&mut self) {
        let batch = std::mem::replace(&mut self.batch, Vec::with_capacity(BATCH));
        if let Some(writer) = &self.writer {
            match writer.try_send(batch) {
                Err(TrySendError::Full(batch)) => self.lost += batch.len() as u64,
                // A writer that has failed says why at the end.
                Ok(()) | Err(TrySendError::Disconnected(_)) => {}
            }
        }
    }

    /// Keeps what an end of a pair sees.
    fn keep(&mut self, at: Time, end: u32, seen: &Seen<'_>) {
        let listens = match self.at {
            PcapAt::From => end == 0,
            PcapAt::To => end == 1,
            PcapAt::Both => true,
        };
        // Between interfaces there are other frames than those of IP.
        let is_ip = matches!(seen.packet.first().map(|b| b >> 4), Some(4 | 6));
        if !listens || !is_ip {
            return;
        }
        let kept = seen.packet.len().min(MAX_HEADERS);
        let mut bytes = [0; MAX_HEADERS];
        bytes[..kept].copy_from_slice(&seen.packet[..kept]);
        self.batch.push(Kept {
            at,
            interface: 2 * seen.pair + end,
            length: seen.packet.len() as u32,
            kept: kept as u8,
            bytes,
        });
        if self.batch.len() == BATCH {
            self.hand_over();
        }
    }
}

fn write(capture: &mut Capture<WholeFile>, batch: &[Kept]) -> Result<(), CaptureError> {
    for packet in batch {
        let bytes = &packet.bytes[..usize::from(packet.kept)];
        capture.raw(packet.at, packet.interface, bytes, packet.length)?;
    }
    Ok(())
}

impl Tap for Recorder {
    fn entered(&mut self, at: Time, seen: &Seen<'_>) {
        self.keep(at, u32::from(!seen.forward), seen);
    }
    fn arrived(&mut self, at: Time, _: Duration, seen: &Seen<'_>) {
        self.keep(at, u32::from(seen.forward), seen);
    }
    fn dropped(&mut self, _: Time, _: Option<LinkId>, _: Cause, _: &Seen<'_>) {}
}
