//! Finds elements that the page's own styles hide: not displayed, without size, off the screen, in the colour
//! of the background.

use super::stylesheet::Stylesheet;
use html::dom::{Attr, Dom, NodeId, Tag};

/// Font sizes up to this are unreadable.
const MAX_UNREADABLE_PIXELS: f32 = 3.0;
/// Positions up to this are off the screen.
const MAX_OFF_SCREEN_PIXELS: f32 = -400.0;
/// Colour differences up to this are invisible.
const MAX_INVISIBLE_DIFFERENCE: u32 = 24;

type Colour = [u8; 3];

/// The declarations of one rule.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct ElementStyle {
    /// Hidden, or expressly shown.
    hidden: Option<bool>,
    clips: bool,
    small_box: bool,
    colour: Option<Colour>,
    background: Option<Background>,
}

/// The background of text.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Background {
    Plain(Colour),
    /// A picture or a blend: any colour may be seen on it.
    Picture,
}

impl ElementStyle {
    /// Reads declarations.
    pub(super) fn parse(declarations: &str) -> Self {
        let mut style = Self::default();
        for declaration in declarations.split(';').take(200) {
            let Some((property, value)) = declaration.split_once(':') else { continue };
            let value = value.trim().to_ascii_lowercase();
            let value = value.trim_end_matches("!important").trim_end();
            let property = property.trim().to_ascii_lowercase();
            if hides(&property, value) {
                style.hidden = Some(true);
                continue;
            }
            let tiny = || pixels(value).is_some_and(|size| size <= 1.0);
            match property.as_str() {
                "display" | "visibility" => style.hidden = style.hidden.or(Some(false)),
                "overflow" => style.clips |= value == "hidden",
                "width" | "height" | "max-height" | "max-width" => style.small_box |= tiny(),
                "color" => style.colour = colour(value).or(style.colour),
                "background" | "background-color" | "background-image" => {
                    style.background = background(value).or(style.background);
                }
                _ => {}
            }
        }
        style
    }

    /// Applies another rule over this one.
    pub(super) fn add(&mut self, other: &Self) {
        self.hidden = other.hidden.or(self.hidden);
        self.clips |= other.clips;
        self.small_box |= other.small_box;
        self.colour = other.colour.or(self.colour);
        self.background = other.background.or(self.background);
    }
}

/// Whether a single declaration hides an element.
fn hides(property: &str, value: &str) -> bool {
    let pixels = || pixels(value);
    match property {
        "display" => value == "none",
        "visibility" => matches!(value, "hidden" | "collapse"),
        "opacity" => value.trim_end_matches('%').parse::<f32>().is_ok_and(|share| share < 0.1),
        "font-size" => pixels().is_some_and(|size| size < MAX_UNREADABLE_PIXELS),
        "left" | "right" | "top" | "bottom" | "text-indent" | "margin-left" | "margin-top" => {
            pixels().is_some_and(|at| at <= MAX_OFF_SCREEN_PIXELS)
        }
        "clip" => value.starts_with("rect(0") || value.starts_with("rect(1px"),
        "clip-path" => matches!(value, "inset(50%)" | "inset(100%)" | "circle(0)" | "polygon(0 0)"),
        "transform" => ["scale(0)", "translatex(-9", "translate(-9"].iter().any(|far| value.contains(far)),
        "color" => value == "transparent",
        _ => false,
    }
}

/// The computed look of one element, with inherited values.
#[derive(Clone, Copy, Debug)]
struct ElementLook {
    hidden: bool,
    colour: Colour,
    background: Background,
}

/// The hidden elements of a page whose text is in the page.
#[derive(Debug)]
pub(super) struct HiddenElements {
    hidden: Vec<bool>,
}

impl HiddenElements {
    pub(super) fn find(dom: &Dom) -> Self {
        let sheet = Stylesheet::from_dom(dom);
        let mut hidden = vec![false; dom.len()];
        // The looks of the elements that are open at a place of the walk, outermost first.
        let mut open: Vec<(NodeId, ElementLook)> = Vec::new();
        let page = ElementLook { hidden: false, colour: [0; 3], background: Background::Plain([255; 3]) };
        for id in dom.subtree(dom.root()) {
            while open.last().is_some_and(|(end, _)| *end <= id) {
                open.pop();
            }
            let around = open.last().map_or(page, |(_, look)| *look);
            if !dom.is_element(id) {
                hidden[id.index()] = around.hidden;
                continue;
            }
            let look = element_look(dom, id, &sheet, around);
            hidden[id.index()] = look.hidden;
            if dom.first_child(id).is_some() {
                open.push((dom.subtree_end(id), look));
            }
        }
        Self { hidden }
    }

    /// Whether a node is hidden.
    pub(super) fn is_hidden(&self, id: NodeId) -> bool {
        self.hidden[id.index()]
    }
}

fn element_look(dom: &Dom, id: NodeId, sheet: &Stylesheet, around: ElementLook) -> ElementLook {
    let mut style = sheet.style(dom, id);
    if let Some(written) = dom.attr(id, Attr::Style) {
        style.add(&ElementStyle::parse(&written[..written.floor_char_boundary(4_000)]));
    }
    let colour =
        style.colour.or_else(|| dom.attr_named(id, "color").and_then(colour)).unwrap_or(around.colour);
    let background = style
        .background
        .or_else(|| dom.attr_named(id, "bgcolor").and_then(background))
        .unwrap_or(around.background);
    let unlike = match background {
        Background::Plain(background) => {
            background.iter().zip(colour).map(|(one, other)| u32::from(one.abs_diff(other))).sum()
        }
        Background::Picture => u32::MAX,
    };
    let marked = dom.has_attr(id, Attr::Hidden)
        || dom.attr(id, Attr::AriaHidden) == Some("true")
        || matches!(dom.tag(id), Tag::Template | Tag::Noscript | Tag::Noframes)
        || (dom.tag(id) == Tag::Dialog && !dom.has_attr(id, Attr::Open))
        || dom.attr(id, Attr::Class).is_some_and(for_screen_readers);
    ElementLook {
        hidden: around.hidden
            || style.hidden == Some(true)
            || (style.clips && style.small_box)
            || unlike <= MAX_INVISIBLE_DIFFERENCE
            || marked,
        colour,
        background,
    }
}

/// Classes by which pages hide what is read aloud.
fn for_screen_readers(class: &str) -> bool {
    class.split_ascii_whitespace().any(|name| {
        matches!(
            name,
            "sr-only"
                | "visually-hidden"
                | "visuallyhidden"
                | "screen-reader-text"
                | "screenreader"
                | "hidden"
                | "d-none"
                | "invisible"
        )
    })
}

/// A length in pixels; other units by their usual size.
fn pixels(value: &str) -> Option<f32> {
    let digits =
        value.find(|c: char| !(c.is_ascii_digit() || matches!(c, '.' | '-' | '+'))).unwrap_or(value.len());
    let number: f32 = value[..digits].parse().ok()?;
    let unit = match value[digits..].trim() {
        "" | "px" => 1.0,
        "em" | "rem" => 16.0,
        "pt" => 1.33,
        "%" | "vw" | "vh" => 10.0,
        _ => return None,
    };
    Some(number * unit)
}

fn background(value: &str) -> Option<Background> {
    if value.contains("url(") || value.contains("gradient") || value.contains("var(") {
        return Some(Background::Picture);
    }
    value
        .split_ascii_whitespace()
        .next()
        .and_then(|_| colour(value).or_else(|| value.split_ascii_whitespace().find_map(colour)))
        .map(Background::Plain)
}

fn colour(value: &str) -> Option<Colour> {
    let value = value.trim();
    if let Some(hex) = value.strip_prefix('#') {
        let digits: Vec<u8> =
            hex.chars().map_while(|c| c.to_digit(16)).filter_map(|digit| u8::try_from(digit).ok()).collect();
        return match digits.len() {
            3 | 4 => Some([digits[0] * 17, digits[1] * 17, digits[2] * 17]),
            6.. => Some([0, 2, 4].map(|at| digits[at] * 16 + digits[at + 1])),
            _ => None,
        };
    }
    if let Some(numbers) = value.strip_prefix("rgb(").or_else(|| value.strip_prefix("rgba(")) {
        let mut parts = numbers
            .trim_end_matches(')')
            .split([',', ' ', '/'])
            .filter(|part| !part.is_empty())
            .map(|part| part.trim().parse::<u8>());
        return Some([parts.next()?.ok()?, parts.next()?.ok()?, parts.next()?.ok()?]);
    }
    match value {
        "white" | "snow" | "ghostwhite" | "ivory" => Some([255; 3]),
        "black" => Some([0; 3]),
        _ => None,
    }
}
