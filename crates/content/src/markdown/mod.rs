//! Selected nodes → GitHub-flavoured markdown.
//!
//! Owns the block structure: paragraphs, headings, lists, quotes and what separates them. Inline text is
//! gathered by [`inline`], escaped by [`escape`]; code, tables, notes and formulas have a file each. One loop
//! over the node range, no recursion over the page; the same input always gives the same bytes. Never decides
//! what is content.

mod boxes;
mod code;
mod code_language;
mod code_lines;
mod escape;
mod footnotes;
mod formula_text;
mod furniture_link;
mod inline;
mod link;
mod list;
mod picture_text;
mod resolve;
mod table;
mod term;
#[cfg(test)]
mod tests;

use crate::formula::{self, FormulaPlaces};
use html::NodeSet;
use html::address::Base;
use html::dom::{Attr, Dom, NodeId, Tag};
use inline::{Inline, Mark};
use picture_text::PictureTexts;

/// How markdown is written.
#[derive(Clone, Copy, Debug)]
pub struct MarkdownOptions<'a> {
    /// What relative addresses are relative to.
    pub base: &'a Base,
    /// Leave out images that carry their data in their address.
    pub remove_base64_images: bool,
}

/// Writes the kept nodes of a page as markdown, ending with one newline unless empty.
pub fn write_markdown(dom: &Dom, keep: &NodeSet, options: &MarkdownOptions) -> String {
    let mut writer = MarkdownWriter::new(dom, keep, *options);
    let end = dom.subtree_end(dom.root());
    writer.run(dom.root(), end);
    writer.flush();
    let mut out = writer.out;
    out.truncate(out.trim_end().len());
    if !out.is_empty() {
        out.push('\n');
    }
    out
}

/// What separates the last block from the next.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Gap {
    Line,
    Blank,
}

/// What kind of block the inline text being gathered will become.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Flow {
    Paragraph,
    Heading(u8),
    Cell,
}

/// What to do when a node's subtree has been passed.
#[derive(Clone, Copy, Debug)]
enum Exit {
    Block,
    Heading,
    Title,
    Spaced,
    Unmark(Mark),
    BlockUnmark(Mark),
    EndLink,
    Quote,
    List,
    Item,
    Container,
    Definition,
    Quotation,
}

#[derive(Clone, Copy, Debug)]
struct BlockFrame {
    end: u32,
    exit: Exit,
    prefix: usize,
    lead: Option<usize>,
}

#[derive(Clone, Copy, Debug)]
struct ListState {
    ordered: bool,
    number: i64,
    step: i64,
    /// The other bullet or delimiter, used when a list directly follows another that would swallow it.
    alternate: bool,
    /// Where the output stood when the list began: beyond it, an item has been written.
    start: usize,
}

struct MarkdownWriter<'a> {
    dom: &'a Dom,
    keep: &'a NodeSet,
    options: MarkdownOptions<'a>,
    notes: footnotes::Footnotes,
    out: String,
    inline: Inline,
    flow: Flow,
    stack: Vec<BlockFrame>,
    lists: Vec<ListState>,
    /// What every line of the current container starts with.
    prefix: String,
    /// What the next line starts with instead: the prefix with a list marker not yet written.
    lead: Option<String>,
    /// Shortest prefix since the last line: a blank line between belongs to that container.
    gap_prefix: usize,
    gap: Gap,
    containers: usize,
    /// End of the last written list in `out`, whether it was ordered, whether it was alternate, and its
    /// prefix length.
    last_list: Option<(usize, bool, bool, usize)>,
    last_was_text: bool,
    /// Where the cell being written starts in `out`.
    cell_start: usize,
    formulas: FormulaPlaces,
    /// Open terms and captions: short texts with furniture of their own.
    titles: usize,
    picture_texts: PictureTexts,
    /// Where `out` stood after the last term or definition: only there can a definition follow.
    term_end: Option<usize>,
    /// Where `out` stood when the last term began: beyond it, the term has been written.
    term_start: usize,
}

impl<'a> MarkdownWriter<'a> {
    fn new(dom: &'a Dom, keep: &'a NodeSet, options: MarkdownOptions<'a>) -> Self {
        let formulas = FormulaPlaces::find(dom);
        Self {
            dom,
            keep,
            options,
            notes: footnotes::Footnotes::find(dom, keep),
            out: String::with_capacity(8 << 10),
            inline: Inline::new(formulas.in_text),
            flow: Flow::Paragraph,
            stack: Vec::with_capacity(64),
            lists: Vec::new(),
            prefix: String::new(),
            lead: None,
            gap_prefix: 0,
            gap: Gap::Line,
            containers: 0,
            last_list: None,
            last_was_text: false,
            cell_start: 0,
            formulas,
            titles: 0,
            picture_texts: PictureTexts::default(),
            term_end: None,
            term_start: 0,
        }
    }

    /// Walks the ids from `start` to `end`. Called once for the page and once for each cell of a data table,
    /// which holds no table itself: calls never nest deeper than that.
    fn run(&mut self, start: NodeId, end: NodeId) {
        let floor = self.stack.len();
        let mut at = start;
        while at < end {
            budget::spend(1);
            while self.stack.len() > floor && self.stack[self.stack.len() - 1].end <= at.0 {
                self.exit();
            }
            if self.dom.is_text(at) {
                if self.keep.contains(at) {
                    let text = self.dom.text(at);
                    budget::spend_on_text(text.len());
                    self.separate_boxes(at);
                    self.inline.push_text(text);
                }
                at.0 += 1;
            } else if self.keep.reaches(self.dom, at) {
                at = self.enter(at);
            } else {
                at = self.dom.subtree_end(at);
            }
        }
        while self.stack.len() > floor {
            self.exit();
        }
    }

    fn push_frame(&mut self, id: NodeId, exit: Exit) -> NodeId {
        let end = self.dom.subtree_end(id).0;
        let lead = self.lead.as_ref().map(String::len);
        self.stack.push(BlockFrame { end, exit, prefix: self.prefix.len(), lead });
        NodeId(id.0 + 1)
    }

    /// Starts an element; gives the id to go on with: its first child, or past its end when it was written
    /// whole.
    #[allow(clippy::too_many_lines, reason = "one arm per kind of element; splitting would hide the table")]
    fn enter(&mut self, id: NodeId) -> NodeId {
        let dom = self.dom;
        let past = dom.subtree_end(id);
        let tag = dom.tag(id);
        if self.formulas.in_elements && self.write_formula_element(id) {
            return past;
        }
        if self.titles > 0 {
            self.separate_in_term(id);
        }
        match tag {
            Tag::Script => {
                self.inline.push_formula(formula::from_script(dom, id));
                past
            }
            Tag::Style
            | Tag::Head
            | Tag::Title
            | Tag::Svg
            | Tag::Canvas
            | Tag::Iframe
            | Tag::Embed
            | Tag::Audio
            | Tag::Video
            | Tag::Select
            | Tag::Datalist
            | Tag::Textarea
            | Tag::Map
            | Tag::Area
            | Tag::Meter
            | Tag::Progress
            | Tag::Noframes
            | Tag::Col
            | Tag::Colgroup
            | Tag::Wbr => past,
            Tag::Math => {
                self.inline.push_formula(formula::from_math(dom, id));
                past
            }
            Tag::H1 | Tag::H2 | Tag::H3 | Tag::H4 | Tag::H5 | Tag::H6 => self.enter_heading(id, tag),
            Tag::Ul | Tag::Ol | Tag::Menu | Tag::Dir => self.enter_list(id, tag == Tag::Ol),
            Tag::Li => self.enter_item(id),
            Tag::Blockquote if self.flow == Flow::Paragraph => {
                self.flush();
                self.widen_gap();
                self.enter_container(id, Exit::Quote, "> ", "> ")
            }
            Tag::Pre | Tag::Xmp | Tag::Plaintext => {
                self.code_block(id);
                past
            }
            Tag::Table => self.enter_table(id),
            Tag::Dt => self.enter_term(id),
            Tag::Dd if self.flow == Flow::Paragraph => self.enter_definition(id),
            // The link to edit a section stands in brackets of its own.
            Tag::Span
                if matches!(self.flow, Flow::Heading(_))
                    && dom.attr(id, Attr::Class).is_some_and(|class| class.contains("mw-editsection")) =>
            {
                past
            }
            Tag::Hr => {
                self.flush();
                if self.flow == Flow::Paragraph {
                    // After a bullet, dashes would make one rule of both.
                    let rule = if self.lead.is_some() { "___" } else { "---" };
                    self.widen_gap();
                    self.start_line();
                    self.out.push_str(rule);
                    self.end_block(Gap::Blank, false);
                }
                past
            }
            Tag::Br => {
                self.inline.push_break();
                past
            }
            Tag::A => self.enter_link(id),
            Tag::B | Tag::Strong => {
                self.separate_boxes(id);
                self.enter_mark(id, Mark::Strong)
            }
            Tag::I | Tag::Em => self.enter_mark(id, Mark::Em),
            Tag::Del | Tag::S | Tag::Strike => self.enter_mark(id, Mark::Strike),
            Tag::Code | Tag::Kbd | Tag::Samp | Tag::Tt => self.code_span(id),
            Tag::Q => {
                self.inline.push_text("\u{201c}");
                self.push_frame(id, Exit::Quotation)
            }
            Tag::Sup => {
                if footnotes::is_power(dom, id, self.inline.last_char()) {
                    self.inline.push_text("^");
                }
                NodeId(id.0 + 1)
            }
            Tag::Img => {
                if self.keep.contains(id) {
                    self.write_image(id);
                }
                past
            }
            Tag::Input => {
                let checkbox =
                    dom.attr(id, Attr::Type).is_some_and(|kind| kind.eq_ignore_ascii_case("checkbox"));
                if checkbox && self.lead.is_some() && self.inline.is_empty() && !self.lists.is_empty() {
                    self.inline.push_raw(if dom.has_attr(id, Attr::Checked) { "[x]" } else { "[ ]" });
                    self.inline.push_space();
                }
                past
            }
            Tag::Figcaption if self.flow == Flow::Paragraph => {
                self.flush();
                self.inline.open_mark(Mark::Em);
                self.push_frame(id, Exit::BlockUnmark(Mark::Em))
            }
            Tag::Summary if self.flow == Flow::Paragraph => {
                self.flush();
                self.inline.open_mark(Mark::Strong);
                self.push_frame(id, Exit::BlockUnmark(Mark::Strong))
            }
            Tag::Span | Tag::Time | Tag::Small => {
                self.separate_boxes(id);
                NodeId(id.0 + 1)
            }
            Tag::Other if crate::link::is_custom_link(dom, id) => self.enter_link(id),
            // A selection may find the content where only scripts or their absence would show it: noscript,
            // template.
            Tag::Noscript
            | Tag::Template
            | Tag::Object
            | Tag::Button
            | Tag::Label
            | Tag::Option
            | Tag::Optgroup
            | Tag::Other
            | Tag::Output => {
                self.inline.push_space();
                self.push_frame(id, Exit::Spaced)
            }
            _ if tag.is_block() => {
                self.flush();
                self.push_frame(id, Exit::Block)
            }
            // Other inline elements have nothing to undo, so they leave no frame.
            _ => NodeId(id.0 + 1),
        }
    }

    fn exit(&mut self) {
        let Some(frame) = self.stack.pop() else { return };
        match frame.exit {
            Exit::Block => self.flush(),
            Exit::Spaced => self.inline.push_space(),
            Exit::Unmark(mark) => self.inline.close_mark(mark),
            Exit::BlockUnmark(mark) => {
                self.flush();
                self.inline.close_mark(mark);
            }
            Exit::EndLink => self.inline.close_link(),
            Exit::Quotation => self.inline.push_text("\u{201d}"),
            Exit::Heading => {
                self.flush();
                self.flow = Flow::Paragraph;
            }
            Exit::Title => {
                self.flush();
                self.titles = self.titles.saturating_sub(1);
                if self.out.len() > self.term_start {
                    self.term_end = self.last_was_text.then_some(self.out.len());
                }
            }
            Exit::Quote | Exit::Container | Exit::Definition | Exit::Item => {
                self.flush();
                // An item with nothing in it leaves its number to the next.
                if let (Exit::Item, true, Some(list)) =
                    (frame.exit, self.lead.is_some(), self.lists.last_mut())
                {
                    list.number -= list.step;
                }
                self.leave_container(&frame);
                match frame.exit {
                    Exit::Quote => self.widen_gap(),
                    Exit::Definition => self.term_end = Some(self.out.len()),
                    _ => {}
                }
            }
            Exit::List => {
                self.flush();
                if let Some(list) = self.lists.pop()
                    && self.out.len() > list.start
                {
                    self.last_list = Some((self.out.len(), list.ordered, list.alternate, frame.prefix));
                }
                self.leave_container(&frame);
                self.widen_gap();
            }
        }
    }

    fn enter_heading(&mut self, id: NodeId, tag: Tag) -> NodeId {
        self.flush();
        match tag.heading_level() {
            Some(level) if self.flow == Flow::Paragraph => {
                self.flow = Flow::Heading(level);
                self.push_frame(id, Exit::Heading)
            }
            _ => self.push_frame(id, Exit::Block),
        }
    }

    /// Writes an element that is a formula, or leaves out what a renderer drew of one; `false` for all others.
    fn write_formula_element(&mut self, id: NodeId) -> bool {
        let dom = self.dom;
        if formula::is_rendering(dom, id) {
            return true;
        }
        let Some(formula) = formula::from_element(dom, id) else { return false };
        let is_block = dom.tag(id).is_block();
        if is_block {
            self.flush();
        }
        self.inline.push_formula(Some(formula));
        if is_block {
            self.flush();
        }
        true
    }

    fn enter_mark(&mut self, id: NodeId, mark: Mark) -> NodeId {
        // A heading is bold already.
        if mark == Mark::Strong && matches!(self.flow, Flow::Heading(_)) {
            return NodeId(id.0 + 1);
        }
        self.inline.open_mark(mark);
        self.push_frame(id, Exit::Unmark(mark))
    }

    /// A blank line before the next block, unless a list marker waits for it: then the item has settled the
    /// gap.
    fn widen_gap(&mut self) {
        if self.lead.is_none() {
            self.gap = Gap::Blank;
        }
    }

    /// Begins the next line of output: the gap, then the prefix.
    fn start_line(&mut self) {
        if !self.out.is_empty() {
            self.out.push('\n');
            if self.gap == Gap::Blank {
                let shared = self.gap_prefix.min(self.prefix.len());
                self.out.push_str(self.prefix[..shared].trim_end());
                self.out.push('\n');
            }
        }
        match self.lead.take() {
            Some(lead) => self.out.push_str(&lead),
            None => self.out.push_str(&self.prefix),
        }
        self.gap_prefix = self.prefix.len();
    }

    fn end_block(&mut self, gap: Gap, text: bool) {
        self.gap = gap;
        self.last_was_text = text;
        self.gap_prefix = self.prefix.len();
    }

    /// Writes the inline text gathered so far as the block it belongs to.
    fn flush(&mut self) {
        if !self.inline.resolve_marks(matches!(self.flow, Flow::Heading(_))) {
            return;
        }
        match self.flow {
            Flow::Cell => {
                if self.out.len() > self.cell_start {
                    self.out.push_str("<br>");
                }
                self.inline.write(&mut self.out, "", inline::TextPosition::Cell);
            }
            Flow::Heading(level) => {
                self.widen_gap();
                self.start_line();
                for _ in 0..level {
                    self.out.push('#');
                }
                self.out.push(' ');
                self.inline.write(&mut self.out, "", inline::TextPosition::Heading);
                self.end_block(Gap::Blank, false);
            }
            Flow::Paragraph => {
                self.start_line();
                let item = !self.lists.is_empty();
                let place = if item { inline::TextPosition::Item } else { inline::TextPosition::Paragraph };
                self.inline.write(&mut self.out, &self.prefix, place);
                self.end_block(Gap::Blank, true);
            }
        }
    }
}
