//! Writes any serializable value as canonical JSON: RFC 8785 with exact integers.
//!
//! `serde_json_canonicalizer` spells the strings and floats. It cannot write the whole value, because it
//! rounds integers to doubles and turns a nested NaN into `null`.

use serde::{Serialize, Serializer, ser::Error as _};
use serde_json::Error;
use serde_json_canonicalizer::to_string as leaf;

use super::compound::{Array, Object};

pub(super) type Json = Result<String, Error>;

/// Serializes a value into a `String` of canonical JSON.
pub(super) struct Canonical;

macro_rules! integers {
    ($($method:ident: $integer:ty),*) => {
        $(fn $method(self, value: $integer) -> Json {
            Ok(value.to_string())
        })*
    };
}

impl Serializer for Canonical {
    type Ok = String;
    type Error = Error;
    type SerializeSeq = Array;
    type SerializeTuple = Array;
    type SerializeTupleStruct = Array;
    type SerializeTupleVariant = Array;
    type SerializeMap = Object;
    type SerializeStruct = Object;
    type SerializeStructVariant = Object;

    integers! {
        serialize_i8: i8, serialize_i16: i16, serialize_i32: i32, serialize_i64: i64, serialize_i128: i128,
        serialize_u8: u8, serialize_u16: u16, serialize_u32: u32, serialize_u64: u64, serialize_u128: u128,
        serialize_bool: bool
    }

    fn serialize_f32(self, value: f32) -> Json {
        self.serialize_f64(f64::from(value))
    }

    fn serialize_f64(self, value: f64) -> Json {
        if value.is_finite() {
            leaf(&value)
        } else {
            Err(Error::custom("NaN and infinity have no JSON form"))
        }
    }

    fn serialize_char(self, value: char) -> Json {
        leaf(&value)
    }

    fn serialize_str(self, value: &str) -> Json {
        leaf(&value)
    }

    fn serialize_bytes(self, value: &[u8]) -> Json {
        value.serialize(self)
    }

    fn serialize_none(self) -> Json {
        self.serialize_unit()
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Json {
        value.serialize(self)
    }

    fn serialize_unit(self) -> Json {
        Ok("null".to_owned())
    }

    fn serialize_unit_struct(self, _name: &'static str) -> Json {
        self.serialize_unit()
    }

    fn serialize_unit_variant(self, _name: &'static str, _index: u32, variant: &'static str) -> Json {
        self.serialize_str(variant)
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(self, _name: &'static str, value: &T) -> Json {
        value.serialize(self)
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _name: &'static str,
        _index: u32,
        variant: &'static str,
        value: &T,
    ) -> Json {
        let mut object = Object::default();
        object.insert(variant, value)?;
        Ok(object.finish())
    }

    fn serialize_seq(self, _len: Option<usize>) -> Result<Array, Error> {
        Ok(Array::default())
    }

    fn serialize_tuple(self, len: usize) -> Result<Array, Error> {
        self.serialize_seq(Some(len))
    }

    fn serialize_tuple_struct(self, _name: &'static str, len: usize) -> Result<Array, Error> {
        self.serialize_seq(Some(len))
    }

    fn serialize_tuple_variant(
        self,
        _name: &'static str,
        _index: u32,
        variant: &'static str,
        _len: usize,
    ) -> Result<Array, Error> {
        Array::of_variant(variant)
    }

    fn serialize_map(self, _len: Option<usize>) -> Result<Object, Error> {
        Ok(Object::default())
    }

    // serde_json passes raw JSON, and numbers when `arbitrary_precision` is on, as structs of private names.
    fn serialize_struct(self, name: &'static str, len: usize) -> Result<Object, Error> {
        if name.starts_with("$serde_json::private::") {
            return Err(Error::custom("raw JSON and numbers of arbitrary precision have no canonical form"));
        }
        self.serialize_map(Some(len))
    }

    fn serialize_struct_variant(
        self,
        _name: &'static str,
        _index: u32,
        variant: &'static str,
        _len: usize,
    ) -> Result<Object, Error> {
        Object::of_variant(variant)
    }
}
