//! A pop-up that holds the page: programmes and catalogues show one entry over the list of all, and the address
//! and the title of the page are those of the entry.
//!
//! A pop-up is known by its class, id or role, and by more text behind it. Its article, or a dialog as a
//! whole, is the page when a text in it begins the page's title and no heading behind it does. An article with
//! a heading of its own in the only pop-up of a page without a main heading is added to what is behind it.
//! What asks for consent, an address or a login is never the page.

use super::marks::Marks;
use super::outline::{Block, Element, Outline};
use super::survey::Survey;
use super::words::hash_word;
use html::dom::{Attr, Dom, Tag};

const POPUP_NAMES: [&str; 6] = ["dialog", "lightbox", "modal", "overlay", "popover", "popup"];
/// Pop-ups that ask for something.
const ASKING_NAMES: [&str; 20] = [
    "age",
    "ad",
    "ads",
    "cart",
    "consent",
    "cookie",
    "cookies",
    "country",
    "gdpr",
    "language",
    "login",
    "newsletter",
    "privacy",
    "promo",
    "register",
    "search",
    "share",
    "signin",
    "signup",
    "subscribe",
];
/// A class of pop-ups that come up by a change of their classes, and the classes of one that has.
const FADE: &str = "fade";
const SHOWN: [&str; 4] = ["show", "shown", "in", "open"];
/// Words that a pop-up has besides the title when it is the page; of a dialog, in sentences too.
const MIN_WORDS: u32 = 10;
/// Words in sentences of an article that is no more than an addition.
const MIN_SENTENCE_WORDS: u32 = 20;
/// A pop-up with a form and fewer words is there for the form.
const MAX_FORM_WORDS: u32 = 60;
/// A longer text is no title.
const MAX_TITLE_WORDS: u32 = 40;
/// Ancestors of a heading's text searched for the heading.
const MAX_HEADING_STEPS: usize = 4;
/// Class names of one element that are looked at.
const MAX_NAMES: usize = 20;
/// Texts of one pop-up that begin the page's title.
const MAX_TITLES: usize = 8;
/// Pop-ups of one page that are looked at.
const MAX_POPUPS: usize = 200;
/// What belongs to no page, in a pop-up either.
const NEVER: u32 = Marks::NAV | Marks::HIDDEN | Marks::UNSHOWN | Marks::FORM | Marks::BUTTON | Marks::SELECT;

/// What a pop-up has of the page.
#[derive(Debug, PartialEq, Eq)]
pub enum PopupContent {
    /// These blocks are the page.
    All(Vec<bool>),
    /// These blocks belong to it.
    Some(Vec<bool>),
}

/// Finds the pop-up that holds the page's own article.
pub fn find_popup_content(dom: &Dom, survey: &Survey) -> Option<PopupContent> {
    let outline = survey.outline;
    let popups = find_popups(dom, outline);
    for &popup in &popups {
        let Some(title) = own_title(survey, popup) else { continue };
        let article = article_around(outline, popup, title);
        // The head of an article is often called an overlay, for the picture that it lies on.
        let Some(holder) = article.or_else(|| popup.marks.has(Marks::DIALOG).then_some(popup)) else {
            continue;
        };
        let blocks = content_of(outline, holder);
        if words_of(outline, &blocks) >= MIN_WORDS + outline.blocks[title].tally.words
            && (article.is_some() || sentence_words(outline, &blocks) >= MIN_WORDS)
        {
            return Some(PopupContent::All(blocks));
        }
    }
    let [popup] = popups[..] else { return None };
    if survey.first_h1.is_some_and(|h1| !outline.blocks_of(popup).contains(&h1)) {
        return None;
    }
    let inside = elements_of(outline, popup);
    let article = inside.iter().find(|element| element.tag == Tag::Article)?;
    let has_heading =
        elements_of(outline, article).iter().any(|element| matches!(element.tag, Tag::H1 | Tag::H2));
    let blocks = content_of(outline, article);
    (has_heading && sentence_words(outline, &blocks) >= MIN_SENTENCE_WORDS)
        .then_some(PopupContent::Some(blocks))
}

/// Adds to what was chosen of a page what its pop-up has of it.
pub fn keep_popup_content(outline: &Outline, content: PopupContent, kept: &mut [bool]) {
    match content {
        PopupContent::Some(blocks) => kept.iter_mut().zip(blocks).for_each(|(kept, own)| *kept |= own),
        PopupContent::All(blocks) => {
            let own = kept.iter().zip(&blocks).map(|(kept, own)| *kept && *own).collect::<Vec<_>>();
            let (held, all) = (words_of(outline, &own), words_of(outline, kept));
            // Where the article was chosen and nothing behind it, the choice knows more of its parts.
            if 2 * held < words_of(outline, &blocks) || 2 * held < all {
                kept.copy_from_slice(&blocks);
            }
        }
    }
}

/// The outermost pop-ups that are shown and ask for nothing.
fn find_popups<'a>(dom: &Dom, outline: &'a Outline) -> Vec<&'a Element> {
    let (names, asking, shown) =
        (POPUP_NAMES.map(hash_word), ASKING_NAMES.map(hash_word), SHOWN.map(hash_word));
    let fade = [hash_word(FADE)];
    let mut popups = Vec::new();
    let mut end = 0;
    for (index, element) in (0u32..).zip(&outline.elements) {
        let is_dialog = || element.marks.has(Marks::DIALOG);
        // Splitting every class again is for those alone that have the word somewhere.
        let is_named = || outline.has_token(element, &names) && is_popup_by_name(dom, element);
        if index < end || element.tag == Tag::Body || !(is_named() || is_dialog()) {
            continue;
        }
        end = element.end;
        let hidden = element.marks.has(Marks::HIDDEN | Marks::UNSHOWN)
            || (outline.has_token(element, &fade) && !outline.has_token(element, &shown))
            || dom.attr_named(element.node, "aria-hidden").is_some_and(|value| value == "true");
        let over_page = is_over_page(outline, element);
        if !hidden && over_page && !asks(outline, element, &asking) && popups.len() < MAX_POPUPS {
            popups.push(element);
        }
    }
    popups
}

/// Whether a class or the id is a pop-up's: `popup`, `session-popup`, `modal--large`, not `modal-enabled`.
fn is_popup_by_name(dom: &Dom, element: &Element) -> bool {
    let attribute = |name| dom.attr(element.node, name).unwrap_or_default().split_ascii_whitespace();
    attribute(Attr::Class).chain(attribute(Attr::Id)).take(MAX_NAMES).any(|name| {
        let name = name.to_ascii_lowercase();
        POPUP_NAMES.iter().any(|word| match name.strip_suffix(word) {
            Some(before) => before.is_empty() || before.ends_with(['-', '_']),
            None => name.strip_prefix(word).is_some_and(|after| after.starts_with("--")),
        })
    })
}

/// Whether an element can be over the page: it does not hold the page's own parts, and more is behind it.
fn is_over_page(outline: &Outline, popup: &Element) -> bool {
    let inside: u32 = outline.blocks[outline.blocks_of(popup)].iter().map(|block| block.tally.words).sum();
    let all: u32 = outline.blocks.iter().map(|block| block.tally.words).sum();
    2 * inside < all
        && !elements_of(outline, popup).iter().any(|inner| matches!(inner.tag, Tag::Main | Tag::Nav))
}

/// Whether a pop-up asks for something: most of it has a name that says so, or it is a form with a few words.
fn asks(outline: &Outline, popup: &Element, asking: &[u32]) -> bool {
    let words = |element: &Element| -> u32 {
        outline.blocks[outline.blocks_of(element)].iter().map(|block| block.tally.words).sum()
    };
    let all = words(popup);
    elements_of(outline, popup).iter().any(|inner| {
        (outline.has_token(inner, asking) && 2 * words(inner) >= all)
            || (inner.tag == Tag::Form && all < MAX_FORM_WORDS)
    })
}

/// The block in a pop-up that begins the page's title, where no heading behind the pop-up does too.
fn own_title(survey: &Survey, popup: &Element) -> Option<usize> {
    let outline = survey.outline;
    let title = survey.declared.any_title();
    let inside = outline.blocks_of(popup);
    let is_title = |block: &Block| {
        block.tally.words <= MAX_TITLE_WORDS
            && !block.marks.has(NEVER)
            && title.begins_with(block.tally.text_hash, block.tally.words)
    };
    let is_heading = |block: &Block| {
        2 * block.tally.link_words < block.tally.words
            && outline
                .chain(block.lead)
                .take(MAX_HEADING_STEPS)
                .any(|element| element.tag.heading_level().is_some())
    };
    let heads_page = |text_hash: u32| {
        let behind = outline.blocks.iter().enumerate().filter(|(at, _)| !inside.contains(at));
        behind.map(|(_, block)| block).any(|block| block.tally.text_hash == text_hash && is_heading(block))
    };
    let mut titles = inside.clone().filter(|&at| is_title(&outline.blocks[at])).take(MAX_TITLES);
    titles.find(|&at| !heads_page(outline.blocks[at].tally.text_hash))
}

fn elements_of<'a>(outline: &'a Outline, element: &Element) -> &'a [Element] {
    let start = outline.elements.partition_point(|other| other.node < element.node);
    &outline.elements[start..element.end as usize]
}

/// The article of a pop-up that a block stands in.
fn article_around<'a>(outline: &'a Outline, popup: &Element, block: usize) -> Option<&'a Element> {
    outline
        .chain(outline.blocks[block].lead)
        .take_while(|element| element.node > popup.node)
        .find(|element| element.tag == Tag::Article)
}

/// The blocks of an element that can be content.
fn content_of(outline: &Outline, element: &Element) -> Vec<bool> {
    let inside = outline.blocks_of(element);
    let blocks = outline.blocks.iter().enumerate();
    blocks.map(|(at, block)| inside.contains(&at) && !block.marks.has(NEVER)).collect()
}

fn words_of(outline: &Outline, kept: &[bool]) -> u32 {
    let blocks = outline.blocks.iter().zip(kept).filter(|(_, kept)| **kept);
    blocks.map(|(block, _)| block.tally.words).sum()
}

fn sentence_words(outline: &Outline, kept: &[bool]) -> u32 {
    let blocks = outline.blocks.iter().zip(kept).filter(|(_, kept)| **kept);
    blocks.map(|(block, _)| block.tally.long_sentence_words).sum()
}

#[cfg(test)]
mod tests {
    use crate::select::tests::kept;

    fn time_table() -> String {
        let cell = |at: u32| {
            format!(
                "<a class=session href=/s{at}><div class=title>Session number{at} of the day</div><span>Room {at}</span><p>A talk on how birds of the kind number{at} find their ledges again after a winter at sea.</p></a>"
            )
        };
        (1..30).map(cell).collect()
    }

    fn page(title: &str, popup: &str) -> String {
        format!(
            "<title>{title} - SeaConf 2020 | Conference for all who watch birds, and for others</title><body><header><h1>SeaConf 2020</h1></header>\
             <main><h2>Programme</h2><div class=timetable>{}</div></main>{popup}<footer>© SeaConf</footer>",
            time_table()
        )
    }

    const SESSION: &str = "<article id=session-detail class=session-detail><header><div class=date>2020 / 08 / 01</div>\
        <div class=title>Graph Powered Bird Tracker</div><div class=speaker><span>by</span> <span>Ann Gull</span></div></header>\
        <section class=markdown><p>How did we gather the data and what did we learn from nearly 20,000 birds?</p></section>\
        <section><h2>About Ann Gull</h2><p>A watcher.</p></section></article>";

    #[test]
    fn the_article_of_a_popup_is_the_page() {
        for popup in ["<div id=popup class=container>", "<div role=dialog aria-modal=true>", "<dialog open>"]
        {
            let html = format!(
                "{popup}<div class=inner><button class=close>Close</button><section class=popup-content>{SESSION}</section></div></div></dialog>"
            );
            let text = kept(&page("Graph Powered Bird Tracker", &html));
            for wanted in [
                "Graph Powered Bird Tracker",
                "2020 / 08 / 01",
                "20,000 birds",
                "About Ann Gull",
                "A watcher",
            ] {
                assert!(text.contains(wanted), "{popup} lacks {wanted}: {text}");
            }
            assert!(!text.contains("number7") && !text.contains("Close"), "{popup}: {text}");
        }
        // The site's name alone in `title`, and as the heading of every page.
        let open_graph = "<meta property=og:title content='Graph Powered Bird Tracker - SeaConf 2020'><title>SeaConf 2020</title>";
        let text =
            kept(&format!("{open_graph}{}", page("SeaConf 2020", &format!("<div id=popup>{SESSION}</div>"))));
        assert!(text.contains("20,000 birds") && text.contains("Ann Gull"), "{text}");
        assert!(!text.contains("number7"), "{text}");
    }

    #[test]
    fn a_popup_with_another_title_is_not_the_page() {
        let cookies = "<div class='popup cookie-popup'><h2>We use cookies</h2><p>We and our partners keep cookies on your device, \
            so that we know how you use this site and can show what you like.</p><button>Accept</button></div>";
        let letter = "<div class=modal><h2>Graph Powered Bird Tracker</h2><p>Sign up for our letter and never miss a thing that we \
            say of birds and of ledges.</p><form class=newsletter-form><input type=email><button>Join</button></form></div>";
        let fading = format!("<div class='modal fade'>{SESSION}</div>");
        let hidden = format!("<div class=modal style='display: none'>{SESSION}</div>");
        for popup in [cookies, letter, &fading, &hidden] {
            let text = kept(&page("Graph Powered Bird Tracker", popup));
            assert!(text.contains("number7"), "{popup}: {text}");
        }
        // The same title heads the page itself: a quick view of what is behind.
        let html = format!("<h1>Graph Powered Bird Tracker</h1><div class=modal>{SESSION}</div>");
        assert!(kept(&page("Graph Powered Bird Tracker", &html)).contains("number7"));
    }

    #[test]
    fn an_article_in_the_only_popup_is_added() {
        let html = "<div id=popup><article><h2>Tonight in the tower</h2><p>The evening talk begins at eight, and whoever comes early \
            may climb the tower with our guide and see the young birds on their ledges.</p></article></div>";
        let page = format!("<title>Programme</title><main><h2>Programme</h2>{}</main>{html}", time_table());
        let text = kept(&page);
        assert!(text.contains("Tonight in the tower") && text.contains("begins at eight"), "{text}");
        assert!(text.contains("number7"), "{text}");
    }
}
