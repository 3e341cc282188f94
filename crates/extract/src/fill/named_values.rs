//! Values that stand beside the exact name of their field: "Publisher: Value Books". A reader has no doubt
//! about them, on kinds of pages that the ranker was not trained on too.

use super::ranked::PageCandidate;
use crate::facts::LabelSource;
use crate::ranking::CandidateFacts;
use crate::values::ValueKind;
use std::collections::HashSet;

/// The confidence of such a value.
pub(super) const NAMED_SCORE: f32 = 0.82;
/// The least similarity of its label, by whether the form of a value confirms it.
const MIN_SIMILARITY: f32 = 0.92;
const MIN_SIMILARITY_WITH_FORM: f32 = 0.8;
const MIN_SIMILARITY_OF_PERSON: f32 = 0.74;
/// The least fit of kind and type.
const MIN_FIT: f32 = 0.7;
/// Menus and related things have labels too.
const MIN_POSITION_WEIGHT: f32 = 0.9;
const MAX_WORDS: usize = 14;

/// The numbers of candidates that stand beside the name of their field. Where several lines have an equally
/// good label, none is certain.
pub(super) fn find_named_values(candidates: &[PageCandidate], kinds: &[ValueKind]) -> HashSet<usize> {
    let mut named = HashSet::new();
    let mut at = 0;
    for of_field in candidates.chunk_by(|one, other| one.field == other.field) {
        let kind = kinds[of_field[0].field];
        let labels: Vec<Option<f32>> =
            of_field.iter().map(|candidate| label_beside(kind, &candidate.facts)).collect();
        let best = labels.iter().flatten().copied().fold(0.0, f32::max);
        let mut exact =
            of_field.iter().zip(&labels).enumerate().filter(|(_, (_, label))| **label == Some(best));
        // The whole line comes before its parts.
        if let Some((first, (whole, _))) = exact.next()
            && exact.all(|(_, (other, _))| is_same_line(&whole.facts, &other.facts))
        {
            named.insert(at + first);
        }
        at += of_field.len();
    }
    named
}

fn is_same_line(one: &CandidateFacts, other: &CandidateFacts) -> bool {
    one.key == other.key || one.line.map(|line| line.row) == other.line.map(|line| line.row)
}

/// The similarity of the label beside a value, where it is enough.
fn label_beside(kind: ValueKind, facts: &CandidateFacts) -> Option<f32> {
    let line = facts.line?;
    let label = |source: LabelSource| facts.labels[source as usize];
    let beside = label(LabelSource::Before).max(label(LabelSource::Row));
    // The line before is a label where it is written like one: it is the heading of this line too.
    let above = label(LabelSource::Previous).min(label(LabelSource::Heading));
    let formed = matches!(kind, ValueKind::Date | ValueKind::Money | ValueKind::Identifier) && facts.has_form;
    let least = match kind {
        ValueKind::Name | ValueKind::Prose => return None,
        _ if formed => MIN_SIMILARITY_WITH_FORM,
        ValueKind::Person if beside > above => MIN_SIMILARITY_OF_PERSON,
        _ => MIN_SIMILARITY,
    };
    // A heading names its own version: "Release 15.18".
    let itself = kind == ValueKind::Version
        && line.level > 0
        && line.title.within
        && kind.trim_line(facts.text).len() < facts.text.len();
    let best = if itself { 1.0 } else { beside.max(above) };
    let fits = best >= least
        && facts.kind_fit >= MIN_FIT
        && facts.type_fit >= MIN_FIT
        && line.position_weight >= MIN_POSITION_WEIGHT
        && !line.is_label
        && !line.button
        && facts.text.split_whitespace().count() <= MAX_WORDS;
    fits.then_some(best)
}
