//! Answers without a schema: label and value pairs that the prompt names, or passages that answer it.

use crate::facts::{EvidenceKind, Fact, LabelId, Labels, PageFacts};
use crate::fill::{Evidence, Filled};
use crate::schema::escape_pointer;
use crate::words::NameWords;
use crate::{PageView, rank};
use html::dom::{NodeId, Tag};
use serde_json::{Map, Value};
use std::collections::HashMap;

/// Pages examined, fields returned, passages returned.
const MAX_PAGES: usize = 100;
const MAX_FIELDS: usize = 40;
const MAX_PASSAGES: usize = 5;
/// Facts of one page whose labels the prompt names.
const MAX_NAMED_FACTS: usize = 2_000;

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
        let stated = stated.filter(|fact| {
            let (words, _) = labels.get(fact.label);
            let says = words.0.iter().any(|word| !QUESTION_WORDS.contains(&word.as_str()));
            says && words.0.iter().all(|word| asked.has(word))
                && fact.position_weight > 0.6
                && !fact.text.is_empty()
                && matches!(
                    fact.how,
                    EvidenceKind::JsonLd
                        | EvidenceKind::Microdata
                        | EvidenceKind::Table
                        | EvidenceKind::Definition
                        | EvidenceKind::Label
                )
        });
        let stated: Vec<&Fact> = stated.take(MAX_NAMED_FACTS).collect();
        let rows = answer_rows(view, &asked, &labels, &stated);
        for fact in stated {
            let name = labels.get(fact.label).0.0.join("_");
            let row = rows.get(&labels.same_words(fact.label));
            let is_other_row = row.is_some_and(|row| *row != Some(fact.at));
            if !is_other_row && !object.contains_key(&name) && object.len() < MAX_FIELDS {
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
        let texts: Vec<String> = passages.iter().map(rank::RankedPassage::labelled).collect();
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

/// The row of a table that answers for a column.
struct AnswerRow<'f> {
    /// Words of the prompt that the row has.
    named: usize,
    text: &'f str,
    /// The node of its value; none while several rows do equally well.
    at: Option<u32>,
    /// Whether the column has more rows.
    several: bool,
}

/// For columns of tables, the node of the value in the row that the prompt names; none where it names no row of
/// several, or several alike: the first row is no better an answer than any other.
fn answer_rows(
    view: PageView,
    asked: &NameWords,
    labels: &Labels,
    stated: &[&Fact],
) -> HashMap<LabelId, Option<u32>> {
    let dom = view.page.dom();
    let mut best: HashMap<LabelId, AnswerRow> = HashMap::new();
    for fact in stated.iter().filter(|fact| fact.how == EvidenceKind::Table) {
        // A cell that covers several rows has the node of the row.
        let at = NodeId(fact.at);
        let Some(row) = std::iter::once(at).chain(dom.ancestors(at)).find(|&id| dom.tag(id) == Tag::Tr)
        else {
            continue;
        };
        let (label, _) = labels.get(fact.label);
        let words = NameWords::from_text(&dom.text_content(row));
        let is_named =
            |word: &&String| !label.has(word) && !QUESTION_WORDS.contains(&word.as_str()) && asked.has(word);
        let named = words.0.iter().filter(is_named).count();
        let own = AnswerRow { named, text: &fact.text, at: Some(fact.at), several: false };
        let Some(known) = best.get_mut(&labels.same_words(fact.label)) else {
            best.insert(labels.same_words(fact.label), own);
            continue;
        };
        if known.at == own.at {
            continue;
        }
        if named > known.named {
            *known = own;
        } else if named == known.named && known.text != own.text {
            known.at = None;
        }
        known.several = true;
    }
    let answer = |row: AnswerRow| row.at.filter(|_| row.named > 0 || !row.several);
    best.into_iter().map(|(label, row)| (label, answer(row))).collect()
}
