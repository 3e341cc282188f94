//! The passages of a document that answer the query, word for word.

use crate::parts::Document;
use crate::search::plan::Plan;
use crate::words::{Language, STEM, Stems, Tokens, lower, pieces};
use std::collections::HashMap;
use tantivy::tokenizer::TokenStream;

/// Bytes of a passage: whole sentences up to here; a longer sentence is cut at a space.
const LONGEST: usize = 320;
/// Passages of one document.
const MOST: usize = 20;
/// Sentences that are looked at.
const MOST_SENTENCES: usize = 5_000;
/// What a word counts that the passage has twice, and what a passage at the beginning has before one at the end.
const AGAIN: f32 = 0.1;
const EARLY: f32 = 0.05;

/// A sentence: where it stands, and what it holds of the query.
#[derive(Debug, Clone, Copy)]
struct Sentence {
    from: usize,
    to: usize,
    words: u64,
    repeats: u32,
}

/// The best passages, best first; the beginning of the body where no word of the query is in it.
pub(crate) fn best(document: &Document, plan: &Plan, wanted: usize) -> Vec<String> {
    let wanted = wanted.min(MOST);
    let body = document.body.as_str();
    if wanted == 0 || body.trim().is_empty() {
        return Vec::new();
    }
    let sentences = read(document, plan);
    // A passage starts at each sentence and takes in those after it while there is room.
    let mut passages: Vec<(f32, usize, usize)> = Vec::new();
    for (first, sentence) in sentences.iter().enumerate().filter(|(_, sentence)| sentence.words != 0) {
        let (mut words, mut repeats, mut last) = (0, 0, first);
        for (at, next) in sentences.iter().enumerate().skip(first) {
            if at > first && next.to - sentence.from > LONGEST {
                break;
            }
            words |= next.words;
            repeats += next.repeats;
            last = at;
        }
        let early = EARLY / (1.0 + first as f32);
        passages.push((plan.weight(words) * (1.0 + AGAIN * (repeats.min(5) as f32) + early), first, last));
    }
    passages.sort_by(|one, other| other.0.total_cmp(&one.0).then(one.1.cmp(&other.1)));
    let mut chosen: Vec<(usize, usize)> = Vec::new();
    for (_, first, last) in passages {
        if chosen.len() == wanted {
            break;
        }
        if chosen.iter().all(|&(from, to)| last < from || first > to) {
            chosen.push((first, last));
        }
    }
    if chosen.is_empty()
        && let Some(first) = sentences.first()
    {
        let last = sentences.iter().rposition(|sentence| sentence.to - first.from <= LONGEST).unwrap_or(0);
        chosen.push((0, last));
    }
    chosen.iter().map(|&(first, last)| cut(&body[sentences[first].from..sentences[last].to])).collect()
}

/// A passage in one line, of bounded length.
fn cut(text: &str) -> String {
    let mut text = text.trim();
    if text.len() > LONGEST {
        let most = text.floor_char_boundary(LONGEST);
        let space = text[..most].rfind(char::is_whitespace).filter(|at| *at > LONGEST / 2);
        text = text[..space.unwrap_or(most)].trim_end();
    }
    text.to_owned()
}

/// The sentences of a body and the words of the query in them.
fn read(document: &Document, plan: &Plan) -> Vec<Sentence> {
    let forms = Forms::of(plan, document);
    let mut none = Stems::default();
    let mut sentences = sentences(&document.body);
    let mut small = String::new();
    let mut at = 0;
    for piece in pieces(&document.body) {
        while sentences.get(at).is_some_and(|sentence| sentence.to <= piece.from) {
            at += 1;
        }
        if at == sentences.len() {
            break;
        }
        if !piece.wide && !forms.may_be(piece.text) {
            continue;
        }
        let mut tokens = Tokens::new(piece.text, &mut none);
        while tokens.advance() {
            let token = tokens.token();
            let written = &piece.text[token.offset_from..token.offset_to];
            let Some(word) = forms.word(&token.text, written, &mut small) else { continue };
            let from = piece.from + token.offset_from;
            while sentences.get(at).is_some_and(|sentence| sentence.to <= from) {
                at += 1;
            }
            let Some(sentence) = sentences.get_mut(at) else { return sentences };
            sentence.repeats += (sentence.words >> word & 1) as u32;
            sentence.words |= 1 << word;
        }
    }
    sentences
}

/// What words of the query look like in a text.
struct Forms<'a> {
    words: HashMap<&'a str, usize>,
    /// The first bytes of all of them: looking words up is dear, and most begin otherwise.
    begins: Vec<[u8; 2]>,
    /// Beginnings say nothing in this language.
    whole: bool,
    language: Option<Language>,
}

impl<'a> Forms<'a> {
    fn of(plan: &'a Plan, document: &Document) -> Self {
        let groups = plan.groups.iter().enumerate().filter(|(_, group)| !group.glued);
        let words: HashMap<&str, usize> = groups
            .flat_map(|(at, group)| group.forms.iter().map(move |(form, _)| (form.as_str(), at)))
            .collect();
        let mut begins: Vec<[u8; 2]> =
            words.keys().map(|form| begin(form.trim_start_matches(STEM))).collect();
        begins.sort_unstable();
        begins.dedup();
        let language = match &document.language {
            Some(tag) => Language::tagged(tag),
            None => Language::of_text(&document.body),
        };
        let whole = language.is_some_and(Language::cuts_beginnings);
        Self { words, begins, whole, language }
    }

    /// Whether a word, as it is written, begins as one of the query does. Most plain words do not, and need no closer look.
    fn may_be(&self, written: &str) -> bool {
        let [first, second] = begin(written);
        let plain = written.is_ascii();
        !plain
            || self.whole
            || self.begins.contains(&[first.to_ascii_lowercase(), second.to_ascii_lowercase()])
    }

    /// The word of the query that a word of the text is, or is a form of.
    fn word(&self, folded: &str, written: &str, small: &mut String) -> Option<usize> {
        if !self.whole && !self.begins.contains(&begin(folded)) {
            return None;
        }
        if let Some(word) = self.words.get(folded) {
            return Some(*word);
        }
        lower(written, small);
        let stem = self.language?.stem(small)?;
        self.words.get(format!("{STEM}{stem}").as_str()).copied()
    }
}

/// The first two bytes of a word.
fn begin(word: &str) -> [u8; 2] {
    let bytes = word.as_bytes();
    [bytes.first().copied().unwrap_or_default(), bytes.get(1).copied().unwrap_or_default()]
}

/// Where sentences begin and end: at their signs, at ends of lines, and where they get too long.
fn sentences(text: &str) -> Vec<Sentence> {
    let mut sentences = Vec::new();
    let mut from = 0;
    let mut chars = text.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        let end = at + c.len_utf8();
        let next = chars.peek().map(|(_, c)| *c);
        let ends = match c {
            '\n' | '。' | '！' | '？' => true,
            '.' | '!' | '?' | '…' | '؟' | '।' => {
                next.is_none_or(char::is_whitespace) && !is_short(&text[from..at])
            }
            // Nowhere to stop: at the next space.
            _ => end - from >= LONGEST && (c.is_whitespace() || end - from >= LONGEST * 2),
        };
        if ends || next.is_none() {
            let sentence = text[from..end].trim();
            if !sentence.is_empty() {
                let start = from + (text[from..end].len() - text[from..end].trim_start().len());
                sentences.push(Sentence { from: start, to: start + sentence.len(), words: 0, repeats: 0 });
            }
            from = end;
            if sentences.len() == MOST_SENTENCES {
                break;
            }
        }
    }
    sentences
}

/// Initials and short forms: the dot after them ends nothing.
fn is_short(before: &str) -> bool {
    let word = before.rsplit(|c: char| c.is_whitespace() || c == '(').next().unwrap_or_default();
    (word.chars().count() == 1 && word.chars().all(char::is_alphabetic))
        || matches!(
            word.to_lowercase().as_str(),
            "mr" | "mrs"
                | "ms"
                | "dr"
                | "prof"
                | "st"
                | "vs"
                | "e.g"
                | "i.e"
                | "etc"
                | "nr"
                | "z.b"
                | "bzw"
                | "fig"
                | "inc"
                | "approx"
        )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sentences_end_where_readers_pause() {
        let text = "Dr. Smith paid 3.50 e.g. in coins. He left!\nA new line\n\n東京。大阪。";
        let cut: Vec<&str> =
            sentences(text).iter().map(|sentence| &text[sentence.from..sentence.to]).collect();
        assert_eq!(cut, ["Dr. Smith paid 3.50 e.g. in coins.", "He left!", "A new line", "東京。", "大阪。"]);
        let endless = "x".repeat(100_000);
        assert!(sentences(&endless).iter().all(|sentence| sentence.to - sentence.from <= LONGEST * 2));
    }
}
