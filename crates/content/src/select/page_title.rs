//! Finds the block that is the page's title: the main heading, or the text that repeats the page's `title`.

use super::marks::Marks;
use super::outline::Block;
use super::survey::Survey;
use html::dom::Tag;

/// Ancestors of a title's text searched for the heading.
const MAX_TITLE_STEPS: usize = 4;
/// A longer text is no title.
const MAX_TITLE_WORDS: u32 = 40;
/// A text that is no heading must have this many words to be taken for the title.
const MIN_PLAIN_TITLE_WORDS: u32 = 3;
/// A main heading with this share of words in the page's `title` is preferred to one that has fewer.
const MIN_TITLE_SHARE: f32 = 0.5;

/// The block of the title, not in the page's navigation, and not the site's name with a link to the home
/// page. Of equally good ones the first.
pub fn find_title(survey: &Survey) -> Option<usize> {
    let mut best = (0, None);
    for (at, block) in survey.outline.blocks.iter().enumerate() {
        if block.tally.words > MAX_TITLE_WORDS || block.marks.has(Marks::NOT_MAIN_CONTENT) {
            continue;
        }
        let rank = rank(survey, block);
        if rank > best.0 {
            best = (rank, Some(at));
        }
    }
    best.1
}

fn rank(survey: &Survey, block: &Block) -> u8 {
    let tally = &block.tally;
    let own = block.marks.has(Marks::MAIN | Marks::ARTICLE) || tally.link_words * 2 < tally.words;
    let is_heading = block.marks.has(Marks::HEADING);
    if !own || !(is_heading || tally.link_words == 0) {
        return 0;
    }
    let title = survey.declared.any_title();
    let repeats = title.is_repeated_by(tally.text_hash, tally.words);
    let main = is_heading
        && survey.outline.chain(block.lead).take(MAX_TITLE_STEPS).any(|element| element.tag == Tag::H1);
    if main {
        let hashes = &survey.outline.hashes[block.first_hash as usize..block.end_hash as usize];
        match (repeats, title.share(hashes) >= MIN_TITLE_SHARE) {
            (true, _) => 5,
            (_, true) => 4,
            _ => 2,
        }
    } else if repeats && is_heading {
        3
    } else {
        u8::from(repeats && tally.words >= MIN_PLAIN_TITLE_WORDS)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::select::declared::Declared;
    use crate::select::outline::Outline;
    use html::dom::{Dom, Limits};

    fn title(html: &str) -> Option<usize> {
        let dom = Dom::parse(html, &Limits::default());
        let (outline, declared) = (Outline::from_dom(&dom), Declared::from_dom(&dom));
        find_title(&Survey::new(&outline, &declared))
    }

    #[test]
    fn a_lower_heading_that_repeats_the_title_is_it() {
        let head = "<title>Announcing Gannet 1.70.0 | Seabird Blog</title>";
        let post = "<header><h2>Announcing Gannet 1.70.0</h2></header><p>Today we publish.</p>";
        assert_eq!(title(&format!("{head}<nav><a href=/>Seabird Blog</a></nav>{post}")), Some(1));
        assert_eq!(title(&format!("{head}<h1>Welcome</h1>{post}")), Some(1), "rather than another h1");
        assert_eq!(title(&format!("{head}<h2>Seabird Blog</h2><p>x</p>")), None, "not the site's name");
        let linked =
            "<h1><a href=/>Seabird Blog</a></h1><div class=name>Announcing Gannet 1.70.0</div><p>Text</p>";
        assert_eq!(title(&format!("{head}{linked}")), Some(1), "not the link to the home page");
    }

    #[test]
    fn a_page_without_title_and_headings_has_the_one_that_a_class_names() {
        let text = "[an error occurred]<div class=www_sectiontitle>Meetings of gannet watchers</div><p>Upcoming:</p>";
        assert_eq!(title(text), Some(1));
        assert_eq!(title(&format!("{text}<h2>October</h2>")), None, "it has headings");
        assert_eq!(
            title(&format!("<div class=title>{}</div><p>x", "word ".repeat(16))),
            None,
            "no title is so long"
        );
    }

    #[test]
    fn the_main_heading_is_the_title_whatever_the_head_says() {
        assert_eq!(title("<title>Other words</title><h1>Gannets</h1><p>They dive.</p>"), Some(0));
        assert_eq!(title("<p>Text alone</p>"), None);
    }
}
