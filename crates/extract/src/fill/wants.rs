//! What is wanted, ready to be compared: the words and role of every field, and which fields a label may mean.

use super::columns::Column;
use crate::facts::{Fact, LabelId, Labels};
use crate::reading::Role;
use crate::schema::{Kind, Shape};
use crate::words::{Name, Words, akin, likeness};
use std::collections::HashMap;
use std::rc::Rc;

/// Labels that are less like a field than this are not considered.
const LEAST_LIKENESS: f32 = 0.4;
/// Fields that one label is compared with.
const MOST_COMPARED: usize = 100;

/// Fields with how alike they are.
type Likes = Rc<[(usize, f32)]>;

pub(crate) struct Wants {
    pub names: Vec<Name>,
    pub roles: Vec<Role>,
    pub prompt: Words,
    labels: Labels,
    /// Fields by the beginnings and ends of their words, so that a label is compared with few of them.
    by_part: HashMap<String, Vec<usize>>,
    likes: Vec<Option<Likes>>,
}

impl Wants {
    pub(crate) fn of(shape: &Shape, prompt: &str, labels: Labels) -> Self {
        let mut names: Vec<Name> = Vec::with_capacity(shape.fields.len());
        let mut by_part: HashMap<String, Vec<usize>> = HashMap::new();
        for (at, field) in shape.fields.iter().enumerate() {
            let (context, rows) = match field.parent {
                Some(parent) => {
                    let above: &Name = &names[parent];
                    let called = Words::of(&shape.fields[parent].name);
                    if shape.fields[parent].kind == Kind::Object && !is_item(shape, parent) {
                        (above.context.join(&called), above.rows.clone())
                    } else {
                        (Words::default(), above.rows.join(&above.context).join(&called))
                    }
                }
                None => (Words::default(), Words::default()),
            };
            let name = Name {
                own: Words::of(&field.name),
                context,
                rows,
                description: Words::of(&field.description),
            };
            let called = name.is_entity().then(|| "name".to_owned());
            for word in name.own.0.iter().chain(&name.description.0).chain(&name.context.0).chain(&called) {
                for part in parts(word) {
                    let fields = by_part.entry(part).or_default();
                    if fields.last() != Some(&at) {
                        fields.push(at);
                    }
                }
            }
            names.push(name);
        }
        let roles = shape.fields.iter().zip(&names).map(|(field, name)| Role::of(field, &name.own)).collect();
        let likes = vec![None; labels.len()];
        Self { names, roles, prompt: Words::of_text(prompt), labels, by_part, likes }
    }

    /// The fields that a label may mean, with how alike they are.
    pub(crate) fn likes(&mut self, label: LabelId) -> Likes {
        let at = label.0 as usize;
        if let Some(known) = &self.likes[at] {
            return Rc::clone(known);
        }
        let (words, around) = self.labels.get(label);
        // Those that share a rare part first: a word that a thousand fields have tells them not apart.
        let mut shared: Vec<&Vec<usize>> =
            words.0.iter().flat_map(|word| parts(word)).filter_map(|part| self.by_part.get(&part)).collect();
        shared.sort_by_key(|fields| fields.len());
        let mut fields: Vec<usize> = Vec::new();
        for more in shared {
            if fields.len() >= MOST_COMPARED {
                break;
            }
            fields.extend(more.iter().take(MOST_COMPARED));
        }
        fields.sort_unstable();
        fields.dedup();
        let found: Likes = fields
            .into_iter()
            .map(|field| (field, likeness(&self.names[field], words, around)))
            .filter(|(_, likeness)| *likeness >= LEAST_LIKENESS)
            .collect();
        self.likes[at] = Some(Rc::clone(&found));
        found
    }

    /// What a column is known by: the words of its label, whatever each record is headed by.
    pub(crate) fn column(&self, fact: &Fact) -> Column {
        (self.labels.same_words(fact.label), fact.how)
    }

    /// Where the prompt names a field; far away when it does not.
    pub(crate) fn asked_at(&self, field: usize) -> usize {
        let own = &self.names[field].own;
        self.prompt.0.iter().position(|word| own.0.iter().any(|name| akin(name, word))).unwrap_or(usize::MAX)
    }

    /// Whether a label stands under a heading of its own.
    pub(crate) fn is_headed(&self, label: LabelId) -> bool {
        !self.labels.get(label).1.is_empty()
    }

    pub(crate) fn words(&self, label: LabelId) -> &Words {
        self.labels.get(label).0
    }
}

/// Whether a field is what every item of an array is.
fn is_item(shape: &Shape, at: usize) -> bool {
    shape.fields[at].parent.is_some_and(|parent| shape.fields[parent].kind == Kind::Array)
}

/// What two words share when they can agree at all: the whole, the first letters, or the last.
fn parts(word: &str) -> Vec<String> {
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
