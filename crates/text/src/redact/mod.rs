//! Removes personal data from markdown: email addresses, numbers, secrets, names and places are replaced by a
//! tag or removed.
//!
//! [`find`] finds them, [`redact`] replaces them. Numbers with check digits are checked; names and places are
//! a best effort by cue words and word lists: a name that no rule knows stays in the text. Every rule reads
//! the text once with a bounded context, so time is linear in its length.

mod checks;
mod email;
mod financial;
mod location;
mod person;
mod phone;
mod regions;
mod replace;
mod scan;
mod secret;
mod words;

use regions::Regions;
use serde::Serialize;
use std::collections::BTreeMap;

/// Budget steps of one word or number: each rule compares it with its lists.
const STEPS_PER_WORD: u64 = 2;

/// A kind of personal data.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum Entity {
    /// Keys, tokens, passwords, private keys.
    Secret,
    /// Cards, accounts, bank codes, wallets.
    Financial,
    /// Electronic mail addresses.
    Email,
    /// Telephone numbers.
    Phone,
    /// Streets, postal codes, towns, countries, coordinates: best effort.
    Location,
    /// Names of people: best effort.
    Person,
}

impl Entity {
    /// All kinds, those that win where two overlap first.
    pub const ALL: [Self; 6] =
        [Self::Secret, Self::Financial, Self::Email, Self::Phone, Self::Location, Self::Person];

    /// Its name in the wire contract.
    pub fn name(self) -> &'static str {
        match self {
            Self::Secret => "SECRET",
            Self::Financial => "FINANCIAL",
            Self::Email => "EMAIL",
            Self::Phone => "PHONE",
            Self::Location => "LOCATION",
            Self::Person => "PERSON",
        }
    }

    fn bit(self) -> u8 {
        1 << self as u8
    }
}

/// A set of kinds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EntitySet(u8);

impl EntitySet {
    /// Every kind.
    pub fn all() -> Self {
        Entity::ALL.into_iter().collect()
    }

    /// Whether a kind is in the set.
    pub fn contains(self, entity: Entity) -> bool {
        self.0 & entity.bit() != 0
    }
}

impl FromIterator<Entity> for EntitySet {
    fn from_iter<I: IntoIterator<Item = Entity>>(entities: I) -> Self {
        Self(entities.into_iter().fold(0, |bits, entity| bits | entity.bit()))
    }
}

/// How much the rules redact.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RedactMode {
    /// Certain and very likely matches.
    #[default]
    Accurate,
    /// Also possible matches: more false positives, fewer misses.
    Aggressive,
    /// Unambiguous formats only; no word lists, no context.
    Fast,
}

/// What replaces personal data.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RedactStyle {
    /// Its kind: `<EMAIL>`.
    #[default]
    Tag,
    /// `****`.
    Mask,
    /// Nothing.
    Remove,
}

/// What to redact and how.
#[derive(Clone, Copy, Debug)]
pub struct RedactOptions {
    /// How much the rules redact.
    pub mode: RedactMode,
    /// Which kinds.
    pub entities: EntitySet,
    /// What replaces it.
    pub style: RedactStyle,
}

impl Default for RedactOptions {
    fn default() -> Self {
        Self { mode: RedactMode::default(), entities: EntitySet::all(), style: RedactStyle::default() }
    }
}

/// Text without personal data, as far as the rules find it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Redacted {
    /// The text.
    pub text: String,
    /// The number of replacements of each kind.
    pub counts: BTreeMap<Entity, usize>,
}

/// A range of text with personal data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    /// First byte.
    pub start: usize,
    /// One past the last byte.
    pub end: usize,
    /// What it is.
    pub entity: Entity,
}

/// Replaces the personal data in a markdown text.
pub fn redact(markdown: &str, options: &RedactOptions) -> Redacted {
    let regions = Regions::find(markdown);
    let spans = find_in(markdown, &regions, options.mode, options.entities);
    let mut counts = BTreeMap::new();
    for span in &spans {
        *counts.entry(span.entity).or_default() += 1;
    }
    Redacted { text: replace::replace_spans(markdown, &spans, options.style, &regions), counts }
}

/// The ranges with personal data, in order and without overlaps.
pub fn find(markdown: &str, mode: RedactMode, entities: EntitySet) -> Vec<Span> {
    find_in(markdown, &Regions::find(markdown), mode, entities)
}

fn find_in(markdown: &str, regions: &Regions, mode: RedactMode, entities: EntitySet) -> Vec<Span> {
    let mut spans = Vec::new();
    // Kinds that were not requested are found too and then dropped: a card number must not become a telephone
    // number because only telephone numbers were requested.
    secret::find(markdown, mode, &mut spans);
    financial::find(markdown, mode, regions, &mut spans);
    email::find(markdown, mode, &mut spans);
    phone::find(markdown, mode, regions, &mut spans);
    if entities.contains(Entity::Location) || entities.contains(Entity::Person) {
        location::find(markdown, mode, regions, &mut spans);
    }
    if entities.contains(Entity::Person) {
        person::find(markdown, mode, regions, &mut spans);
    }
    let mut spans = join(spans);
    spans.retain(|span| entities.contains(span.entity));
    spans
}

/// Merges overlapping ranges under the most important kind.
fn join(mut spans: Vec<Span>) -> Vec<Span> {
    spans.sort_by_key(|span| (span.start, std::cmp::Reverse(span.end)));
    let mut joined: Vec<Span> = Vec::with_capacity(spans.len());
    for span in spans {
        budget::spend(1);
        match joined.last_mut() {
            Some(last) if span.start < last.end => {
                // A town inside a name is part of the name; otherwise the more important kind wins.
                let named =
                    last.entity == Entity::Person && span.entity == Entity::Location && span.end <= last.end;
                last.entity = if named { Entity::Person } else { last.entity.min(span.entity) };
                last.end = last.end.max(span.end);
            }
            _ => joined.push(span),
        }
    }
    joined
}
