//! What a page is about: the line that its title repeats.

use super::super::text;
use super::Line;
use content::metadata::Metadata;
use html::dom::{Dom, Tag};
use std::collections::HashSet;

const MAX_TITLE_BYTES: usize = 400;
/// Words compared of one line.
const MAX_WORDS: usize = 40;
/// Separators between the parts of a title; one of them is the site's name.
const SEPARATORS: &[&str] = &[" - ", " | ", " – ", " — ", " · ", " : ", ": ", " » ", " > ", " :: ", " / "];
/// The least score of a subject.
const MIN_SUBJECT_SCORE: f32 = 0.9;

/// How a text relates to the page's title.
#[expect(clippy::struct_excessive_bools, reason = "each is one column of the ranker")]
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct TitleMatch {
    /// The title contains it.
    pub within: bool,
    /// The title begins with it.
    pub start: bool,
    /// It is one of the title's parts.
    pub segment: bool,
    /// Its length relative to the title's.
    pub share: f32,
    /// The share of its words that the title has.
    pub words: f32,
    /// It is the title that the page gives to others.
    pub shared: bool,
}

#[derive(Debug, Default)]
pub(crate) struct Subject {
    title: String,
    words: HashSet<String>,
    segments: Vec<String>,
    shared: String,
}

impl Subject {
    pub(super) fn new(dom: &Dom, metadata: &Metadata) -> Self {
        let head = dom.subtree(dom.root()).find(|&id| dom.tag(id) == Tag::Title);
        let title =
            head.map(|id| dom.text_content(id)).or_else(|| metadata.title.clone()).unwrap_or_default();
        let title = text::collapse_whitespace(&title[..title.floor_char_boundary(MAX_TITLE_BYTES)]);
        let tag = |wanted: &str| {
            metadata.tags.iter().find(|(name, _)| name == wanted).and_then(|(_, values)| values.first())
        };
        let mut segments: Vec<&str> = vec![&title];
        for mark in SEPARATORS {
            segments = segments.into_iter().flat_map(|part| part.split(mark)).collect();
        }
        let segments = segments.into_iter().map(squeeze).filter(|part| !part.is_empty()).collect();
        let shared = tag("og:title").or_else(|| tag("twitter:title")).map(|text| squeeze(text));
        let words = words(&title).collect();
        Self { title: squeeze(&title), words, segments, shared: shared.unwrap_or_default() }
    }

    pub(super) fn compare(&self, text: &str, squeezed: &str) -> TitleMatch {
        if squeezed.is_empty() || self.title.is_empty() {
            return TitleMatch {
                shared: !squeezed.is_empty() && self.shared == squeezed,
                ..TitleMatch::default()
            };
        }
        let (mut all, mut known) = (0.0f32, 0.0f32);
        for word in words(text).take(MAX_WORDS) {
            all += 1.0;
            known += f32::from(self.words.contains(&word));
        }
        TitleMatch {
            within: squeezed.len() > 1 && self.title.contains(squeezed),
            start: self.title.starts_with(squeezed),
            segment: self.segments.iter().any(|part| part == squeezed),
            share: (squeezed.len() as f32 / self.title.len() as f32).min(2.0),
            words: known / all.max(1.0),
            shared: self.shared == squeezed,
        }
    }
}

fn words(text: &str) -> impl Iterator<Item = String> + '_ {
    text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).map(str::to_lowercase)
}

/// Letters and digits in lower case.
pub(super) fn squeeze(text: &str) -> String {
    text.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

/// The line that the page is about: in its title, large, at the top. `is_own` tells which lines may be it.
pub(super) fn find_subject(lines: &[Line], is_own: impl Fn(&Line) -> bool) -> Option<usize> {
    let score = |line: &Line| {
        let level = match line.level {
            0 => f32::from(line.strong) * 0.1,
            1 => 0.6,
            2 => 0.4,
            _ => 0.25,
        };
        let title = &line.title;
        let named = if title.within { 1.0 } else { title.words * 0.8 };
        let enough = (line.text.len() as f32 / 6.0).min(1.0);
        let whole = if line.part { 0.0 } else { 0.1 };
        named * enough
            + level
            + whole
            + 0.2 * f32::from(title.start)
            + 0.3 * f32::from(title.segment)
            + 0.4 * title.share.min(1.0)
            - (1.0 - line.position_weight)
    };
    let mut best: Option<(usize, f32)> = None;
    for (at, line) in lines.iter().enumerate().filter(|(_, line)| line.title.words > 0.0 || line.level == 1) {
        let score = score(line);
        if score >= MIN_SUBJECT_SCORE && best.is_none_or(|(_, most)| score > most) && is_own(line) {
            best = Some((at, score));
        }
    }
    best.map(|(at, _)| at)
}
