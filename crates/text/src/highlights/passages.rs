//! Splits markdown into passages: sentences, list items, table rows, code blocks, each with the heading above
//! it.

use crate::sentences::{SentenceRules, sentences};

/// Longest passage; longer sentences are cut at a space.
const MAX_PASSAGE_BYTES: usize = 1_200;
/// Limit of the heading and column names of a passage: every passage under them is compared with them.
const MAX_HEADING_BYTES: usize = 4_000;
const MAX_PASSAGES: usize = 100_000;

/// What a passage is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PassageKind {
    Sentence,
    Item,
    Row,
    Code,
    Heading,
}

/// A passage of a text.
#[derive(Clone, Copy, Debug)]
pub(super) struct TextPassage<'a> {
    pub(super) text: &'a str,
    pub(super) kind: PassageKind,
    /// The heading line above it; empty at the top.
    pub(super) heading: &'a str,
    /// Which block of the text it belongs to.
    pub(super) block: usize,
    /// The header of the table that a row belongs to.
    pub(super) columns: Option<&'a str>,
}

/// The passages of a markdown text, in order.
pub(super) fn split_passages(markdown: &str) -> Vec<TextPassage<'_>> {
    let mut cutter = PassageSplitter {
        markdown,
        passages: Vec::new(),
        heading: "",
        block: 0,
        table: None,
        paragraph: None,
    };
    let mut fence: Option<(usize, &str)> = None;
    let mut at = 0;
    for line in markdown.split_inclusive('\n') {
        let (start, end) = (at, at + line.len());
        at = end;
        budget::spend_on_text(line.len());
        let trimmed = line.trim();
        let mark = ["```", "~~~"].into_iter().find(|mark| trimmed.starts_with(mark));
        if let Some((open, opened)) = fence {
            if mark == Some(opened) {
                cutter.add(open, end, PassageKind::Code);
                fence = None;
            }
            continue;
        }
        if let Some(mark) = mark {
            cutter.end_paragraph();
            fence = Some((start, mark));
        } else {
            cutter.line(start, end);
        }
        if cutter.passages.len() >= MAX_PASSAGES {
            break;
        }
    }
    if let Some((open, _)) = fence {
        cutter.add(open, at, PassageKind::Code);
    }
    cutter.end_paragraph();
    cutter.passages
}

struct PassageSplitter<'a> {
    markdown: &'a str,
    passages: Vec<TextPassage<'a>>,
    heading: &'a str,
    block: usize,
    /// The head of the table being read.
    table: Option<&'a str>,
    /// Where the paragraph being read starts and ends so far.
    paragraph: Option<(usize, usize)>,
}

impl PassageSplitter<'_> {
    fn line(&mut self, start: usize, end: usize) {
        let line = self.markdown[start..end].trim();
        let row = line.starts_with('|') && line.len() > 2;
        if !row {
            self.table = None;
        }
        if line.is_empty() {
            self.end_paragraph();
        } else if line.starts_with('#') {
            self.end_paragraph();
            self.heading = &line[..line.floor_char_boundary(MAX_HEADING_BYTES)];
            self.add(start, end, PassageKind::Heading);
        } else if row {
            self.end_paragraph();
            self.row(start, end);
        } else if is_item(line) {
            self.end_paragraph();
            self.paragraph = None;
            self.add(start, end, PassageKind::Item);
        } else {
            self.paragraph = Some((self.paragraph.map_or(start, |(from, _)| from), end));
        }
    }

    fn row(&mut self, start: usize, end: usize) {
        let line = self.markdown[start..end].trim();
        let rule = line.bytes().all(|byte| matches!(byte, b'|' | b'-' | b':' | b' '));
        match self.table {
            // The first line is the header; with the rule below it, it can be written before any row.
            None => {
                self.table = Some(line);
                self.block += 1;
            }
            Some(head) if rule => {
                let from = head.as_ptr() as usize - self.markdown.as_ptr() as usize;
                self.table = Some(self.markdown[from..end].trim_end());
            }
            Some(head) => {
                let text = &self.markdown
                    [start..start + self.markdown[start..end].trim_end().len().min(MAX_PASSAGE_BYTES * 2)];
                self.passages.push(TextPassage {
                    text,
                    kind: PassageKind::Row,
                    heading: self.heading,
                    block: self.block,
                    columns: Some(head).filter(|head| head.len() <= MAX_HEADING_BYTES),
                });
            }
        }
    }

    fn add(&mut self, start: usize, end: usize, kind: PassageKind) {
        self.block += 1;
        let text = self.markdown[start..end].trim_end();
        let text = &text[..text.floor_char_boundary(MAX_PASSAGE_BYTES * 2)];
        if !text.trim().is_empty() {
            self.passages.push(TextPassage {
                text,
                kind,
                heading: self.heading,
                block: self.block,
                columns: None,
            });
        }
    }

    fn end_paragraph(&mut self) {
        let Some((start, end)) = self.paragraph.take() else { return };
        self.block += 1;
        let text = self.markdown[start..end].trim();
        let room = MAX_PASSAGES.saturating_sub(self.passages.len());
        for sentence in sentences(text, &SentenceRules::paragraph(MAX_PASSAGE_BYTES)).take(room) {
            budget::spend_on_text(sentence.len());
            self.passages.push(TextPassage {
                text: sentence,
                kind: PassageKind::Sentence,
                heading: self.heading,
                block: self.block,
                columns: None,
            });
        }
    }
}

fn is_item(line: &str) -> bool {
    let digits = line.bytes().take_while(u8::is_ascii_digit).count();
    line.starts_with("- ")
        || line.starts_with("* ")
        || line.starts_with("+ ")
        || ((1..=9).contains(&digits) && line[digits..].starts_with(". "))
}
