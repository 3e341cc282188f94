//! The candidates in one line: the whole, what follows a label in it, and each of its parts.

use super::super::{blocks, text};
use super::split::{Piece, RawLine};
use crate::values::date;
use html::dom::NodeId;

/// Longer texts are no candidates.
const MAX_CANDIDATE_BYTES: usize = 400;
/// Parts of one line that are candidates.
const MAX_PARTS: usize = 16;
/// Longer lines are not examined for parts without markup.
const MAX_BYLINE_BYTES: usize = 160;

/// A candidate before its surroundings are known.
pub(super) struct LineCandidate {
    pub text: String,
    pub nodes: (NodeId, NodeId),
    pub pieces: u32,
    pub part: bool,
    pub before: Option<String>,
    pub strong: bool,
    pub link: Option<NodeId>,
}

pub(super) fn joined(pieces: &[Piece]) -> String {
    let raw: String = pieces.iter().map(|piece| piece.raw.as_str()).collect();
    text::collapse_whitespace(&raw)
}

/// The whole line and its parts. Where a line begins with a label, the line itself is no candidate, what
/// follows the label is.
pub(super) fn candidates(line: &RawLine) -> Vec<LineCandidate> {
    let pieces = &line.pieces;
    let mut found = Vec::new();
    let mut spans: Vec<(usize, usize, Option<String>)> = Vec::new();
    let (mut start, mut before): (usize, Option<String>) = (0, None);
    for at in 0..pieces.len() {
        let text = pieces[at].raw.trim();
        let opens =
            pieces.get(at + 1).is_some_and(|next| next.raw.trim_start().starts_with([':', '：', '=']));
        let ends = text.ends_with([':', '：']);
        // Emphasis alone marks a label only at the beginning, before plain text.
        let marked = at == 0 && pieces[at].strong && pieces.get(at + 1).is_some_and(|next| !next.strong);
        if (opens || ends || marked) && text::is_label(text) && at + 1 < pieces.len() {
            if start < at {
                spans.push((start, at, before.take()));
            } else if marked && !opens && !ends {
                // Or it is a name with something behind it.
                spans.push((0, pieces.len(), None));
            }
            before = Some(text.to_owned());
            start = at + 1;
        }
    }
    spans.push((start, pieces.len(), before));
    let whole = spans.len() == 1 && spans[0].2.is_none();
    for (from, to, before) in spans {
        add_span(&pieces[from..to], before, !whole, &mut found);
    }
    found.truncate(MAX_PARTS + 1);
    found
}

/// A run of pieces under one label, and each of its pieces.
fn add_span(pieces: &[Piece], before: Option<String>, part: bool, found: &mut Vec<LineCandidate>) {
    let text = joined(pieces);
    let (mut label, mut value) = (before, text.as_str());
    if label.is_none()
        && let Some((name, rest)) = blocks::split_label(&text)
    {
        label = Some(name.to_owned());
        value = rest;
    }
    let split = value.len() < text.len();
    let texts: Vec<&Piece> =
        pieces.iter().filter(|piece| piece.raw.chars().any(char::is_alphanumeric)).collect();
    let (Some(first), Some(last)) = (texts.first(), texts.last()) else { return };
    let count = u32::try_from(texts.len()).unwrap_or(u32::MAX);
    let one_link = texts.iter().all(|piece| piece.link == first.link).then_some(first.link).flatten();
    push(
        found,
        LineCandidate {
            text: clean(value),
            nodes: (first.node, last.node),
            pieces: count,
            part,
            before: label.clone(),
            strong: texts.iter().all(|piece| piece.strong),
            link: one_link,
        },
    );
    if !split && texts.len() == 1 {
        add_segments(&text, first, label.as_ref(), found);
    }
    if texts.len() < 2 || split {
        return;
    }
    for piece in texts.iter().take(MAX_PARTS) {
        push(
            found,
            LineCandidate {
                text: clean(&text::collapse_whitespace(&piece.raw)),
                nodes: (piece.node, piece.node),
                pieces: 1,
                part: true,
                before: label.clone(),
                strong: piece.strong,
                link: piece.link,
            },
        );
    }
}

/// The parts of a byline: "June 18, 2024 - Ada Lovelace", "Guard | 1.98 m".
fn add_segments(text: &str, piece: &Piece, label: Option<&String>, found: &mut Vec<LineCandidate>) {
    if text.len() > MAX_BYLINE_BYTES {
        return;
    }
    let Some(mark) = [" · ", " • ", " | ", " – ", " — ", " - "].into_iter().find(|mark| text.contains(mark))
    else {
        return;
    };
    // A dash also separates words of one name.
    let dash = matches!(mark, " – " | " — " | " - ");
    if dash && !text.split(mark).any(date::is_date_alone) {
        return;
    }
    for part in text.split(mark).take(MAX_PARTS) {
        push(
            found,
            LineCandidate {
                text: clean(part),
                nodes: (piece.node, piece.node),
                pieces: 1,
                part: true,
                before: label.cloned(),
                strong: piece.strong,
                link: piece.link,
            },
        );
    }
}

fn push(found: &mut Vec<LineCandidate>, candidate: LineCandidate) {
    if !candidate.text.is_empty() && candidate.text.len() <= MAX_CANDIDATE_BYTES {
        found.push(candidate);
    }
}

/// A text without the marks that separate it from its neighbours.
fn clean(text: &str) -> String {
    let edge = |c: char| {
        c.is_whitespace() || matches!(c, ':' | '：' | '|' | '=' | '»' | '›' | '·' | '•' | '>' | ';' | ',')
    };
    let text = text.trim_start_matches(edge).trim_end_matches(edge);
    text.trim_start_matches(['-', '–']).trim_start().to_owned()
}
