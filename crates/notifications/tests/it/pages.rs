//! The pages, by their markup: what is on them, and that no text of a page is markup.

use crate::fixtures::{HOSTILE, check_diff, hostile_check_diff, time};
use jiff::ToSpan;
use notifications::message::PageStatus;
use notifications::pages::{
    CheckDiff, CheckOutcome, HtmlPage, MonitorTimeline, PageDiff, SubscriptionPage, TimelineCheck, diff_page,
    subscription_page, timeline_page,
};

pub fn timeline(name: &str, checks: usize) -> MonitorTimeline {
    let outcomes = [
        (CheckOutcome::Same, ""),
        (CheckOutcome::Same, ""),
        (CheckOutcome::Changed, "2 changed, 1 new"),
        (CheckOutcome::Same, ""),
        (CheckOutcome::Error, "1 error"),
        (CheckOutcome::Same, ""),
        (CheckOutcome::Skipped, "The check before it had not ended"),
        (CheckOutcome::New, "1 new"),
        (CheckOutcome::First, "1 page"),
    ];
    let check = |place: usize| {
        let (outcome, summary) = outcomes[(place * 5 + place / 7) % outcomes.len()];
        let hours = i64::try_from(place).unwrap();
        TimelineCheck {
            at: time() - hours.hours(),
            outcome,
            summary: summary.to_owned(),
            link: Some(format!("https://gannet.example/monitor/diff?token={name}")),
        }
    };
    MonitorTimeline {
        monitor_name: name.to_owned(),
        checks: (0..checks).map(check).collect(),
        feed_link: Some("https://gannet.example/monitor/feed.xml?token=abc".to_owned()),
    }
}

pub fn all_pages(text: &str) -> Vec<HtmlPage> {
    vec![
        diff_page(&hostile_check_diff(text)),
        timeline_page(&timeline(text, 3)),
        subscription_page(SubscriptionPage::AskConfirm { monitor_name: text, email: text }),
        subscription_page(SubscriptionPage::Unsubscribed { monitor_name: text, email: text }),
    ]
}

#[test]
fn the_diff_page_shows_what_changed_and_why_the_rest_does_not_count() {
    let page = diff_page(&check_diff());
    for part in [
        "<mark>$49</mark>",
        "<mark>$39</mark>",
        "Matters for the goal",
        "medium confidence",
        "a date of the last update",
        "plans[1].price",
        "The site answered with status 503",
        "Audit log",
    ] {
        let with_sign_apart = part.replace("$49", "49").replace("$39", "39");
        assert!(page.html.contains(part) || page.html.contains(&with_sign_apart), "without {part}");
    }
    let headers = page.headers();
    let policy = headers.iter().find(|(name, _)| *name == "content-security-policy").unwrap().1;
    assert!(
        policy.starts_with("default-src 'none'; style-src 'sha256-") && !policy.contains("unsafe"),
        "{policy}"
    );
}

#[test]
fn hostile_text_is_never_markup() {
    const OWN: &[&str] = &[
        "!doctype",
        "html",
        "head",
        "meta",
        "title",
        "style",
        "body",
        "header",
        "main",
        "section",
        "nav",
        "h1",
        "h2",
        "p",
        "a",
        "ol",
        "ul",
        "li",
        "div",
        "span",
        "mark",
        "strong",
        "table",
        "thead",
        "tbody",
        "tr",
        "th",
        "td",
        "details",
        "summary",
        "figure",
        "figcaption",
        "img",
        "svg",
        "rect",
        "time",
        "form",
        "button",
    ];
    for hostile in HOSTILE {
        for page in all_pages(hostile) {
            for tag in page.html.split('<').skip(1) {
                let name: String = tag
                    .trim_start_matches('/')
                    .chars()
                    .take_while(|c| c.is_alphanumeric() || *c == '!')
                    .collect();
                assert!(OWN.contains(&name.as_str()), "<{name} in {}", page.html);
                let inside = tag.split('>').next().unwrap_or_default();
                // Outside of quotes there are names of attributes and nothing else.
                for names in inside.split('"').step_by(2) {
                    assert!(!names.contains(" on"), "{inside}");
                }
                for quoted in ["href=\"", "src=\""] {
                    for value in inside.split(quoted).skip(1) {
                        let is_own =
                            ["https://", "#page-", "/x"].iter().any(|start| value.starts_with(start));
                        assert!(is_own, "{inside}");
                    }
                }
            }
        }
    }
}

#[test]
fn pages_are_bounded() {
    let mut page = PageDiff::new(uuid::Uuid::from_u128(9), "https://long.example/", PageStatus::Changed);
    let line = "one two <three> & four ".repeat(300);
    page.diff = Some(format!("@@ -1,9 +1,9 @@\n{}", format!("-{line}\n+{line}x\n").repeat(400)));
    let check = CheckDiff { pages: vec![page; 20], ..check_diff() };
    let started = std::time::Instant::now();
    let html = diff_page(&check).html;
    assert!(html.len() < 4 << 20, "{} bytes", html.len());
    assert!(started.elapsed().as_secs() < 20, "{:?}", started.elapsed());
    assert!(html.contains("not shown"));
    assert!(timeline_page(&timeline("long", 100_000)).html.len() < 1 << 20);
}
