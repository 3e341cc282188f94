//! Interns labels: pages repeat the same few in every row.

use crate::words::NameWords;
use std::collections::HashMap;

/// Different labels stored; later ones are not compared with anything.
const MAX_LABELS: usize = 120_000;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct LabelId(pub u32);

/// The words of labels and of the headings above them.
#[derive(Debug, Default)]
pub(crate) struct Labels {
    known: HashMap<(NameWords, NameWords), LabelId>,
    list: Vec<(NameWords, NameWords)>,
    /// For each label the first one with the same words, under any heading.
    first: Vec<LabelId>,
    by_words: HashMap<NameWords, LabelId>,
}

impl Labels {
    pub(crate) fn intern(&mut self, words: NameWords, around: NameWords) -> LabelId {
        let key = (words, around);
        if let Some(&id) = self.known.get(&key) {
            return id;
        }
        if self.list.len() >= MAX_LABELS {
            return self.intern_overflow();
        }
        let id = LabelId(u32::try_from(self.list.len()).unwrap_or(u32::MAX));
        self.push(key.clone(), id);
        self.known.insert(key, id);
        id
    }

    fn push(&mut self, key: (NameWords, NameWords), id: LabelId) {
        self.first.push(*self.by_words.entry(key.0.clone()).or_insert(id));
        self.list.push(key);
    }

    /// One label without words represents all that exceed the limit.
    fn intern_overflow(&mut self) -> LabelId {
        let key = (NameWords::default(), NameWords::default());
        let next = LabelId(u32::try_from(self.list.len()).unwrap_or(u32::MAX));
        let id = *self.known.entry(key.clone()).or_insert(next);
        if id == next {
            self.push(key, id);
        }
        id
    }

    /// The first label with the same words.
    pub(crate) fn same_words(&self, id: LabelId) -> LabelId {
        self.first[id.0 as usize]
    }

    pub(crate) fn get(&self, id: LabelId) -> (&NameWords, &NameWords) {
        let (words, around) = &self.list[id.0 as usize];
        (words, around)
    }

    pub(crate) fn len(&self) -> usize {
        self.list.len()
    }
}
