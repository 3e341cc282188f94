//! Normalizes names for comparison: `unitPrice`, "Unit price (€)" and `unit_price` are the same two words.
//!
//! Splits names, normalizes words and computes the similarity of two names. Synonyms are replaced by the
//! first word of their row in a small table ([`synonyms`]).

mod synonyms;
#[cfg(test)]
mod tests;

use std::collections::{HashMap, HashSet};
use std::sync::LazyLock;
use text::{names, stem, stop_words};
use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

/// Words examined of one name.
const MAX_NAME_WORDS: usize = 12;
/// Different words examined of one text.
const MAX_TEXT_WORDS: usize = 300;
const MAX_NAME_BYTES: usize = 200;
/// Budget steps of splitting or comparing a name.
const STEPS_PER_NAME: u64 = 4;

/// Words that say little about which value is meant: fillers, and units.
static WEAK: LazyLock<HashSet<&str>> = LazyLock::new(|| {
    word_set(
        "number no nr code total count value info information detail data list current full text amount in at \
    by from line tag box wrapper container item field label val content main block id official overall \
    available short long new js col row cell inner my your m km km2 m2 cm mm kg g mt mb gb ms min minute \
    second percent pct eur usd gbp sqm",
    )
});
/// Words for the subject of a whole page: `product_name` is the main heading of a product page.
static ENTITIES: LazyLock<HashSet<&str>> = LazyLock::new(|| {
    word_set(
        "product job item event recipe book article page company organization hotel course film dish post \
    thread listing property model paper song album game project package person profile restaurant plan \
    release question topic story venue vehicle program episode podcast house museum conference show \
    command festival service tool country destination list",
    )
});

/// Words that make another amount of a price.
static OTHER_AMOUNTS: LazyLock<HashSet<&str>> = LazyLock::new(|| {
    word_set(
        "original list regular old was previous save saving shipping rebate discount tax deposit monthly invoice combo bundle",
    )
});

/// Words for what happens on a date, after synonyms were replaced.
const EVENTS: &[&str] = &["published", "modified", "deadline", "founded", "start", "end"];

/// A word of a field, and one of a label that may do for it. Not the other way about: where a mobile number is
/// wanted beside a telephone number, that one will not do.
pub(crate) const RELATED: &[(&str, &str)] = &[("phone", "mobile")];

fn word_set(words: &'static str) -> HashSet<&'static str> {
    words.split_ascii_whitespace().collect()
}

/// The normalized words of a name.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub(crate) struct NameWords(pub Vec<String>);

impl NameWords {
    pub(crate) fn from_name(name: &str) -> Self {
        if matches!(name.trim(), "#" | "№") {
            return Self(vec![canonical("position"), "number".to_owned()]);
        }
        Self(
            split(name)
                .into_iter()
                .filter(|word| !stop_words::NAMES.contains(word))
                .map(|word| canonical(&word))
                .collect(),
        )
    }

    /// The words of a whole text, each once.
    pub(crate) fn from_text(text: &str) -> Self {
        let mut words: Vec<String> = Vec::new();
        let mut seen = HashSet::new();
        for part in text.split_whitespace() {
            for word in Self::from_name(part).0 {
                if words.len() < MAX_TEXT_WORDS && seen.insert(word.clone()) {
                    words.push(word);
                }
            }
        }
        Self(words)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn has(&self, word: &str) -> bool {
        self.0.iter().any(|known| known == word)
    }

    pub(crate) fn join(&self, other: &Self) -> Self {
        let mut words = self.0.clone();
        words.extend(other.0.iter().filter(|word| !self.0.contains(word)).cloned());
        Self(words)
    }
}

/// Splits a name into lower-case words without accents and width variants.
fn split(name: &str) -> Vec<String> {
    let name = &name[..name.floor_char_boundary(MAX_NAME_BYTES)];
    budget::spend(STEPS_PER_NAME);
    let mut words: Vec<String> = Vec::new();
    for word in names::words(name.nfkd().filter(|&c| !is_combining_mark(c))) {
        // "e-mail" is one word.
        if word == "mail" && words.last().is_some_and(|last| last == "e") {
            words.pop();
            words.push("email".to_owned());
        } else {
            words.push(word);
        }
        if words.len() >= MAX_NAME_WORDS {
            break;
        }
    }
    words
}

fn canonical(word: &str) -> String {
    static CANONICAL: LazyLock<HashMap<String, &str>> = LazyLock::new(|| {
        let mut rows = HashMap::new();
        for row in synonyms::SYNONYMS {
            let first = row.split(' ').next().unwrap_or(row);
            for word in row.split(' ') {
                // Normalized like the words of pages.
                rows.entry(split(word).concat()).or_insert(first);
            }
        }
        rows
    });
    if let Some(first) = CANONICAL.get(word) {
        return (*first).to_owned();
    }
    // The last part of a closed compound is its head.
    if !word.is_ascii() {
        let ends =
            word.char_indices().skip(1).map(|(at, _)| &word[at..]).filter(|end| end.chars().count() > 1);
        if let Some(first) = ends.filter(|end| !end.is_ascii()).find_map(|end| CANONICAL.get(end)) {
            return (*first).to_owned();
        }
    }
    let single = stem::singular(word);
    CANONICAL.get(single.as_str()).map_or(single, |first| (*first).to_owned())
}

/// The weight of a word.
fn weight(word: &str) -> f32 {
    if WEAK.contains(word) || is_number(word) { 0.3 } else { 1.0 }
}

fn is_number(word: &str) -> bool {
    word.bytes().all(|byte| byte.is_ascii_digit())
}

/// Whether two words are similar enough to match in texts.
pub(crate) fn words_match(one: &str, other: &str) -> bool {
    word_similarity(one, other) >= 0.7
}

/// The similarity of two words: 1 for the same, less when one is the beginning or end of the other.
fn word_similarity(one: &str, other: &str) -> f32 {
    if one == other {
        return 1.0;
    }
    if RELATED.contains(&(one, other)) {
        return 0.8;
    }
    let (short, long) = if one.len() <= other.len() { (one, other) } else { (other, one) };
    let ascii = short.is_ascii();
    // Compounds and inflected forms; a few letters prove nothing, but two ideographs do.
    let enough = if ascii { short.len() >= 4 } else { short.chars().count() >= 2 };
    if enough && long.starts_with(short) {
        let rest = long.len() - short.len();
        return match rest {
            1 | 2 if ascii => 0.85,
            // "author" and "authority".
            3 if ascii => 0.5,
            _ => 0.7,
        };
    }
    if (short.len() >= 5 || !ascii) && enough && long.ends_with(short) {
        return 0.7;
    }
    // "founder" and "founded", "director" and "directed".
    let shared = one.bytes().zip(other.bytes()).take_while(|(one, other)| one == other).count();
    if ascii && shared >= 5 && shared * 4 >= long.len() * 3 { 0.75 } else { 0.0 }
}

/// The name of a field: its own words, those of its parents, and its description.
#[derive(Debug, Clone, Default)]
pub(crate) struct FieldName {
    pub own: NameWords,
    pub context: NameWords,
    /// The name of the rows it belongs to, which a label may repeat.
    pub rows: NameWords,
    pub description: NameWords,
    /// Whether its object has a field for the name itself.
    pub beside_name: bool,
    /// Whether it is the item of an array itself, which has the array's name.
    pub is_item: bool,
}

impl FieldName {
    /// Whether it names a thing: the name of a podcast may be wanted as `podcast`, but not beside `title`.
    pub(crate) fn is_entity(&self) -> bool {
        !self.beside_name && matches!(self.own.0.as_slice(), [word] if ENTITIES.contains(word.as_str()))
    }

    /// Whether it names the rows that it belongs to: those of `options` are called by their `option`.
    pub(crate) fn is_row_name(&self) -> bool {
        !self.beside_name
            && !self.is_item
            && matches!(self.own.0.as_slice(), [word] if self.rows.0.last() == Some(word))
    }
}

/// The similarity of a field name and a label, from 0 to 1. `around` is the heading above the label.
pub(crate) fn similarity(name: &FieldName, label: &NameWords, around: &NameWords) -> f32 {
    budget::spend(STEPS_PER_NAME);
    if label.is_empty() || name.own.is_empty() {
        return 0.0;
    }
    if (name.is_entity() || name.is_row_name()) && label.0 == ["name"] {
        return if name.context.is_empty() { 0.72 } else { 0.5 };
    }
    let direct = name_overlap(&name.own, label, &name.context.join(&name.rows));
    if name.context.is_empty() {
        return direct.max(description_similarity(name, label));
    }
    let whole = name_overlap(&name.context.join(&name.own), label, &NameWords::default());
    let placed = name.context.0.iter().any(|word| around.has(word) || label.has(word));
    let direct = direct.max(description_similarity(name, label)) * if placed { 1.0 } else { 0.8 };
    direct.max(whole)
}

/// Similarity by description: the field's description contains all words of a short label.
fn description_similarity(name: &FieldName, label: &NameWords) -> f32 {
    let strong = label.0.iter().filter(|word| !WEAK.contains(word.as_str())).count();
    let all = label.0.iter().all(|word| name.description.has(word));
    if all && strong > 0 && label.0.len() <= 3 { 0.7 } else { 0.0 }
}

fn name_overlap(wanted: &NameWords, label: &NameWords, context: &NameWords) -> f32 {
    // In field names the last word usually says what it is, the others say which one.
    let head = wanted.0.iter().rposition(|word| !WEAK.contains(word.as_str()) && !is_number(word.as_str()));
    // In a name of weak words alone all words count.
    let weight = |word: &str| if head.is_none() { 1.0 } else { weight(word) };
    let (mut whole, mut matched) = (0.0, 0.0);
    let mut used = vec![false; label.0.len()];
    for (at, word) in wanted.0.iter().enumerate() {
        let weight = weight(word) * if head == Some(at) { 1.5 } else { 1.0 };
        let best = label
            .0
            .iter()
            .enumerate()
            .map(|(at, other)| (at, word_similarity(word, other)))
            .max_by(|one, other| one.1.total_cmp(&other.1));
        let found = best.map_or(0.0, |(_, found)| found);
        if let Some((at, _)) = best.filter(|(_, found)| *found > 0.0) {
            used[at] = true;
        }
        // Labels often leave out the subject of the page.
        let subject = head != Some(at) && ENTITIES.contains(word.as_str());
        // "Published" and "Posted" stand beside dates without saying so.
        let event = word == "date" && EVENTS.iter().any(|event| wanted.has(event) && label.has(event));
        let implied = found == 0.0 && (subject || event);
        whole += if implied { weight * 0.25 } else { weight };
        matched += weight * found;
    }
    if matched == 0.0 || (head.is_some() && matched < 0.5) {
        return 0.0;
    }
    let extra: f32 = label
        .0
        .iter()
        .enumerate()
        .filter(|(at, word)| !used[*at] && !context.has(word) && !is_number(word))
        .map(|(_, word)| {
            let usual = ENTITIES.contains(word.as_str()) || (word == "published" && wanted.has("date"));
            let other = OTHER_AMOUNTS.contains(word.as_str()) && wanted.has("price");
            weight(word)
                * if usual {
                    0.4
                } else if other {
                    2.5
                } else {
                    1.0
                }
        })
        .sum();
    let (recall, precision) = (matched / whole, matched / (matched + extra));
    2.0 * recall * precision / (recall + precision)
}
