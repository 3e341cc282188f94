//! The kind of text that a field holds, by its format, type and name.

use crate::schema::{FieldKind, SchemaField};
use crate::words::NameWords;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ValueRole {
    Url,
    Image,
    Email,
    Phone,
    /// A date in ISO format.
    Date,
    DateTime,
    /// A date in the words of the page.
    DateWords,
    Year,
    Money,
    Currency,
    /// A short name.
    Name,
    /// A long description.
    Prose,
    Plain,
}

impl ValueRole {
    pub(crate) fn for_field(field: &SchemaField, words: &NameWords) -> Self {
        let said = |word: &str| words.has(word);
        match (field.format.as_deref(), field.kind) {
            (Some("date"), _) => return Self::Date,
            (Some("date-time"), _) => return Self::DateTime,
            (Some("email" | "idn-email"), _) => return Self::Email,
            (Some("uri" | "url" | "iri" | "uri-reference"), _) => {
                return if said("image") { Self::Image } else { Self::Url };
            }
            (_, FieldKind::Integer | FieldKind::Number) => {
                let year = said("year") || said("founded");
                return match () {
                    () if year && field.kind == FieldKind::Integer => Self::Year,
                    () if said("price") || said("salary") || said("ticket") => Self::Money,
                    () => Self::Plain,
                };
            }
            _ => {}
        }
        let last = words.0.last().map_or("", String::as_str);
        match last {
            "url" => Self::Url,
            "image" if words.0.len() == 1 => Self::Image,
            "email" => Self::Email,
            "phone" | "fax" => Self::Phone,
            "currency" => Self::Currency,
            "name" | "author" => Self::Name,
            "description" | "text" => Self::Prose,
            "price" | "salary" => Self::Money,
            _ if said("email") => Self::Email,
            _ if said("phone") && !said("name") => Self::Phone,
            _ if said("date") || said("published") || said("deadline") => Self::DateWords,
            _ => Self::Plain,
        }
    }
}
