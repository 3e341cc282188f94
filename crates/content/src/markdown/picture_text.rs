//! Which alternative texts of pictures are written: all that say something the text beside them does not.
//!
//! A reader wants to know what a picture shows, but not to read the title of every card twice, nor the name of
//! a product once for each of its eight photographs.

use crate::select::words::hash_words;
use html::NodeSet;
use html::dom::{Dom, NodeId, Tag};
use std::collections::HashSet;

/// Ancestors of a picture searched for the figure it is in, and nodes searched for its caption.
const MAX_FIGURE_STEPS: usize = 6;
const MAX_CAPTION_STEPS: usize = 64;
/// Nodes between a picture and the text beside it.
const MAX_STEPS_BESIDE: u32 = 40;
/// Descriptions remembered of one page.
const MAX_DESCRIPTIONS: usize = 20_000;

/// The descriptions that were written.
#[derive(Debug, Default)]
pub(super) struct PictureTexts {
    written: HashSet<Vec<u32>>,
}

impl PictureTexts {
    /// The alternative text to write for a picture: empty where the caption, the text before or after it, or
    /// an earlier picture says the same.
    pub(super) fn choose<'a>(&mut self, alt: &'a str, image: NodeId, dom: &Dom, keep: &NodeSet) -> &'a str {
        let words = to_words(alt);
        if words.is_empty() {
            return alt;
        }
        let is_repeat = !self.is_new(alt) || is_said_beside(&words, image, dom, keep);
        if is_repeat { "" } else { alt }
    }

    /// Whether no earlier picture had this description. The photographs of one thing are often numbered, so
    /// numbers do not count; nothing but a number is new every time.
    fn is_new(&mut self, alt: &str) -> bool {
        let is_number = |word: &&str| word.bytes().all(|byte| byte.is_ascii() && !byte.is_ascii_alphabetic());
        let words: Vec<&str> = alt.split_whitespace().filter(|word| !is_number(word)).collect();
        words.is_empty()
            || self.written.len() >= MAX_DESCRIPTIONS
            || self.written.insert(to_words(&words.join(" ")))
    }
}

fn to_words(text: &str) -> Vec<u32> {
    let mut words = Vec::new();
    hash_words(text, &mut words);
    words
}

/// Whether the caption of a picture, or the text just before or after it, says exactly the same.
fn is_said_beside(words: &[u32], image: NodeId, dom: &Dom, keep: &NodeSet) -> bool {
    let is_text = |id: &NodeId| keep.contains(*id) && !dom.text(*id).trim().is_empty();
    let says = |text: &str| to_words(text) == words;
    let first = dom.subtree_end(image).0;
    let last = u32::try_from(dom.len()).unwrap_or(u32::MAX).min(first + MAX_STEPS_BESIDE);
    let after = (first..last).map(NodeId).find(is_text);
    let before = (image.0.saturating_sub(MAX_STEPS_BESIDE)..image.0).rev().map(NodeId).find(is_text);
    if after.into_iter().chain(before).any(|id| says(dom.text(id))) {
        return true;
    }
    let figure = dom.ancestors(image).take(MAX_FIGURE_STEPS).find(|&node| dom.tag(node) == Tag::Figure);
    let caption = figure.and_then(|figure| {
        dom.children(figure).take(MAX_CAPTION_STEPS).find(|&node| dom.tag(node) == Tag::Figcaption)
    });
    caption.is_some_and(|caption| {
        let texts = dom.descendants(caption).take(MAX_CAPTION_STEPS).filter(is_text);
        let texts: Vec<&str> = texts.map(|id| dom.text(id)).collect();
        says(&texts.concat())
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use html::dom::Limits;

    /// The alternative texts that are written of a page.
    fn written(html: &str) -> Vec<String> {
        let dom = Dom::parse(html, &Limits::default());
        let mut keep = NodeSet::new(&dom);
        for node in dom.subtree(dom.root()) {
            keep.insert(node);
        }
        let mut texts = PictureTexts::default();
        dom.subtree(dom.root())
            .filter(|&node| dom.tag(node) == Tag::Img)
            .filter_map(|node| Some((node, dom.attr(node, html::dom::Attr::Alt)?)))
            .map(|(node, alt)| texts.choose(alt, node, &dom, &keep).to_owned())
            .collect()
    }

    #[test]
    fn the_title_of_a_card_is_not_written_twice() {
        let card = "<a href=x><div><img src=a alt='Gannet boots'></div><div><h3>Gannet Boots</h3></div></a>";
        assert_eq!(written(card), [""]);
        let other = card.replace("<h3>Gannet Boots", "<h3>Boots for the coast");
        assert_eq!(written(&other), ["Gannet boots"]);
    }

    #[test]
    fn a_word_of_a_long_text_beside_it_is_no_repeat() {
        let html =
            "<img src=a alt='A gannet'><p>In spring a gannet returns to the rock where it was born.</p>";
        assert_eq!(written(html), ["A gannet"]);
    }

    #[test]
    fn the_photographs_of_one_thing_are_described_once() {
        let html = "<img src=a alt='Camp stove 1'><img src=b alt='Camp stove 2'><img src=c alt='A tent'>\
                    <img src=d alt='2019'><img src=e alt='2020'>";
        assert_eq!(written(html), ["Camp stove 1", "", "A tent", "2019", "2020"]);
    }

    #[test]
    fn a_caption_may_be_the_description() {
        let figure = |caption: &str| {
            written(&format!(
                "<figure><img src=a alt='The dive of a gannet'><figcaption>{caption}</figcaption></figure>"
            ))
        };
        assert_eq!(figure("The <b>dive</b> of a gannet."), [""]);
        assert_eq!(figure("The <b>dive</b> of a gannet by Ann"), ["The dive of a gannet"]);
    }
}
