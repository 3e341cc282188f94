//! Values collected in the browser, read as untrusted: wrong types are ignored, lists are bounded, colours
//! and lengths are checked.

use serde_json::Value;
use std::collections::HashMap;

const MAX_ENTRIES: usize = 2_000;
const MAX_TEXT_BYTES: usize = 64 << 10;

/// A collected value.
#[derive(Clone, Copy, Debug)]
pub(super) struct Collected<'a> {
    value: &'a Value,
}

impl<'a> Collected<'a> {
    pub(super) fn new(value: &'a Value) -> Self {
        Self { value }
    }

    pub(super) fn field(self, name: &str) -> Self {
        Self { value: self.value.get(name).unwrap_or(&Value::Null) }
    }

    /// The entries of a list.
    pub(super) fn list(self, name: &str) -> impl Iterator<Item = Collected<'a>> + use<'a> {
        let list = self.value.get(name).and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
        list.iter().take(MAX_ENTRIES).map(Collected::new)
    }

    pub(super) fn texts(self, name: &str) -> impl Iterator<Item = &'a str> + use<'a> {
        self.list(name).filter_map(|entry| entry.value.as_str()).filter(|text| text.len() <= MAX_TEXT_BYTES)
    }

    pub(super) fn numbers(self, name: &str) -> impl Iterator<Item = f64> + use<'a> {
        self.list(name).filter_map(|entry| entry.value.as_f64())
    }

    /// A text; empty where there is none.
    pub(super) fn text(self, name: &str) -> &'a str {
        self.value
            .get(name)
            .and_then(Value::as_str)
            .filter(|text| text.len() <= MAX_TEXT_BYTES)
            .unwrap_or_default()
    }

    pub(super) fn number(self, name: &str) -> Option<f64> {
        self.value.get(name).and_then(Value::as_f64)
    }

    pub(super) fn is(self, name: &str) -> bool {
        self.value.get(name).and_then(Value::as_bool).unwrap_or(false)
    }

    pub(super) fn colour(self, name: &str) -> Option<String> {
        colour(self.text(name))
    }

    pub(super) fn length(self, name: &str) -> Option<String> {
        length(self.text(name))
    }

    /// How much an entry counts: letters written in it, or area it covers.
    pub(super) fn weight(self) -> f64 {
        self.number("weight").filter(|weight| weight.is_finite() && *weight > 0.0).unwrap_or(0.0).min(1e12)
    }

    /// Named values, such as custom properties.
    pub(super) fn entries(self) -> impl Iterator<Item = (&'a str, &'a str)> + use<'a> {
        self.value
            .as_object()
            .into_iter()
            .flatten()
            .take(MAX_ENTRIES)
            .filter_map(|(name, value)| Some((name.as_str(), value.as_str()?)))
    }
}

/// A colour as `#RRGGBB`.
pub(super) fn colour(text: &str) -> Option<String> {
    let hex = text.strip_prefix('#')?;
    (hex.len() == 6 && hex.bytes().all(|byte| byte.is_ascii_hexdigit())).then(|| text.to_ascii_uppercase())
}

/// A length such as `8px` or `50%`.
pub(super) fn length(text: &str) -> Option<String> {
    let text = text.trim().split(' ').next().unwrap_or_default();
    let number = ["px", "rem", "em", "%"].iter().find_map(|unit| text.strip_suffix(unit))?;
    number.parse::<f64>().ok().filter(|size| size.is_finite() && *size >= 0.0 && number.len() <= 12)?;
    Some(text.to_owned())
}

/// The value that comes most often; of several, the one that came first.
pub(super) fn most_common(values: impl Iterator<Item = String>) -> Option<String> {
    let mut counts: HashMap<String, (usize, usize)> = HashMap::new();
    for (place, value) in values.enumerate() {
        let entry = counts.entry(value).or_insert((0, usize::MAX - place));
        entry.0 += 1;
    }
    counts.into_iter().max_by_key(|(_, rank)| *rank).map(|(value, _)| value)
}
