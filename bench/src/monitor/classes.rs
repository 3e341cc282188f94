//! What is a change of a page of documentation, by a rule that was written before it was run, and that uses none of the
//! code that it judges.
//!
//! 1. The main part of a page is its body without what is hidden, elements `nav`, `footer`, `aside` and `header` (the
//!    last outside of `main`, `article` and `section`), the roles of the same meaning, and elements with a word of
//!    [`AROUND`] in their class or id. What holds a heading and more than half of all words is none of these, whatever
//!    its name: in pages of one theme the content lies in `wy-nav-content` (added after the first run, on pages that
//!    no figure is given for as unseen).
//! 2. Its words are letters and digits, in order; what stands between them does not count, nor does case.
//! 3. The number of the release itself is taken out of both pages (`2.1.8` and `2.1.9`), and its first two parts where
//!    these differ.
//! 4. A block of at most [`MAX_STAMP_WORDS`] words with one of [`STAMPS`] loses its numbers and the names of months and
//!    days: "Last updated on Nov 17, 2026".
//!
//! Pages whose words then differ have changed. The others are named by what differs: nothing that is read, only what
//! stands around the main part, or only versions and dates.

use html::dom::{Attr, Dom, NodeId, Tag};
use html::visible::is_hidden;

/// Words in a class or id that say an element is not the content of its page.
const AROUND: &str = "nav navigation navbar navheader navfooter sidebar sphinxsidebar related breadcrumb breadcrumbs \
    footer menu search toolbar skip clearer nvgtn hidden toctitle tools subnav topnav bottomnav langs toplang toc \
    contents localtoc header banner masthead pagination prevnext headerlink";
const STAMPS: &str = "updated modified generated created built published copyright version release revision \
    changed date";
const MAX_STAMP_WORDS: usize = 25;
const CALENDAR: &str = "jan feb mar apr may jun jul aug sep oct nov dec mon tue wed thu fri sat sun";

/// What became of a page between two releases.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Class {
    Change,
    SameWords,
    OnlyAround,
    OnlyVersionsAndDates,
}

/// The classes of both pages of a pair, each with the number of its release.
pub fn classify((before, version_before): (&Dom, &str), (after, version_after): (&Dom, &str)) -> Class {
    let (blocks_before, blocks_after) = (main_blocks(before), main_blocks(after));
    if joined(&blocks_before) == joined(&blocks_after) {
        let is_same = visible_words(before) == visible_words(after);
        return if is_same { Class::SameWords } else { Class::OnlyAround };
    }
    let short = |version: &str| version.split('.').take(2).collect::<Vec<_>>().join(".");
    let (short_before, short_after) = (short(version_before), short(version_after));
    let is_minor = short_before != short_after;
    let versions = |version: &str, short: &str| {
        let mut versions = vec![version.to_lowercase()];
        versions.extend(is_minor.then(|| short.to_lowercase()));
        versions
    };
    let before = without_stamps(&blocks_before, &versions(version_before, &short_before));
    let after = without_stamps(&blocks_after, &versions(version_after, &short_after));
    if before == after { Class::OnlyVersionsAndDates } else { Class::Change }
}

/// All words that a page shows, as one text.
pub fn visible_words(dom: &Dom) -> String {
    joined(&blocks(dom, |_| false))
}

fn main_blocks(dom: &Dom) -> Vec<String> {
    blocks(dom, |id| is_around(dom, id) && !holds_most(dom, id))
}

/// Whether an element holds a heading and more than half of the text of its page.
fn holds_most(dom: &Dom, id: NodeId) -> bool {
    let Some(body) = dom.body() else { return false };
    let bytes = |id: NodeId| {
        let nodes = id.0..dom.subtree_end(id).0;
        nodes.map(|at| dom.text(NodeId(at)).trim().len()).sum::<usize>()
    };
    let mut inner = (id.0..dom.subtree_end(id).0).map(NodeId);
    let headings = [Tag::H1, Tag::H2, Tag::H3];
    bytes(id) * 2 > bytes(body) && inner.any(|at| dom.is_element(at) && headings.contains(&dom.tag(at)))
}

/// The visible text of a page, block by block, without what `leaves_out` names.
fn blocks(dom: &Dom, leaves_out: impl Fn(NodeId) -> bool) -> Vec<String> {
    let mut blocks = vec![String::new()];
    let Some(body) = dom.body() else { return blocks };
    let (mut at, end) = (body, dom.subtree_end(body));
    while at < end {
        if dom.is_element(at) && at != body && (is_hidden(dom, at) || leaves_out(at)) {
            at = dom.subtree_end(at);
            continue;
        }
        if dom.tag(at).is_block() {
            blocks.push(String::new());
        }
        if let Some(block) = blocks.last_mut() {
            block.push_str(dom.text(at));
        }
        at.0 += 1;
    }
    blocks
}

fn is_around(dom: &Dom, id: NodeId) -> bool {
    let is_part_of_text =
        || [Tag::Main, Tag::Article, Tag::Section].into_iter().any(|tag| dom.closest(id, tag).is_some());
    let by_tag = match dom.tag(id) {
        Tag::Nav | Tag::Footer | Tag::Aside | Tag::Noscript => true,
        Tag::Header => !is_part_of_text(),
        _ => false,
    };
    let roles = ["navigation", "search", "contentinfo", "complementary", "banner"];
    let names = [Attr::Class, Attr::Id].into_iter().filter_map(|name| dom.attr(id, name));
    by_tag
        || dom.attr(id, Attr::Role).is_some_and(|role| roles.contains(&role))
        || names
            .flat_map(|value| value.split([' ', '-', '_']))
            .any(|word| AROUND.split(' ').any(|around| around == word))
}

/// Letters and digits only.
fn letters(text: &str) -> impl Iterator<Item = char> + '_ {
    text.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase)
}

fn joined(blocks: &[String]) -> String {
    blocks.iter().flat_map(|block| letters(block)).collect()
}

fn without_stamps(blocks: &[String], versions: &[String]) -> String {
    blocks.iter().map(|block| without_stamp(block, versions)).collect()
}

fn without_stamp(block: &str, versions: &[String]) -> String {
    let lower = block.to_lowercase();
    let text = versions.iter().fold(lower, |text, version| text.replace(version.as_str(), ""));
    let words: Vec<String> = text.split_whitespace().map(|word| letters(word).collect()).collect();
    let is_stamp = words.len() <= MAX_STAMP_WORDS
        && (text.contains('©') || words.iter().any(|word| STAMPS.split(' ').any(|stamp| stamp == word)));
    let is_moment = |word: &str| {
        word.contains(|c: char| c.is_ascii_digit())
            || (word.len() >= 3 && CALENDAR.split(' ').any(|name| word.starts_with(name)))
    };
    words.iter().filter(|word| !is_stamp || !is_moment(word)).map(String::as_str).collect()
}
