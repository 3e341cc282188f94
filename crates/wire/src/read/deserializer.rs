//! Gives a request's values to the types that derive `Deserialize`, and remembers where one was wrong and
//! which keys nobody reads. It never parses text, and is one type for all requests, so that nothing around
//! their derives is compiled again.

use super::request_value::RequestValue;
use super::{ALWAYS_ACCEPTED, MAX_ISSUES};
use crate::issue::{Issue, PathPart};
use crate::plain_words::meant_key;
use serde::de::value::StrDeserializer;
use serde::de::{
    self, DeserializeSeed, Deserializer, EnumAccess, Error as _, Expected, MapAccess, SeqAccess, Unexpected,
    VariantAccess, Visitor,
};
use std::cell::RefCell;
use std::fmt;

/// A value that a type does not accept.
#[derive(Debug)]
pub struct ReadError(Box<(String, Option<Vec<PathPart>>)>);

impl ReadError {
    /// What is wrong, and where.
    pub fn into_parts(self) -> (String, Vec<PathPart>) {
        let (message, path) = *self.0;
        (message, path.unwrap_or_default())
    }

    /// The innermost path that sees the error is the one that is wrong.
    fn at(mut self, path: &ValuePath<'_>) -> Self {
        self.0.1.get_or_insert_with(|| path.collect_parts());
        self
    }
}

impl fmt::Display for ReadError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.0.0)
    }
}

impl std::error::Error for ReadError {}

impl de::Error for ReadError {
    fn custom<T: fmt::Display>(message: T) -> Self {
        Self(Box::new((message.to_string(), None)))
    }
}

/// A key or an index, and the path that it is in.
#[derive(Clone, Copy)]
struct ValuePath<'a> {
    parent: Option<&'a ValuePath<'a>>,
    step: Step<'a>,
}

#[derive(Clone, Copy)]
enum Step<'a> {
    Key(&'a str),
    Index(usize),
}

impl ValuePath<'_> {
    fn collect_parts(&self) -> Vec<PathPart> {
        let mut parts: Vec<_> = std::iter::successors(Some(self), |path| path.parent)
            .map(|path| match path.step {
                Step::Key(key) => PathPart::Key(key.to_owned()),
                Step::Index(index) => PathPart::Index(index),
            })
            .collect();
        parts.reverse();
        parts
    }
}

/// The first unknown keys. Their number is limited, so that a hostile body does not fill our memory or our response.
#[derive(Default)]
pub struct UnknownKeys(RefCell<Vec<Issue>>);

impl UnknownKeys {
    pub fn into_issues(self) -> Vec<Issue> {
        self.0.into_inner()
    }

    /// `known` are the fields that the object has instead.
    fn record(&self, path: &ValuePath<'_>, known: &[&str]) {
        let mut issues = self.0.borrow_mut();
        let path = path.collect_parts();
        let is_accepted =
            matches!(&path[..], [PathPart::Key(key)] if ALWAYS_ACCEPTED.contains(&key.as_str()));
        if issues.len() < MAX_ISSUES && !is_accepted {
            let key = path.last();
            let meant =
                key.and_then(|key| if let PathPart::Key(key) = key { meant_key(key, known) } else { None });
            let message = meant.map_or_else(
                || "this key is not supported here".to_owned(),
                |meant| format!("this key is not supported here; did you mean {meant}?"),
            );
            issues.push(Issue::new(path, &message, "unrecognized_keys"));
        }
    }
}

/// A value, the path where it stands, and where unknown keys are noted.
pub struct ValueDeserializer<'a> {
    value: RequestValue,
    path: Option<&'a ValuePath<'a>>,
    unknown: &'a UnknownKeys,
    /// The fields of the object that it stands in.
    siblings: &'static [&'static str],
}

impl<'a> ValueDeserializer<'a> {
    pub fn root(value: RequestValue, unknown: &'a UnknownKeys) -> Self {
        Self { value, path: None, unknown, siblings: &[] }
    }

    fn with(self, value: RequestValue) -> Self {
        Self { value, ..self }
    }

    fn mismatch(&self, expected: &dyn Expected) -> ReadError {
        let found = match &self.value {
            RequestValue::Null => Unexpected::Unit,
            RequestValue::Bool(value) => Unexpected::Bool(*value),
            RequestValue::Positive(number) => Unexpected::Unsigned(*number),
            RequestValue::Negative(number) => Unexpected::Signed(*number),
            RequestValue::Float(number) => Unexpected::Float(*number),
            RequestValue::Text(text) | RequestValue::Parameter(text) => Unexpected::Str(text),
            RequestValue::List(_) => Unexpected::Seq,
            RequestValue::Object(_) => Unexpected::Map,
        };
        ReadError::invalid_type(found, expected)
    }

    fn number(&self) -> Option<RequestValue> {
        match &self.value {
            RequestValue::Positive(number) => Some(RequestValue::Positive(*number)),
            RequestValue::Negative(number) => Some(RequestValue::Negative(*number)),
            RequestValue::Float(number) => Some(RequestValue::Float(*number)),
            RequestValue::Parameter(text) => (text.parse().map(RequestValue::Positive))
                .or_else(|_| text.parse().map(RequestValue::Negative))
                .or_else(|_| text.parse().map(RequestValue::Float))
                .ok(),
            _ => None,
        }
    }

    fn list(self, expected: &dyn Expected) -> Result<Elements<'a>, ReadError> {
        let Self { path, unknown, .. } = self;
        let values = match self.value {
            RequestValue::List(values) => values,
            RequestValue::Parameter(_) => vec![self.value],
            _ => return Err(self.mismatch(expected)),
        };
        Ok(Elements { values: values.into_iter(), index: 0, path, unknown })
    }

    fn object(
        self,
        known: &'static [&'static str],
        expected: &dyn Expected,
    ) -> Result<Fields<'a>, ReadError> {
        let Self { path, unknown, .. } = self;
        match self.value {
            RequestValue::Object(fields) => {
                Ok(Fields { rest: fields.into_iter(), field: None, path, unknown, known })
            }
            _ => Err(self.mismatch(expected)),
        }
    }
}

macro_rules! numbers {
    ($($method:ident)+) => {
        $(fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ReadError> {
            match self.number() {
                Some(number) => self.with(number).deserialize_any(visitor),
                None => Err(self.mismatch(&visitor)),
            }
        })+
    };
}

macro_rules! texts {
    ($($method:ident)+) => {
        $(fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ReadError> {
            match self.value {
                RequestValue::Text(text) | RequestValue::Parameter(text) => visitor.visit_string(text),
                _ => Err(self.mismatch(&visitor)),
            }
        })+
    };
}

impl<'de> Deserializer<'de> for ValueDeserializer<'_> {
    type Error = ReadError;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ReadError> {
        match self.value {
            RequestValue::Null => visitor.visit_unit(),
            RequestValue::Bool(value) => visitor.visit_bool(value),
            RequestValue::Positive(number) => visitor.visit_u64(number),
            RequestValue::Negative(number) => visitor.visit_i64(number),
            RequestValue::Float(number) => visitor.visit_f64(number),
            RequestValue::Text(text) | RequestValue::Parameter(text) => visitor.visit_string(text),
            RequestValue::List(_) => self.deserialize_seq(visitor),
            RequestValue::Object(_) => self.deserialize_map(visitor),
        }
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ReadError> {
        match self.value {
            RequestValue::Null => visitor.visit_none(),
            _ => visitor.visit_some(self),
        }
    }

    fn deserialize_bool<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ReadError> {
        match &self.value {
            RequestValue::Bool(value) => visitor.visit_bool(*value),
            // What a form sends for a box that is ticked.
            RequestValue::Parameter(text) if text == "true" || text == "on" => visitor.visit_bool(true),
            RequestValue::Parameter(text) if text == "false" => visitor.visit_bool(false),
            _ => Err(self.mismatch(&visitor)),
        }
    }

    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ReadError> {
        let elements = self.list(&visitor)?;
        visitor.visit_seq(elements)
    }

    fn deserialize_tuple<V: Visitor<'de>>(self, _: usize, visitor: V) -> Result<V::Value, ReadError> {
        self.deserialize_seq(visitor)
    }

    fn deserialize_tuple_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: usize,
        visitor: V,
    ) -> Result<V::Value, ReadError> {
        self.deserialize_seq(visitor)
    }

    fn deserialize_map<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ReadError> {
        let fields = self.object(&[], &visitor)?;
        visitor.visit_map(fields)
    }

    /// Only objects: a list would be read as fields by their position.
    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        known: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, ReadError> {
        let fields = self.object(known, &visitor)?;
        visitor.visit_map(fields)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, ReadError> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, ReadError> {
        let Self { path, unknown, .. } = self;
        let (name, content) = match self.value {
            RequestValue::Text(name) | RequestValue::Parameter(name) => (name, None),
            RequestValue::Object(mut fields) if fields.len() == 1 => {
                let (name, content) = fields.remove(0);
                (name, Some(content))
            }
            _ => return Err(self.mismatch(&visitor)),
        };
        visitor.visit_enum(Variant { name, content, path, unknown })
    }

    fn deserialize_ignored_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ReadError> {
        if let Some(path) = self.path {
            self.unknown.record(path, self.siblings);
        }
        visitor.visit_unit()
    }

    numbers! {
        deserialize_i8 deserialize_i16 deserialize_i32 deserialize_i64 deserialize_u8 deserialize_u16
        deserialize_u32 deserialize_u64 deserialize_f32 deserialize_f64
    }

    texts! { deserialize_char deserialize_str deserialize_string deserialize_identifier }

    serde::forward_to_deserialize_any! { bytes byte_buf unit unit_struct }
}

/// The elements of a list.
struct Elements<'a> {
    values: std::vec::IntoIter<RequestValue>,
    index: usize,
    path: Option<&'a ValuePath<'a>>,
    unknown: &'a UnknownKeys,
}

impl<'de> SeqAccess<'de> for Elements<'_> {
    type Error = ReadError;

    fn next_element_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<Option<T::Value>, ReadError> {
        let Some(value) = self.values.next() else { return Ok(None) };
        let path = ValuePath { parent: self.path, step: Step::Index(self.index) };
        self.index += 1;
        let value = ValueDeserializer { value, path: Some(&path), unknown: self.unknown, siblings: &[] };
        let value = seed.deserialize(value);
        value.map(Some).map_err(|error| error.at(&path))
    }
}

/// The keys and values of an object.
struct Fields<'a> {
    rest: std::vec::IntoIter<(String, RequestValue)>,
    field: Option<(String, RequestValue)>,
    path: Option<&'a ValuePath<'a>>,
    unknown: &'a UnknownKeys,
    /// The names that the type has.
    known: &'static [&'static str],
}

impl<'de> MapAccess<'de> for Fields<'_> {
    type Error = ReadError;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, ReadError> {
        self.field = self.rest.next();
        let Some((key, _)) = &self.field else { return Ok(None) };
        seed.deserialize(StrDeserializer::new(key)).map(Some)
    }

    fn next_value_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<T::Value, ReadError> {
        let (key, value) = self.field.take().ok_or_else(|| ReadError::custom("a value without a key"))?;
        let path = ValuePath { parent: self.path, step: Step::Key(&key) };
        let (unknown, siblings) = (self.unknown, self.known);
        let value = seed.deserialize(ValueDeserializer { value, path: Some(&path), unknown, siblings });
        value.map_err(|error| error.at(&path))
    }
}

/// A variant of an enum: its name, or an object with its name as the only key.
struct Variant<'a> {
    name: String,
    content: Option<RequestValue>,
    path: Option<&'a ValuePath<'a>>,
    unknown: &'a UnknownKeys,
}

impl<'de> EnumAccess<'de> for Variant<'_> {
    type Error = ReadError;
    type Variant = Self;

    fn variant_seed<T: DeserializeSeed<'de>>(self, seed: T) -> Result<(T::Value, Self), ReadError> {
        let variant = seed.deserialize(StrDeserializer::<ReadError>::new(&self.name))?;
        Ok((variant, self))
    }
}

impl Variant<'_> {
    fn content<T>(
        self,
        read: impl FnOnce(ValueDeserializer<'_>) -> Result<T, ReadError>,
    ) -> Result<T, ReadError> {
        let path = ValuePath { parent: self.path, step: Step::Key(&self.name) };
        let value = self.content.unwrap_or(RequestValue::Null);
        read(ValueDeserializer { value, path: Some(&path), unknown: self.unknown, siblings: &[] })
            .map_err(|error| error.at(&path))
    }
}

impl<'de> VariantAccess<'de> for Variant<'_> {
    type Error = ReadError;

    fn unit_variant(self) -> Result<(), ReadError> {
        match self.content {
            None => Ok(()),
            Some(_) => Err(ReadError::invalid_type(Unexpected::Map, &"a string")),
        }
    }

    fn newtype_variant_seed<T: DeserializeSeed<'de>>(self, seed: T) -> Result<T::Value, ReadError> {
        self.content(|content| seed.deserialize(content))
    }

    fn tuple_variant<V: Visitor<'de>>(self, _: usize, visitor: V) -> Result<V::Value, ReadError> {
        self.content(|content| content.deserialize_seq(visitor))
    }

    fn struct_variant<V: Visitor<'de>>(
        self,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, ReadError> {
        self.content(|content| content.deserialize_map(visitor))
    }
}
