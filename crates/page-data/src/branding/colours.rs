//! Assigns colours to roles.

use super::collected::{Collected, colour};
use super::{Named, named};

/// Below this a colour is a shade of grey.
const MAX_GREY_SATURATION: f64 = 0.2;

/// The background of the page: its own, else the colour that covers the largest area.
pub(super) fn background(facts: Collected) -> Option<String> {
    let widest = || {
        facts
            .list("areas")
            .max_by(|one, other| one.weight().total_cmp(&other.weight()))
            .and_then(|area| area.colour("colour"))
    };
    // A page without a background is white.
    let unpainted = || facts.list("text").next().map(|_| "#FFFFFF".to_owned());
    facts.colour("background").or_else(widest).or_else(unpainted)
}

pub(super) fn is_dark(hex: &str) -> bool {
    luminance(hex) < 0.2
}

/// The colours by role. Roles without a colour are left out.
pub(super) fn roles(facts: Collected, background: Option<&str>) -> Named<String> {
    let variable = |words: &[&str]| {
        facts
            .field("variables")
            .entries()
            .filter(|(name, _)| words.iter().any(|word| name.to_lowercase().contains(word)))
            .min_by_key(|(name, _)| name.len())
            .and_then(|(_, value)| colour(value))
    };
    let shown = by_weight(facts.list("text").filter(|text| text.text("kind") != "link"));
    let text_primary = shown.first().cloned();
    let text_secondary = shown.iter().skip(1).find(|hex| saturation(hex) < MAX_GREY_SATURATION).cloned();
    let link = by_weight(facts.list("links")).into_iter().find(|hex| Some(hex) != text_primary.as_ref());
    let (button, other) = buttons(facts);
    let mut bright: Vec<String> = Vec::new();
    let candidates = [
        variable(&["primary", "brand"]),
        button.and_then(|button| button.colour("background")),
        facts.colour("themeColour"),
        link.clone(),
        other.and_then(|button| button.colour("background")),
    ];
    let areas = by_weight(facts.list("areas"));
    for hex in candidates.into_iter().flatten().chain(areas) {
        if saturation(&hex) >= MAX_GREY_SATURATION
            && Some(hex.as_str()) != background
            && !bright.contains(&hex)
        {
            bright.push(hex);
        }
    }
    let mut bright = bright.into_iter();
    // A brand may be black and white: then the main button decides.
    let plain =
        button.and_then(|button| button.colour("background")).filter(|hex| Some(hex.as_str()) != background);
    let primary = variable(&["primary"]).or_else(|| bright.next()).or(plain);
    let mut rest = bright.filter(|hex| Some(hex) != primary.as_ref());
    let secondary = variable(&["secondary"]).or_else(|| rest.next());
    let accent = variable(&["accent"]).or_else(|| rest.find(|hex| Some(hex) != secondary.as_ref()));
    named([
        ("primary", primary),
        ("secondary", secondary),
        ("accent", accent),
        ("background", background.map(str::to_owned)),
        ("textPrimary", text_primary),
        ("textSecondary", text_secondary),
        ("link", link),
        ("success", variable(&["success"])),
        ("warning", variable(&["warning"])),
        ("error", variable(&["error", "danger"])),
    ])
}

/// The main and the secondary button: named so by the page, else the most coloured and largest first.
pub(super) fn buttons(facts: Collected<'_>) -> (Option<Collected<'_>>, Option<Collected<'_>>) {
    let rank = |button: &Collected| {
        let named = if button.is("primary") { 2.0 } else { 0.0 };
        let bright =
            button.colour("background").map_or(-1.0, |hex| saturation(&hex) + (1.0 - luminance(&hex)) * 0.5);
        let size = button.number("area").unwrap_or(0.0).clamp(0.0, 40_000.0) / 80_000.0;
        named + bright + size - if button.is("secondary") { 2.0 } else { 0.0 }
    };
    let mut all: Vec<Collected> = facts
        .list("buttons")
        .filter(|button| button.colour("background").is_some() || button.colour("border").is_some())
        .collect();
    all.sort_by(|one, other| rank(other).total_cmp(&rank(one)));
    let primary = all.first().copied();
    let look =
        |button: Collected| (button.colour("background"), button.colour("border"), button.colour("colour"));
    let secondary =
        all.iter().copied().find(|button| primary.is_some_and(|primary| look(primary) != look(*button)));
    (primary, secondary)
}

/// The colours of entries, those that count most first.
fn by_weight<'a>(entries: impl Iterator<Item = Collected<'a>>) -> Vec<String> {
    let mut sums: Vec<(String, f64)> = Vec::new();
    for entry in entries {
        let Some(hex) = entry.colour("colour") else { continue };
        if let Some((_, sum)) = sums.iter_mut().find(|(known, _)| *known == hex) {
            *sum += entry.weight();
        } else if sums.len() < 200 {
            sums.push((hex, entry.weight()));
        }
    }
    sums.sort_by(|one, other| other.1.total_cmp(&one.1));
    sums.into_iter().map(|(hex, _)| hex).collect()
}

fn channels(hex: &str) -> [f64; 3] {
    let part = |from: usize| {
        hex.get(from..from + 2)
            .and_then(|digits| u8::from_str_radix(digits, 16).ok())
            .map_or(0.0, |value| f64::from(value) / 255.0)
    };
    [part(1), part(3), part(5)]
}

fn saturation(hex: &str) -> f64 {
    let [r, g, b] = channels(hex);
    let (most, least) = (r.max(g).max(b), r.min(g).min(b));
    if most > 0.0 { (most - least) / most * (most - least).min(0.4) / 0.4 } else { 0.0 }
}

fn luminance(hex: &str) -> f64 {
    let linear = |part: f64| if part <= 0.04045 { part / 12.92 } else { ((part + 0.055) / 1.055).powf(2.4) };
    let [r, g, b] = channels(hex).map(linear);
    0.2126 * r + 0.7152 * g + 0.0722 * b
}
