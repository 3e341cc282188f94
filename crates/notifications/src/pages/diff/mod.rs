//! The diff page of a check: what changed, word by word ([`text_diff`]), changed data, screenshots and what
//! was ignored ([`tables`]), what the judge says.

mod tables;
mod text_diff;

use super::frame::HtmlPage;
use crate::html::Markup;
use crate::message::{PageStatus, confidence_name, shown_time};
use crate::text::{count, one_line};
use jiff::Timestamp;
use monitor::judge::Judgment;
use monitor::page::Ignored;
use serde_json::{Map, Value};
use std::time::{Duration, Instant};
use uuid::Uuid;

/// What is shown of a check.
pub const MAX_PAGES: usize = 200;
pub const MAX_BYTES: usize = 3 << 20;
const MAX_TEXT_CHARS: usize = 2_000;
/// For marking words, over all pages.
const WORDS_TIMEOUT: Duration = Duration::from_millis(500);

/// A check as its diff page shows it.
#[derive(Debug, Clone)]
pub struct CheckDiff {
    pub monitor_name: String,
    pub goal: Option<String>,
    pub checked_at: Timestamp,
    /// Pages that are the same may be among them; they are shown for what was ignored.
    pub pages: Vec<PageDiff>,
    pub timeline_link: Option<String>,
}

#[derive(Debug, Clone)]
pub struct PageDiff {
    /// Of the page of the check: links lead to it.
    pub id: Uuid,
    pub url: String,
    pub status: PageStatus,
    pub error: Option<String>,
    /// A unified diff.
    pub diff: Option<String>,
    /// `{"plans[0].price": {"previous": 5, "current": 7}}`
    pub data_changes: Map<String, Value>,
    pub judgment: Option<Judgment>,
    pub ignored: Vec<Ignored>,
    pub screenshots: Option<ScreenshotPair>,
}

/// Addresses of screenshots on this server.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ScreenshotPair {
    pub before: Option<String>,
    pub after: Option<String>,
}

impl PageDiff {
    pub fn new(id: Uuid, url: impl Into<String>, status: PageStatus) -> Self {
        Self {
            id,
            url: url.into(),
            status,
            error: None,
            diff: None,
            data_changes: Map::new(),
            judgment: None,
            ignored: Vec::new(),
            screenshots: None,
        }
    }
}

/// The fragment that leads to a page on the diff page.
pub fn page_anchor(id: Uuid) -> String {
    format!("page-{}", id.simple())
}

/// The diff page. Its size is bounded: pages that do not fit are only counted.
pub fn diff_page(check: &CheckDiff) -> HtmlPage {
    let words_deadline = Instant::now() + WORDS_TIMEOUT;
    let name = one_line(&check.monitor_name, MAX_TEXT_CHARS);
    let mut html = Markup::new();
    html.raw("<header><h1>")
        .text(&name)
        .raw("</h1><p class=\"meta\"><time>")
        .text(&shown_time(check.checked_at));
    html.raw("</time>");
    if let Some(link) = &check.timeline_link {
        html.raw(" · ").link(link, "All checks");
    }
    html.raw("</p>");
    if let Some(goal) = &check.goal {
        html.raw("<p class=\"goal\"><strong>Goal</strong> ")
            .text(&one_line(goal, MAX_TEXT_CHARS))
            .raw("</p>");
    }
    summary(&mut html, check);
    html.raw("</header><main>");
    let mut shown = 0;
    for page in check.pages.iter().take(MAX_PAGES) {
        if html.len() > MAX_BYTES {
            break;
        }
        shown += 1;
        html.raw("<section class=\"page\" id=\"").text(&page_anchor(page.id)).raw("\">");
        page_section(&mut html, page, words_deadline);
        html.raw("</section>");
    }
    let left_out = check.pages.len() - shown;
    if left_out > 0 {
        html.raw("<p class=\"note\">")
            .text(&count(left_out, "page is", "pages are"))
            .raw(" not shown here.</p>");
    }
    if check.pages.is_empty() {
        html.raw("<p class=\"note\">Nothing changed in this check.</p>");
    }
    html.raw("</main>");
    HtmlPage::new(&format!("{name}: what changed"), &html)
}

/// How many pages came to what; with links to them where there are several.
fn summary(html: &mut Markup, check: &CheckDiff) {
    html.raw("<ul class=\"counts\">");
    for status in PageStatus::ALL {
        let number = check.pages.iter().filter(|page| page.status == status).count();
        if number > 0 {
            html.raw("<li>");
            badge(html, status);
            html.raw(" ").number(number).raw("</li>");
        }
    }
    html.raw("</ul>");
    if check.pages.len() < 2 {
        return;
    }
    html.raw("<nav aria-label=\"Pages\"><ol>");
    for page in check.pages.iter().take(MAX_PAGES) {
        html.raw("<li><a href=\"#").text(&page_anchor(page.id)).raw("\">");
        badge(html, page.status);
        html.raw(" <span>").text(&one_line(&page.url, 200)).raw("</span></a></li>");
    }
    html.raw("</ol></nav>");
}

fn badge(html: &mut Markup, status: PageStatus) {
    html.raw("<span class=\"badge ").raw(status.name()).raw("\">").raw(status.title()).raw("</span>");
}

fn page_section(html: &mut Markup, page: &PageDiff, words_deadline: Instant) {
    html.raw("<h2>");
    badge(html, page.status);
    html.raw(" <span class=\"url\">").link(&page.url, &one_line(&page.url, 400)).raw("</span></h2>");
    if let Some(error) = &page.error {
        html.raw("<p class=\"error\">").text(&one_line(error, MAX_TEXT_CHARS)).raw("</p>");
    }
    if let Some(judgment) = &page.judgment {
        judgment_box(html, judgment);
    }
    if let Some(diff) = &page.diff {
        text_diff::write(html, diff, MAX_BYTES, words_deadline);
    }
    tables::write_data(html, &page.data_changes);
    if let Some(screenshots) = &page.screenshots {
        tables::write_screenshots(html, screenshots);
    }
    tables::write_ignored(html, &page.ignored);
}

fn judgment_box(html: &mut Markup, judgment: &Judgment) {
    html.raw(if judgment.meaningful {
        "<div class=\"judgment matters\"><p><strong>Matters for the goal</strong>"
    } else {
        "<div class=\"judgment\"><p><strong>Does not matter for the goal</strong>"
    });
    html.raw(" <span class=\"confidence\">")
        .raw(confidence_name(judgment.confidence))
        .raw(" confidence</span></p><p>");
    html.text(&one_line(&judgment.reason, MAX_TEXT_CHARS)).raw("</p>");
    let reasons: Vec<String> = judgment
        .changes
        .iter()
        .map(|change| one_line(&change.reason, MAX_TEXT_CHARS))
        .filter(|reason| !reason.is_empty() && *reason != one_line(&judgment.reason, MAX_TEXT_CHARS))
        .take(10)
        .collect();
    if !reasons.is_empty() {
        html.raw("<ul>");
        for reason in &reasons {
            html.raw("<li>").text(reason).raw("</li>");
        }
        html.raw("</ul>");
    }
    html.raw("</div>");
}
