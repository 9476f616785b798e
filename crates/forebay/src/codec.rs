//! Turns values into the bytes that a store keeps.

mod compression;

use std::error;

use bytes::Bytes;
use serde::{Deserialize, Serialize, de::DeserializeOwned};

use crate::error::{Error, ErrorKind};

pub(crate) use self::compression::{compress, decompress};

/// Writes and reads the values of a space.
///
/// # Example
///
/// A custom codec takes an id from 128 on:
///
/// ```
/// use forebay::{Error, codec::{Codec, Payload}};
///
/// struct Flag;
///
/// impl Codec<bool> for Flag {
///     fn id(&self) -> u8 {
///         128
///     }
///
///     fn encode(&self, value: &bool) -> Result<Payload, Error> {
///         Ok(Payload { bytes: vec![u8::from(*value)].into(), content_type: None })
///     }
///
///     fn decode(&self, payload: Payload) -> Result<bool, Error> {
///         Ok(payload.bytes.as_ref() == [1])
///     }
/// }
///
/// assert!(Flag.decode(Flag.encode(&true)?)?);
/// # Ok::<(), Error>(())
/// ```
pub trait Codec<V>: Send + Sync + 'static {
    /// Identifies the codec: an entry that another codec wrote is a miss.
    ///
    /// 1 is [`MessagePack`], 2 [`Json`], 3 [`Raw`]; custom codecs take 128 to 255.
    fn id(&self) -> u8;

    /// Writes a value.
    ///
    /// # Errors
    ///
    /// A value that has no form in this codec is an error of kind [`ErrorKind::Encode`].
    fn encode(&self, value: &V) -> Result<Payload, Error>;

    /// Reads a value.
    ///
    /// # Errors
    ///
    /// Bytes of another shape are an error of kind [`ErrorKind::Encode`]; the cache counts them as a miss.
    fn decode(&self, payload: Payload) -> Result<V, Error>;
}

/// What a codec writes and reads.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Payload {
    /// The encoded value.
    pub bytes: Bytes,
    /// The media type of the bytes, for codecs that serve values of many types.
    pub content_type: Option<String>,
}

/// MessagePack with named fields, which survives fields that are added, dropped or moved.
#[derive(Clone, Copy, Debug, Default)]
pub struct MessagePack;

/// JSON, for values that other programs or `redis-cli` should be able to read.
///
/// It has no NaN and no infinity: they are written as `null`, so a value that holds one may never be a hit.
#[derive(Clone, Copy, Debug, Default)]
pub struct Json;

/// The bytes as they are.
#[derive(Clone, Copy, Debug, Default)]
pub struct Raw;

impl<V: Serialize + DeserializeOwned> Codec<V> for MessagePack {
    fn id(&self) -> u8 {
        1
    }

    fn encode(&self, value: &V) -> Result<Payload, Error> {
        rmp_serde::to_vec_named(value).map(Payload::from).map_err(|source| unwritable("MessagePack", source))
    }

    fn decode(&self, payload: Payload) -> Result<V, Error> {
        let mut input = rmp_serde::Deserializer::from_read_ref(&payload.bytes);
        let value = V::deserialize(&mut input).map_err(|source| unreadable("MessagePack", source))?;
        match <()>::deserialize(&mut input) {
            Err(rmp_serde::decode::Error::InvalidMarkerRead(_)) => Ok(value),
            _ => Err(Error::new(ErrorKind::Encode, "the MessagePack value does not end where its bytes do")),
        }
    }
}

impl<V: Serialize + DeserializeOwned> Codec<V> for Json {
    fn id(&self) -> u8 {
        2
    }

    fn encode(&self, value: &V) -> Result<Payload, Error> {
        serde_json::to_vec(value).map(Payload::from).map_err(|source| unwritable("JSON", source))
    }

    fn decode(&self, payload: Payload) -> Result<V, Error> {
        serde_json::from_slice(&payload.bytes).map_err(|source| unreadable("JSON", source))
    }
}

impl Codec<Bytes> for Raw {
    fn id(&self) -> u8 {
        3
    }

    fn encode(&self, value: &Bytes) -> Result<Payload, Error> {
        Ok(Payload { bytes: value.clone(), content_type: None })
    }

    fn decode(&self, payload: Payload) -> Result<Bytes, Error> {
        Ok(payload.bytes)
    }
}

impl Codec<Vec<u8>> for Raw {
    fn id(&self) -> u8 {
        3
    }

    fn encode(&self, value: &Vec<u8>) -> Result<Payload, Error> {
        Ok(Payload::from(value.clone()))
    }

    fn decode(&self, payload: Payload) -> Result<Vec<u8>, Error> {
        Ok(payload.bytes.into())
    }
}

impl From<Vec<u8>> for Payload {
    fn from(bytes: Vec<u8>) -> Self {
        Self { bytes: bytes.into(), content_type: None }
    }
}

fn unwritable(form: &str, source: impl error::Error + Send + Sync + 'static) -> Error {
    Error::new(ErrorKind::Encode, format!("the value has no {form} form")).with_source(source)
}

fn unreadable(form: &str, source: impl error::Error + Send + Sync + 'static) -> Error {
    Error::new(ErrorKind::Encode, format!("the bytes are not a {form} value of this type"))
        .with_source(source)
}

#[cfg(test)]
mod tests {
    use std::{collections::BTreeMap, fmt};

    use super::*;

    #[derive(Debug, PartialEq, Serialize, Deserialize)]
    struct Product {
        name: String,
        stock: Option<u64>,
    }

    fn returns<V: PartialEq + fmt::Debug>(codec: &impl Codec<V>, value: &V) {
        let payload = codec.encode(value).unwrap();

        assert_eq!(&codec.decode(payload).unwrap(), value);
    }

    #[test]
    fn every_codec_returns_what_it_was_given() {
        let product = Product { name: "bolt".to_owned(), stock: Some(u64::MAX) };

        returns(&MessagePack, &product);
        returns(&Json, &product);
        returns(&Raw, &Bytes::from_static(b"\xFF\x00"));
        returns(&Raw, &b"\xFF\x00".to_vec());
    }

    #[test]
    fn messagepack_survives_an_added_and_a_dropped_field() {
        let other = BTreeMap::from([("colour", "red"), ("name", "bolt")]);
        let payload = rmp_serde::to_vec_named(&other).unwrap().into();

        let product: Product = MessagePack.decode(payload).unwrap();

        assert_eq!(product, Product { name: "bolt".to_owned(), stock: None });
    }

    #[test]
    fn another_shape_is_an_error() {
        let text = Codec::<String>::encode(&MessagePack, &"bolt".to_owned()).unwrap();
        let decoded: Result<Product, Error> = MessagePack.decode(text);

        assert_eq!(decoded.unwrap_err().kind(), ErrorKind::Encode);
    }

    #[test]
    fn bytes_after_the_value_are_an_error() {
        for trailing in [0xC0, 0x2A, 0x91, 0xC1] {
            let decoded: Result<u64, Error> = MessagePack.decode(vec![0x07, trailing].into());
            assert!(decoded.is_err(), "{trailing:#x}");
        }
        assert!(Codec::<u64>::decode(&Json, b"7 7".to_vec().into()).is_err());
    }

    #[test]
    fn a_value_without_a_form_is_an_error() {
        let encoded = Json.encode(&BTreeMap::from([((1, 2), 3)]));

        assert_eq!(encoded.unwrap_err().kind(), ErrorKind::Encode);
    }
}
