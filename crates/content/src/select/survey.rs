//! Page-wide data for the feature rows, computed once: sums, repetition, inherited values.
//!
//! Owns no column itself; [`super::features`] and [`super::context`] read from here. Every walk up the tree
//! is done here, once for each element from its parent's result, so that describing a block costs the same at
//! any depth.

use super::container::TextContainer;
use super::declared::Declared;
use super::marks::Marks;
use super::outline::Outline;
use super::repetition::{Copies, PathGroup, SiblingGroup, find_copies, group_by_key};
use super::sums::{Sums, over};
use html::dom::Tag;

/// Distance to something that is not there.
const NO_DISTANCE: u16 = 99;
/// Blocks after a heading that can be its section.
const SECTION: usize = 60;

/// What an element has from its ancestors.
#[derive(Debug, Clone, Copy)]
pub struct Inherited {
    /// Steps up to the nearest `main` and `article`.
    pub main: u16,
    pub article: u16,
    /// Steps up to the nearest element that holds the first `h1`.
    pub h1: u16,
    /// Steps up to the container of the running text, from inside it, and to the nearest element that holds
    /// it.
    pub container: u16,
    pub to_container: u16,
    /// Level of the heading it is in.
    pub heading: u8,
    /// The nearest and the widest repeated element at or above it, and the steps up to each.
    pub near: Repeated,
    pub wide: Repeated,
    /// The nearest element at or above it that has at least one sister like it.
    pub sister: u32,
}

/// An element that a template repeats.
#[derive(Debug, Clone, Copy)]
pub struct Repeated {
    /// `u32::MAX` where nothing repeats.
    pub element: u32,
    pub steps: u16,
}

impl Repeated {
    const NONE: Self = Self { element: u32::MAX, steps: NO_DISTANCE };

    fn one_up(self) -> Self {
        if self.element == u32::MAX { self } else { Self { steps: self.steps.saturating_add(1), ..self } }
    }
}

/// See the module.
#[derive(Debug)]
pub struct Survey<'a> {
    pub outline: &'a Outline,
    pub declared: &'a Declared,
    pub sums: Sums,
    pub container: TextContainer,
    /// For each element, the nearest ancestor that holds more blocks; the body for the outermost.
    pub wider: Vec<u32>,
    pub inherited: Vec<Inherited>,
    /// Siblings with the same signature, and the group of each element.
    pub groups: Vec<SiblingGroup>,
    pub group_of: Vec<u32>,
    /// Blocks at the same path, and the group of each block.
    pub paths: Vec<PathGroup>,
    pub path_of: Vec<u32>,
    pub copies: Vec<Copies>,
    /// For each block, the heading above it (or itself), `u32::MAX` when there is none, and the heading after
    /// it, or the number of blocks.
    pub heading_of: Vec<u32>,
    next_heading: Vec<u32>,
    pub first_h1: Option<usize>,
    pub first_price: Option<usize>,
    pub largest_path: f32,
}

impl<'a> Survey<'a> {
    pub fn new(outline: &'a Outline, declared: &'a Declared) -> Self {
        let blocks = &outline.blocks;
        let elements = &outline.elements;
        let sums = Sums::new(blocks);
        let mut wider = vec![0u32; elements.len()];
        for (index, element) in elements.iter().enumerate().skip(1) {
            let parent = &elements[element.parent as usize];
            let same = (parent.first_block, parent.end_block) == (element.first_block, element.end_block);
            wider[index] =
                if same && element.parent != 0 { wider[element.parent as usize] } else { element.parent };
        }
        let (group_of, count) =
            group_by_key(elements.iter().map(|e| (u64::from(e.parent) << 32) | u64::from(e.signature)));
        let mut groups = vec![SiblingGroup::default(); count];
        for (at, (element, &group)) in elements.iter().zip(&group_of).enumerate() {
            let group = &mut groups[group as usize];
            group.items += 1;
            group.words += over(&sums.words, element);
            group.link_words += over(&sums.link_words, element);
            group.sentence_words += over(&sums.sentence_words, element);
            let (before, after) = (&outline.counts[at], &outline.counts[element.end as usize]);
            group.links += after[2] - before[2];
            group.images += after[3] - before[3];
            group.headings += after[4] - before[4];
            group.times += after[7] - before[7];
        }
        let (path_of, count) =
            group_by_key(blocks.iter().map(|b| u64::from(elements[b.owner as usize].path)));
        let mut paths = vec![PathGroup::default(); count];
        for ((block, &path), at) in blocks.iter().zip(&path_of).zip(0u32..) {
            paths[path as usize].add(block, at);
        }
        let container = TextContainer::new(outline, &sums, &path_of, paths.len(), &wider);
        let (text_of, count) = group_by_key(blocks.iter().map(|b| u64::from(b.tally.text_hash)));
        let copies = find_copies(&text_of, count);
        let mut survey = Self {
            outline,
            declared,
            sums,
            container,
            wider,
            inherited: Vec::with_capacity(elements.len()),
            groups,
            group_of,
            largest_path: paths.iter().map(|path| path.words).fold(0.0, f32::max),
            paths,
            path_of,
            copies,
            heading_of: Vec::with_capacity(blocks.len()),
            next_heading: vec![0; blocks.len()],
            first_h1: None,
            first_price: blocks
                .iter()
                .position(|block| block.tally.currency > 0 && !block.marks.has(Marks::HEADER | Marks::NAV)),
        };
        survey.find_headings();
        survey.inherit();
        survey
    }

    fn find_headings(&mut self) {
        let blocks = &self.outline.blocks;
        let mut heading = u32::MAX;
        for (at, block) in (0u32..).zip(blocks) {
            if block.marks.has(Marks::HEADING) {
                heading = at;
                let is_h1 = || self.outline.chain(block.lead).take(4).any(|e| e.tag == Tag::H1);
                if self.first_h1.is_none() && is_h1() {
                    self.first_h1 = Some(at as usize);
                }
            }
            self.heading_of.push(heading);
        }
        let mut next = blocks.len();
        for (at, block) in blocks.iter().enumerate().rev() {
            self.next_heading[at] = u32::try_from(next).unwrap_or(u32::MAX);
            if block.marks.has(Marks::HEADING) {
                next = at;
            }
        }
    }

    /// From the body down: parents come before their children.
    fn inherit(&mut self) {
        let h1 = self.first_h1.and_then(|h1| u32::try_from(h1).ok()).unwrap_or(u32::MAX);
        for (index, element) in (0u32..).zip(&self.outline.elements) {
            let mut own = if element.parent == index {
                Inherited {
                    main: NO_DISTANCE,
                    article: NO_DISTANCE,
                    h1: 0,
                    container: NO_DISTANCE,
                    to_container: 0,
                    heading: 0,
                    near: Repeated::NONE,
                    wide: Repeated::NONE,
                    sister: u32::MAX,
                }
            } else {
                let above = self.inherited[element.parent as usize];
                let further = |steps: u16| {
                    if steps == NO_DISTANCE { NO_DISTANCE } else { (steps + 1).min(NO_DISTANCE) }
                };
                Inherited {
                    main: further(above.main),
                    article: further(above.article),
                    h1: above.h1.saturating_add(1),
                    container: further(above.container),
                    to_container: above.to_container.saturating_add(1),
                    near: above.near.one_up(),
                    wide: above.wide.one_up(),
                    ..above
                }
            };
            match element.tag {
                Tag::Main => own.main = 0,
                Tag::Article => own.article = 0,
                tag => own.heading = tag.heading_level().unwrap_or(own.heading),
            }
            if (element.first_block..element.end_block).contains(&h1) {
                own.h1 = 0;
            }
            if index <= self.container.element && self.container.element < element.end {
                own.to_container = 0;
            }
            if index == self.container.element {
                own.container = 0;
            }
            let group = &self.groups[self.group_of[index as usize] as usize];
            if group.items >= 2 && group.words >= 6.0 {
                own.sister = index;
                if group.items >= 3 {
                    own.near = Repeated { element: index, steps: 0 };
                    if self.group(own.wide).is_none_or(|widest| group.words >= widest.words) {
                        own.wide = own.near;
                    }
                }
            }
            self.inherited.push(own);
        }
    }

    /// The group of a repeated element.
    pub fn group(&self, repeated: Repeated) -> Option<&SiblingGroup> {
        self.group_of.get(repeated.element as usize).map(|&group| &self.groups[group as usize])
    }

    /// The end of the section that a block opens or is in: at the next heading, or after `SECTION` blocks.
    pub fn section_end(&self, at: usize) -> usize {
        (self.next_heading[at] as usize).min(at + SECTION)
    }

    pub fn page_words(&self) -> f32 {
        self.sums.words.last().copied().unwrap_or(0.0)
    }

    /// Another block with the same text, if there is one.
    pub fn copy_of(&self, at: usize) -> Option<usize> {
        let other = self.copies[at].other as usize;
        (other != at).then_some(other)
    }

    /// Share of `expected` (prefix sums over blocks) in the words of the sisters of the nearest repeated
    /// element around a block, that element itself left out; -1 when nothing around it repeats.
    pub fn sibling_share(&self, at: usize, expected: &[f32]) -> f32 {
        let elements = &self.outline.elements;
        let sister = self.inherited[self.outline.blocks[at].owner as usize].sister;
        let Some(element) = elements.get(sister as usize) else { return -1.0 };
        // When a template repeats, its elements are most of their parent, so the parent is used instead.
        let parent = &elements[element.parent as usize];
        let words = over(&self.sums.words, parent) - over(&self.sums.words, element);
        if words < 0.5 {
            return -1.0;
        }
        ((over(expected, parent) - over(expected, element)) / words).clamp(0.0, 1.0)
    }
}
