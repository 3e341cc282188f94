//! Which element holds the running text of a page, and where that text begins and ends.
//!
//! A paragraph gives points to the elements around it, in the manner of Readability: for its length, its
//! commas, and less for each step up. The element with most points is the container; inside it the template
//! with most running text is the body, and its last block is where an article ends. Only describes: what
//! follows from it is learnt.

use super::feature_row::ratio;
use super::marks::Marks;
use super::outline::Outline;
use super::sums::{Sums, over};

/// Shorter texts give no points.
const MIN_WORDS: u32 = 6;
/// Words that are worth a point, and the points that length can give at most.
const WORDS_PER_POINT: f32 = 17.0;
const MAX_LENGTH_POINTS: f32 = 3.0;
/// Shares of the points by steps up from the paragraph.
const ANCESTOR_SHARES: [f32; 5] = [1.0, 0.5, 1.0 / 6.0, 1.0 / 9.0, 1.0 / 12.0];
/// Parts of a page whose text gives no points.
const NO_POINTS: u32 = Marks::HEADING | Marks::BUTTON | Marks::SELECT | Marks::NAV | Marks::DIALOG;

/// See the module.
#[derive(Debug, Default)]
pub struct TextContainer {
    /// Points of each element.
    points: Vec<f32>,
    /// The element with most points; the body when nothing has any.
    pub element: u32,
    /// The path of most running text in it, `u32::MAX` where there is none.
    pub body_path: u32,
    /// The first and the last block of running text at that path.
    pub body_start: usize,
    pub body_end: usize,
}

impl TextContainer {
    pub fn new(outline: &Outline, sums: &Sums, path_of: &[u32], paths: usize, wider: &[u32]) -> Self {
        let elements = &outline.elements;
        let mut points = vec![0.0f32; elements.len()];
        for block in &outline.blocks {
            let tally = &block.tally;
            if tally.words < MIN_WORDS || 2 * tally.link_words > tally.words || block.marks.has(NO_POINTS) {
                continue;
            }
            let length = (tally.words as f32 / WORDS_PER_POINT).min(MAX_LENGTH_POINTS);
            let worth = 1.0 + tally.commas as f32 + length;
            let mut index = elements[block.owner as usize].parent;
            for share in ANCESTOR_SHARES {
                points[index as usize] += share * worth;
                let parent = elements[index as usize].parent;
                if parent == index {
                    break;
                }
                index = parent;
            }
        }
        let (mut element, mut most) = (0, 0.0);
        for ((points, holder), index) in points.iter_mut().zip(elements).zip(0u32..) {
            *points *= 1.0 - ratio(over(&sums.link_words, holder), over(&sums.words, holder));
            if *points > most {
                (element, most) = (index, *points);
            }
        }
        let mut container =
            Self { points, element, body_path: u32::MAX, body_start: usize::MAX, body_end: usize::MAX };
        container.find_body(outline, path_of, paths, wider);
        container
    }

    /// The running text: inside the container, then at the same path in the next wider element too, since an
    /// article is often split into several boxes by what is set between them.
    fn find_body(&mut self, outline: &Outline, path_of: &[u32], paths: usize, wider: &[u32]) {
        let Some(element) = outline.elements.get(self.element as usize) else { return };
        let mut sentence_words = vec![0u32; paths];
        let mut most = 0;
        for at in element.first_block as usize..element.end_block as usize {
            let words = &mut sentence_words[path_of[at] as usize];
            *words += outline.blocks[at].tally.long_sentence_words;
            if *words > most {
                (most, self.body_path) = (*words, path_of[at]);
            }
        }
        let around = &outline.elements[wider[self.element as usize] as usize];
        let range = around.first_block as usize..around.end_block as usize;
        for (at, (&path, block)) in
            range.clone().zip(path_of[range.clone()].iter().zip(&outline.blocks[range]))
        {
            if path == self.body_path && block.tally.long_sentence_words > 0 {
                self.body_start = self.body_start.min(at);
                self.body_end = at;
            }
        }
    }

    /// Points of an element against those of the container.
    #[inline]
    pub fn share(&self, element: u32) -> f32 {
        ratio(self.points[element as usize], self.points[self.element as usize])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::select::declared::Declared;
    use crate::select::survey::Survey;
    use html::dom::{Dom, Limits};

    #[test]
    fn the_container_is_the_article_and_its_body_ends_before_the_teasers() {
        let prose =
            "<p>The birds dive from thirty metres, fold their wings, and meet the water, as ever.</p>";
        let teaser = "<div class=card><h3><a href=a>Another story of the day</a></h3></div>";
        let html = format!(
            "<div class=menu><a href=a>Home</a></div><div class=story>{}{}</div><div>{}</div>",
            prose.repeat(4),
            teaser.repeat(3),
            teaser.repeat(3)
        );
        let dom = Dom::parse(&html, &Limits::default());
        let (outline, declared) = (Outline::from_dom(&dom), Declared::from_dom(&dom));
        let survey = Survey::new(&outline, &declared);
        let container = &survey.container;
        let element = &outline.elements[container.element as usize];
        assert_eq!((element.first_block, element.end_block), (1, 8));
        assert_eq!((container.body_start, container.body_end), (1, 4));
    }

    #[test]
    fn a_page_without_text_has_the_body_as_container() {
        let dom = Dom::parse("<p>x</p>", &Limits::default());
        let (outline, declared) = (Outline::from_dom(&dom), Declared::from_dom(&dom));
        let survey = Survey::new(&outline, &declared);
        assert_eq!((survey.container.element, survey.container.body_path), (0, u32::MAX));
    }
}
