//! Sentences in which a work cites others together. They say why these belong together, so an import learns
//! from them; they are kept in staging logs and are no part of an index.

use crate::file::{Cursor, put_varint};
use crate::truncate::truncate_text;

/// Contexts of one work; what is beyond these limits is cut.
pub const MAX_CONTEXTS: usize = 200;
pub const MAX_CONTEXT_BYTES: usize = 1_000;
pub const MAX_CONTEXT_REFERENCES: usize = 20;

/// A sentence in which a work cites others.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct CitationContext {
    /// The sentence, without citation marks.
    pub text: String,
    /// The works it cites: places in the references of the work.
    pub references: Vec<u32>,
}

/// Cuts contexts to their limits. A sentence that cites one work says nothing of what belongs together.
pub fn bound(contexts: &mut Vec<CitationContext>, reference_count: usize) {
    for context in contexts.iter_mut() {
        truncate_text(&mut context.text, MAX_CONTEXT_BYTES);
        context.references.retain(|place| (*place as usize) < reference_count);
        context.references.sort_unstable();
        context.references.dedup();
        context.references.truncate(MAX_CONTEXT_REFERENCES);
    }
    contexts.retain(|context| context.references.len() > 1 && !context.text.trim().is_empty());
    contexts.truncate(MAX_CONTEXTS);
}

pub fn encode(contexts: &[CitationContext], out: &mut Vec<u8>) {
    put_varint(out, contexts.len() as u64);
    for context in contexts {
        put_varint(out, context.text.len() as u64);
        out.extend_from_slice(context.text.as_bytes());
        put_varint(out, context.references.len() as u64);
        for place in &context.references {
            put_varint(out, u64::from(*place));
        }
    }
}

/// Decodes what [`encode`] wrote; other bytes yield some contexts, never a panic.
pub fn decode(cursor: &mut Cursor<'_>) -> Vec<CitationContext> {
    let mut contexts = Vec::new();
    for _ in 0..cursor.varint() {
        if cursor.is_at_end() {
            break;
        }
        let text = cursor.text().to_owned();
        let mut references = Vec::new();
        for _ in 0..cursor.varint() {
            if cursor.is_at_end() {
                break;
            }
            references.push(cursor.varint32());
        }
        contexts.push(CitationContext { text, references });
    }
    contexts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn contexts_are_cut_to_their_limits() {
        let long = CitationContext { text: "é".repeat(9_000), references: (0..9_000).rev().collect() };
        let one = CitationContext { text: "cites one work twice".into(), references: vec![3, 3, 70] };
        let mut contexts = vec![one; 5];
        contexts.resize(5_000, long);
        bound(&mut contexts, 50);
        assert_eq!(contexts.len(), MAX_CONTEXTS);
        assert_eq!(contexts[0].text.len(), MAX_CONTEXT_BYTES);
        assert_eq!(contexts[0].references, (0..20).collect::<Vec<_>>());
    }
}
