//! What a page states, as a list of facts: a label, the value that stands beside it, and where.
//!
//! Owns reading a page once, in one pass per kind of markup, each bounded. What a field wants is not known here; labels are kept as
//! words and compared later. Facts of the markup lie in document order, so those of a card or a row are one slice.

mod blocks;
mod declared;
mod embedded;
mod groups;
mod labels;
mod look;
mod sections;
mod tables;
pub(crate) mod text;

pub(crate) use declared::Thing;
pub(crate) use groups::{Group, Record};
pub(crate) use labels::{LabelId, Labels};
pub(crate) use look::{LIST, places};
pub(crate) use tables::COLUMN;

use crate::PageView;
use crate::words::Words;
use content::NodeSet;
use content::dom::{Attr, Dom, NodeId, Tag};
use content::metadata::Metadata;
use std::rc::Rc;

/// Facts kept of all pages together, and the least that each may have.
const MOST_FACTS: usize = 800_000;
const LEAST_FACTS: usize = 20_000;
/// Bytes of values kept of one page for each of its facts.
const TEXT_PER_FACT: usize = 100;

/// Where a value was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum How {
    JsonLd,
    Microdata,
    /// Data that a shop embeds for its own scripts.
    Embedded,
    /// A cell under or beside its header.
    Table,
    /// A term and its definition.
    Definition,
    /// A label and the value beside it.
    Label,
    /// An element whose class, id or attribute names it.
    Class,
    Meta,
    /// The text under a heading.
    Section,
    /// The heading itself.
    Heading,
    /// What it looks like: an amount of money, a date, a link.
    Look,
    /// Its place in a row.
    Position,
    /// A sentence that mentions it.
    Sentence,
}

impl How {
    /// How far a statement of this kind is believed.
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

/// One statement of a page.
#[derive(Debug, Clone)]
pub(crate) struct Fact {
    /// The nodes of the value; empty for what is not part of the visible page.
    pub at: u32,
    pub end: u32,
    pub label: LabelId,
    pub how: How,
    pub text: Rc<str>,
    /// `datetime`, `content` or `value`.
    pub machine: Option<Rc<str>>,
    /// `href` or `src`.
    pub link: Option<Rc<str>>,
    /// How much the place on the page counts: less in frames, advertisements and lists of related things.
    pub place: f32,
}

impl Fact {
    /// The words of the page that say it.
    pub(crate) fn quote(&self) -> &str {
        [Some(&self.text), self.machine.as_ref(), self.link.as_ref()]
            .into_iter()
            .flatten()
            .map(|text| text.trim())
            .find(|text| !text.is_empty())
            .unwrap_or("")
    }
}

/// A page as facts.
#[derive(Debug)]
pub(crate) struct PageFacts<'a> {
    pub view: PageView<'a>,
    /// Facts of the markup, by place.
    pub facts: Vec<Fact>,
    /// Described things, the one the page is about first.
    pub things: Vec<Thing>,
    /// Facts of meta tags.
    pub meta: Vec<Fact>,
    pub groups: Vec<Group>,
    /// Where groups of several records begin and end, by their beginning.
    spans: Vec<(u32, u32)>,
    pub decimal_comma: bool,
    pub month_first: bool,
    /// Where the main heading stands.
    pub headline: Option<u32>,
    /// Whether a limit cut something off.
    pub cut: bool,
}

/// What is needed while a page is read.
pub(crate) struct Reader<'a, 'l> {
    pub dom: &'a Dom,
    pub visible: NodeSet,
    pub labels: &'l mut Labels,
    pub facts: Vec<Fact>,
    pub places: Vec<u8>,
    /// The heading above each node, as an index into `headings`.
    pub headings: Vec<sections::Heading>,
    room: usize,
    text_left: usize,
    pub cut: bool,
}

impl<'a> PageFacts<'a> {
    /// Reads a page that is one of so many.
    pub(crate) fn of(view: PageView<'a>, pages: usize, labels: &mut Labels) -> Self {
        let room = (MOST_FACTS / pages.max(1)).max(LEAST_FACTS);
        let dom = view.page.dom();
        let metadata = view.page.metadata();
        let mut reader = Reader {
            dom,
            visible: content::visible::visible(dom),
            labels,
            facts: Vec::new(),
            places: look::places(dom),
            headings: Vec::new(),
            room,
            text_left: room * TEXT_PER_FACT,
            cut: view.page.truncated(),
        };
        sections::headings(&mut reader);
        tables::read(&mut reader);
        blocks::read(&mut reader);
        look::read(&mut reader);
        sections::read(&mut reader);
        let mut groups = groups::of(&mut reader);
        groups.extend(tables::turned(&mut reader));
        let headline = headline_words(dom, &metadata);
        let mut things = declared::things(&metadata, &mut reader, &headline);
        if things.iter().all(|thing| thing.weight < 1.0) {
            things.extend(embedded::thing(view.page, &mut reader, &headline));
        }
        groups.extend(declared::groups(&metadata, &mut reader));
        let meta = look::meta(&metadata, &mut reader);
        let headline = reader.headings.iter().find(|heading| heading.level == 1).map(|heading| heading.at);
        let mut facts = std::mem::take(&mut reader.facts);
        facts.sort_by_key(|fact| fact.at);
        let language = metadata.language.as_ref().map_or("", |language| language.value.as_str());
        let main = language.split(['-', '_']).next().unwrap_or("");
        let mut spans: Vec<(u32, u32)> = groups.iter().filter_map(Group::span).collect();
        spans.sort_unstable();
        Self {
            facts,
            spans,
            things,
            meta,
            groups,
            decimal_comma: !["", "en", "ja", "zh", "ko", "th", "he", "hi"].contains(&main),
            month_first: language.eq_ignore_ascii_case("en-us"),
            headline,
            cut: reader.cut,
            view,
        }
    }

    /// Whether something is repeated within these nodes, seen by the few groups that begin first in them.
    pub(crate) fn repeats_within(&self, from: u32, to: u32) -> bool {
        let start = self.spans.partition_point(|(begin, _)| *begin <= from);
        self.spans[start..].iter().take(64).take_while(|(begin, _)| *begin < to).any(|(_, end)| *end <= to)
    }

    /// The facts whose values lie within these nodes.
    pub(crate) fn within(&self, from: u32, to: u32) -> impl Iterator<Item = &Fact> {
        let start = self.facts.partition_point(|fact| fact.at < from);
        self.facts[start..].iter().take_while(move |fact| fact.at < to).filter(move |fact| fact.end <= to)
    }
}

/// What the page calls itself.
fn headline_words(dom: &Dom, metadata: &Metadata) -> Words {
    let heading = dom.subtree(dom.root()).find(|&id| dom.tag(id) == Tag::H1).map(|id| dom.text_content(id));
    let title = metadata.title.clone().unwrap_or_default();
    Words::of(&heading.unwrap_or_default()).join(&Words::of(&title))
}

impl Reader<'_, '_> {
    /// Keeps a fact while there is room.
    pub(crate) fn add(&mut self, fact: Fact) {
        let size = fact.text.len();
        if self.facts.len() >= self.room || size > self.text_left {
            self.cut = true;
            return;
        }
        self.text_left -= size;
        self.facts.push(fact);
    }

    /// A fact whose value is the text of a node.
    pub(crate) fn add_node(&mut self, how: How, label: &str, id: NodeId, text: &Rc<str>) {
        let words = Words::of(label);
        self.add_words(how, words, id, text);
    }

    pub(crate) fn add_words(&mut self, how: How, words: Words, id: NodeId, text: &Rc<str>) {
        if words.is_empty() {
            return;
        }
        let (at, end) = (id.0, self.dom.subtree_end(id).0);
        let fact = self.fact(how, words, at..end, Rc::clone(text));
        self.add(fact);
    }

    /// A value known by its place in a row.
    pub(crate) fn add_place(&mut self, column: usize, id: NodeId, text: &Rc<str>) {
        self.add_words(How::Position, Words(vec![tables::COLUMN.to_owned(), column.to_string()]), id, text);
    }

    pub(crate) fn fact(
        &mut self,
        how: How,
        words: Words,
        nodes: std::ops::Range<u32>,
        text: Rc<str>,
    ) -> Fact {
        let around = self.above(nodes.start);
        let (machine, link) = self.beside(nodes.start, nodes.end);
        let place = f32::from(self.places[nodes.start as usize]) / 100.0;
        let label = self.labels.enter(words, around);
        Fact { at: nodes.start, end: nodes.end, label, how, text, machine, link, place }
    }

    pub(crate) fn text(&self, id: NodeId) -> Rc<str> {
        text::of(self.dom, &self.visible, id).into()
    }

    /// Values for machines and links within a small element.
    fn beside(&self, at: u32, end: u32) -> (Option<Rc<str>>, Option<Rc<str>>) {
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
    fn above(&self, at: u32) -> Words {
        let after = self.headings.partition_point(|heading| heading.at < at);
        match after.checked_sub(1).map(|at| &self.headings[at]) {
            // The main heading names the page, not a part of it.
            Some(heading) if heading.level > 1 && at < heading.until => heading.words.clone(),
            _ => Words::default(),
        }
    }
}
