//! Compares fields with labels: the words and role of every field, and which fields a label may mean.

use super::columns::ColumnKey;
use crate::facts::{Fact, LabelId, Labels};
use crate::schema::{FieldKind, Shape};
use crate::values::{ValueKind, ValueRole};
use crate::words::{FieldName, NameWords, RELATED, similarity, words_match};
use std::collections::HashMap;
use std::rc::Rc;

/// Less similar labels are not considered.
const MIN_SIMILARITY: f32 = 0.4;
/// Fields that one label is compared with.
const MAX_COMPARED_FIELDS: usize = 100;

/// Fields with their similarity to a label.
type FieldMatches = Rc<[(usize, f32)]>;

pub(crate) struct FieldMatcher {
    pub names: Vec<FieldName>,
    pub roles: Vec<ValueRole>,
    pub kinds: Vec<ValueKind>,
    /// The words of each field's name as they are written in the schema.
    written: Vec<Vec<String>>,
    pub prompt: NameWords,
    labels: Labels,
    /// Fields by the beginnings and ends of their words, so that a label is compared with only a few of them.
    by_part: HashMap<String, Vec<usize>>,
    cached_matches: Vec<Option<FieldMatches>>,
}

impl FieldMatcher {
    pub(crate) fn new(shape: &Shape, prompt: &str, labels: Labels) -> Self {
        let mut names: Vec<FieldName> = Vec::with_capacity(shape.fields.len());
        let mut by_part: HashMap<String, Vec<usize>> = HashMap::new();
        for (at, field) in shape.fields.iter().enumerate() {
            let (context, rows) = match field.parent {
                Some(parent) => {
                    let above: &FieldName = &names[parent];
                    let called = NameWords::from_name(&shape.fields[parent].name);
                    if shape.fields[parent].kind == FieldKind::Object && !is_item(shape, parent) {
                        (above.context.join(&called), above.rows.clone())
                    } else {
                        (NameWords::default(), above.rows.join(&above.context).join(&called))
                    }
                }
                None => (NameWords::default(), NameWords::default()),
            };
            let name = FieldName {
                own: NameWords::from_name(&field.name),
                context,
                rows,
                description: NameWords::from_name(&field.description),
                beside_name: is_beside_name(shape, at),
                is_item: is_item(shape, at),
            };
            let called = (name.is_entity() || name.is_row_name()).then(|| "name".to_owned());
            let words = || name.own.0.iter().chain(&name.description.0).chain(&name.context.0);
            let related = words().flat_map(|word| RELATED.iter().filter(move |(one, _)| one == word));
            let related: Vec<String> = related.map(|(_, other)| (*other).to_owned()).collect();
            for word in words().chain(&called).chain(&related) {
                for part in word_parts(word) {
                    let fields = by_part.entry(part).or_default();
                    if fields.last() != Some(&at) {
                        fields.push(at);
                    }
                }
            }
            names.push(name);
        }
        let roles = shape
            .fields
            .iter()
            .zip(&names)
            .map(|(field, name)| ValueRole::for_field(field, &name.own))
            .collect();
        let kinds = shape
            .fields
            .iter()
            .zip(&names)
            .map(|(field, name)| {
                if name.is_entity() && field.kind == FieldKind::Text {
                    ValueKind::Name
                } else {
                    ValueKind::for_field(field, &name.own, &name.description)
                }
            })
            .collect();
        let written = shape.fields.iter().map(|field| text::names::words(field.name.chars()).collect());
        let written = written.collect();
        let cached_matches = vec![None; labels.len()];
        Self {
            names,
            roles,
            kinds,
            written,
            prompt: NameWords::from_text(prompt),
            labels,
            by_part,
            cached_matches,
        }
    }

    /// The fields that a label may mean, with their similarity.
    pub(crate) fn matching_fields(&mut self, label: LabelId) -> FieldMatches {
        let at = label.0 as usize;
        if let Some(known) = &self.cached_matches[at] {
            return Rc::clone(known);
        }
        let (words, around) = self.labels.get(label);
        // Fields with a rare common part first: a word of a thousand fields does not distinguish them.
        let mut shared: Vec<&Vec<usize>> = words
            .0
            .iter()
            .flat_map(|word| word_parts(word))
            .filter_map(|part| self.by_part.get(&part))
            .collect();
        shared.sort_by_key(|fields| fields.len());
        let mut fields: Vec<usize> = Vec::new();
        for more in shared {
            if fields.len() >= MAX_COMPARED_FIELDS {
                break;
            }
            fields.extend(more.iter().take(MAX_COMPARED_FIELDS));
        }
        fields.sort_unstable();
        fields.dedup();
        let found: FieldMatches = fields
            .into_iter()
            .map(|field| (field, similarity(&self.names[field], words, around)))
            .filter(|(_, similarity)| *similarity >= MIN_SIMILARITY)
            .collect();
        self.cached_matches[at] = Some(Rc::clone(&found));
        found
    }

    /// Whether a text is the name of a field and nothing else.
    pub(crate) fn is_own_name(&self, field: usize, text: &str) -> bool {
        let name = &self.written[field];
        let bytes: usize = name.iter().map(String::len).sum();
        // Longer texts have more words; most texts end here.
        !name.is_empty()
            && text.len() <= bytes * 2 + 8
            && text::names::words(text.chars()).eq(name.iter().cloned())
    }

    /// The identity of a column: the words of its label, without the headings of single records.
    pub(crate) fn column(&self, fact: &Fact) -> ColumnKey {
        (self.labels.same_words(fact.label), fact.how)
    }

    /// The position of a field's name in the prompt; `usize::MAX` when it is absent.
    pub(crate) fn prompt_position(&self, field: usize) -> usize {
        let own = &self.names[field].own;
        self.prompt
            .0
            .iter()
            .position(|word| own.0.iter().any(|name| words_match(name, word)))
            .unwrap_or(usize::MAX)
    }

    /// Whether a label is under a heading of its own.
    pub(crate) fn has_heading(&self, label: LabelId) -> bool {
        !self.labels.get(label).1.is_empty()
    }

    pub(crate) fn words(&self, label: LabelId) -> &NameWords {
        self.labels.get(label).0
    }
}

/// Whether another field of the same object is called name or title.
fn is_beside_name(shape: &Shape, at: usize) -> bool {
    let Some(parent) = shape.fields[at].parent else { return false };
    let beside = shape.fields[parent].children.iter().take(MAX_COMPARED_FIELDS).filter(|&&child| child != at);
    let mut names = beside.map(|&child| NameWords::from_name(&shape.fields[child].name));
    names.any(|words| words.0 == ["name"])
}

/// Whether a field describes the items of an array.
fn is_item(shape: &Shape, at: usize) -> bool {
    shape.fields[at].parent.is_some_and(|parent| shape.fields[parent].kind == FieldKind::Array)
}

/// Keys that two similar words have in common: the whole word, its first letters, or its last ones.
fn word_parts(word: &str) -> Vec<String> {
    let least = if word.is_ascii() { (4, 5) } else { (2, 2) };
    let chars: Vec<char> = word.chars().collect();
    let mut parts = vec![format!("={word}")];
    if chars.len() >= least.0 {
        parts.push(chars[..least.0].iter().collect::<String>() + "-");
    }
    if chars.len() >= least.1 {
        parts.push(format!("-{}", chars[chars.len() - least.1..].iter().collect::<String>()));
    }
    parts
}
