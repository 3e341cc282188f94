//! Personal data out of markdown: addresses, numbers, secrets, names and places replaced by a mark or by nothing.
//!
//! Owns what is found ([`find`]) and how it is written over. Numbers with check digits are checked; names and places are
//! a best effort by cue words and word lists, and stay one: a name that no rule knows is left standing. Every rule reads
//! the text once, and what it looks at around a place is bounded, so time grows with length and no faster.

mod checks;
mod email;
mod financial;
mod location;
mod person;
mod phone;
mod regions;
mod scan;
mod secret;
mod words;
mod write;

use crate::budget;
use regions::Regions;
use serde::Serialize;
use std::collections::BTreeMap;

/// What looking at one word or number counts: each rule compares it with its lists.
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

    /// Its name on the wire.
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

/// How eager the rules are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mode {
    /// What is surely or very likely meant.
    #[default]
    Accurate,
    /// Also what only may be: more is lost, less slips through.
    Aggressive,
    /// Forms that speak for themselves; no word lists, no guessing from what stands around.
    Fast,
}

/// What stands where personal data stood.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Style {
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
    /// How eager the rules are.
    pub mode: Mode,
    /// Which kinds.
    pub entities: EntitySet,
    /// What stands in their place.
    pub style: Style,
}

impl Default for RedactOptions {
    fn default() -> Self {
        Self { mode: Mode::default(), entities: EntitySet::all(), style: Style::default() }
    }
}

/// Text without personal data, as far as the rules find it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Redacted {
    /// The text.
    pub text: String,
    /// How many places of each kind were written over.
    pub counts: BTreeMap<Entity, usize>,
}

/// A place that holds personal data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    /// First byte.
    pub start: usize,
    /// One past the last byte.
    pub end: usize,
    /// What it is.
    pub entity: Entity,
}

/// Writes over the personal data in a markdown text.
pub fn redact(markdown: &str, options: &RedactOptions) -> Redacted {
    let regions = Regions::of(markdown);
    let spans = find_in(markdown, &regions, options.mode, options.entities);
    let mut counts = BTreeMap::new();
    for span in &spans {
        *counts.entry(span.entity).or_default() += 1;
    }
    Redacted { text: write::write(markdown, &spans, options.style, &regions), counts }
}

/// The places that hold personal data, in order and apart from each other.
pub fn find(markdown: &str, mode: Mode, entities: EntitySet) -> Vec<Span> {
    find_in(markdown, &Regions::of(markdown), mode, entities)
}

fn find_in(markdown: &str, regions: &Regions, mode: Mode, entities: EntitySet) -> Vec<Span> {
    let mut spans = Vec::new();
    // Numbers are told apart by what they are, so those of kinds not asked for are found too and then dropped: a card
    // number must not become a telephone number because only telephone numbers were asked for.
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

/// Overlapping places become one, under the kind that weighs most.
fn join(mut spans: Vec<Span>) -> Vec<Span> {
    spans.sort_by_key(|span| (span.start, std::cmp::Reverse(span.end)));
    let mut joined: Vec<Span> = Vec::with_capacity(spans.len());
    for span in spans {
        budget::spend(1);
        match joined.last_mut() {
            Some(last) if span.start < last.end => {
                // A town inside a name is part of the name; otherwise the weightier kind speaks for both.
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
