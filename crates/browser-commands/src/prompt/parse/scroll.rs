//! Sentences about scrolling.

use super::description::{Description, parse_count, parse_description};
use super::pointer::strip_times;
use super::tokens::Phrase;

/// A step that scrolls.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in super::super) struct ScrollStep {
    /// What is scrolled; `None` is the page.
    pub(in super::super) what: Option<Description>,
    /// As the command `scroll` takes it.
    pub(in super::super) direction: &'static str,
    pub(in super::super) way: ScrollWay,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(in super::super) enum ScrollWay {
    Steps(u32),
    Pixels(usize),
    ToEnd,
    /// Until this text is in view.
    Until(String),
    /// An element into view.
    To(Description),
}

const SHOWN: &[&str] = &[
    "shows up",
    "show up",
    "appears",
    "appear",
    "is visible",
    "is shown",
    "is in view",
    "comes into view",
    "can be seen",
    "comes up",
    "is there",
];
const PAGE: &[&str] =
    &["the page", "page", "this page", "the window", "on the page", "on this page", "in the page"];

pub(super) fn parse_scroll(part: Phrase<'_>) -> Option<ScrollStep> {
    let rest = part.strip(&["scroll"])?;
    if let Some((what, _)) = rest.split_at(&["into view"]).filter(|(_, after)| after.is_empty()) {
        return Some(ScrollStep {
            what: None,
            direction: "down",
            way: ScrollWay::To(parse_description(what)?),
        });
    }
    // What stands before the direction is what is scrolled: "scroll the list down".
    let at = (0..rest.len()).find(|at| is_direction(rest.word(*at))).unwrap_or(rest.len());
    let mut what = parse_scrolled(rest.to(at))?;
    let rest = rest.from(at);
    if rest.is_empty() && what.is_some() {
        return None;
    }
    let direction = match rest.word(0) {
        "up" | "upwards" => "up",
        "left" => "left",
        "right" => "right",
        _ => "down",
    };
    let rest = if matches!(rest.word(0), "to" | "until" | "till") { rest } else { rest.from(1) };
    let (rest, times) = strip_times(rest);
    let rest = rest.strip(PAGE).unwrap_or(rest);
    if let Some(found) = rest.strip(&["until", "till"]) {
        let found = found.strip(&["you see", "you can see", "i see"]).or_else(|| found.strip_end(SHOWN))?;
        let text =
            found.strip(&["the", "the text"]).filter(|rest| rest.only_quoted().is_some()).unwrap_or(found);
        let way = ScrollWay::Until(text.text());
        return (!text.is_empty() && times == 1).then_some(ScrollStep { what, direction, way });
    }
    if let Some(end) = rest.strip(&["to the very", "to the", "to"]) {
        let (end, inside) = match end.split_at(&["of", "in"]) {
            Some((end, inside)) => (end, Some(inside)),
            None => (end, None),
        };
        let direction = match end.text().to_lowercase().as_str() {
            "bottom" | "end" => Some("down"),
            "top" | "start" | "beginning" => Some("up"),
            _ => None,
        };
        let Some(direction) = direction else {
            let to = parse_description(rest.strip(&["to"])?)?;
            return Some(ScrollStep { what: None, direction: "down", way: ScrollWay::To(to) });
        };
        if let Some(inside) = inside.filter(|inside| !inside.is(&["the text", "it"])) {
            what = parse_scrolled(inside)?;
        }
        return Some(ScrollStep { what, direction, way: ScrollWay::ToEnd });
    }
    if let Some(inside) = rest.strip(&["in", "inside of"]) {
        what = parse_scrolled(inside)?;
        return Some(ScrollStep { what, direction, way: ScrollWay::Steps(times) });
    }
    let rest = rest.strip(&["by"]).unwrap_or(rest);
    let is_step = rest.is_empty()
        || rest.is(&[
            "a bit",
            "a little",
            "some more",
            "more",
            "further",
            "one page",
            "a page",
            "a screen",
            "one screen",
        ]);
    if is_step {
        return Some(ScrollStep { what, direction, way: ScrollWay::Steps(times) });
    }
    let pixels = rest.strip_end(&["pixels", "px"]).filter(|rest| rest.len() == 1 && times == 1)?;
    let pixels = pixels.word(0).parse().ok().or_else(|| parse_count(pixels.word(0)))?;
    Some(ScrollStep { what, direction, way: ScrollWay::Pixels(pixels) })
}

fn is_direction(word: &str) -> bool {
    ["down", "downwards", "up", "upwards", "left", "right", "to", "until", "till", "in"].contains(&word)
}

/// The page is `Some(None)`.
#[expect(clippy::option_option, reason = "a sentence that is not understood is something else than the page")]
fn parse_scrolled(phrase: Phrase<'_>) -> Option<Option<Description>> {
    if phrase.is_empty() || phrase.is(PAGE) {
        return Some(None);
    }
    parse_description(phrase).map(Some)
}
