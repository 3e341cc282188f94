//! The values of a body or a query, parsed within bounds. It never knows which fields a request has: that is
//! the deserializer's part.

use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use std::cell::Cell;
use std::collections::HashMap;
use std::fmt;

/// Maximum number of values in a body. One of them takes some 60 bytes here, and as few as two in the text.
const MAX_VALUES: usize = 2_000_000;

#[derive(Debug)]
pub enum RequestValue {
    Null,
    Bool(bool),
    Positive(u64),
    Negative(i64),
    Float(f64),
    Text(String),
    /// The value of a query parameter: a text that may stand for a number, a boolean or a list of one.
    Parameter(String),
    List(Vec<Self>),
    /// In the order of the text, with keys that stand there twice.
    Object(Vec<(String, Self)>),
}

impl RequestValue {
    pub fn from_json(text: &str) -> Result<Self, serde_json::Error> {
        let mut json = serde_json::Deserializer::from_str(text);
        let value = Reader(&Cell::new(0)).deserialize(&mut json)?;
        json.end()?;
        Ok(value)
    }

    pub fn from_query(query: &str) -> Self {
        let mut object: Vec<(String, Self)> = Vec::new();
        let mut places = HashMap::new();
        for (key, value) in form_urlencoded::parse(query.as_bytes()) {
            let value = Self::Parameter(value.into_owned());
            let place = *places.entry(key.clone()).or_insert(object.len());
            match object.get_mut(place) {
                None => object.push((key.into_owned(), value)),
                Some((_, Self::List(values))) => values.push(value),
                Some((_, first)) => {
                    let values = vec![std::mem::replace(first, Self::Null), value];
                    *first = Self::List(values);
                }
            }
        }
        Self::Object(object)
    }
}

/// Reads a value with all in it, and counts them.
#[derive(Clone, Copy)]
struct Reader<'a>(&'a Cell<usize>);

impl<'de> DeserializeSeed<'de> for Reader<'_> {
    type Value = RequestValue;

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<RequestValue, D::Error> {
        self.0.set(self.0.get() + 1);
        if self.0.get() > MAX_VALUES {
            return Err(Error::custom(format_args!("there are more than {MAX_VALUES} values")));
        }
        from.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Reader<'_> {
    type Value = RequestValue;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<RequestValue, E> {
        Ok(RequestValue::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<RequestValue, E> {
        Ok(RequestValue::Bool(value))
    }

    fn visit_u64<E>(self, number: u64) -> Result<RequestValue, E> {
        Ok(RequestValue::Positive(number))
    }

    fn visit_i64<E>(self, number: i64) -> Result<RequestValue, E> {
        Ok(RequestValue::Negative(number))
    }

    fn visit_f64<E>(self, number: f64) -> Result<RequestValue, E> {
        Ok(RequestValue::Float(number))
    }

    fn visit_str<E>(self, text: &str) -> Result<RequestValue, E> {
        Ok(RequestValue::Text(text.to_owned()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<RequestValue, A::Error> {
        let mut values = Vec::new();
        while let Some(value) = list.next_element_seed(self)? {
            values.push(value);
        }
        Ok(RequestValue::List(values))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<RequestValue, A::Error> {
        let mut object = Vec::new();
        while let Some(key) = map.next_key()? {
            object.push((key, map.next_value_seed(self)?));
        }
        Ok(RequestValue::Object(object))
    }
}
