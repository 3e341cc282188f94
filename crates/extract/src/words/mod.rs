//! Names made comparable: `unitPrice`, "Unit price (€)" and `unit_price` are the same two words.
//!
//! Owns splitting, folding and the likeness of two names. Words are folded to a common form, and to the first word of their row in a
//! small table where several words mean the same ([`synonyms`]).

mod synonyms;
#[cfg(test)]
mod tests;

use content::budget;
use std::collections::{HashMap, HashSet};
use std::sync::LazyLock;
use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

/// Words of one name that are looked at.
const MOST_WORDS: usize = 12;
/// Different words of one text that are looked at.
const MOST_TEXT_WORDS: usize = 300;
const LONGEST_NAME: usize = 200;
/// What splitting or comparing a name counts.
const STEPS_PER_NAME: u64 = 4;

/// Words that say little about which value is meant: fillers, and units.
static WEAK: LazyLock<HashSet<&str>> = LazyLock::new(|| {
    set(
        "number no nr code total count value info information detail data list current full text amount in at \
    by from line tag box wrapper container item field label val content main block id official overall \
    available short long new js col row cell inner my your m km km2 m2 cm mm kg g mt mb gb ms min minute \
    second percent pct eur usd gbp sqm",
    )
});
/// Words that say nothing at all.
static EMPTY: LazyLock<HashSet<&str>> = LazyLock::new(|| {
    set(
        "of the a an and or for to is de la le les du des del el los las der die das und et y en di da do on \
    with per its this that their our von im am zu s",
    )
});
/// What a whole page may be about: `product_name` is the name that a product page is headed by.
static ENTITIES: LazyLock<HashSet<&str>> = LazyLock::new(|| {
    set("product job item event recipe book article page company organization hotel course film dish post \
    thread listing property model paper song album game project package person profile restaurant plan \
    release question topic story venue vehicle program episode podcast house museum conference show \
    command festival service tool country destination list")
});

fn set(words: &'static str) -> HashSet<&'static str> {
    words.split_ascii_whitespace().collect()
}

/// A name as comparable words.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub(crate) struct Words(pub Vec<String>);

impl Words {
    pub(crate) fn of(name: &str) -> Self {
        if matches!(name.trim(), "#" | "№") {
            return Self(vec![canonical("position"), "number".to_owned()]);
        }
        Self(
            split(name)
                .into_iter()
                .filter(|word| !EMPTY.contains(word.as_str()))
                .map(|word| canonical(&word))
                .collect(),
        )
    }

    /// The words of a whole text, each once.
    pub(crate) fn of_text(text: &str) -> Self {
        let mut words: Vec<String> = Vec::new();
        let mut seen = HashSet::new();
        for part in text.split_whitespace() {
            for word in Self::of(part).0 {
                if words.len() < MOST_TEXT_WORDS && seen.insert(word.clone()) {
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

/// Small letters without accents, width or endings of the plural.
fn split(name: &str) -> Vec<String> {
    let name = &name[..name.floor_char_boundary(LONGEST_NAME)];
    budget::spend(STEPS_PER_NAME);
    let mut words: Vec<String> = Vec::new();
    let mut word = String::new();
    let mut last: Option<char> = None;
    for c in name.nfkd().filter(|&c| !is_combining_mark(c)) {
        let new_word = c.is_uppercase() && last.is_some_and(char::is_lowercase);
        if new_word || !c.is_alphanumeric() {
            finish(&mut words, &mut word);
        }
        if c.is_alphanumeric() {
            word.extend(c.to_lowercase());
        }
        last = Some(c);
        if words.len() >= MOST_WORDS {
            return words;
        }
    }
    finish(&mut words, &mut word);
    words
}

fn finish(words: &mut Vec<String>, word: &mut String) {
    if word.is_empty() {
        return;
    }
    // "e-mail" is one word.
    if word == "mail" && words.last().is_some_and(|last| last == "e") {
        words.pop();
        "email".clone_into(word);
    }
    words.push(std::mem::take(word));
}

fn canonical(word: &str) -> String {
    static ROWS: LazyLock<HashMap<String, &str>> = LazyLock::new(|| {
        let mut rows = HashMap::new();
        for row in synonyms::ROWS {
            let first = row.split(' ').next().unwrap_or(row);
            for word in row.split(' ') {
                // Folded as the words of pages are.
                rows.entry(split(word).concat()).or_insert(first);
            }
        }
        rows
    });
    if let Some(first) = ROWS.get(word) {
        return (*first).to_owned();
    }
    // Compounds that are written together end in what they are.
    if !word.is_ascii() {
        let ends =
            word.char_indices().skip(1).map(|(at, _)| &word[at..]).filter(|end| end.chars().count() > 1);
        if let Some(first) = ends.filter(|end| !end.is_ascii()).find_map(|end| ROWS.get(end)) {
            return (*first).to_owned();
        }
    }
    let single = singular(word);
    ROWS.get(single.as_str()).map_or(single, |first| (*first).to_owned())
}

fn singular(word: &str) -> String {
    let cut = |ending: &str, least: usize| word.strip_suffix(ending).filter(|stem| stem.len() >= least);
    if let Some(stem) = cut("ies", 2) {
        return format!("{stem}y");
    }
    for ending in ["sses", "shes", "ches", "xes"] {
        if word.ends_with(ending) {
            return word[..word.len() - 2].to_owned();
        }
    }
    match cut("s", 3) {
        Some(stem) if !stem.ends_with(['s', 'u', 'i']) => stem.to_owned(),
        _ => word.to_owned(),
    }
}

/// How much a word counts.
fn weight(word: &str) -> f32 {
    if WEAK.contains(word) { 0.3 } else { 1.0 }
}

/// Whether two words may be the same, good enough for texts.
pub(crate) fn akin(one: &str, other: &str) -> bool {
    agree(one, other) >= 0.7
}

/// How well two words agree: 1 for the same, less when one is the beginning or end of the other.
fn agree(one: &str, other: &str) -> f32 {
    if one == other {
        return 1.0;
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
    // "founder" and "founded".
    let shared = one.bytes().zip(other.bytes()).take_while(|(one, other)| one == other).count();
    if ascii && shared >= 5 && shared * 10 >= long.len() * 8 { 0.75 } else { 0.0 }
}

/// A wanted name: its own words, those of what it is part of, and its description.
#[derive(Debug, Clone, Default)]
pub(crate) struct Name {
    pub own: Words,
    pub context: Words,
    /// What the rows it is part of are called: a label may repeat it and need not.
    pub rows: Words,
    pub description: Words,
}

impl Name {
    /// Whether it is the word for a thing: the name of a podcast may be wanted as `podcast`.
    pub(crate) fn is_entity(&self) -> bool {
        matches!(self.own.0.as_slice(), [word] if ENTITIES.contains(word.as_str()))
    }
}

/// How alike a wanted name and a label are, from 0 to 1. `around` is what the label stands under.
pub(crate) fn likeness(name: &Name, label: &Words, around: &Words) -> f32 {
    budget::spend(STEPS_PER_NAME);
    if label.is_empty() || name.own.is_empty() {
        return 0.0;
    }
    if name.is_entity() && label.0 == ["name"] {
        return if name.context.is_empty() { 0.72 } else { 0.5 };
    }
    let direct = overlap(&name.own, label, &name.context.join(&name.rows));
    if name.context.is_empty() {
        return direct.max(described(name, label));
    }
    let whole = overlap(&name.context.join(&name.own), label, &Words::default());
    let placed = name.context.0.iter().any(|word| around.has(word) || label.has(word));
    let direct = direct.max(described(name, label)) * if placed { 1.0 } else { 0.8 };
    direct.max(whole)
}

/// The words of a short label in the description of what is wanted.
fn described(name: &Name, label: &Words) -> f32 {
    let strong = label.0.iter().filter(|word| !WEAK.contains(word.as_str())).count();
    let all = label.0.iter().all(|word| name.description.has(word));
    if all && strong > 0 && label.0.len() <= 3 { 0.7 } else { 0.0 }
}

fn overlap(wanted: &Words, label: &Words, context: &Words) -> f32 {
    // In most languages and in names of fields the last word is what it is, the others say which.
    let head = wanted.0.iter().rposition(|word| !WEAK.contains(word.as_str()));
    // A name of weak words alone is taken at its word.
    let weight = |word: &str| if head.is_none() { 1.0 } else { weight(word) };
    let (mut whole, mut matched) = (0.0, 0.0);
    let mut used = vec![false; label.0.len()];
    for (at, word) in wanted.0.iter().enumerate() {
        let weight = weight(word) * if head == Some(at) { 1.5 } else { 1.0 };
        let best = label
            .0
            .iter()
            .enumerate()
            .map(|(at, other)| (at, agree(word, other)))
            .max_by(|one, other| one.1.total_cmp(&other.1));
        let found = best.map_or(0.0, |(_, found)| found);
        if let Some((at, _)) = best.filter(|(_, found)| *found > 0.0) {
            used[at] = true;
        }
        // What the page is about need not be said again.
        let implied = found == 0.0 && head != Some(at) && ENTITIES.contains(word.as_str());
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
        .filter(|(at, word)| {
            !used[*at] && !context.has(word) && !word.bytes().all(|byte| byte.is_ascii_digit())
        })
        .map(|(_, word)| weight(word) * if ENTITIES.contains(word.as_str()) { 0.4 } else { 1.0 })
        .sum();
    let (recall, precision) = (matched / whole, matched / (matched + extra));
    2.0 * recall * precision / (recall + precision)
}
