//! Messages and pages, harmless and hostile.

use jiff::Timestamp;
use monitor::judge::{Judgment, JudgmentConfidence, MeaningfulChange};
use monitor::noise::NoiseKind;
use monitor::page::Ignored;
use notifications::message::{CheckMessage, PageMessage, PageStatus};
use notifications::pages::{CheckDiff, PageDiff};
use serde_json::json;
use uuid::Uuid;

/// Texts that would run a script, call everybody or break markup where text is not escaped.
pub const HOSTILE: [&str; 50] = [
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "<svg onload=alert(1)>",
    "<svg><script>alert(1)</script></svg>",
    "\"><script>alert(1)</script>",
    "'><img src=x onerror=alert(1)>",
    "\" onmouseover=\"alert(1)\" autofocus onfocus=\"alert(1)",
    "' onfocus='alert(1)' autofocus='",
    "</title><script>alert(1)</script>",
    "</style><script>alert(1)</script>",
    "</textarea><script>alert(1)</script>",
    "</mark></span></div><script>alert(1)</script>",
    "<iframe src=javascript:alert(1)>",
    "<iframe srcdoc=\"<script>alert(1)</script>\">",
    "<object data=javascript:alert(1)>",
    "<embed src=javascript:alert(1)>",
    "<a href=javascript:alert(1)>click</a>",
    "<form action=javascript:alert(1)><button>x</button></form>",
    "<body onload=alert(1)>",
    "<details open ontoggle=alert(1)>",
    "<video><source onerror=alert(1)>",
    "<audio src=x onerror=alert(1)>",
    "<input autofocus onfocus=alert(1)>",
    "<marquee onstart=alert(1)>",
    "<meta http-equiv=refresh content=\"0;url=javascript:alert(1)\">",
    "<base href=//evil.example/>",
    "<link rel=stylesheet href=//evil.example/x.css>",
    "<style>@import '//evil.example/x.css';</style>",
    "<math><mtext></form><form><mglyph><style></math><img src onerror=alert(1)>",
    "<noscript><p title=\"</noscript><img src=x onerror=alert(1)>\">",
    "<template><script>alert(1)</script></template>",
    "<x onclick=alert(1)>x</x>",
    "<!--><script>alert(1)</script-->",
    "<![CDATA[<script>alert(1)</script>]]>",
    "]]><script>alert(1)</script>",
    "<?xml version=\"1.0\"?><!DOCTYPE x [<!ENTITY e SYSTEM \"file:///etc/passwd\">]>&e;",
    "&lt;script&gt;alert(1)&lt;/script&gt;",
    "&#60;script&#62;alert(1)&#60;/script&#62;",
    "\u{FF1C}script\u{FF1E}alert(1)\u{FF1C}/script\u{FF1E}",
    "<scr\u{0}ipt>alert(1)</scr\u{0}ipt>",
    "<ScRiPt/SrC=//evil.example/x.js></sCrIpT>",
    "<svg><animate onbegin=alert(1) attributeName=x dur=1s>",
    "<svg><a xlink:href=javascript:alert(1)><text>x</text></a></svg>",
    "\u{202E}>tpircs/<)1(trela>tpircs<",
    "{{constructor.constructor('alert(1)')()}} ${alert(1)} <%= alert(1) %>",
    "@everyone @here @channel @room @all <!channel> <!everyone> <@U12345> <#C1|x>",
    "[click](javascript:alert(1)) ![x](x \"onerror=alert(1)\") `</script>` ||spoiler||",
    "*bold* _italic_ ~strike~ **b** # heading\n> quote\n- list\n```\ncode\n```",
    "line one\r\nBcc: victim@evil.example\r\n\r\n.\r\nQUIT\r\n",
    "=?utf-8?q?=3Cscript=3E?= %3Cscript%3E \\u003cscript\\u003e",
];

pub fn time() -> Timestamp {
    "2026-11-18T09:30:00Z".parse().unwrap()
}

fn judgment(reason: &str) -> Judgment {
    let change = MeaningfulChange {
        before: Some("$49".to_owned()),
        after: Some("$39".to_owned()),
        reason: format!("39 is below 45: {reason}"),
    };
    Judgment {
        meaningful: true,
        confidence: JudgmentConfidence::Medium,
        reason: reason.to_owned(),
        changes: vec![change],
    }
}

pub fn unified(before: &str, after: &str) -> String {
    text::diff::diff(before, after).expect("a difference").text
}

pub const BEFORE: &str = include_str!("before.md");
pub const AFTER: &str = include_str!("after.md");

pub fn message() -> CheckMessage {
    let link = "https://gannet.example/monitor/diff?token=abc".to_owned();
    let mut changed = PageMessage::new("https://shop.example/pricing", PageStatus::Changed)
        .with_diff(&unified(BEFORE, AFTER));
    changed.judgment = Some(judgment("A changed number is below 45"));
    changed.link = Some(format!("{link}#page-1"));
    let mut error = PageMessage::new("https://shop.example/status", PageStatus::Error);
    error.error = Some("The site answered with status 503".to_owned());
    CheckMessage {
        monitor_id: Uuid::from_u128(1),
        monitor_name: "Shop prices".to_owned(),
        check_id: Uuid::from_u128(2),
        checked_at: time(),
        pages: vec![changed, PageMessage::new("https://shop.example/new", PageStatus::New), error],
        more_pages: Vec::new(),
        link: Some(link),
    }
}

/// Every text is `text`, and there are many pages.
pub fn hostile_message(text: &str) -> CheckMessage {
    let data = json!({ text: { "previous": text, "current": [text] } });
    let mut page = PageMessage::new(format!("https://evil.example/{text}"), PageStatus::Changed)
        .with_diff(&format!(
            "@@ -1,1 +1,1 @@\n-{}\n+{} x\n",
            text.replace('\n', " "),
            text.replace('\n', " ")
        ))
        .with_data_changes(data.as_object().unwrap());
    page.judgment = Some(judgment(text));
    page.error = Some(text.to_owned());
    page.link = Some(format!("javascript:{text}"));
    CheckMessage { monitor_name: text.to_owned(), pages: vec![page; 5], ..message() }
}

pub fn long_message() -> CheckMessage {
    let mut page =
        PageMessage::new(format!("https://long.example/{}", "é@<&\"".repeat(500)), PageStatus::Changed);
    let line = "Ω@<&\"'>*_`|[]()".repeat(400);
    page = page.with_diff(&format!("@@ -1,9 +1,9 @@\n{}", format!("-{line}\n+{line}x\n").repeat(60)));
    page.judgment = Some(judgment(&line));
    CheckMessage { monitor_name: line, pages: vec![page; 300], ..message() }
}

pub fn check_diff() -> CheckDiff {
    let ignored = |kind: NoiseKind, before: &str, after: &str| Ignored {
        kind,
        before: Some(before.to_owned()),
        after: Some(after.to_owned()),
        reason: kind.reason().to_owned(),
    };
    let mut changed = PageDiff::new(Uuid::from_u128(1), "https://shop.example/pricing", PageStatus::Changed);
    changed.diff = Some(unified(BEFORE, AFTER));
    changed.judgment = Some(judgment("A changed number is below 45"));
    changed.ignored = vec![
        ignored(NoiseKind::UpdatedDate, "Last updated 17 November 2026", "Last updated 18 November 2026"),
        ignored(NoiseKind::Counter, "1,204 people are looking at this", "987 people are looking at this"),
    ];
    let mut data =
        PageDiff::new(Uuid::from_u128(2), "https://shop.example/api/plans.json", PageStatus::Changed);
    let changes = json!({
        "plans[1].price": { "previous": 49, "current": 39 },
        "plans[1].storage": { "previous": "200 GB", "current": "250 GB" },
        "plans[1].features[3]": { "previous": null, "current": "Audit log" },
    });
    data.data_changes.clone_from(changes.as_object().unwrap());
    let mut error = PageDiff::new(Uuid::from_u128(3), "https://shop.example/status", PageStatus::Error);
    error.error = Some("The site answered with status 503".to_owned());
    CheckDiff {
        monitor_name: "Shop prices".to_owned(),
        goal: Some("Tell me when a plan costs less than 45 dollars".to_owned()),
        checked_at: time(),
        pages: vec![
            changed,
            data,
            PageDiff::new(Uuid::from_u128(4), "https://shop.example/new", PageStatus::New),
            error,
        ],
        timeline_link: Some("https://gannet.example/monitor/timeline?token=abc".to_owned()),
    }
}

pub fn hostile_check_diff(text: &str) -> CheckDiff {
    let line = text.replace(['\n', '\r'], " ");
    let message = hostile_message(text);
    let mut page = PageDiff::new(Uuid::from_u128(5), format!("javascript:{text}"), PageStatus::Changed);
    page.error = Some(text.to_owned());
    page.diff = Some(format!("@@ -1,3 +1,3 @@\n {line}\n-a b c {line}\n+a b c d {line}\n+{line}\n"));
    let changes = json!({ text: { "previous": text, "current": { text: text } } });
    page.data_changes.clone_from(changes.as_object().unwrap());
    page.judgment.clone_from(&message.pages[0].judgment);
    page.ignored = vec![Ignored {
        kind: NoiseKind::Counter,
        before: Some(text.to_owned()),
        after: None,
        reason: text.to_owned(),
    }];
    page.screenshots = Some(notifications::pages::ScreenshotPair {
        before: Some(format!("javascript:{text}")),
        after: Some(format!("/x\"{text}")),
    });
    CheckDiff {
        monitor_name: text.to_owned(),
        goal: Some(text.to_owned()),
        pages: vec![page],
        timeline_link: Some(format!("javascript:{text}")),
        ..check_diff()
    }
}
