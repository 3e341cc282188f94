//! The page as selection sees it: blocks of text in order, and the elements that hold them.
//!
//! A block is a run of text that no block-level edge interrupts. One walk over the arena yields every block with
//! its [`Tally`] and every element with the range of blocks below it, so any sum over a container is a difference
//! of two prefix sums. Nothing here judges; hidden and repeated text is marked, not dropped.

use super::tokens;
use super::words::{Scanner, Tally};
use crate::dom::{Attr, Dom, NodeId, Tag};

/// Blocks looked at. A page beyond it is cut there; the rest is left to the guard.
const MOST_BLOCKS: usize = 60_000;
/// Word hashes kept in all.
const MOST_HASHES: usize = 1_500_000;

/// An element of the page body.
#[derive(Debug, Clone, Copy)]
pub struct Element {
    pub node: NodeId,
    /// Index of the parent in [`Outline::elements`]; the body is its own parent.
    pub parent: u32,
    pub tag: Tag,
    pub depth: u16,
    /// Range of blocks in the subtree.
    pub first_block: u32,
    pub end_block: u32,
    /// One past the last element of the subtree.
    pub end: u32,
    /// Range in [`Outline::tokens`].
    pub first_token: u32,
    pub end_token: u32,
    /// Hash of tag and class: elements stamped out by one template share it.
    pub signature: u32,
    /// Hash of the signatures up to four levels up.
    pub path: u32,
    pub marks: Marks,
}

/// What the element or an ancestor says about itself, as bits.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Marks(pub u32);

impl Marks {
    pub const NAV: u32 = 1;
    pub const HEADER: u32 = 1 << 1;
    pub const FOOTER: u32 = 1 << 2;
    pub const ASIDE: u32 = 1 << 3;
    pub const MAIN: u32 = 1 << 4;
    pub const ARTICLE: u32 = 1 << 5;
    pub const FORM: u32 = 1 << 6;
    pub const LIST: u32 = 1 << 7;
    pub const TABLE: u32 = 1 << 8;
    pub const FIGURE: u32 = 1 << 9;
    pub const QUOTE: u32 = 1 << 10;
    pub const CODE: u32 = 1 << 11;
    pub const DETAILS: u32 = 1 << 12;
    pub const NOSCRIPT: u32 = 1 << 13;
    pub const DIALOG: u32 = 1 << 14;
    pub const BUTTON: u32 = 1 << 15;
    pub const LINK: u32 = 1 << 16;
    pub const HIDDEN: u32 = 1 << 17;
    pub const ARIA_HIDDEN: u32 = 1 << 18;
    pub const UNSHOWN: u32 = 1 << 19;
    pub const SECTION: u32 = 1 << 20;
    pub const DEFINITIONS: u32 = 1 << 21;
    pub const HEADING: u32 = 1 << 22;
    pub const SELECT: u32 = 1 << 23;
    pub const LABEL: u32 = 1 << 24;

    pub fn has(self, mark: u32) -> bool {
        self.0 & mark != 0
    }
}

/// A run of text.
#[derive(Debug, Clone, Copy)]
pub struct Block {
    /// The nearest block-level element, as an index in [`Outline::elements`].
    pub owner: u32,
    /// The element directly around the first text.
    pub lead: u32,
    /// Range in [`Outline::texts`].
    pub first_text: u32,
    pub end_text: u32,
    /// Range in [`Outline::hashes`].
    pub first_hash: u32,
    pub end_hash: u32,
    pub tally: Tally,
    /// Words inside bold or strong text.
    pub bold_words: u32,
    pub links: u16,
    pub marks: Marks,
}

/// Element kinds counted for containers, in the order of [`Counts`].
pub const COUNTED: usize = 8;
/// Paragraphs, list items, links, images, headings, form fields, table rows, times.
pub type Counts = [u32; COUNTED];

/// Something without words of its own that goes with the text around it: an image, a rule, a bare mark.
#[derive(Debug, Clone, Copy)]
pub struct Attachment {
    pub node: NodeId,
    /// The element around it.
    pub holder: u32,
    /// The block it stands in, when it interrupts one, or the block that follows.
    pub block: u32,
    pub inside: bool,
}

/// See the module.
#[derive(Debug, Default)]
pub struct Outline {
    pub elements: Vec<Element>,
    pub blocks: Vec<Block>,
    pub texts: Vec<NodeId>,
    pub attachments: Vec<Attachment>,
    pub hashes: Vec<u32>,
    pub tokens: Vec<u32>,
    /// `counts[i]`: how many of each counted kind are among the elements before `i`.
    pub counts: Vec<Counts>,
}

struct Open {
    element: u32,
    end: u32,
    breaks: bool,
}

struct Walk<'a> {
    dom: &'a Dom,
    outline: Outline,
    open: Vec<Open>,
    links: u32,
    bolds: u32,
    scanner: Scanner,
    block: Pending,
    /// Inline elements that closed while the block was under way: it is theirs too, once it is one.
    around: Vec<u32>,
}

/// The block under way; it exists once a text with at least one word or mark was read.
#[derive(Default)]
struct Pending {
    started: bool,
    owner: u32,
    lead: u32,
    first_text: u32,
    first_hash: u32,
    bold_words: u32,
    links: u16,
    marks: u32,
}

impl Outline {
    /// Walks the body once.
    pub fn of(dom: &Dom) -> Self {
        let Some(body) = dom.body() else { return Self::default() };
        let mut walk = Walk {
            dom,
            outline: Self::default(),
            open: Vec::new(),
            links: 0,
            bolds: 0,
            scanner: Scanner::default(),
            block: Pending::default(),
            around: Vec::new(),
        };
        walk.run(body);
        walk.outline
    }

    /// The owner's chain of ancestors, nearest first, the body last.
    pub fn chain(&self, element: u32) -> impl Iterator<Item = &Element> + '_ {
        let mut next = Some(element);
        std::iter::from_fn(move || {
            let at = next?;
            let element = &self.elements[at as usize];
            next = (element.parent != at).then_some(element.parent);
            Some(element)
        })
    }

    /// Counted elements below (not including) an element.
    pub fn counts_below(&self, element: &Element, index: usize) -> Counts {
        let (from, to) = (&self.counts[index + 1], &self.counts[element.end as usize]);
        std::array::from_fn(|kind| to[kind] - from[kind])
    }
}

impl Walk<'_> {
    fn run(&mut self, body: NodeId) {
        let end = self.dom.subtree_end(body).0;
        let mut at = body.0;
        let mut counts = Counts::default();
        self.outline.counts.push(counts);
        while at < end {
            let node = NodeId(at);
            self.close(at);
            let tag = self.dom.tag(node);
            if tag == Tag::Text {
                self.text(node);
                at += 1;
                continue;
            }
            if is_attached(tag) {
                self.attach(node);
            }
            if is_skipped(tag) {
                at = self.dom.subtree_end(node).0;
                continue;
            }
            if self.outline.blocks.len() >= MOST_BLOCKS || self.outline.hashes.len() >= MOST_HASHES {
                break;
            }
            self.element(node, tag);
            if let Some(kind) = counted(tag) {
                counts[kind] += 1;
            }
            self.outline.counts.push(counts);
            at += 1;
        }
        self.close(u32::MAX);
    }

    /// Closes the elements that end at or before the node `at`.
    fn close(&mut self, at: u32) {
        while let Some(top) = self.open.last() {
            if top.end > at {
                break;
            }
            let (index, breaks) = (top.element as usize, top.breaks);
            if breaks {
                self.flush();
            }
            self.open.pop();
            let end = to_u32(self.outline.elements.len());
            let end_block = to_u32(self.outline.blocks.len());
            let element = &mut self.outline.elements[index];
            element.end = end;
            element.end_block = end_block;
            if self.block.started {
                self.around.push(to_u32(index));
            }
            match element.tag {
                Tag::A => {
                    self.scanner.end_word(true, &mut self.outline.hashes);
                    self.links = self.links.saturating_sub(1);
                }
                Tag::B | Tag::Strong => self.bolds = self.bolds.saturating_sub(1),
                _ => {}
            }
        }
    }

    fn element(&mut self, node: NodeId, tag: Tag) {
        let breaks = is_breaking(tag);
        if breaks {
            self.flush();
        } else if tag == Tag::A && self.block.started {
            self.scanner.end_word(self.links > 0, &mut self.outline.hashes);
        }
        if tag == Tag::Br && self.block.started {
            self.scanner.end_word(self.links > 0, &mut self.outline.hashes);
        }
        let index = to_u32(self.outline.elements.len());
        let (parent, inherited, depth, path) = match self.open.last() {
            Some(open) => {
                let parent = &self.outline.elements[open.element as usize];
                (open.element, parent.marks.0, parent.depth + 1, parent.path)
            }
            None => (index, 0, 0, 0),
        };
        let first_token = to_u32(self.outline.tokens.len());
        let class = tokens::of_element(self.dom, node, &mut self.outline.tokens);
        let signature = class.wrapping_mul(31).wrapping_add(tag as u32 + 1).wrapping_mul(0x9e37_79b1);
        let first_block = to_u32(self.outline.blocks.len());
        self.outline.elements.push(Element {
            node,
            parent,
            tag,
            depth,
            first_block,
            end_block: first_block,
            end: index + 1,
            first_token,
            end_token: to_u32(self.outline.tokens.len()),
            signature,
            // Eight bits of each level: four levels up the oldest has been shifted out.
            path: (path << 8) ^ (signature >> 12),
            marks: Marks(inherited | self.own_marks(node, tag)),
        });
        match tag {
            Tag::A => {
                self.links += 1;
                if self.block.started {
                    self.block.links = self.block.links.saturating_add(1);
                }
            }
            Tag::B | Tag::Strong => self.bolds += 1,
            _ => {}
        }
        self.open.push(Open { element: index, end: self.dom.subtree_end(node).0, breaks });
    }

    fn own_marks(&self, node: NodeId, tag: Tag) -> u32 {
        let mut marks = tag_marks(tag);
        if let Some(role) = self.dom.attr(node, Attr::Role) {
            marks |= role_marks(role);
        }
        if self.dom.has_attr(node, Attr::Hidden) {
            marks |= Marks::HIDDEN;
        }
        if self.dom.attr(node, Attr::AriaHidden).is_some_and(|value| value.eq_ignore_ascii_case("true")) {
            marks |= Marks::ARIA_HIDDEN;
        }
        if self.dom.attr(node, Attr::AriaModal).is_some_and(|value| value.eq_ignore_ascii_case("true")) {
            marks |= Marks::DIALOG;
        }
        if self.dom.attr(node, Attr::Style).is_some_and(hides) {
            marks |= Marks::UNSHOWN;
        }
        marks
    }

    fn text(&mut self, node: NodeId) {
        let text = self.dom.text(node);
        let Some(open) = self.open.last() else { return };
        let lead = open.element;
        if !self.block.started {
            if text.bytes().all(|byte| byte.is_ascii_whitespace()) {
                return;
            }
            let owner = self.open.iter().rev().find(|open| open.breaks).map_or(lead, |open| open.element);
            self.block = Pending {
                started: true,
                owner,
                lead,
                first_text: to_u32(self.outline.texts.len()),
                first_hash: to_u32(self.outline.hashes.len()),
                bold_words: 0,
                links: u16::from(self.links > 0),
                marks: self.outline.elements[lead as usize].marks.0,
            };
        }
        let before = self.outline.hashes.len();
        self.outline.texts.push(node);
        self.scanner.read(text, self.links > 0, &mut self.outline.hashes);
        if self.bolds > 0 {
            self.block.bold_words += to_u32(self.outline.hashes.len() - before);
        }
    }

    fn attach(&mut self, node: NodeId) {
        let Some(open) = self.open.last() else { return };
        self.outline.attachments.push(Attachment {
            node,
            holder: open.element,
            block: to_u32(self.outline.blocks.len()),
            inside: self.block.started,
        });
    }

    fn flush(&mut self) {
        if !self.block.started {
            return;
        }
        let pending = std::mem::take(&mut self.block);
        let tally = self.scanner.finish(self.links > 0, &mut self.outline.hashes);
        if tally.words == 0 {
            // Bullets, ticks and dashes alone follow the text beside them; they are no block.
            let block = to_u32(self.outline.blocks.len());
            let marks = self.outline.texts.drain(pending.first_text as usize..);
            let attach = |node| Attachment { node, holder: pending.owner, block, inside: false };
            self.outline.attachments.extend(marks.map(attach));
            self.around.clear();
            return;
        }
        self.outline.blocks.push(Block {
            owner: pending.owner,
            lead: pending.lead,
            first_text: pending.first_text,
            end_text: to_u32(self.outline.texts.len()),
            first_hash: pending.first_hash,
            end_hash: to_u32(self.outline.hashes.len()),
            tally,
            bold_words: pending.bold_words,
            links: pending.links,
            marks: Marks(pending.marks),
        });
        let end_block = to_u32(self.outline.blocks.len());
        for index in self.around.drain(..) {
            self.outline.elements[index as usize].end_block = end_block;
        }
    }
}

fn to_u32(length: usize) -> u32 {
    u32::try_from(length).unwrap_or(u32::MAX)
}

/// Elements that never hold text of the page.
fn is_skipped(tag: Tag) -> bool {
    matches!(
        tag,
        Tag::Script
            | Tag::Style
            | Tag::Template
            | Tag::Head
            | Tag::Svg
            | Tag::Iframe
            | Tag::Object
            | Tag::Embed
            | Tag::Canvas
            | Tag::Audio
            | Tag::Video
            | Tag::Datalist
            | Tag::Textarea
            | Tag::Title
            | Tag::Noframes
    )
}

/// Elements that a writer may show though they hold no text.
fn is_attached(tag: Tag) -> bool {
    matches!(
        tag,
        Tag::Img
            | Tag::Hr
            | Tag::Input
            | Tag::Iframe
            | Tag::Video
            | Tag::Audio
            | Tag::Embed
            | Tag::Object
            | Tag::Br
    )
}

/// Elements whose edges end a run of text.
pub fn is_breaking(tag: Tag) -> bool {
    matches!(
        tag,
        Tag::Address
            | Tag::Article
            | Tag::Aside
            | Tag::Blockquote
            | Tag::Body
            | Tag::Caption
            | Tag::Center
            | Tag::Dd
            | Tag::Details
            | Tag::Dialog
            | Tag::Dir
            | Tag::Div
            | Tag::Dl
            | Tag::Dt
            | Tag::Fieldset
            | Tag::Figcaption
            | Tag::Figure
            | Tag::Footer
            | Tag::Form
            | Tag::Frameset
            | Tag::H1
            | Tag::H2
            | Tag::H3
            | Tag::H4
            | Tag::H5
            | Tag::H6
            | Tag::Header
            | Tag::Hgroup
            | Tag::Hr
            | Tag::Legend
            | Tag::Li
            | Tag::Main
            | Tag::Menu
            | Tag::Nav
            | Tag::Noscript
            | Tag::Ol
            | Tag::Optgroup
            | Tag::Option
            | Tag::P
            | Tag::Pre
            | Tag::Search
            | Tag::Section
            | Tag::Select
            | Tag::Summary
            | Tag::Table
            | Tag::Tbody
            | Tag::Td
            | Tag::Tfoot
            | Tag::Th
            | Tag::Thead
            | Tag::Tr
            | Tag::Ul
    )
}

fn counted(tag: Tag) -> Option<usize> {
    Some(match tag {
        Tag::P => 0,
        Tag::Li => 1,
        Tag::A => 2,
        Tag::Img => 3,
        Tag::H1 | Tag::H2 | Tag::H3 | Tag::H4 | Tag::H5 | Tag::H6 => 4,
        Tag::Input | Tag::Button | Tag::Select => 5,
        Tag::Tr => 6,
        Tag::Time => 7,
        _ => return None,
    })
}

fn tag_marks(tag: Tag) -> u32 {
    match tag {
        Tag::Nav | Tag::Menu => Marks::NAV,
        Tag::Header => Marks::HEADER,
        Tag::Footer => Marks::FOOTER,
        Tag::Aside => Marks::ASIDE,
        Tag::Main => Marks::MAIN,
        Tag::Article => Marks::ARTICLE,
        Tag::Form | Tag::Fieldset | Tag::Search => Marks::FORM,
        Tag::Ul | Tag::Ol => Marks::LIST,
        Tag::Table => Marks::TABLE,
        Tag::Figure => Marks::FIGURE,
        Tag::Blockquote => Marks::QUOTE,
        Tag::Pre | Tag::Code => Marks::CODE,
        Tag::Details => Marks::DETAILS,
        Tag::Noscript => Marks::NOSCRIPT,
        Tag::Dialog => Marks::DIALOG,
        Tag::Button => Marks::BUTTON,
        Tag::A => Marks::LINK,
        Tag::Section => Marks::SECTION,
        Tag::Dl => Marks::DEFINITIONS,
        Tag::H1 | Tag::H2 | Tag::H3 | Tag::H4 | Tag::H5 | Tag::H6 => Marks::HEADING,
        Tag::Select => Marks::SELECT,
        Tag::Label => Marks::LABEL,
        _ => 0,
    }
}

fn role_marks(role: &str) -> u32 {
    match role.trim() {
        "navigation" | "menu" | "menubar" | "tablist" => Marks::NAV,
        "banner" => Marks::HEADER,
        "contentinfo" => Marks::FOOTER,
        "complementary" => Marks::ASIDE,
        "main" => Marks::MAIN,
        "article" => Marks::ARTICLE,
        "search" | "form" => Marks::FORM,
        "dialog" | "alertdialog" => Marks::DIALOG,
        "button" => Marks::BUTTON,
        "list" => Marks::LIST,
        "heading" => Marks::HEADING,
        _ => 0,
    }
}

/// Whether an inline style takes the element out of sight.
fn hides(style: &str) -> bool {
    let tight: Vec<u8> = style
        .bytes()
        .filter(|byte| !byte.is_ascii_whitespace())
        .map(|byte| byte.to_ascii_lowercase())
        .take(400)
        .collect();
    let has = |needle: &[u8]| tight.windows(needle.len()).any(|window| window == needle);
    has(b"display:none") || has(b"visibility:hidden")
}
