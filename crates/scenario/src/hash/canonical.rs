//! The canonical JSON in which a model is hashed.

use serde_json::ser::Formatter;
use std::io::{self, Write};

/// Compact JSON with the fields of the whole and the items of its lists on
/// lines of their own, and with fractions by their bits.
#[derive(Default)]
pub(super) struct Canonical {
    /// Objects and arrays that are open.
    depth: u32,
}

impl Canonical {
    fn separate<W: ?Sized + Write>(&self, to: &mut W, first: bool) -> io::Result<()> {
        if !first {
            to.write_all(b",")?;
        }
        if self.depth <= 2 {
            to.write_all(b"\n")?;
        }
        Ok(())
    }
}

impl Formatter for Canonical {
    fn write_f64<W: ?Sized + Write>(&mut self, to: &mut W, value: f64) -> io::Result<()> {
        // The two zeros are the same number.
        let value = if value == 0.0 { 0.0 } else { value };
        write!(to, "{:x}", value.to_bits())
    }

    fn begin_array<W: ?Sized + Write>(&mut self, to: &mut W) -> io::Result<()> {
        self.depth += 1;
        to.write_all(b"[")
    }

    fn end_array<W: ?Sized + Write>(&mut self, to: &mut W) -> io::Result<()> {
        self.depth -= 1;
        to.write_all(b"]")
    }

    fn begin_array_value<W: ?Sized + Write>(&mut self, to: &mut W, first: bool) -> io::Result<()> {
        self.separate(to, first)
    }

    fn begin_object<W: ?Sized + Write>(&mut self, to: &mut W) -> io::Result<()> {
        self.depth += 1;
        to.write_all(b"{")
    }

    fn end_object<W: ?Sized + Write>(&mut self, to: &mut W) -> io::Result<()> {
        self.depth -= 1;
        to.write_all(b"}")
    }

    fn begin_object_key<W: ?Sized + Write>(&mut self, to: &mut W, first: bool) -> io::Result<()> {
        self.separate(to, first)
    }
}
