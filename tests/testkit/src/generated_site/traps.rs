//! Crawler traps: a calendar, links that lead deeper and deeper, and filters that combine.

use super::build::{html, link};
use super::{SiteResponse, TRAPS};
use std::fmt::Write;

/// The response of a trap, if the page belongs to one.
pub fn response(page: &str, seed: u64) -> Option<SiteResponse> {
    let [calendar, deeper, shop] = TRAPS.map(|place| page.strip_prefix(place.prefix.trim_end_matches('/')));
    let links = calendar
        .map(next_months)
        .or_else(|| deeper.map(|_| link("again/again/") + &link("again/")))
        .or_else(|| shop.map(filters))?;
    Some(html(seed, page, "", &links))
}

/// A calendar that begins decades ahead, far from the current year.
fn next_months(rest: &str) -> String {
    let mut parts = rest.trim_start_matches('/').split('/').filter_map(|part| part.parse::<u32>().ok());
    let (year, month) = (parts.next().unwrap_or(2080), parts.next().unwrap_or(1));
    let (next_year, next_month) = if month >= 12 { (year + 1, 1) } else { (year, month + 1) };
    link(&format!("/calendar/{next_year}/{next_month:02}"))
}

/// Four filters with five values each: every page links to all that differ from it in one value.
fn filters(rest: &str) -> String {
    const NAMES: [&str; 4] = ["brand", "colour", "size", "sort"];
    let query = rest.strip_prefix('?').unwrap_or_default();
    let chosen = NAMES.map(|name| {
        query.split('&').find_map(|pair| pair.strip_prefix(name)?.strip_prefix('=')).unwrap_or("1").to_owned()
    });
    let mut links = String::new();
    for changed in 0..NAMES.len() {
        for value in 1..=5 {
            let mut target = String::from("/shop?");
            for (place, name) in NAMES.iter().enumerate() {
                let value = if place == changed { value.to_string() } else { chosen[place].clone() };
                let mark = if place == 0 { "" } else { "&amp;" };
                write!(target, "{mark}{name}={value}").expect("a string takes all");
            }
            links += &link(&target);
        }
    }
    links
}
