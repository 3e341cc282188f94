//! What kind of text a field wants, by its format, its type and its name.

use crate::schema::{Field, Kind};
use crate::words::Words;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role {
    Url,
    Image,
    Email,
    Phone,
    /// A date to be written as ISO.
    Date,
    DateTime,
    /// A date in the words of the page.
    DateWords,
    Year,
    Money,
    Currency,
    /// What something is called: short.
    Name,
    /// What something is about: long.
    Prose,
    Plain,
}

impl Role {
    pub(crate) fn of(field: &Field, words: &Words) -> Self {
        let said = |word: &str| words.has(word);
        match (field.format.as_deref(), field.kind) {
            (Some("date"), _) => return Self::Date,
            (Some("date-time"), _) => return Self::DateTime,
            (Some("email" | "idn-email"), _) => return Self::Email,
            (Some("uri" | "url" | "iri" | "uri-reference"), _) => {
                return if said("image") { Self::Image } else { Self::Url };
            }
            (_, Kind::Integer | Kind::Number) => {
                let year = said("year") || said("founded");
                return match () {
                    () if year && field.kind == Kind::Integer => Self::Year,
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
