//! Captures in pcapng, as Wireshark reads them: nanoseconds, bare IP packets,
//! one interface per tap point. Times count from the start of the run.
//!
//! pcapng: draft-ietf-opsawg-pcapng; LINKTYPE_RAW is 101.

use crate::packet::{CapturedPacket, MAX_HEADERS};
use crate::{Error, Provenance, WholeFile};
use bentpipe_units::Time;
use std::io::{self, Write};
use std::path::Path;

const SECTION: u32 = 0x0a0d_0d0a;
const INTERFACE: u32 = 1;
const PACKET: u32 = 6;
const LINKTYPE_RAW: u16 = 101;

const END: u16 = 0;
const COMMENT: u16 = 1;
const IF_NAME: u16 = 2;
const USER_APPLICATION: u16 = 4;
const IF_DESCRIPTION: u16 = 3;
const IF_SPEED: u16 = 8;
const IF_TIME_RESOLUTION: u16 = 9;

/// A tap point, which is an interface of the capture.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Interface {
    /// Its name, such as `gateway/forward`.
    pub name: String,
    /// Description; may be empty.
    pub description: String,
    /// The rate of its link, where it is constant.
    pub rate: Option<bentpipe_units::Rate>,
}

impl Interface {
    /// A tap point of that name.
    #[must_use]
    pub fn named(name: &str) -> Interface {
        Interface {
            name: name.to_owned(),
            ..Interface::default()
        }
    }
}

/// Why a packet could not be captured.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CaptureError {
    /// The capture has no such interface.
    #[error("the capture has {interfaces} interfaces, none has the number {interface}")]
    NoSuchInterface {
        /// The number.
        interface: u32,
        /// How many there are.
        interfaces: u32,
    },
    /// An IPv4 packet has 65,535 bytes at most.
    #[error("a packet with {payload_bytes} bytes of payload is too long for IPv4")]
    TooLong {
        /// Its payload.
        payload_bytes: u32,
    },
    /// It could not be written.
    #[error("cannot write the capture: {0}")]
    Io(#[from] io::Error),
    /// The file could not be created or completed.
    #[error(transparent)]
    File(#[from] Error),
}

/// Writes a capture, packet by packet. Only headers are kept; the original
/// lengths are true.
#[derive(Debug)]
pub struct Capture<W: Write> {
    to: W,
    interfaces: u32,
    block: Vec<u8>,
}

impl Capture<WholeFile> {
    /// Begins a file that is [whole or absent](WholeFile). Its comment is the
    /// provenance: scenario and seed.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn create(
        path: &Path,
        provenance: &Provenance,
        interfaces: &[Interface],
    ) -> Result<Capture<WholeFile>, CaptureError> {
        Capture::new(WholeFile::create(path)?, &provenance.to_line(), interfaces)
    }

    /// Completes the file and gives it its name.
    ///
    /// # Errors
    /// If the file cannot be written; then it is absent.
    pub fn commit(self) -> Result<(), CaptureError> {
        Ok(self.finish()?.commit()?)
    }
}

impl<W: Write> Capture<W> {
    /// Begins a capture with a comment. More interfaces may be
    /// [added](Capture::add_interface) later.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn new(to: W, comment: &str, interfaces: &[Interface]) -> Result<Capture<W>, CaptureError> {
        let mut capture = Capture {
            to,
            interfaces: 0,
            block: Vec::with_capacity(256),
        };
        capture.start(SECTION);
        // Byte order, version 1.0, section of unknown length.
        capture.u32(0x1a2b_3c4d);
        capture.block.extend_from_slice(&1_u16.to_le_bytes());
        capture.block.extend_from_slice(&0_u16.to_le_bytes());
        capture.block.extend_from_slice(&[0xff; 8]);
        capture.text_option(COMMENT, comment);
        let program = concat!("bentpipe ", env!("CARGO_PKG_VERSION"));
        capture.text_option(USER_APPLICATION, program);
        capture.option(END, &[]);
        capture.end()?;
        for interface in interfaces {
            capture.add_interface(interface)?;
        }
        Ok(capture)
    }

    /// Adds a tap point and returns its number: 0 for the first.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn add_interface(&mut self, interface: &Interface) -> Result<u32, CaptureError> {
        self.start(INTERFACE);
        self.block.extend_from_slice(&LINKTYPE_RAW.to_le_bytes());
        self.block.extend_from_slice(&0_u16.to_le_bytes());
        self.u32(MAX_HEADERS as u32);
        self.text_option(IF_NAME, &interface.name);
        if !interface.description.is_empty() {
            self.text_option(IF_DESCRIPTION, &interface.description);
        }
        if let Some(rate) = interface.rate {
            self.option(IF_SPEED, &rate.bps().to_le_bytes());
        }
        // Units of 10^-9 s.
        self.option(IF_TIME_RESOLUTION, &[9]);
        self.option(END, &[]);
        self.end()?;
        self.interfaces += 1;
        Ok(self.interfaces - 1)
    }

    /// Adds a packet.
    ///
    /// # Errors
    /// If its interface is unknown, it is too long for IPv4, or it cannot be
    /// written; in the first two cases the capture is as it was.
    pub fn packet(&mut self, packet: &CapturedPacket) -> Result<(), CaptureError> {
        let (headers, length) = packet.headers().ok_or(CaptureError::TooLong {
            payload_bytes: packet.payload_bytes,
        })?;
        self.raw(packet.at, packet.interface, headers.as_slice(), length)
    }

    /// Adds a real packet of `length` bytes, of which `bytes` are kept. No more
    /// than [`MAX_HEADERS`] of them are.
    ///
    /// # Errors
    /// If its interface is unknown, or it cannot be written.
    pub fn raw(
        &mut self,
        at: Time,
        interface: u32,
        bytes: &[u8],
        length: u32,
    ) -> Result<(), CaptureError> {
        if interface >= self.interfaces {
            return Err(CaptureError::NoSuchInterface {
                interface,
                interfaces: self.interfaces,
            });
        }
        let at = at.as_nanos();
        let captured = &bytes[..bytes.len().min(MAX_HEADERS)];
        self.start(PACKET);
        self.u32(interface);
        self.u32((at >> 32) as u32);
        self.u32(at as u32);
        self.u32(captured.len() as u32);
        self.u32(length);
        self.block.extend_from_slice(captured);
        self.pad();
        self.end()
    }

    /// Writes out what is buffered below and hands back what was written to.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn finish(mut self) -> Result<W, CaptureError> {
        self.to.flush()?;
        Ok(self.to)
    }

    fn start(&mut self, kind: u32) {
        self.block.clear();
        self.u32(kind);
        self.u32(0);
    }

    fn end(&mut self) -> Result<(), CaptureError> {
        // The length is written at both ends of a block.
        let length = self.block.len() as u32 + 4;
        self.block[4..8].copy_from_slice(&length.to_le_bytes());
        self.u32(length);
        Ok(self.to.write_all(&self.block)?)
    }

    fn u32(&mut self, value: u32) {
        self.block.extend_from_slice(&value.to_le_bytes());
    }

    fn option(&mut self, code: u16, value: &[u8]) {
        self.block.extend_from_slice(&code.to_le_bytes());
        self.block
            .extend_from_slice(&(value.len() as u16).to_le_bytes());
        self.block.extend_from_slice(value);
        self.pad();
    }

    /// An option's length has 16 bits: longer text is cut between characters.
    fn text_option(&mut self, code: u16, text: &str) {
        let mut end = text.len().min(usize::from(u16::MAX));
        while !text.is_char_boundary(end) {
            end -= 1;
        }
        self.option(code, &text.as_bytes()[..end]);
    }

    fn pad(&mut self) {
        self.block.resize(self.block.len().next_multiple_of(4), 0);
    }
}

#[cfg(test)]
#[path = "pcapng_tests.rs"]
mod tests;
