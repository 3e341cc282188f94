//! Keeps together what belongs together: the rest of a table or list that is mostly kept, code, tables and
//! captions between kept texts, a paragraph among kept ones, the last posts of a thread, all of a manual, the
//! members of an API, the list below a kept heading, the price of a product, the title above the text.
//!
//! The model classifies block by block and may drop a single line of an example. Blocks are added here;
//! dropped are only navigation beside content, headings of nothing, and rows of which little is left.

use super::marks::Marks;
use super::members::keep_members;
use super::outline::{Block, Outline};
use super::page_title::find_title;
use super::price::keep_price;
use super::reference_page::keep_document;
use super::same_template::keep_alike;
use super::sections::{drop_navigation, keep_announced, keep_only_list};
use super::survey::Survey;
use super::whole_lists::{complete_data_tables, complete_lists, complete_rows, table_of};
use html::dom::Tag;

/// Blocks allowed between a title and its text.
const MAX_TITLE_DISTANCE: usize = 40;

/// Adds the blocks to `kept` that belong to kept ones.
pub fn keep_together(survey: &Survey, chances: &[f32], kept: &mut [bool]) {
    let outline = survey.outline;
    let title = find_title(survey);
    drop_navigation(outline, kept);
    keep_alike(survey, chances, kept);
    keep_document(outline, chances, kept);
    keep_members(outline, kept);
    complete_rows(outline, kept);
    complete_data_tables(outline, kept);
    complete_lists(outline, kept);
    join_sibling_paragraphs(outline, kept);
    fill_gaps(outline, kept);
    keep_announced(survey, chances, title, kept);
    if let Some(title) = title {
        keep_only_list(outline, title, kept);
        kept[title] |= kept.iter().skip(title).take(MAX_TITLE_DISTANCE).any(|kept| *kept);
    }
    keep_price(survey, title, kept);
}

/// Keeps prose whose sibling paragraphs are nearly all kept.
fn join_sibling_paragraphs(outline: &Outline, kept: &mut [bool]) {
    let parent_of = |block: &Block| {
        let owner = &outline.elements[block.owner as usize];
        (owner.tag == Tag::P).then_some(owner.parent as usize)
    };
    // Words of the paragraphs directly below each element, and how many of them are kept.
    let mut words = vec![(0u64, 0u64); outline.elements.len()];
    for (block, &kept) in outline.blocks.iter().zip(&*kept) {
        if let Some(parent) = parent_of(block) {
            words[parent].0 += u64::from(block.tally.words);
            words[parent].1 += if kept { u64::from(block.tally.words) } else { 0 };
        }
    }
    for (block, kept) in outline.blocks.iter().zip(kept).filter(|(_, kept)| !**kept) {
        let tally = &block.tally;
        let prose = 2 * tally.long_sentence_words >= tally.words && 4 * tally.link_words < tally.words;
        if prose
            && !block.marks.has(Marks::NOT_MAIN_CONTENT | Marks::FORM)
            && let Some(parent) = parent_of(block)
        {
            let (all, held) = words[parent];
            *kept = 5 * held > 4 * all;
        }
    }
}

/// Keeps code, tables and captions between kept texts.
fn fill_gaps(outline: &Outline, kept: &mut [bool]) {
    let goes_along = |block: &Block| {
        (block.marks.has(Marks::CODE | Marks::FIGURE) || table_of(outline, block).is_some())
            && !block.marks.has(Marks::NOT_MAIN_CONTENT | Marks::FORM)
            && 2 * block.tally.link_words <= block.tally.words
    };
    // Where the stretch of blocks that may be filled begins; none while it does not follow a kept one.
    let mut start = None;
    for at in 0..kept.len() {
        if kept[at] {
            if let Some(start) = start {
                kept[start..at].fill(true);
            }
            start = Some(at + 1);
        } else if !goes_along(&outline.blocks[at]) {
            start = None;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::select::declared::Declared;
    use html::dom::{Dom, Limits};

    /// What is kept of a page when the model keeps `kept`, sure of that and unsure of nothing else.
    fn mended(html: &str, kept: Vec<bool>) -> Vec<bool> {
        let chances: Vec<f32> = kept.iter().map(|kept| if *kept { 0.9 } else { 0.01 }).collect();
        mended_by(html, &chances, kept)
    }

    fn mended_by(html: &str, chances: &[f32], mut kept: Vec<bool>) -> Vec<bool> {
        let dom = Dom::parse(html, &Limits::default());
        let (outline, declared) = (Outline::from_dom(&dom), Declared::from_dom(&dom));
        assert_eq!(outline.blocks.len(), kept.len());
        keep_together(&Survey::new(&outline, &declared), chances, &mut kept);
        kept
    }

    #[test]
    fn a_table_mostly_kept_is_kept_whole() {
        let table = "<table><tr><th>Bird<th>Span<tr><td>Gannet<td>1.8 m<tr><td>Puffin<td>0.6 m</table>";
        let html = format!("<p>before</p>{table}<p>between</p>{table}");
        assert_eq!(
            mended(&html, vec![true, true, true, false, false, false, true, false]),
            [true, true, true, true, false, false, true, false]
        );
    }

    #[test]
    fn a_table_or_a_caption_between_kept_texts_is_kept() {
        let html = "<p>See:</p><table><caption>Span</caption><tr><td>Gannet<td>1.8 m</table><p>And:</p>\
                    <figure><img src=a><figcaption>A dive</figcaption></figure><p>End.</p><figure><figcaption>x</figure>";
        let expected = [true, true, true, true, true, true, false];
        assert_eq!(mended(html, vec![true, false, false, true, false, true, false]), expected);
        let menu = "<p>See:</p><table><tr><td><a href=a>Home</a><td><a href=b>Shop</a></table><p>And:</p>";
        assert_eq!(mended(menu, vec![true, false, true]), [true, false, true], "a row of links is a menu");
    }

    #[test]
    fn a_paragraph_is_kept_with_its_fellows() {
        let prose = |words: &str| {
            format!("<p>The birds dive from thirty metres into the sea {words} and come up again.</p>")
        };
        let five: String = ["here", "there", "at dawn", "at noon", "at dusk", "at night"].map(prose).concat();
        let html = format!("<article>{five}<p>Read more</p></article><div>{}</div>", prose("elsewhere"));
        let mut kept = vec![true; 8];
        (kept[5], kept[6], kept[7]) = (false, false, false);
        let expected = [true, true, true, true, true, true, false, false];
        assert_eq!(
            mended(&html, kept),
            expected,
            "prose of the same piece, no short line and no other piece"
        );
    }

    #[test]
    fn the_title_comes_with_its_text() {
        let html = "<h1><a href=/>Site</a></h1><nav><h1>Menu</h1></nav><h1>Gannets</h1><p>By Ann</p><p>They dive.</p>";
        assert_eq!(
            mended(html, vec![false, false, false, false, true]),
            [false, false, true, false, true],
            "neither the site's name nor the menu"
        );
        assert_eq!(mended(html, vec![false; 5]), [false; 5], "no text, no title");
    }

    #[test]
    fn code_between_kept_texts_is_kept() {
        let html =
            "<p>Run this:</p><pre>make</pre><pre>make test</pre><p>Then wait.</p><pre>ad()</pre><p>menu</p>";
        assert_eq!(
            mended(html, vec![true, false, true, true, false, false]),
            [true, true, true, true, false, false]
        );
    }

    #[test]
    fn the_last_posts_of_a_thread_are_kept_with_the_first() {
        let post = |number: usize| {
            format!(
                "<div class=post><div class=by>By Ann, number {number}</div><div class=text><p>The birds dive \
                 from thirty metres into the sea, as was said in {number}.</p></div><a href=r>Reply</a></div>"
            )
        };
        let html: String = (0..20).map(post).collect();
        let (kept, chances): (Vec<bool>, Vec<f32>) = (0..60)
            .map(|block| match block % 3 {
                2 => (false, 0.02),
                _ if block < 30 => (true, 0.8),
                _ => (false, 0.2),
            })
            .unzip();
        let expected: Vec<bool> = (0..60).map(|block| block % 3 != 2).collect();
        assert_eq!(mended_by(&html, &chances, kept), expected, "every post, no button");
        let none = vec![false; 60];
        assert_eq!(mended_by(&html, &chances, none.clone()), none, "nothing kept, nothing added");
    }

    #[test]
    fn a_manual_is_kept_to_its_end() {
        let entry = |name: usize| {
            format!(
                "<section><h3>dive_{name}</h3><p>Dives {name} metres into the sea.</p><pre>dive({name})</pre></section>"
            )
        };
        let html = format!(
            "<nav><a href=/>Home</a></nav><div class=body>{}</div><form><p>Tell us what you think</p></form>",
            (0..6).map(entry).collect::<String>()
        );
        let (kept, chances): (Vec<bool>, Vec<f32>) = (0..20)
            .map(|block| match block {
                0 | 19 => (false, 0.3),
                1..=12 => (true, 0.8),
                _ => (false, 0.2),
            })
            .unzip();
        let expected: Vec<bool> = (0..20).map(|block| (1..19).contains(&block)).collect();
        assert_eq!(mended_by(&html, &chances, kept), expected);
    }

    #[test]
    fn cells_with_boxes_and_pictures_are_kept_with_their_row() {
        let row = |name: &str| {
            format!(
                "<tr><td><img src=i></td><td><div><a href=t>{name}</a> by Ann</div></td><td><div>12</div></td>\
                 <td><p>34 views</p></td></tr>"
            )
        };
        let html = format!("<table>{}{}{}</table>", row("Ringing gannets"), row("On puffins"), row("Nests"));
        let mut kept = vec![false; 9];
        (kept[0], kept[3], kept[6]) = (true, true, true);
        assert_eq!(mended(&html, kept), [true; 9], "a table mostly kept");
        let mut kept = vec![false; 9];
        kept[0] = true;
        let mut expected = vec![false; 9];
        expected[..3].fill(true);
        assert_eq!(mended(&html, kept), expected, "a row mostly kept");
        let mut kept = vec![false; 9];
        kept[1] = true;
        assert_eq!(mended(&html, kept), [false; 9], "a number without its row is wrong data");
    }

    #[test]
    fn a_term_is_kept_with_its_definition() {
        let html = "<dl><dt>dive(depth, speed=None)<a href=s>[source]</a></dt><dd><p>Dives to a depth in metres, and returns \
                    the number of fish.</p><dl><dt>depth</dt><dt>speed</dt><dd>Metres and metres per second, in floats.</dd></dl>\
                    </dd><dt>Other</dt><dd>x</dd></dl>";
        let kept = vec![false, true, false, false, true, false, false];
        assert_eq!(mended(html, kept), [true; 7], "a list mostly kept");
        let kept = vec![false, false, false, false, true, false, false];
        assert_eq!(
            mended(html, kept),
            [true, false, true, true, true, false, false],
            "terms of what is kept"
        );
    }

    #[test]
    fn a_list_of_links_that_is_all_there_is_under_the_title_is_content() {
        let list = "<ul><li><a href=1>1. Of birds</a></li><li><a href=2>2. Of nests</a></li></ul>";
        let html = format!(
            "<nav>{list}</nav><main><article><h1>The law of seabirds</h1><nav>{list}</nav></article></main>"
        );
        let expected = [false, false, true, true, true];
        assert_eq!(mended(&html, vec![false; 5]), expected, "the list in the article, not the menu");
        let html =
            html.replace("</nav></article>", "</nav><p>It is short and has no chapters.</p></article>");
        let expected = [false, false, true, false, false, true];
        assert_eq!(
            mended(&html, vec![false, false, false, false, false, true]),
            expected,
            "beside text it is a table of contents"
        );
    }

    #[test]
    fn a_heading_is_kept_with_its_list_or_not_at_all() {
        let html = "<h1>Dive</h1><p>To dive is to go below the water head first.</p><h2>See also</h2><ul>\
                    <li><a href=a>Swim</a></li><li><a href=b>Float</a></li></ul><h2>More stories</h2><ul>\
                    <li><a href=c>Ten boats</a></li></ul>";
        let kept = vec![true, true, true, false, false, true, false];
        let chances = [0.9, 0.9, 0.7, 0.4, 0.3, 0.6, 0.02];
        assert_eq!(mended_by(html, &chances, kept), [true, true, true, true, true, false, false]);
    }

    #[test]
    fn the_menu_of_a_short_page_is_dropped() {
        let menu = "<nav id=sidebar><ol><li><a href=1>Foreword</a></li><li><a href=2>Getting started</a></li></ol></nav>";
        let text = "<main><h1>Getting started</h1><p>In this chapter we install it and write a first program, \
                    which says hello and then ends without a word of thanks.</p></main>";
        assert_eq!(mended(&format!("{menu}{text}"), vec![true; 4]), [false, false, true, true]);
        assert_eq!(mended(menu, vec![true; 2]), [true; 2], "all there is");
    }

    #[test]
    fn the_members_of_an_api_are_kept_with_what_is_said_of_them() {
        let member = |name: &str, says: &str| {
            format!(
                "<div class=row><div><a href=m>{name}</a></div><div>Link copied</div><div class=own><button>jvm</button>\
                 <div class='symbol monospace'>fun <a href=m>{name}</a>(): <a href=l>List</a></div>{says}</div></div>"
            )
        };
        let html = format!(
            "<h1>Jar</h1><div class='symbol monospace'>interface Jar</div><p>Keeps cookies.</p><button>Members</button>\
             <h2>Functions</h2><div class=table>{}{}</div>",
            member("load", "<p>Loads them.</p>"),
            member("save", "")
        );
        let dom = Dom::parse(&html, &Limits::default());
        let blocks = Outline::from_dom(&dom).blocks.len();
        let kept: Vec<bool> = (0..blocks).map(|at| at < 3).collect();
        let expected =
            [true, true, true, false, true, false, false, false, true, true, false, false, false, true];
        assert_eq!(
            mended(&html, kept),
            expected,
            "heading, signatures and text, no buttons and no links alone"
        );
        assert_eq!(mended(&html, vec![false; blocks]), vec![false; blocks], "nothing kept, nothing added");
    }

    #[test]
    fn the_attributes_of_a_product_are_kept() {
        let html = "<script type=application/ld+json>{\"@type\":\"Product\"}</script><div><h1>Pot</h1>\
                    <div class=price>12 EUR</div><p>Holds soup.</p><div class=meta><div>Volume:</div><div>\
                    <div>Volume:</div><div>0.4 l</div></div></div><div>Share:</div><div><a href=x>here</a></div></div>\
                    <div><div>Call:</div><div>012 345</div></div>";
        let kept = vec![true, false, true, false, false, false, false, false, false, false];
        let expected = [true, true, true, false, true, true, false, false, false, false];
        assert_eq!(mended(html, kept), expected, "the label once, no links, nothing outside of the product");
    }

    #[test]
    fn the_price_of_a_product_is_kept() {
        let product = "<script type=application/ld+json>{\"@type\":\"Product\"}</script><h1>Boots</h1>\
                       <div class=card-price><div class=old-price>120 BYN</div><div>99.50 BYN</div></div><p>Boots for the sea.</p>";
        let card = "<li><a href=x><b>Hat</b></a><span class=price>10 BYN</span></li>";
        let html = format!("{product}<ul>{}</ul>", card.repeat(3));
        let expected = [true, true, true, true, false, false, false];
        assert_eq!(mended(&html, vec![false, false, false, true, false, false, false]), expected);
        let article = html.replace("Product", "Article");
        assert_eq!(
            mended(&article, vec![false, false, false, true, false, false, false]),
            [true, false, false, true, false, false, false]
        );
    }
}
