//! A bar with a notice that a site shows on every page ("Important customer notice") must not become the page:
//! on a page that is a list, an archive or a contact sheet it is the only running text, which is what the
//! model looks for.
//!
//! A bar is known by its class or id, and only where it is small, stands outside of what the page marks as its
//! content and does not hold the title. Where such bars are most of what was chosen, the choice is made again
//! as if they were not there; where that comes to nothing either, the page is what the notice says.

use super::marks::Marks;
use super::outline::{Block, Element, Outline};
use super::page_title::find_title;
use super::survey::Survey;
use super::words::hash_word;
use html::dom::{NodeId, Tag};

/// What sites call such bars.
const BAR_NAMES: [&str; 10] = [
    "alert",
    "alerts",
    "announcement",
    "announcements",
    "announce",
    "banner",
    "notice",
    "notices",
    "notification",
    "notifications",
];
/// A longer text is no bar.
const MAX_BAR_WORDS: u32 = 160;
/// A page with so many chosen words besides bars and headings has content of its own, if they are more than
/// those of the bars.
const MIN_OWN_WORDS: u32 = 15;
/// Fewer words are no content to take instead.
const MIN_OTHER_WORDS: u32 = 8;
/// Parts of a page that are never its content, whatever is missing.
const NEVER: u32 = Marks::NOT_MAIN_CONTENT | Marks::HEADER | Marks::FORM | Marks::BUTTON | Marks::SELECT;
/// Blocks less likely to be content are left out when a list is taken for want of anything better.
const MIN_LIST_PROBABILITY: f32 = 0.02;

/// The bars of a page where they are most of what was chosen, in document order.
pub fn bars_chosen_as_page(survey: &Survey, kept: &[bool]) -> Vec<NodeId> {
    let outline = survey.outline;
    let names = BAR_NAMES.map(hash_word);
    let title = find_title(survey);
    let mut bars = Vec::new();
    let mut in_bar = vec![false; kept.len()];
    let mut end = 0;
    for (index, element) in (0u32..).zip(&outline.elements) {
        if index < end || !outline.has_token(element, &names) || !may_be_bar(outline, index, element, title) {
            continue;
        }
        end = element.end;
        bars.push(element.node);
        in_bar[outline.blocks_of(element)].fill(true);
    }
    let chosen = |wanted: bool| -> u32 {
        let blocks = outline.blocks.iter().zip(kept).zip(&in_bar);
        let blocks = blocks.filter(|((block, kept), in_bar)| {
            **kept && **in_bar == wanted && (wanted || !block.marks.has(Marks::HEADING))
        });
        blocks.map(|((block, _), _)| block.tally.words).sum()
    };
    let in_bars = chosen(true);
    if in_bars == 0 || chosen(false) >= in_bars.max(MIN_OWN_WORDS) {
        bars.clear();
    }
    bars
}

fn may_be_bar(outline: &Outline, index: u32, element: &Element, title: Option<usize>) -> bool {
    let blocks = outline.blocks_of(element);
    let words: u32 = outline.blocks[blocks.clone()].iter().map(|block| block.tally.words).sum();
    let holds_content = || {
        outline.elements[index as usize..element.end as usize]
            .iter()
            .any(|inner| matches!(inner.tag, Tag::Main | Tag::Article | Tag::H1 | Tag::Body))
    };
    !element.marks.has(Marks::MAIN | Marks::ARTICLE | Marks::TABLE | Marks::CODE)
        && (1..=MAX_BAR_WORDS).contains(&words)
        && title.is_none_or(|title| !blocks.contains(&title))
        && !holds_content()
}

/// What to keep of a page without its bars; none where there is nothing to take instead of them.
pub fn choose_without_bars(survey: &Survey, chances: &[f32], kept: Vec<bool>) -> Option<Vec<bool>> {
    let outline = survey.outline;
    let title = find_title(survey);
    let in_main = |block: &Block| block.marks.has(Marks::MAIN | Marks::ARTICLE);
    let has_main = outline.blocks.iter().any(|block| in_main(block) && !block.marks.has(NEVER));
    // Without a title and without an element for the content nothing says what the page is about.
    let belongs = |at: usize| {
        let block = &outline.blocks[at];
        if has_main { in_main(block) } else { title.is_some_and(|title| at > title) }
    };
    let words = |kept: &[bool]| -> u32 {
        let blocks = (0..kept.len()).filter(|&at| kept[at] && belongs(at) && Some(at) != title);
        blocks.map(|at| outline.blocks[at].tally.words).sum()
    };
    if words(&kept) >= MIN_OTHER_WORDS {
        return Some(kept);
    }
    let list: Vec<bool> = (0..kept.len())
        .map(|at| {
            Some(at) == title
                || kept[at]
                || (belongs(at)
                    && !outline.blocks[at].marks.has(NEVER)
                    && (has_main || chances[at] >= MIN_LIST_PROBABILITY))
        })
        .collect();
    (words(&list) >= MIN_OTHER_WORDS).then_some(list)
}

#[cfg(test)]
mod tests {
    use crate::select::tests::kept;

    const BAR: &str = "<div class=banner-alert><div class=container><h3>Important Customer Notice</h3><p>We have made the hard \
        decision to pause the manufacturing of our birds, and all deposits will be refunded in full. Please read the \
        letter of our founders for more about what this means for you, and write to us with any question.</p></div></div>";
    const MENU: &str = "<header><a href=/>Seabirds</a><nav><ul><li><a href=/a>About</a><li><a href=/b>Blog</a><li><a href=/s>Shop</a></ul></nav></header>";
    const FOOTER: &str = "<footer><ul><li><a href=/t>Terms</a><li><a href=/p>Privacy</a></ul><p>© 2018 Seabirds, Inc.</p></footer>";

    fn page(title: &str, body: &str) -> String {
        format!("<title>{title} | Seabirds</title><body>{BAR}{MENU}{body}{FOOTER}")
    }

    fn posts(item: impl Fn(u32) -> String) -> String {
        (1..9).map(item).collect()
    }

    #[test]
    fn a_notice_on_every_page_is_not_an_archive() {
        let cards = posts(|at| {
            format!(
                "<article class=post><a href=/p{at}><img src=p{at}.jpg></a><h2><a href=/p{at}>Ledge number{at}</a></h2><span class=date>May {at}</span></article>"
            )
        });
        let links = posts(|at| {
            format!("<li><a href=/p{at}>Ledge number{at} of the north</a> <span>May {at}, 2018</span></li>")
        });
        let files = posts(|at| {
            format!("<div class=item><a href=/kit{at}.zip>Photos number{at} (ZIP, {at} MB)</a></div>")
        });
        for (title, body) in [
            ("Archives: May 2018", format!("<main><h1>Archives: May 2018</h1>{cards}</main>")),
            (
                "Category: Ledges",
                format!("<div id=content><h1>Category: Ledges</h1><ul class=posts>{links}</ul></div>"),
            ),
            (
                "Press kit",
                format!("<section class=press><div class=wrap><h1>Press kit</h1>{files}</div></section>"),
            ),
            ("Press kit", format!("<main><h1>Press kit</h1><div class=grid>{files}</div></main>")),
        ] {
            let text = kept(&page(title, &body));
            assert!(!text.contains("Customer Notice") && !text.contains("manufacturing"), "{title}: {text}");
            assert!(text.contains("number1") && text.contains("number8"), "{title}: {text}");
            assert!(!text.contains("Privacy"), "{title}: {text}");
        }
    }

    #[test]
    fn a_notice_that_is_all_there_is_stays() {
        let text = kept(&page("Seabirds", ""));
        assert!(text.contains("manufacturing"), "{text}");
        let thanks = "<div class='alert alert-success'>Your order was placed. We have sent a letter with all that you need \
            to know to the address that you gave us, and the birds will follow within ten days.</div>";
        let text = kept(&format!("<title>Shop</title>{MENU}<div id=page>{thanks}</div>{FOOTER}"));
        assert!(text.contains("order was placed"), "{text}");
    }
}
