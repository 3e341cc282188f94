//! The words that all headings of a site begin or end with: "… Reviews, Ratings and More at Tide Films".

use super::place::hash_of;
use crate::facts::Line;

/// Words compared at either end.
const MAX_WORDS: usize = 16;
const MAX_BYTES: usize = 300;
/// Shorter parts of a host are no names: "www", "com".
const MIN_SITE_NAME: usize = 4;

/// Hashes of the first and of the last words of a text, or of those that several texts share.
#[derive(Debug, Clone, Default)]
pub(super) struct SharedWords {
    first: Vec<u64>,
    last: Vec<u64>,
}

/// Whether a line may be the name of its page with words of the site around it.
pub(super) fn may_have_shared_words(line: &Line) -> bool {
    line.text.len() <= MAX_BYTES && (line.level > 0 || line.title.words >= 0.5)
}

impl SharedWords {
    pub(super) fn new(text: &str) -> Self {
        let words = |words: &mut dyn Iterator<Item = &str>| words.take(MAX_WORDS).map(key).collect();
        Self { first: words(&mut text.split_whitespace()), last: words(&mut text.split_whitespace().rev()) }
    }

    pub(super) fn keep_shared(&mut self, other: &Self) {
        let common = |one: &[u64], other: &[u64]| {
            one.iter().zip(other).take_while(|(one, other)| one == other).count()
        };
        self.first.truncate(common(&self.first, &other.first));
        self.last.truncate(common(&self.last, &other.last));
    }

    /// The text without them and their number; `None` where nothing is removed or nothing is left.
    pub(super) fn trim<'t>(&self, text: &'t str) -> Option<(&'t str, usize)> {
        let matching = |words: &mut dyn Iterator<Item = &str>, shared: &[u64]| {
            words.zip(shared).take_while(|(word, shared)| key(word) == **shared).count()
        };
        let first = matching(&mut text.split_whitespace(), &self.first);
        let last = matching(&mut text.split_whitespace().rev(), &self.last);
        if first + last == 0 || first + last >= text.split_whitespace().count() {
            return None;
        }
        let mut rest = text.trim();
        for _ in 0..first {
            rest = rest.split_once(char::is_whitespace)?.1.trim_start();
        }
        for _ in 0..last {
            rest = rest.rsplit_once(char::is_whitespace)?.0.trim_end();
        }
        let rest = rest.trim_matches(|c: char| {
            c.is_whitespace() || matches!(c, '-' | '–' | '—' | '|' | ':' | ',' | '»' | '·')
        });
        rest.chars().any(char::is_alphanumeric).then_some((rest, first + last))
    }
}

/// Whether what a text has around a part of it names the site: "Metafilms" on `www.metafilms.example`.
pub(super) fn names_site(text: &str, part: &str, host: &str) -> bool {
    let Some((before, after)) = text.split_once(part) else { return false };
    let is_name = |word: &str| {
        let word: String =
            word.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect();
        word.len() >= MIN_SITE_NAME && host.split('.').any(|label| label == word)
    };
    before.split_whitespace().chain(after.split_whitespace()).any(is_name)
}

fn key(word: &str) -> u64 {
    hash_of(&word.to_lowercase())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_words_that_all_headings_share_are_removed() {
        let mut shared = SharedWords::new("Film: The Long Tide - Reviews and More");
        shared.keep_shared(&SharedWords::new("Film: Harbour - Reviews and More"));
        shared.keep_shared(&SharedWords::new("Film: A Walk in the Rain - Reviews and More"));
        assert_eq!(shared.trim("Film: Harbour - Reviews and More"), Some(("Harbour", 5)));
        assert_eq!(shared.trim("Film: - Reviews and More"), None, "nothing would be left");
        assert_eq!(shared.trim("Quite another heading"), None);
        assert!(names_site("Harbour at Tidefilms", "Harbour", "www.tidefilms.example"));
        assert!(!names_site("Harbour at Tidefilms", "Harbour", "www.films.example"));
    }
}
