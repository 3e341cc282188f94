//! Collects the facts of a page: a label, its value, and the position.
//!
//! Reads a page once, in one bounded pass per kind of markup. The wanted fields are not known here; labels
//! are kept as words and compared later. Facts of the markup are in document order, so those of a card or a
//! row are one slice.

mod appearance;
mod blocks;
mod embedded;
mod grids;
mod groups;
mod labels;
mod lines;
mod sections;
pub(crate) mod site;
mod structured_data;
mod tables;
pub(crate) mod text;

pub(crate) use appearance::{LIST, position_weights};
pub(crate) use groups::{Record, RecordGroup};
pub(crate) use labels::{LabelId, Labels};
pub(crate) use lines::{LABEL_SOURCES, LabelSource, Line, PageLines, hash_text};
pub(crate) use structured_data::Thing;
pub(crate) use tables::COLUMN;

use crate::PageView;
use crate::words::NameWords;
use content::metadata::Metadata;
use html::NodeSet;
use html::dom::{Attr, Dom, NodeId, Tag};
use std::rc::Rc;

/// Facts kept of all pages together, and the number that each page may always have.
const MAX_FACTS: usize = 800_000;
const MIN_FACTS_PER_PAGE: usize = 20_000;
/// Bytes of values kept per fact, on average over a page.
const TEXT_BYTES_PER_FACT: usize = 100;

/// What kind of markup a value was found in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum EvidenceKind {
    JsonLd,
    Microdata,
    /// Data that a shop embeds for its own scripts.
    Embedded,
    /// A table cell with a row or column header.
    Table,
    /// A term and its definition.
    Definition,
    /// A label and the value next to it.
    Label,
    /// An element whose class, id or attribute names it.
    Class,
    Meta,
    /// The text under a heading.
    Section,
    /// The heading itself.
    Heading,
    /// Its appearance: an amount of money, a date, a link.
    Look,
    /// Its position in a row.
    Position,
    /// A sentence that mentions it.
    Sentence,
}

impl EvidenceKind {
    /// The weight of this kind of evidence.
    pub(crate) fn trust(self) -> f32 {
        match self {
            Self::JsonLd => 1.0,
            Self::Microdata => 0.98,
            Self::Table | Self::Definition => 0.95,
            Self::Label => 0.92,
            Self::Embedded => 0.85,
            Self::Class => 0.8,
            Self::Meta => 0.72,
            Self::Section => 0.74,
            Self::Heading => 0.7,
            Self::Look => 0.55,
            Self::Position => 0.5,
            Self::Sentence => 0.35,
        }
    }
}

/// One label and value found on a page.
#[derive(Debug, Clone)]
pub(crate) struct Fact {
    /// The nodes of the value; empty for values that are not part of the visible page.
    pub at: u32,
    pub end: u32,
    pub label: LabelId,
    pub how: EvidenceKind,
    pub text: Rc<str>,
    /// `datetime`, `content` or `value`.
    pub machine: Option<Rc<str>>,
    /// `href` or `src`.
    pub link: Option<Rc<str>>,
    /// The weight of its position: less in page frames, advertisements and lists of related things.
    pub position_weight: f32,
}

impl Fact {
    /// The words of the page that contain the value.
    pub(crate) fn quote(&self) -> &str {
        [Some(&self.text), self.machine.as_ref(), self.link.as_ref()]
            .into_iter()
            .flatten()
            .map(|text| text.trim())
            .find(|text| !text.is_empty())
            .unwrap_or("")
    }
}

/// The facts of one page.
#[derive(Debug)]
pub(crate) struct PageFacts<'a> {
    pub view: PageView<'a>,
    /// Facts of the markup, in document order.
    pub facts: Vec<Fact>,
    /// Things from structured data, the page's main subject first.
    pub things: Vec<Thing>,
    /// Facts of meta tags.
    pub meta: Vec<Fact>,
    pub groups: Vec<RecordGroup>,
    /// Its lines, in order.
    pub lines: PageLines,
    /// Start and end of groups with several records, sorted by start.
    spans: Vec<(u32, u32)>,
    pub decimal_comma: bool,
    pub month_first: bool,
    /// The node of the main heading.
    pub headline: Option<u32>,
    /// Whether a limit cut something off.
    pub cut: bool,
}

/// State while the facts of a page are collected.
pub(crate) struct FactCollector<'a, 'l> {
    pub dom: &'a Dom,
    pub visible: NodeSet,
    pub labels: &'l mut Labels,
    pub facts: Vec<Fact>,
    pub position_weights: Vec<u8>,
    /// The heading above each node, as an index into `headings`.
    pub headings: Vec<sections::Heading>,
    max_facts: usize,
    text_left: usize,
    pub cut: bool,
}

impl<'a> PageFacts<'a> {
    /// Collects the facts of a page; `pages` pages share the limit of facts.
    pub(crate) fn collect(view: PageView<'a>, pages: usize, labels: &mut Labels) -> Self {
        let max_facts = (MAX_FACTS / pages.max(1)).max(MIN_FACTS_PER_PAGE);
        let dom = view.page.dom();
        let metadata = view.page.metadata();
        let mut collector = FactCollector::new(view, labels, max_facts);
        sections::headings(&mut collector);
        tables::collect(&mut collector);
        blocks::collect(&mut collector);
        appearance::collect(&mut collector);
        sections::collect(&mut collector);
        let grids = grids::collect(&mut collector);
        let mut groups = groups::find_groups(&mut collector);
        groups.extend(grids);
        groups.extend(tables::transposed_groups(&mut collector));
        let headline = headline_words(dom, &metadata);
        let mut things = structured_data::things(&metadata, &mut collector, &headline);
        if things.iter().all(|thing| thing.weight < 1.0) {
            things.extend(embedded::thing(view.page, &mut collector, &headline));
        }
        groups.extend(structured_data::groups(&metadata, &mut collector));
        let meta = appearance::meta(&metadata, &mut collector);
        let lines = lines::collect(&mut collector, &metadata, max_facts);
        let headline = collector.headings.iter().find(|heading| heading.level == 1).map(|heading| heading.at);
        let mut facts = std::mem::take(&mut collector.facts);
        facts.sort_by_key(|fact| fact.at);
        let language = metadata.language.as_ref().map_or("", |language| language.value.as_str());
        let main = language.split(['-', '_']).next().unwrap_or("");
        let mut spans: Vec<(u32, u32)> = groups.iter().filter_map(RecordGroup::span).collect();
        spans.sort_unstable();
        Self {
            facts,
            spans,
            things,
            meta,
            groups,
            lines,
            decimal_comma: !["", "en", "ja", "zh", "ko", "th", "he", "hi"].contains(&main),
            month_first: language.eq_ignore_ascii_case("en-us"),
            headline,
            cut: collector.cut,
            view,
        }
    }

    /// The lines of a page only.
    pub(crate) fn collect_lines(view: PageView) -> PageLines {
        let mut labels = Labels::default();
        let mut collector = FactCollector::new(view, &mut labels, MAX_FACTS);
        lines::collect(&mut collector, &view.page.metadata(), MAX_FACTS)
    }

    /// Whether a group lies within these nodes; only the first few groups are examined.
    pub(crate) fn repeats_within(&self, from: u32, to: u32) -> bool {
        let start = self.spans.partition_point(|(begin, _)| *begin <= from);
        self.spans[start..].iter().take(64).take_while(|(begin, _)| *begin < to).any(|(_, end)| *end <= to)
    }

    /// The facts whose values are within these nodes.
    pub(crate) fn facts_within(&self, from: u32, to: u32) -> impl Iterator<Item = &Fact> {
        let start = self.facts.partition_point(|fact| fact.at < from);
        self.facts[start..].iter().take_while(move |fact| fact.at < to).filter(move |fact| fact.end <= to)
    }
}

/// The words of the page's main heading and title.
fn headline_words(dom: &Dom, metadata: &Metadata) -> NameWords {
    let heading = dom.subtree(dom.root()).find(|&id| dom.tag(id) == Tag::H1).map(|id| dom.text_content(id));
    let title = metadata.title.clone().unwrap_or_default();
    NameWords::from_name(&heading.unwrap_or_default()).join(&NameWords::from_name(&title))
}

impl<'a, 'l> FactCollector<'a, 'l> {
    fn new(view: PageView<'a>, labels: &'l mut Labels, max_facts: usize) -> Self {
        let dom = view.page.dom();
        Self {
            dom,
            visible: html::visible::visible_nodes(dom),
            labels,
            facts: Vec::new(),
            position_weights: appearance::position_weights(dom),
            headings: Vec::new(),
            max_facts,
            text_left: max_facts * TEXT_BYTES_PER_FACT,
            cut: view.page.truncated(),
        }
    }

    /// Adds a fact while the limits allow it.
    pub(crate) fn add(&mut self, fact: Fact) {
        let size = fact.text.len();
        if self.facts.len() >= self.max_facts || size > self.text_left {
            self.cut = true;
            return;
        }
        self.text_left -= size;
        self.facts.push(fact);
    }

    /// A fact whose value is the text of a node.
    pub(crate) fn add_node(&mut self, how: EvidenceKind, label: &str, id: NodeId, text: &Rc<str>) {
        let words = NameWords::from_name(label);
        self.add_words(how, words, id, text);
    }

    pub(crate) fn add_words(&mut self, how: EvidenceKind, words: NameWords, id: NodeId, text: &Rc<str>) {
        if words.is_empty() {
            return;
        }
        let (at, end) = (id.0, self.dom.subtree_end(id).0);
        let fact = self.fact(how, words, at..end, Rc::clone(text));
        self.add(fact);
    }

    /// Adds a value by its column number in a row.
    pub(crate) fn add_column(&mut self, column: usize, id: NodeId, text: &Rc<str>) {
        self.add_words(
            EvidenceKind::Position,
            NameWords(vec![tables::COLUMN.to_owned(), column.to_string()]),
            id,
            text,
        );
    }

    pub(crate) fn fact(
        &mut self,
        how: EvidenceKind,
        words: NameWords,
        nodes: std::ops::Range<u32>,
        text: Rc<str>,
    ) -> Fact {
        let around = self.heading_words_above(nodes.start);
        let (machine, link) = self.machine_value_and_link(nodes.start, nodes.end);
        let position_weight = f32::from(self.position_weights[nodes.start as usize]) / 100.0;
        let label = self.labels.intern(words, around);
        Fact { at: nodes.start, end: nodes.end, label, how, text, machine, link, position_weight }
    }

    pub(crate) fn text(&self, id: NodeId) -> Rc<str> {
        text::visible_text(self.dom, &self.visible, id).into()
    }

    /// The machine-readable value and the link of a small element.
    fn machine_value_and_link(&self, at: u32, end: u32) -> (Option<Rc<str>>, Option<Rc<str>>) {
        let dom = self.dom;
        let (mut machine, mut link) = (None, None);
        for id in (at..end.min(at + 24)).map(NodeId) {
            let value = match dom.tag(id) {
                Tag::Time => dom.attr(id, Attr::Datetime),
                Tag::Data | Tag::Meter => dom.attr_named(id, "value"),
                _ => dom.attr(id, Attr::Content),
            };
            machine = machine.or_else(|| value.map(Rc::from));
            let target = match dom.tag(id) {
                Tag::A | Tag::Area | Tag::Link => dom.attr(id, Attr::Href),
                Tag::Img => dom.attr(id, Attr::Src),
                _ => None,
            };
            link = link.or_else(|| target.map(Rc::from));
        }
        (machine, link)
    }

    /// The words of the heading above a node.
    fn heading_words_above(&self, at: u32) -> NameWords {
        let after = self.headings.partition_point(|heading| heading.at < at);
        match after.checked_sub(1).map(|at| &self.headings[at]) {
            // The main heading names the page, not a part of it.
            Some(heading) if heading.level > 1 && at < heading.until => heading.words.clone(),
            _ => NameWords::default(),
        }
    }
}
