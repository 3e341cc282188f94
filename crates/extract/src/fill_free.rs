//! Answers without a schema: label and value pairs that the prompt names, or passages that answer it.

use crate::facts::{EvidenceKind, Labels, PageFacts};
use crate::fill::{Evidence, Filled};
use crate::schema::escape_pointer;
use crate::words::NameWords;
use crate::{PageView, rank};
use serde_json::{Map, Value};

/// Pages examined, fields returned, passages returned.
const MAX_PAGES: usize = 100;
const MAX_FIELDS: usize = 40;
const MAX_PASSAGES: usize = 5;

/// Question words and function words: a label of nothing else is not what a prompt asks for.
#[rustfmt::skip]
const QUESTION_WORDS: &[&str] = &[
    "what", "who", "whom", "whose", "which", "where", "when", "why", "how", "many", "much", "find", "get", "give", "list", "show", "tell", "extract",
    "return", "please", "each", "every", "all", "any", "is", "are", "was", "were", "does", "do", "did", "has", "have", "the", "a", "an", "of", "for",
    "and", "or", "in", "on", "at", "to", "from", "by", "with", "me", "it", "its", "this", "that", "their", "there",
    "wer", "wie", "wo", "wann", "warum", "welche", "welcher", "ist", "sind", "der", "die", "das", "und", "von",
    "quel", "quelle", "quels", "quelles", "qui", "que", "quand", "comment", "combien", "est", "sont", "le", "la", "les", "des", "et",
    "quien", "cual", "cuando", "donde", "como", "cuanto", "cuantos", "es", "son", "el", "los", "las", "y",
];

/// Builds an object for a prompt: values whose labels the prompt names, and passages that answer it as
/// `answer`.
pub fn fill_free(prompt: &str, pages: &[PageView]) -> Filled {
    let asked = NameWords::from_text(prompt);
    let mut labels = Labels::default();
    let mut object = Map::new();
    let mut evidence = Vec::new();
    let mut cut = pages.len() > MAX_PAGES;
    for &view in pages.iter().take(MAX_PAGES) {
        let facts = PageFacts::collect(view, pages.len().min(MAX_PAGES), &mut labels);
        cut |= facts.cut;
        let stated = facts
            .things
            .iter()
            .flat_map(|thing| thing.facts.iter().filter(|_| thing.weight > 0.5))
            .chain(&facts.facts);
        for fact in stated.filter(|fact| {
            matches!(
                fact.how,
                EvidenceKind::JsonLd
                    | EvidenceKind::Microdata
                    | EvidenceKind::Table
                    | EvidenceKind::Definition
                    | EvidenceKind::Label
            )
        }) {
            let (words, _) = labels.get(fact.label);
            let says = words.0.iter().any(|word| !QUESTION_WORDS.contains(&word.as_str()));
            let named = says && words.0.iter().all(|word| asked.has(word)) && fact.position_weight > 0.6;
            let name = words.0.join("_");
            if named && !object.contains_key(&name) && object.len() < MAX_FIELDS && !fact.text.is_empty() {
                let pointer = format!("/{}", escape_pointer(&name));
                evidence.push(Evidence {
                    pointer,
                    url: view.url.to_owned(),
                    quote: fact.quote().to_owned(),
                    how: fact.how,
                    confidence: 0.6 * fact.how.trust(),
                });
                object.insert(name, Value::String(fact.text.to_string()));
            }
        }
    }
    let passages = rank::rank_passages(prompt, None, pages, MAX_PASSAGES);
    if !passages.is_empty() {
        let texts: Vec<&str> = passages.iter().map(|passage| passage.text.as_str()).collect();
        object.insert("answer".to_owned(), Value::String(texts.join("\n")));
        // Every passage of the answer with its source.
        evidence.extend(passages.into_iter().map(|passage| Evidence {
            pointer: "/answer".to_owned(),
            url: passage.url,
            quote: passage.text,
            how: EvidenceKind::Sentence,
            confidence: passage.score.min(0.6),
        }));
    }
    let missing = if object.is_empty() { vec![String::new()] } else { Vec::new() };
    Filled { value: Value::Object(object), evidence, missing, cut }
}
