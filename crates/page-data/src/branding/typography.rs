//! Which fonts a page is set in, and how.

use super::collected::Collected;
use super::{Font, Named, Typography, named};

const MAX_FAMILY_BYTES: usize = 80;
const MAX_FAMILIES: usize = 12;

/// Generic family names.
const GENERIC: &[&str] = &[
    "serif",
    "sans-serif",
    "monospace",
    "cursive",
    "fantasy",
    "system-ui",
    "ui-serif",
    "ui-sans-serif",
    "ui-monospace",
    "ui-rounded",
    "-apple-system",
    "blinkmacsystemfont",
    "inherit",
    "initial",
    "emoji",
    "math",
];

/// Sorts of text by what they count as.
fn role(kind: &str) -> &'static str {
    match kind {
        "h1" | "h2" | "h3" | "h4" | "h5" | "h6" => "heading",
        "code" => "code",
        _ => "body",
    }
}

/// The entry that sets most text of a kind.
fn most(facts: Collected<'_>, fits: impl Fn(&str) -> bool) -> Option<Collected<'_>> {
    facts
        .list("text")
        .filter(|text| fits(text.text("kind")))
        .max_by(|one, other| one.weight().total_cmp(&other.weight()))
}

/// The families of a stack in order, as names.
fn stack(written: &str) -> Vec<String> {
    written
        .split(',')
        .take(MAX_FAMILIES)
        .map(|family| family.trim().trim_matches(['"', '\'']).trim())
        .filter(|family| {
            !family.is_empty()
                && family.len() <= MAX_FAMILY_BYTES
                && !family.contains(['<', '>', '{', '}', ';'])
        })
        .map(str::to_owned)
        .collect()
}

/// The first family that is a real font, not a generic name.
fn family(written: &str) -> Option<String> {
    let stack = stack(written);
    let own = stack.iter().find(|family| !GENERIC.contains(&family.to_lowercase().as_str())).cloned();
    own.or_else(|| stack.first().cloned())
}

/// Families in use, most used first, each under the part it plays most.
pub(super) fn fonts(facts: Collected) -> Vec<Font> {
    let mut uses: Vec<(Font, f64, f64)> = Vec::new();
    for text in facts.list("text") {
        let Some(family) = family(text.text("family")) else { continue };
        let role = role(text.text("kind"));
        let weight = text.weight();
        if let Some((font, sum, most)) = uses.iter_mut().find(|(font, ..)| font.family == family) {
            *sum += weight;
            if weight > *most {
                font.role = role;
                *most = weight;
            }
        } else if uses.len() < 50 {
            uses.push((Font { family, role }, weight, weight));
        }
    }
    uses.sort_by(|one, other| other.1.total_cmp(&one.1));
    uses.into_iter().take(MAX_FAMILIES).map(|(font, ..)| font).collect()
}

pub(super) fn from_collected(facts: Collected) -> Typography {
    let is_heading = |kind: &str| role(kind) == "heading";
    let body = most(facts, |kind| kind == "body");
    let heading = most(facts, is_heading);
    let code = most(facts, |kind| kind == "code");
    let families = |text: Option<Collected>| text.and_then(|text| family(text.text("family")));
    let stacks = |text: Option<Collected>| {
        text.map(|text| stack(text.text("family"))).filter(|stack| !stack.is_empty())
    };
    let size = |text: Option<Collected>| {
        text.and_then(|text| text.number("size"))
            .filter(|size| (4.0..=400.0).contains(size))
            .map(|size| format!("{size}px"))
    };
    let kind = |wanted: &'static str| most(facts, move |kind| kind == wanted);
    let ratio = |text: Option<Collected>| {
        let text = text?;
        let ratio = text.number("lineHeight")? / text.number("size").filter(|size| *size > 0.0)?;
        (0.7..=4.0).contains(&ratio).then(|| (ratio * 100.0).round() / 100.0)
    };
    Typography {
        font_families: named([
            ("primary", families(body.or(heading))),
            ("heading", families(heading)),
            ("code", families(code)),
        ]),
        font_stacks: named([
            ("primary", stacks(body)),
            ("body", stacks(body)),
            ("heading", stacks(heading)),
            ("code", stacks(code)),
        ]),
        font_sizes: named([
            ("h1", size(kind("h1"))),
            ("h2", size(kind("h2"))),
            ("h3", size(kind("h3"))),
            ("body", size(body)),
            ("small", size(kind("small"))),
        ]),
        line_heights: named([("body", ratio(body)), ("heading", ratio(heading))]),
        font_weights: weights(facts),
    }
}

/// Weights that are really used, by the names they go by.
fn weights(facts: Collected) -> Named<u32> {
    let used = |least: u32, most: u32| {
        facts
            .list("text")
            .filter_map(|text| text.number("weightOfFont"))
            .find(|weight| (f64::from(least)..=f64::from(most)).contains(weight))
            .map(|weight| (least..=most).find(|whole| f64::from(*whole) >= weight).unwrap_or(most))
    };
    named([
        ("light", used(100, 399)),
        ("regular", used(400, 449)),
        ("medium", used(450, 599)),
        ("bold", used(600, 1_000)),
    ])
}
