//! Packets of a capture file: pcap and pcapng, of either byte order.
//!
//! pcap: draft-ietf-opsawg-pcap. pcapng: draft-ietf-opsawg-pcapng, of which section headers,
//! interface descriptions and packets are read and other blocks are skipped. A file that ends in
//! the middle of a record, as one does whose writer was killed, has the packets before it.

use crate::ReadError;
use std::io::{ErrorKind, Read};

/// The longest record or block. Real ones hold a packet of at most 256 kB.
const LONGEST: u32 = 16 << 20;

/// Interfaces of a section at most.
const MOST_INTERFACES: usize = 65_536;

const SECTION: u32 = 0x0a0d_0d0a;
const INTERFACE: u32 = 1;
const OLD_PACKET: u32 = 2;
const SIMPLE_PACKET: u32 = 3;
const PACKET: u32 = 6;
const ORDER: u32 = 0x1a2b_3c4d;
const TIME_RESOLUTION: u16 = 9;
const TIME_OFFSET: u16 = 14;

/// A captured packet as the file has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Record<'a> {
    /// When it was captured, nanoseconds by the clock of the capture.
    pub at_ns: i64,
    /// The link layer by its number (`LINKTYPE_...`).
    pub link_type: u16,
    /// The interface by its number in the section; 0 in pcap.
    pub interface: u32,
    /// The bytes that were kept.
    pub bytes: &'a [u8],
    /// The length that it had.
    pub length: u32,
    /// Where the record begins in the file.
    pub offset: u64,
}

/// Reads a capture, packet by packet, in memory of one record.
#[derive(Debug)]
pub struct Reader<R> {
    from: R,
    offset: u64,
    block: Vec<u8>,
    format: Format,
    cut_at: Option<u64>,
}

#[derive(Debug)]
enum Format {
    Pcap {
        order: Order,
        nanoseconds: bool,
        link_type: u16,
    },
    Pcapng {
        order: Order,
        interfaces: Vec<Interface>,
        /// The first section header was read as far as its byte order.
        started: bool,
    },
}

#[derive(Clone, Copy, Debug)]
struct Interface {
    link_type: u16,
    snap_length: u32,
    /// Ticks in a second.
    ticks: u128,
    offset_s: i64,
}

/// The byte order of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Order {
    Little,
    Big,
}

impl Order {
    fn u16(self, bytes: &[u8], at: usize) -> Option<u16> {
        let bytes: [u8; 2] = bytes.get(at..at.checked_add(2)?)?.try_into().ok()?;
        Some(match self {
            Order::Little => u16::from_le_bytes(bytes),
            Order::Big => u16::from_be_bytes(bytes),
        })
    }

    fn u32(self, bytes: &[u8], at: usize) -> Option<u32> {
        let bytes: [u8; 4] = bytes.get(at..at.checked_add(4)?)?.try_into().ok()?;
        Some(match self {
            Order::Little => u32::from_le_bytes(bytes),
            Order::Big => u32::from_be_bytes(bytes),
        })
    }
}

/// How far reading came.
enum Filled {
    All,
    /// The file ended before the first byte.
    Nothing,
    /// The file ended in between.
    Part,
}

impl<R: Read> Reader<R> {
    /// Begins to read.
    ///
    /// # Errors
    /// If it is no capture.
    pub fn new(from: R) -> Result<Reader<R>, ReadError> {
        let mut reader = Reader {
            from,
            offset: 0,
            block: Vec::new(),
            format: Format::Pcapng {
                order: Order::Little,
                interfaces: Vec::new(),
                started: false,
            },
            cut_at: None,
        };
        reader.fill(4)?;
        let found = match reader.block.is_empty() {
            true => "an empty file".to_owned(),
            false => reader.block.iter().map(|b| format!("{b:02x}")).collect(),
        };
        let no_capture = ReadError::NoCapture { found };
        let Ok(magic) = <[u8; 4]>::try_from(&reader.block[..]) else {
            return Err(no_capture);
        };
        let (order, nanoseconds) = match magic {
            [0xa1, 0xb2, 0xc3, 0xd4] => (Order::Big, false),
            [0xa1, 0xb2, 0x3c, 0x4d] => (Order::Big, true),
            [0xd4, 0xc3, 0xb2, 0xa1] => (Order::Little, false),
            [0x4d, 0x3c, 0xb2, 0xa1] => (Order::Little, true),
            [0x0a, 0x0d, 0x0d, 0x0a] => return Ok(reader),
            _ => return Err(no_capture),
        };
        let Filled::All = reader.fill(20)? else {
            return Err(ReadError::malformed(
                4,
                "the file ends within its header of 24 bytes",
            ));
        };
        // The upper bits say how long the frame check sequence is.
        let link = order.u32(&reader.block, 16).unwrap_or(0);
        reader.format = Format::Pcap {
            order,
            nanoseconds,
            link_type: (link & 0xffff) as u16,
        };
        Ok(reader)
    }

    /// Where the file ends in the middle of a record, once the end is reached.
    #[must_use]
    pub fn cut_at(&self) -> Option<u64> {
        self.cut_at
    }

    /// The next packet; `None` at the end.
    ///
    /// # Errors
    /// If a record is malformed, or reading fails.
    pub fn next_record(&mut self) -> Result<Option<Record<'_>>, ReadError> {
        match self.format {
            Format::Pcap {
                order,
                nanoseconds,
                link_type,
            } => self.next_of_pcap(order, nanoseconds, link_type),
            Format::Pcapng { .. } => self.next_of_pcapng(),
        }
    }

    fn next_of_pcap(
        &mut self,
        order: Order,
        nanoseconds: bool,
        link_type: u16,
    ) -> Result<Option<Record<'_>>, ReadError> {
        let offset = self.offset;
        if !self.whole(16, offset)? {
            return Ok(None);
        }
        let field = |at| order.u32(&self.block, at).unwrap_or(0);
        let (seconds, fraction, kept, length) = (field(0), field(4), field(8), field(12));
        self.check_length(offset, kept)?;
        if !self.whole(kept as usize, offset)? {
            return Ok(None);
        }
        let unit = if nanoseconds { 1 } else { 1000 };
        Ok(Some(Record {
            at_ns: i64::from(seconds) * 1_000_000_000 + i64::from(fraction) * unit,
            link_type,
            interface: 0,
            bytes: &self.block,
            length: length.max(kept),
            offset,
        }))
    }

    fn check_length(&self, offset: u64, length: u32) -> Result<(), ReadError> {
        if length > LONGEST {
            let what =
                format!("a record of {length} bytes is not plausible: at most {LONGEST} are");
            return Err(ReadError::malformed(offset, what));
        }
        Ok(())
    }

    fn next_of_pcapng(&mut self) -> Result<Option<Record<'_>>, ReadError> {
        loop {
            let Some((kind, offset)) = self.next_block()? else {
                return Ok(None);
            };
            let Format::Pcapng {
                order, interfaces, ..
            } = &mut self.format
            else {
                return Ok(None);
            };
            let order = *order;
            match kind {
                INTERFACE => {
                    if interfaces.len() == MOST_INTERFACES {
                        return Err(ReadError::malformed(offset, "too many interfaces"));
                    }
                    interfaces.push(interface(order, &self.block, offset)?);
                }
                PACKET | OLD_PACKET | SIMPLE_PACKET => {
                    let found = packet(order, kind, &self.block, interfaces, offset)?;
                    let (range, at_ns, link_type, number, length) = found;
                    return Ok(Some(Record {
                        at_ns,
                        link_type,
                        interface: number,
                        bytes: self.block.get(range).unwrap_or_default(),
                        length,
                        offset,
                    }));
                }
                _ => {}
            }
        }
    }

    /// Reads a block into memory, without its type and lengths; its type, and where it
    /// begins.
    fn next_block(&mut self) -> Result<Option<(u32, u64)>, ReadError> {
        let Format::Pcapng {
            mut order, started, ..
        } = self.format
        else {
            return Ok(None);
        };
        // The type of the first block was read already.
        let offset = if started { self.offset } else { 0 };
        let kind = if started {
            if !self.whole(4, offset)? {
                return Ok(None);
            }
            order.u32(&self.block, 0).unwrap_or(0)
        } else {
            SECTION
        };
        if !self.whole(4, offset)? {
            return Ok(None);
        }
        let raw_length = <[u8; 4]>::try_from(&self.block[..]).unwrap_or_default();
        if kind == SECTION {
            if !self.whole(4, offset)? {
                return Ok(None);
            }
            order = match (
                Order::Little.u32(&self.block, 0),
                Order::Big.u32(&self.block, 0),
            ) {
                (Some(ORDER), _) => Order::Little,
                (_, Some(ORDER)) => Order::Big,
                _ => {
                    return Err(ReadError::malformed(
                        offset,
                        "a section header without the byte order 1a2b3c4d",
                    ));
                }
            };
            self.format = Format::Pcapng {
                order,
                interfaces: Vec::new(),
                started: true,
            };
        }
        let length = order.u32(&raw_length, 0).unwrap_or(0);
        self.check_length(offset, length)?;
        let head = if kind == SECTION { 12 } else { 8 };
        if length < head + 4 || length % 4 != 0 {
            let what = format!("a block of {length} bytes: expected a multiple of 4 from {head}");
            return Err(ReadError::malformed(offset, what));
        }
        let body = (length - head) as usize;
        if !self.whole(body, offset)? {
            return Ok(None);
        }
        let again = order.u32(&self.block, body - 4);
        if again != Some(length) {
            let what = format!(
                "a block says at its start that it has {length} bytes, and at its end {}",
                again.unwrap_or(0)
            );
            return Err(ReadError::malformed(offset, what));
        }
        self.block.truncate(body - 4);
        Ok(Some((kind, offset)))
    }

    /// Reads `length` bytes of the record at `begin`; false at the end of the file.
    fn whole(&mut self, length: usize, begin: u64) -> Result<bool, ReadError> {
        match self.fill(length)? {
            Filled::All => Ok(true),
            Filled::Nothing if self.offset == begin => Ok(false),
            Filled::Nothing | Filled::Part => {
                self.cut_at = Some(begin);
                Ok(false)
            }
        }
    }

    fn fill(&mut self, length: usize) -> Result<Filled, ReadError> {
        self.block.clear();
        self.block.resize(length, 0);
        let mut filled = 0;
        while filled < length {
            match self.from.read(&mut self.block[filled..]) {
                Ok(0) => break,
                Ok(n) => filled += n,
                Err(e) if e.kind() == ErrorKind::Interrupted => {}
                Err(source) => {
                    return Err(ReadError::Io {
                        offset: self.offset + filled as u64,
                        source,
                    });
                }
            }
        }
        self.block.truncate(filled);
        self.offset += filled as u64;
        Ok(match filled {
            _ if filled == length => Filled::All,
            0 => Filled::Nothing,
            _ => Filled::Part,
        })
    }
}

/// An interface description.
fn interface(order: Order, block: &[u8], offset: u64) -> Result<Interface, ReadError> {
    let short = || ReadError::malformed(offset, "an interface description ends too early");
    let mut interface = Interface {
        link_type: order.u16(block, 0).ok_or_else(short)?,
        snap_length: order.u32(block, 4).ok_or_else(short)?,
        ticks: 1_000_000,
        offset_s: 0,
    };
    let mut at = 8;
    while let (Some(code), Some(length)) = (order.u16(block, at), order.u16(block, at + 2)) {
        if code == 0 {
            break;
        }
        let end = at + 4 + usize::from(length);
        let value = block.get(at + 4..end).ok_or_else(short)?;
        match (code, value) {
            (TIME_RESOLUTION, [power, ..]) => {
                let (base, most): (u128, u8) = match power & 0x80 {
                    0 => (10, 18),
                    _ => (2, 60),
                };
                let power = power & 0x7f;
                if power > most {
                    let what = format!("a time resolution of {base}^-{power} s: at most {most} is");
                    return Err(ReadError::malformed(offset, what));
                }
                interface.ticks = base.pow(u32::from(power));
            }
            (TIME_OFFSET, value) if value.len() >= 8 => {
                let (a, b) = (order.u32(value, 0), order.u32(value, 4));
                let (a, b) = (u64::from(a.unwrap_or(0)), u64::from(b.unwrap_or(0)));
                let bits = match order {
                    Order::Little => b << 32 | a,
                    Order::Big => a << 32 | b,
                };
                interface.offset_s = bits.cast_signed();
            }
            _ => {}
        }
        at = end.next_multiple_of(4);
    }
    Ok(interface)
}

/// The bytes, time, link type, interface and length of a packet.
type Found = (std::ops::Range<usize>, i64, u16, u32, u32);

fn packet(
    order: Order,
    kind: u32,
    block: &[u8],
    interfaces: &[Interface],
    offset: u64,
) -> Result<Found, ReadError> {
    let short = || ReadError::malformed(offset, "a packet block ends too early");
    let field = |at| order.u32(block, at).ok_or_else(short);
    let number = match kind {
        PACKET => field(0)?,
        OLD_PACKET => u32::from(order.u16(block, 0).ok_or_else(short)?),
        _ => 0,
    };
    let Some(interface) = interfaces.get(number as usize) else {
        let what = format!(
            "a packet of interface {number}, and {} are described before it",
            interfaces.len()
        );
        return Err(ReadError::malformed(offset, what));
    };
    let (begin, kept, length, ticks) = if kind == SIMPLE_PACKET {
        let length = field(0)?;
        let snap = match interface.snap_length {
            0 => length,
            snap => snap,
        };
        (4, length.min(snap), length, 0)
    } else {
        let ticks = u64::from(field(4)?) << 32 | u64::from(field(8)?);
        (20, field(12)?, field(16)?, ticks)
    };
    let end = begin + kept as usize;
    if end > block.len() {
        let what = format!(
            "a packet of {kept} bytes in a block that has room for {}",
            block.len().saturating_sub(begin)
        );
        return Err(ReadError::malformed(offset, what));
    }
    let ns = u128::from(ticks) * 1_000_000_000 / interface.ticks.max(1);
    let ns = i64::try_from(ns).unwrap_or(i64::MAX);
    let at_ns = ns.saturating_add(interface.offset_s.saturating_mul(1_000_000_000));
    Ok((
        begin..end,
        at_ns,
        interface.link_type,
        number,
        length.max(kept),
    ))
}

#[cfg(test)]
#[path = "file_tests.rs"]
mod tests;
