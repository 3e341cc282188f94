//! A page as lines that are compared by what people read of them, each with the section it stands in.

use super::words::{is_fence, join_words, read_words, without_last_mark};
use crate::noise::{Focus, NoiseKind, clean_addresses, mask, mask_title_version};
use jiff::Timestamp;
use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};

/// Lines that are compared; what follows them on a huge page is not.
const MAX_LINES: usize = 50_000;
const MAX_HEADING_LEVELS: usize = 6;
/// A page with less text may be about what its title says.
const MIN_TITLED_BYTES: usize = 400;

/// What a line is, as far as its order matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LineKind {
    /// Begins a section.
    Heading,
    /// Begins an entry of a list or a table without numbers, whose order means nothing.
    Entry,
    Other,
}

#[derive(Debug, Clone)]
pub(super) struct PageLine {
    /// As it is on the page.
    pub text: String,
    /// The text without white space and tracking parameters.
    pub plain_key: u64,
    /// What people read of it, with its noise.
    pub read_key: u64,
    /// What people read of it, without noise and white space.
    pub words: String,
    /// Lines with the same key differ in nothing that counts.
    pub key: u64,
    /// The noise that it has.
    pub noise: Option<NoiseKind>,
    pub kind: LineKind,
    /// The heading that it stands below, with those above it.
    pub section: u64,
    /// Of a heading, from 1.
    pub level: usize,
    pub after_blank: bool,
}

/// The lines of a page.
#[derive(Debug, Clone)]
pub(super) struct ComparedLines {
    pub lines: Vec<PageLine>,
}

impl ComparedLines {
    pub fn parse(page: &str, read_at: Timestamp, focus: &Focus) -> Self {
        let mut headings = [0; MAX_HEADING_LEVELS];
        let mut section = 0;
        let mut lines = Vec::new();
        let mut after_blank = false;
        let mut in_code = false;
        let with_targets = !focus.ignores(NoiseKind::LinkTarget);
        for text in page.lines() {
            if text.trim().is_empty() {
                after_blank = true;
                continue;
            }
            if lines.len() >= MAX_LINES {
                break;
            }
            budget::spend_on_text(text.len());
            let normalised = normalise(text);
            let is_fence = is_fence(&normalised);
            in_code ^= is_fence;
            // Code is no markdown.
            let is_code = in_code && !is_fence;
            let read = if is_code { normalised.clone() } else { read_words(&normalised, with_targets) };
            // What only draws something says nothing.
            if read.is_empty() {
                continue;
            }
            let mut masked = mask(&read, read_at, focus);
            let level = heading_level(&normalised).filter(|_| !is_code);
            // The first line is a title too, where it names something and is no heading of a section.
            let is_title = level == Some(0) || (lines.is_empty() && level.is_none() && !is_code);
            if is_title
                && page.len() >= MIN_TITLED_BYTES
                && focus.ignores(NoiseKind::TitleVersion)
                && let Some(title) = mask_title_version(&masked.text)
            {
                masked.text = title;
                masked.kinds.push(NoiseKind::TitleVersion);
            }
            let words = join_words(&masked.text);
            let key = hash_of(if is_code { words.as_str() } else { without_last_mark(&words) });
            if let Some(level) = level {
                headings[level] = key;
                headings[level + 1..].fill(0);
                section = hash_of(&headings);
            }
            let kind = match level {
                Some(_) => LineKind::Heading,
                None if begins_entry(text, &normalised) => LineKind::Entry,
                None => LineKind::Other,
            };
            lines.push(PageLine {
                text: text.trim_end().to_owned(),
                plain_key: hash_of(&normalised),
                read_key: hash_of(&join_words(&read)),
                words,
                key,
                noise: masked.kinds.first().copied(),
                kind,
                section,
                level: level.map_or(0, |level| level + 1),
                after_blank,
            });
            after_blank = false;
        }
        Self { lines }
    }

    /// How often each line occurs.
    pub fn counts(&self) -> HashMap<u64, u32> {
        let mut counts = HashMap::new();
        for line in &self.lines {
            *counts.entry(line.key).or_default() += 1;
        }
        counts
    }

    /// The lines as a text that parses to the same lines.
    pub fn to_text(&self) -> String {
        let mut text = String::with_capacity(self.text_bytes() + self.lines.len() * 2);
        for line in &self.lines {
            text.push_str(if line.after_blank { "\n" } else { "" });
            text.push_str(&line.text);
            text.push('\n');
        }
        text
    }

    /// The length of the text, for comparing it with what is usual.
    pub fn text_bytes(&self) -> usize {
        self.lines.iter().map(|line| line.text.trim().len()).sum()
    }
}

/// A hash that is stored with what was learnt about a page: the same in every process of a version. Where a
/// new version hashes differently, pages are learnt anew.
pub(super) fn hash_of(value: &(impl Hash + ?Sized)) -> u64 {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}

fn normalise(line: &str) -> String {
    let cleaned = clean_addresses(line);
    let mut normalised = String::with_capacity(cleaned.len());
    let visible = cleaned
        .chars()
        .filter(|c| !matches!(c, '\u{200b}'..='\u{200d}' | '\u{2060}' | '\u{feff}' | '\u{ad}'));
    let text: String = visible.collect();
    for word in text.split_whitespace() {
        if !normalised.is_empty() {
            normalised.push(' ');
        }
        normalised.push_str(word);
    }
    normalised
}

/// The level of a heading, from 0.
fn heading_level(line: &str) -> Option<usize> {
    let marks = line.bytes().take_while(|b| *b == b'#').count();
    let is_heading = (1..=MAX_HEADING_LEVELS).contains(&marks) && line.as_bytes().get(marks) == Some(&b' ');
    is_heading.then(|| marks - 1)
}

/// Items of lists without numbers, and rows of tables. What is indented belongs to the entry above it.
fn begins_entry(line: &str, normalised: &str) -> bool {
    ["- ", "* ", "+ "].iter().any(|mark| line.starts_with(mark)) || normalised.starts_with('|')
}
