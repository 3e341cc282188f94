//! The lines of a page as candidates for values, each with everything near it that may be its label.
//!
//! [`Fact`](super::Fact)s are label and value pairs of known forms. Lines make no such choice: a line, and each
//! part of it, is a candidate with the words before it, its cell's row and column, the lines around it, the
//! heading above and the names of its elements. Which of them counts is decided by the ranker
//! ([`crate::ranking`]).

mod cells;
mod names;
mod parts;
mod split;
mod subject;

use super::site::{LineOnSite, LinePlaces, PlaceKeys, hash_of};
use super::{FactCollector, LabelId, text};
use crate::words::NameWords;
use cells::CellLabels;
use content::metadata::Metadata;
use html::dom::{Attr, Tag};
use names::{ElementNames, count_texts, path, signature};
use parts::{candidates, joined};
use split::{RawLine, raw_lines};
use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::rc::Rc;
use subject::squeeze;
pub(crate) use subject::{Subject, TitleMatch};

/// Lines of one page, when it is alone and when it shares the limits with many.
const MAX_LINES: usize = 6_000;
const MIN_LINES: usize = 400;
/// What so many other pages have too, and so large a share of them, is not what a page is about.
const MIN_PAGES_OF_SITE: u32 = 2;
const MIN_SHARE_OF_SITE: f32 = 0.6;

/// How a label stands to a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LabelSource {
    /// Before it in the same line.
    Before,
    /// In its table row, or the term of its definition.
    Row,
    /// In the row above, in its column.
    Column,
    /// The line before.
    Previous,
    /// The heading above.
    Heading,
    /// The class, id or property of its own element.
    Own,
    /// The names of elements around it.
    Outer,
    /// The line after.
    Next,
}

/// Number of [`LabelSource`]s.
pub(crate) const LABEL_SOURCES: usize = 8;

/// A line, or a part of one.
#[expect(clippy::struct_excessive_bools, reason = "each is one column of the ranker")]
#[derive(Debug, Clone)]
pub(crate) struct Line {
    pub text: Rc<str>,
    /// Hash of its letters and digits.
    pub key: u64,
    /// The number of the line.
    pub row: u32,
    /// Whether it is only a part of its line.
    pub part: bool,
    pub labels: Vec<(LabelSource, LabelId)>,
    /// Lines since the heading above.
    pub below_heading: u32,
    /// 1 to 6 for headings, else 0.
    pub level: u8,
    pub strong: bool,
    /// The target, where the whole text is a link.
    pub link: Option<Rc<str>>,
    pub button: bool,
    pub position_weight: f32,
    /// Lines in elements with the same names, and lines with the same text.
    pub alike: u32,
    pub same: u32,
    /// Whether it is a label of another line.
    pub is_label: bool,
    pub title: TitleMatch,
    /// Where it stands, for comparison with other pages of its site, and what they have there.
    pub places: LinePlaces,
    pub site: LineOnSite,
}

impl Line {
    /// Makes it a line of another text.
    pub(crate) fn set_text(&mut self, text: &str, title: &Subject) {
        let squeezed = squeeze(text);
        self.key = hash(&squeezed);
        self.title = title.compare(text, &squeezed);
        self.text = text.into();
    }
}

/// The lines of a page.
#[derive(Debug, Default)]
pub(crate) struct PageLines {
    pub lines: Vec<Line>,
    /// Number of rows.
    pub rows: u32,
    /// The row of the page's subject: the heading that its title repeats.
    pub subject: Option<u32>,
    pub subject_key: u64,
    /// The subject's share of the title, where it is one of the title's parts.
    pub subject_share: f32,
    /// Whether the title begins with the subject, as one of its parts.
    pub subject_starts: bool,
    /// Its title.
    pub title: Subject,
    /// Other pages of its site that are known.
    pub other_pages: u32,
}

impl PageLines {
    /// Finds the line that the page is about.
    pub(crate) fn find_subject(&mut self) {
        let others = self.other_pages;
        let is_own = |line: &Line| others < MIN_PAGES_OF_SITE || line.site.same_text < MIN_SHARE_OF_SITE;
        let best = subject::find_subject(&self.lines, is_own);
        self.subject = best.map(|at| self.lines[at].row);
        self.subject_key = best.map_or(0, |at| self.lines[at].key);
        let title = best.map(|at| self.lines[at].title).unwrap_or_default();
        self.subject_share = if title.segment { title.share } else { 0.0 };
        self.subject_starts = title.segment && title.start;
    }
}

pub(super) fn collect(collector: &mut FactCollector, metadata: &Metadata, max_facts: usize) -> PageLines {
    let dom = collector.dom;
    let max_lines = (max_facts / 50).clamp(MIN_LINES, MAX_LINES);
    let raw = raw_lines(dom, &collector.visible, max_lines);
    let cells = CellLabels::from_page(collector);
    let texts_before = count_texts(collector);
    let rows: Vec<Row> = raw.iter().map(|line| Row::new(collector, line)).collect();
    let subject = Subject::new(dom, metadata);
    let mut page = PageLines { rows: u32::try_from(rows.len()).unwrap_or(u32::MAX), ..PageLines::default() };
    let mut names = ElementNames::default();
    let mut alike: HashMap<u64, u32> = HashMap::new();
    let mut signatures: Vec<u64> = Vec::new();
    let mut heading: Option<(usize, LabelId)> = None;
    let mut places = PlaceKeys::default();
    let mut text_before = 0;
    for (number, line) in raw.iter().enumerate() {
        let row = &rows[number];
        let cell = cells.find(dom, line.block);
        let text = hash_text(&joined(&line.pieces));
        for found in candidates(line) {
            let labels = {
                let mut labels: Vec<(LabelSource, LabelId)> = Vec::new();
                let before = found.before.as_deref().and_then(|text| label(collector, text));
                labels.extend(before.map(|label| (LabelSource::Before, label)));
                if let Some(cell) = cell {
                    labels.extend(cell.row.map(|label| (LabelSource::Row, label)));
                    labels.extend(cell.column.map(|label| (LabelSource::Column, label)));
                }
                if labels.is_empty() {
                    let near = |at: Option<usize>| rows.get(at?)?.label;
                    labels.extend(near(number.checked_sub(1)).map(|label| (LabelSource::Previous, label)));
                    labels.extend(near(Some(number + 1)).map(|label| (LabelSource::Next, label)));
                }
                labels.extend(heading.map(|(_, label)| (LabelSource::Heading, label)));
                names.add(collector, &texts_before, &found, &mut labels);
                labels
            };
            let squeezed = squeeze(&found.text);
            let signature = signature(collector, line.block, &found);
            *alike.entry(signature).or_default() += 1;
            signatures.push(signature);
            let label = labels.first().filter(|(source, _)| is_beside(*source));
            let label = label.map_or(0, |&(_, label)| hash_of(collector.labels.get(label).0));
            let places = places.places(path(collector, &found), label, text_before);
            let link = found.link.and_then(|link| dom.attr(link, Attr::Href)).map(Rc::from);
            let at = found.nodes.0.0;
            page.lines.push(Line {
                key: hash(&squeezed),
                row: u32::try_from(number).unwrap_or(u32::MAX),
                part: found.part,
                labels,
                below_heading: heading.map_or(50, |(at, _)| u32::try_from(number - at).unwrap_or(50).min(50)),
                level: row.level,
                strong: found.strong,
                link,
                button: row.button,
                position_weight: f32::from(collector.position_weights[at as usize]) / 100.0,
                alike: 0,
                same: 0,
                is_label: false,
                title: subject.compare(&found.text, &squeezed),
                text: found.text.into(),
                places,
                site: LineOnSite::default(),
            });
        }
        text_before = text;
        if let Some(label) = row.label.filter(|_| row.level > 0 || row.strong) {
            heading = Some((number, label));
        }
    }
    for (line, signature) in page.lines.iter_mut().zip(&signatures) {
        line.alike = alike.get(signature).copied().unwrap_or(1);
    }
    page.title = subject;
    finish(&mut page, &rows);
    page
}

/// Whether a label of this kind belongs to the line, on whatever page.
fn is_beside(source: LabelSource) -> bool {
    matches!(source, LabelSource::Before | LabelSource::Row | LabelSource::Column)
}

/// Counts equal texts, marks labels, finds the subject.
fn finish(page: &mut PageLines, rows: &[Row]) {
    let mut same: HashMap<u64, u32> = HashMap::new();
    let mut labelled = vec![false; rows.len()];
    for line in page.lines.iter().filter(|line| !line.part) {
        *same.entry(line.key).or_default() += 1;
    }
    for line in &page.lines {
        for (source, _) in &line.labels {
            if *source == LabelSource::Previous
                && rows[line.row as usize - 1].colon
                && let Some(known) = labelled.get_mut(line.row as usize - 1)
            {
                *known = true;
            }
        }
    }
    for line in &mut page.lines {
        line.same = same.get(&line.key).copied().unwrap_or(1);
        line.is_label = labelled[line.row as usize];
    }
    page.find_subject();
}

/// What a whole line is.
struct Row {
    /// Set where it could be a label.
    label: Option<LabelId>,
    level: u8,
    strong: bool,
    button: bool,
    /// Whether it ends like a label.
    colon: bool,
}

impl Row {
    fn new(collector: &mut FactCollector, line: &RawLine) -> Self {
        let dom = collector.dom;
        let text = joined(&line.pieces);
        let around = || std::iter::once(line.block).chain(dom.ancestors(line.block).take(2));
        let level = around().find_map(|id| dom.tag(id).heading_level()).unwrap_or(0);
        let colon = text.ends_with([':', '：']);
        let stated = !colon && text.contains([':', '：']);
        let label = if stated { None } else { label(collector, &text) };
        Self {
            label,
            level,
            strong: line.pieces.iter().all(|piece| piece.strong || piece.raw.trim().is_empty()),
            button: around().any(|id| dom.tag(id) == Tag::Button),
            colon,
        }
    }
}

/// The label that a short text could be.
fn label(collector: &mut FactCollector, text: &str) -> Option<LabelId> {
    if !text::is_label(text) {
        return None;
    }
    let words = NameWords::from_name(text);
    (!words.is_empty()).then(|| collector.labels.intern(words, NameWords::default()))
}

/// The key of a text: equal for texts with the same letters and digits.
pub(crate) fn hash_text(text: &str) -> u64 {
    hash(&squeeze(text))
}

fn hash(text: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    text.hash(&mut hasher);
    hasher.finish()
}
