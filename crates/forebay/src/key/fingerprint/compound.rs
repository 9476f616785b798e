//! The arrays and objects of canonical JSON.

use std::collections::BTreeMap;

use serde::{
    Serialize,
    ser::{
        Error as _, SerializeMap, SerializeSeq, SerializeStruct, SerializeStructVariant, SerializeTuple,
        SerializeTupleStruct, SerializeTupleVariant,
    },
};
use serde_json::Error;
use serde_json_canonicalizer::to_string as leaf;

use super::canonical::{Canonical, Json};

/// The elements of an array, and the name of the enum variant around it, quoted.
#[derive(Default)]
pub(super) struct Array {
    variant: Option<String>,
    elements: Vec<String>,
}

/// The members of an object by the UTF-16 form of their names, which is the order that RFC 8785 asks for.
#[derive(Clone, Debug, Default)]
pub(super) struct Object {
    variant: Option<String>,
    members: BTreeMap<Vec<u16>, String>,
    key: Option<String>,
}

impl Array {
    pub(super) fn of_variant(name: &str) -> Result<Self, Error> {
        Ok(Self { variant: Some(leaf(&name)?), ..Self::default() })
    }

    fn push<T: Serialize + ?Sized>(&mut self, element: &T) -> Result<(), Error> {
        self.elements.push(element.serialize(Canonical)?);
        Ok(())
    }

    fn finish(self) -> String {
        wrap(self.variant, format!("[{}]", self.elements.join(",")))
    }
}

impl Object {
    pub(super) fn of_variant(name: &str) -> Result<Self, Error> {
        Ok(Self { variant: Some(leaf(&name)?), ..Self::default() })
    }

    pub(super) fn contains(&self, name: &str) -> bool {
        self.members.contains_key(&utf16(name))
    }

    pub(super) fn insert<T: Serialize + ?Sized>(&mut self, name: &str, value: &T) -> Result<(), Error> {
        let member = format!("{}:{}", leaf(&name)?, value.serialize(Canonical)?);
        match self.members.insert(utf16(name), member) {
            None => Ok(()),
            Some(_) => Err(Error::custom(format_args!("an object has two members {name:?}"))),
        }
    }

    pub(super) fn finish(self) -> String {
        let members: Vec<String> = self.members.into_values().collect();
        wrap(self.variant, format!("{{{}}}", members.join(",")))
    }
}

fn utf16(name: &str) -> Vec<u16> {
    name.encode_utf16().collect()
}

fn wrap(variant: Option<String>, json: String) -> String {
    match variant {
        None => json,
        Some(variant) => format!("{{{variant}:{json}}}"),
    }
}

/// Gives the name that a map's key has in JSON, where numbers and booleans are names too.
fn name_of<T: Serialize + ?Sized>(key: &T) -> Json {
    let json = key.serialize(Canonical)?;
    match json.as_bytes().first() {
        Some(b'"') => serde_json::from_str(&json),
        Some(b'[' | b'{' | b'n') | None => Err(Error::custom("a key of a map has no JSON form")),
        Some(_) => Ok(json),
    }
}

macro_rules! array {
    ($($part:ident::$method:ident),*) => {
        $(impl $part for Array {
            type Ok = String;
            type Error = Error;

            fn $method<T: Serialize + ?Sized>(&mut self, element: &T) -> Result<(), Error> {
                self.push(element)
            }

            fn end(self) -> Json {
                Ok(self.finish())
            }
        })*
    };
}

array!(
    SerializeSeq::serialize_element,
    SerializeTuple::serialize_element,
    SerializeTupleStruct::serialize_field,
    SerializeTupleVariant::serialize_field
);

impl SerializeMap for Object {
    type Ok = String;
    type Error = Error;

    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Result<(), Error> {
        self.key = Some(name_of(key)?);
        Ok(())
    }

    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Error> {
        let key = self.key.take().ok_or_else(|| Error::custom("a map gives a value before its key"))?;
        self.insert(&key, value)
    }

    fn end(self) -> Json {
        Ok(self.finish())
    }
}

impl SerializeStruct for Object {
    type Ok = String;
    type Error = Error;

    fn serialize_field<T: Serialize + ?Sized>(&mut self, name: &'static str, value: &T) -> Result<(), Error> {
        self.insert(name, value)
    }

    fn end(self) -> Json {
        Ok(self.finish())
    }
}

impl SerializeStructVariant for Object {
    type Ok = String;
    type Error = Error;

    fn serialize_field<T: Serialize + ?Sized>(&mut self, name: &'static str, value: &T) -> Result<(), Error> {
        self.insert(name, value)
    }

    fn end(self) -> Json {
        Ok(self.finish())
    }
}
