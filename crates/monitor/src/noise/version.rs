//! Numbers of versions that say of which release a page is, not what it says: in the title of a manual, and as a stamp.

use super::dates::is_date;
use crate::pattern::compile;
use regex::{Captures, Regex};
use std::sync::LazyLock;

static VERSION: LazyLock<Regex> = LazyLock::new(|| {
    compile(concat!(
        r"(?i)(?P<named>[@v]|\b(?:version|release|rev(?:ision)?)\s?)?",
        r"\b(?P<number>\d{1,4}(?:\.\d{1,4}){1,3}(?:[-.+~]?(?:a|b|rc|alpha|beta|pre|post|dev)[-.]?\d*)?)\b",
        r"(?P<of>\s(?:documentation|docs|manual|reference|handbook|guide|api)\b)?",
    ))
});
/// A page whose title says this may be about the version.
static ABOUT_RELEASES: LazyLock<Regex> = LazyLock::new(|| {
    compile(concat!(
        r"(?i)\b(?:downloads?|latest|newest|new|news|released?|releases|releasing|available|updates?|upgrad\w+|",
        r"stable|current|change ?logs?|changes|announc\w+)\b"
    ))
});

/// Masks the number of a version in the title of a page, such as "Mako 1.4.2 Documentation" and "npm-access
/// @12.1.0". A number of two parts may be a price: it is a version where the title says so. Chapters and dates are
/// not.
pub fn mask_title_version(title: &str) -> Option<String> {
    if ABOUT_RELEASES.is_match(title) {
        return None;
    }
    let replace = |found: &Captures| {
        let is_named = found.name("named").is_some() || found.name("of").is_some();
        let is_version = is_named || found["number"].matches('.').count() > 1;
        let begins = found.get(0).is_some_and(|whole| whole.start() == 0);
        if !is_version || begins || is_date(&found["number"]) {
            return found[0].to_owned();
        }
        let part = |name: &str| found.name(name).map_or("", |part| part.as_str());
        format!("{}‹version›{}", part("named"), part("of"))
    };
    Some(VERSION.replace_all(title, replace).into_owned()).filter(|masked| masked != title)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_version_of_a_manual_is_no_part_of_its_title() {
        for (title, masked) in [
            ("Mako 1.4.2 Documentation", "Mako ‹version› Documentation"),
            ("npm-access @12.1.0", "npm-access @‹version›"),
            ("PostgreSQL 15.18 Documentation", "PostgreSQL ‹version› Documentation"),
            ("Handbook (version 2.0-rc1)", "Handbook (version ‹version›)"),
        ] {
            assert_eq!(mask_title_version(title).as_deref(), Some(masked));
        }
        for title in [
            "Download Mako 1.4.2",
            "Mako 1.4.2 is available",
            "Chair 49.99 EUR",
            "3.2.1 Fees",
            "Menu for 12.11.2026",
            "Chapter 4",
        ] {
            assert_eq!(mask_title_version(title), None, "{title}");
        }
    }
}
