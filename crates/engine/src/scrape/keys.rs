//! What makes two requests the same: for a stored page, and for a fetch that several requests wait for. Plans
//! are taken apart without `..` here, so a new option does not compile until it is decided whether it belongs
//! to a key.

use super::cache::without_anchor;
use super::in_flight::FetchKey;
use super::plan::{Access, Formats, PageLocale, ParserPlan, PdfParser, ScrapePlan};
use crate::allowed_urls::AllowedUrls;
use store::pages::PageKey;
use stored_data::hashed_keys::KeyHasher;
use uuid::Uuid;
use wire::SecretText;

/// The place of a plan's page among those that are stored. None for pages that only their own request may
/// see, because it sent headers or a password, did something on the page or used a profile: such a page is never stored,
/// and no stored page answers such a request.
pub fn page_key(plan: &ScrapePlan) -> Option<PageKey> {
    let ScrapePlan {
        url,
        access,
        // Whether files or walls will do is decided when a stored page is read; `screenshot` and `branding`
        // are never answered by one. Files are stored as they came and read again.
        formats: _,
        parsers,
        // What is made of the page, by each request for itself.
        written_url: _,
        parts: _,
        check_injection: _,
        redact: _,
        audit: _,
        // Whether a stored page is looked for and how long it is waited for.
        cache: _,
        timeout: _,
        private: _,
    } = plan;
    let Access {
        credentials,
        actions,
        profile,
        mobile,
        locale: PageLocale { country, languages },
        check_certificate,
        block_ads,
        wait_for,
        // The final address of a stored page is held against the site; pages of one site would otherwise be
        // fetched by each crawl anew.
        allowed: AllowedUrls { hosts, site: _ },
        // By `forbids_browser`.
        fast: _,
        safe_mode,
        waits_for_browser: _,
        // A stored page knows whether it is the site's markdown.
        takes_markdown: _,
    } = access;
    if !credentials.is_empty() || !actions.is_empty() || profile.is_some() || parsers.password().is_some() {
        return None;
    }
    let mut hash = KeyHasher::new("page");
    hash.add(without_anchor(url).as_str());
    hash.add(if *mobile { "mobile" } else { "desktop" });
    hash.add(country.as_deref().unwrap_or_default());
    hash.add(&languages.join(","));
    hash.add(&wait_for.as_millis().to_string());
    hash.add(if *block_ads { "no ads" } else { "ads" });
    // Only where it differs from the default, so that pages stored before these were part of the key are
    // still found.
    if *check_certificate {
        hash.add("certificate checked");
    }
    if plan.forbids_browser() {
        hash.add("without browser");
    }
    // A page that was read past a wall is none for a request that leaves walls alone.
    if *safe_mode {
        hash.add("safe mode");
    }
    // The lists decide about redirects and about everything a visited page loads, of which a stored page
    // knows nothing.
    if !hosts.is_empty() {
        hash.add(&format!("hosts {hosts:?}"));
    }
    Some(hash.finish())
}

/// The fetch of a plan. Requests with the same key accept the same pages in the same way and may share one.
/// `owner`: a team, or the address of a caller without a key.
pub fn fetch_key(owner: Uuid, plan: &ScrapePlan) -> FetchKey {
    let ScrapePlan {
        url,
        formats,
        access,
        cache,
        timeout,
        private,
        parsers: ParserPlan { nothing, pdf, images },
        // Done to the page afterwards, by each request for itself; by `asks_for_markdown` as well.
        written_url: _,
        parts: _,
        check_injection: _,
        redact: _,
        audit: _,
    } = plan;
    let Formats {
        raw_base64,
        screenshot,
        branding,
        // Written of the fetched page, by each request for itself; by `asks_for_markdown` as well.
        markdown: _,
        html: _,
        raw_html: _,
        links: _,
        images: _,
        attributes: _,
        product: _,
        menu: _,
        highlights: _,
        change_tracking: _,
        json: _,
        summary: _,
        answer: _,
        check_injection: _,
        whole_markdown: _,
    } = formats;
    let Access {
        credentials,
        mobile,
        locale,
        check_certificate,
        block_ads,
        wait_for,
        actions,
        profile,
        allowed: AllowedUrls { hosts, site },
        fast,
        safe_mode,
        waits_for_browser,
        // By `asks_for_markdown`.
        takes_markdown: _,
    } = access;
    let mut hash = KeyHasher::new("fetch");
    hash.add(&owner.to_string());
    hash.add(without_anchor(url).as_str());
    // Nobody's credentials are the same whatever they would be checked by.
    hash.add(&if credentials.is_empty() { String::new() } else { credentials.identity() });
    // How a file is written is up to each request.
    let pdf =
        pdf.as_ref().map(|PdfParser { mode, max_pages, password, pages: _, blocks: _, page_markers: _ }| {
            hash.add(password.as_ref().map_or("", |SecretText(text)| text));
            (mode, max_pages)
        });
    // Plain data of ours: the debug form tells any two values apart.
    hash.add(&format!(
        "{:?}",
        (mobile, locale, check_certificate, block_ads, wait_for, fast, safe_mode, waits_for_browser)
    ));
    hash.add(&format!("{:?}", (actions, profile, screenshot, branding)));
    hash.add(&format!("{:?}", (raw_base64, (nothing, pdf, images), private, cache)));
    hash.add(&format!("{:?}", plan.asks_for_markdown()));
    hash.add(&format!("{hosts:?}"));
    hash.add(&format!("{site:?}"));
    // A visit with less time may end before the page is complete. What differs by less than a second does not
    // matter.
    hash.add(&timeout.as_millis().div_ceil(1_000).to_string());
    hash.finish()
}

#[cfg(test)]
#[path = "keys_tests.rs"]
mod tests;
