//! The places of lines, by which the lines of different pages of a site are compared.

use crate::facts::Line;
use crate::values::ValueKind;
use std::hash::{DefaultHasher, Hash, Hasher};

/// Kinds of places, and of forms.
pub(crate) const PLACES: usize = 3;
pub(super) const FORMS: usize = 4;

/// Where a line stands, in three ways.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct LinePlaces {
    /// Its elements, its label and its number among those that have both.
    pub exact: u64,
    /// Its elements, whichever of them it is.
    pub elements: u64,
    /// Its elements and the line before it.
    pub after: u64,
}

impl LinePlaces {
    pub(super) fn all(&self) -> [u64; PLACES] {
        [self.exact, self.elements, self.after]
    }

    /// The places of a part that this line has on some pages.
    pub(super) fn of_part(self) -> Self {
        let part = |place| mix(place, 1);
        Self { exact: part(self.exact), elements: part(self.elements), after: part(self.after) }
    }
}

/// Numbers the places of a page while its lines are read.
#[derive(Debug, Default)]
pub(crate) struct PlaceKeys {
    seen: std::collections::HashMap<u64, u64>,
}

impl PlaceKeys {
    /// The places of a line: the hash of its elements, of its label, and the text before it.
    pub(crate) fn places(&mut self, path: u64, label: u64, text_before: u64) -> LinePlaces {
        let named = mix(mix(path, label), 2);
        let number = self.seen.entry(named).or_default();
        *number += 1;
        LinePlaces {
            exact: mix(named, *number),
            elements: mix(path, 3),
            after: mix(mix(path, text_before), 4),
        }
    }
}

/// What the other pages of its site have of a line; shares of those pages. All zero where there are none.
#[derive(Debug, Clone, Default)]
pub(crate) struct LineOnSite {
    /// Pages with the same text anywhere, and with the text of the line before.
    pub same_text: f32,
    pub label: f32,
    /// For each kind of place: pages that have it, that have this text there, and how many different texts
    /// there are for each page.
    pub has_place: [f32; PLACES],
    pub same_here: [f32; PLACES],
    pub varies: [f32; PLACES],
    /// Of the pages that have its place, those with a text of each form there.
    pub forms: [f32; FORMS],
    /// Words that all texts of this place share: removed here, or, below zero, removed in another candidate.
    pub trimmed: f32,
    /// Whether those words name the site: the line is then more than the name of its page.
    pub names_site: bool,
}

impl LineOnSite {
    /// The share of pages with a value of this kind in the same place.
    pub(crate) fn of_kind(&self, kind: ValueKind) -> f32 {
        match kind {
            ValueKind::Money => self.forms[0],
            ValueKind::Date | ValueKind::Year => self.forms[1],
            ValueKind::Identifier => self.forms[2],
            ValueKind::Name => self.forms[3],
            _ => 0.0,
        }
    }
}

/// The forms of a text as bits: an amount, a date, an identifier, a part of the page's title.
pub(super) fn forms_of(line: &Line) -> u8 {
    let has = |kind: ValueKind| kind.has_form(&line.text);
    [has(ValueKind::Money), has(ValueKind::Date), has(ValueKind::Identifier), line.title.within]
        .into_iter()
        .enumerate()
        .fold(0, |bits, (at, is)| bits | u8::from(is) << at)
}

pub(crate) fn mix(one: u64, other: u64) -> u64 {
    hash_of(&(one, other))
}

pub(crate) fn hash_of(value: &(impl Hash + ?Sized)) -> u64 {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}
