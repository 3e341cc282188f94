//! Finds the logo.

use super::collected::Collected;
use crate::facts::text::has_part;
use content::page::Page;
use html::dom::{Attr, Tag};
use std::fmt::Write;

const MAX_DRAWING_BYTES: usize = 20_000;

/// The likeliest of the pictures the browser found.
pub(super) fn of_facts(facts: Collected, page: &Page) -> Option<String> {
    let rank = |logo: &Collected| {
        let mut points = 0.0;
        points += if logo.is("named") { 3.0 } else { 0.0 };
        points += if logo.is("home") { 2.5 } else { 0.0 };
        points += if logo.is("header") { 2.0 } else { 0.0 };
        points -= logo.number("top").unwrap_or(0.0).clamp(0.0, 600.0) / 300.0;
        let width = logo.number("width").unwrap_or(0.0);
        // Icons of menus and wide pictures are not logos.
        points -= if (24.0..=600.0).contains(&width) { 0.0 } else { 2.0 };
        points
    };
    let best = facts
        .list("logos")
        .take(40)
        .filter(|logo| rank(logo) >= 2.0)
        .max_by(|one, other| rank(one).total_cmp(&rank(other)))?;
    let source = best.text("src");
    if source.is_empty() {
        return drawing(best.text("svg"));
    }
    address(page, source)
}

/// The likeliest picture by the page alone: named a logo, or in the header and leading home.
pub(super) fn of_page(page: &Page) -> Option<String> {
    let dom = page.dom();
    let pictures = dom.subtree(dom.root()).filter(|&id| dom.tag(id) == Tag::Img).take(300);
    let rank = |id| {
        let named = [Attr::Class, Attr::Id, Attr::Alt, Attr::Src]
            .iter()
            .any(|&name| dom.attr(id, name).is_some_and(|value| has_part(value, &["logo", "brand"])));
        let link = dom.closest(id, Tag::A);
        let home = link.and_then(|link| dom.attr(link, Attr::Href)).is_some_and(|href| {
            matches!(href.trim(), "/" | "./" | "index.html")
                || page.base().resolve(href).is_some_and(|url| {
                    page.base().url().is_some_and(|own| {
                        *url == own[..url::Position::BeforePath]
                            || *url == format!("{}/", &own[..url::Position::BeforePath])
                    })
                })
        });
        let header = dom.closest(id, Tag::Header).or_else(|| dom.closest(id, Tag::Nav)).is_some();
        3 * u8::from(named) + 2 * u8::from(home) + u8::from(header)
    };
    let mut best = None;
    for id in pictures {
        let points = rank(id);
        if points >= 3 && best.is_none_or(|(most, _)| points > most) {
            best = Some((points, id));
        }
    }
    let (_, id) = best?;
    address(page, html::image::best_source(dom, id)?)
}

fn address(page: &Page, written: &str) -> Option<String> {
    let url = page.base().resolve(written)?;
    (url.starts_with("http") || url.starts_with("data:image/")).then(|| url.into_owned())
}

/// An inline SVG as a `data:` URL. One with scripts or links is dropped.
fn drawing(svg: &str) -> Option<String> {
    let lower = svg.to_ascii_lowercase();
    let active = ["<script", "<foreignobject", "javascript:", "<iframe", " on", "<!entity"]
        .iter()
        .any(|part| lower.contains(part));
    if !lower.starts_with("<svg") || !lower.ends_with("</svg>") || svg.len() > MAX_DRAWING_BYTES || active {
        return None;
    }
    let mut address = String::from("data:image/svg+xml,");
    if !lower.contains("xmlns=") {
        address.push_str("%3Csvg%20xmlns%3D%22http%3A%2F%2Fwww.w3.org%2F2000%2Fsvg%22");
    }
    let rest = if lower.contains("xmlns=") { svg } else { &svg[4..] };
    for byte in rest.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            address.push(char::from(byte));
        } else {
            // Writing to a string cannot fail.
            let _ = write!(address, "%{byte:02X}");
        }
    }
    Some(address)
}
