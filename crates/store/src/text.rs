//! Text that both databases can keep.

use std::borrow::Cow;

/// PostgreSQL refuses the character U+0000 in text and SQLite keeps it; pages and errors may hold it.
/// Both stores keep U+FFFD instead, so that they do not differ and no hostile page makes a write fail.
pub(crate) fn storable(text: &str) -> Cow<'_, str> {
    if text.contains('\0') { Cow::Owned(text.replace('\0', "\u{fffd}")) } else { Cow::Borrowed(text) }
}

pub(crate) fn storable_or_none(text: Option<&String>) -> Option<Cow<'_, str>> {
    text.map(|text| storable(text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_null_character_is_replaced() {
        assert_eq!(storable("a\0b"), "a\u{fffd}b");
        assert!(matches!(storable("ä\u{1}"), Cow::Borrowed("ä\u{1}")));
    }
}
