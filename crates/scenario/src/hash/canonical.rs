//! A model as canonical text: what serde sees of it, in one form only.

use serde::ser::{
    Error, Serialize, SerializeMap, SerializeSeq, SerializeStruct, SerializeStructVariant,
    SerializeTuple, SerializeTupleStruct, SerializeTupleVariant, Serializer,
};
use std::fmt::{self, Write};

/// Writes what is serialized: `{field=value,...}` for structs, `[...]` for
/// sequences, `Name` or `Name(...)` for variants, the bits of fractions in
/// hexadecimal. The fields of the whole and the items of its lists have a line
/// each.
pub(super) struct Canonical<'w, W: Write> {
    to: &'w mut W,
    /// Structs and sequences that are open.
    depth: u32,
}

/// The writer failed, or a type has no canonical form.
#[derive(Debug)]
pub(super) struct Failed;

impl fmt::Display for Failed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("cannot write")
    }
}

impl std::error::Error for Failed {}

impl Error for Failed {
    fn custom<T: fmt::Display>(_: T) -> Failed {
        Failed
    }
}

impl From<fmt::Error> for Failed {
    fn from(_: fmt::Error) -> Failed {
        Failed
    }
}

type Done = Result<(), Failed>;

impl<'w, W: Write> Canonical<'w, W> {
    pub(super) fn new(to: &'w mut W) -> Canonical<'w, W> {
        Canonical { to, depth: 0 }
    }

    fn put(&mut self, text: &str) -> Done {
        Ok(self.to.write_str(text)?)
    }

    fn field<T: Serialize + ?Sized>(&mut self, name: &str, value: &T) -> Done {
        self.put(name)?;
        self.put("=")?;
        self.item(value)
    }

    fn item<T: Serialize + ?Sized>(&mut self, value: &T) -> Done {
        value.serialize(&mut *self)?;
        self.put(if self.depth <= 2 { ",\n" } else { "," })
    }

    fn open(&mut self, text: &str) -> Done {
        self.depth += 1;
        self.put(text)
    }

    fn close(&mut self, text: &str) -> Done {
        self.depth -= 1;
        self.put(text)
    }
}

macro_rules! scalars {
    ($($name:ident: $type:ty),* $(,)?) => {
        $(fn $name(self, value: $type) -> Done {
            Ok(write!(self.to, "{value:?}")?)
        })*
    };
}

impl<W: Write> Serializer for &mut Canonical<'_, W> {
    type Ok = ();
    type Error = Failed;
    type SerializeSeq = Self;
    type SerializeTuple = Self;
    type SerializeTupleStruct = Self;
    type SerializeTupleVariant = Self;
    type SerializeMap = Self;
    type SerializeStruct = Self;
    type SerializeStructVariant = Self;

    scalars! {
        serialize_bool: bool,
        serialize_i8: i8, serialize_i16: i16, serialize_i32: i32, serialize_i64: i64,
        serialize_u8: u8, serialize_u16: u16, serialize_u32: u32, serialize_u64: u64,
        serialize_u128: u128, serialize_char: char, serialize_str: &str, serialize_bytes: &[u8],
    }

    fn serialize_f32(self, value: f32) -> Done {
        self.serialize_f64(value.into())
    }

    fn serialize_f64(self, value: f64) -> Done {
        // The two zeros are the same number.
        let value = if value == 0.0 { 0.0 } else { value };
        Ok(write!(self.to, "{:x}", value.to_bits())?)
    }

    fn serialize_none(self) -> Done {
        self.put("-")
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Done {
        self.put("+")?;
        value.serialize(self)
    }

    fn serialize_unit(self) -> Done {
        self.put("()")
    }

    fn serialize_unit_struct(self, name: &'static str) -> Done {
        self.put(name)
    }

    fn serialize_unit_variant(self, _: &'static str, _: u32, variant: &'static str) -> Done {
        self.put(variant)
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(self, _: &'static str, value: &T) -> Done {
        value.serialize(self)
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        value: &T,
    ) -> Done {
        self.put(variant)?;
        self.put("(")?;
        value.serialize(&mut *self)?;
        self.put(")")
    }

    fn serialize_seq(self, _: Option<usize>) -> Result<Self, Failed> {
        self.open("[")?;
        Ok(self)
    }

    fn serialize_tuple(self, _: usize) -> Result<Self, Failed> {
        self.serialize_seq(None)
    }

    fn serialize_tuple_struct(self, _: &'static str, _: usize) -> Result<Self, Failed> {
        self.serialize_seq(None)
    }

    fn serialize_tuple_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        _: usize,
    ) -> Result<Self, Failed> {
        self.put(variant)?;
        self.serialize_seq(None)
    }

    fn serialize_map(self, _: Option<usize>) -> Result<Self, Failed> {
        self.serialize_struct("", 0)
    }

    fn serialize_struct(self, _: &'static str, _: usize) -> Result<Self, Failed> {
        self.open("{")?;
        Ok(self)
    }

    fn serialize_struct_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        len: usize,
    ) -> Result<Self, Failed> {
        self.put(variant)?;
        self.serialize_struct("", len)
    }
}

macro_rules! sequences {
    ($($trait:ident::$method:ident),*) => {
        $(impl<W: Write> $trait for &mut Canonical<'_, W> {
            type Ok = ();
            type Error = Failed;

            fn $method<T: Serialize + ?Sized>(&mut self, value: &T) -> Done {
                self.item(value)
            }

            fn end(self) -> Done {
                self.close("]")
            }
        })*
    };
}

sequences!(
    SerializeSeq::serialize_element,
    SerializeTuple::serialize_element,
    SerializeTupleStruct::serialize_field,
    SerializeTupleVariant::serialize_field
);

macro_rules! structs {
    ($($trait:ident),*) => {
        $(impl<W: Write> $trait for &mut Canonical<'_, W> {
            type Ok = ();
            type Error = Failed;

            fn serialize_field<T: Serialize + ?Sized>(
                &mut self,
                key: &'static str,
                value: &T,
            ) -> Done {
                self.field(key, value)
            }

            fn end(self) -> Done {
                self.close("}")
            }
        })*
    };
}

structs!(SerializeStruct, SerializeStructVariant);

impl<W: Write> SerializeMap for &mut Canonical<'_, W> {
    type Ok = ();
    type Error = Failed;

    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Done {
        key.serialize(&mut **self)?;
        self.put("=")
    }

    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Done {
        self.item(value)
    }

    fn end(self) -> Done {
        self.close("}")
    }
}
