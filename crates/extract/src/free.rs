//! Answers without a schema: the pairs of a page that the prompt names, or the passages that answer it.

use crate::facts::{How, Labels, PageFacts};
use crate::fill::{Evidence, Filled};
use crate::schema::escaped;
use crate::words::Words;
use crate::{PageView, rank};
use serde_json::{Map, Value};

/// Pages looked at, fields given, passages given.
const MOST_PAGES: usize = 100;
const MOST_FIELDS: usize = 40;
const MOST_PASSAGES: usize = 5;

/// Words that ask and words between words: a label of nothing else is not what a prompt asks for.
#[rustfmt::skip]
const ASKING: &[&str] = &[
    "what", "who", "whom", "whose", "which", "where", "when", "why", "how", "many", "much", "find", "get", "give", "list", "show", "tell", "extract",
    "return", "please", "each", "every", "all", "any", "is", "are", "was", "were", "does", "do", "did", "has", "have", "the", "a", "an", "of", "for",
    "and", "or", "in", "on", "at", "to", "from", "by", "with", "me", "it", "its", "this", "that", "their", "there",
    "wer", "wie", "wo", "wann", "warum", "welche", "welcher", "ist", "sind", "der", "die", "das", "und", "von",
    "quel", "quelle", "quels", "quelles", "qui", "que", "quand", "comment", "combien", "est", "sont", "le", "la", "les", "des", "et",
    "quien", "cual", "cuando", "donde", "como", "cuanto", "cuantos", "es", "son", "el", "los", "las", "y",
];

/// A sensible object for a prompt: values whose labels the prompt names, and the passages that answer it as `answer`.
pub fn fill_free(prompt: &str, pages: &[PageView]) -> Filled {
    let asked = Words::of_text(prompt);
    let mut labels = Labels::default();
    let mut object = Map::new();
    let mut evidence = Vec::new();
    let mut cut = pages.len() > MOST_PAGES;
    for &view in pages.iter().take(MOST_PAGES) {
        let facts = PageFacts::of(view, pages.len().min(MOST_PAGES), &mut labels);
        cut |= facts.cut;
        let stated = facts
            .things
            .iter()
            .flat_map(|thing| thing.facts.iter().filter(|_| thing.weight > 0.5))
            .chain(&facts.facts);
        for fact in stated.filter(|fact| {
            matches!(fact.how, How::JsonLd | How::Microdata | How::Table | How::Definition | How::Label)
        }) {
            let (words, _) = labels.get(fact.label);
            let says = words.0.iter().any(|word| !ASKING.contains(&word.as_str()));
            let named = says && words.0.iter().all(|word| asked.has(word)) && fact.place > 0.6;
            let name = words.0.join("_");
            if named && !object.contains_key(&name) && object.len() < MOST_FIELDS && !fact.text.is_empty() {
                let pointer = format!("/{}", escaped(&name));
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
    let passages = rank::passages(prompt, None, pages, MOST_PASSAGES);
    if !passages.is_empty() {
        let texts: Vec<&str> = passages.iter().map(|passage| passage.text.as_str()).collect();
        object.insert("answer".to_owned(), Value::String(texts.join("\n")));
        // Each passage of the answer with where it stands.
        evidence.extend(passages.into_iter().map(|passage| Evidence {
            pointer: "/answer".to_owned(),
            url: passage.url,
            quote: passage.text,
            how: How::Sentence,
            confidence: passage.score.min(0.6),
        }));
    }
    let missing = if object.is_empty() { vec![String::new()] } else { Vec::new() };
    Filled { value: Value::Object(object), evidence, missing, cut }
}
