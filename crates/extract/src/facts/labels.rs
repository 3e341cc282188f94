//! Labels, each kept once: pages repeat the same few in every row.

use crate::words::Words;
use std::collections::HashMap;

/// Different labels kept; what comes after is not compared with anything.
const MOST: usize = 60_000;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct LabelId(pub u32);

/// The words of labels and of what they stand under.
#[derive(Debug, Default)]
pub(crate) struct Labels {
    known: HashMap<(Words, Words), LabelId>,
    list: Vec<(Words, Words)>,
    /// For each label the first one with the same words, wherever it stands.
    first: Vec<LabelId>,
    by_words: HashMap<Words, LabelId>,
}

impl Labels {
    pub(crate) fn enter(&mut self, words: Words, around: Words) -> LabelId {
        let key = (words, around);
        if let Some(&id) = self.known.get(&key) {
            return id;
        }
        if self.list.len() >= MOST {
            return self.enter_last();
        }
        let id = LabelId(u32::try_from(self.list.len()).unwrap_or(u32::MAX));
        self.push(key.clone(), id);
        self.known.insert(key, id);
        id
    }

    fn push(&mut self, key: (Words, Words), id: LabelId) {
        self.first.push(*self.by_words.entry(key.0.clone()).or_insert(id));
        self.list.push(key);
    }

    /// One label without words stands for all that did not fit.
    fn enter_last(&mut self) -> LabelId {
        let key = (Words::default(), Words::default());
        let next = LabelId(u32::try_from(self.list.len()).unwrap_or(u32::MAX));
        let id = *self.known.entry(key.clone()).or_insert(next);
        if id == next {
            self.push(key, id);
        }
        id
    }

    /// What stands for all labels with the same words.
    pub(crate) fn same_words(&self, id: LabelId) -> LabelId {
        self.first[id.0 as usize]
    }

    pub(crate) fn get(&self, id: LabelId) -> (&Words, &Words) {
        let (words, around) = &self.list[id.0 as usize];
        (words, around)
    }

    pub(crate) fn len(&self) -> usize {
        self.list.len()
    }
}
