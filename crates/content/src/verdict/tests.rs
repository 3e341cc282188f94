use super::*;
use html::dom::Limits;
use std::collections::BTreeMap;

/// Pages written for this test in the shape of real ones. Each begins with a line `=== kind | language |
/// status | name`.
const PAGES: &str = include_str!("pages.txt");

struct VerdictFixture {
    kind: VerdictKind,
    name: String,
    status: Option<u16>,
    html: &'static str,
}

fn fixtures() -> Vec<VerdictFixture> {
    let mut fixtures = Vec::new();
    for part in PAGES.split("\n=== ").map(|part| part.trim_start_matches("=== ")) {
        let Some((head, html)) = part.split_once('\n') else { continue };
        let fields: Vec<&str> = head.split('|').map(str::trim).collect();
        let [kind, language, status, name] = fields[..] else { panic!("bad fixture head: {head}") };
        let kind = match kind {
            "content" => VerdictKind::Content,
            "blocked" => VerdictKind::Blocked,
            "captcha" => VerdictKind::Captcha,
            "login" => VerdictKind::LoginWall,
            "consent" => VerdictKind::ConsentWall,
            "parked" => VerdictKind::Parked,
            "notfound" => VerdictKind::SoftNotFound,
            "shell" => VerdictKind::AppShell,
            "empty" => VerdictKind::Empty,
            other => panic!("unknown kind {other}"),
        };
        fixtures.push(VerdictFixture {
            kind,
            name: format!("{language} {name}"),
            status: status.parse().ok(),
            html,
        });
    }
    fixtures
}

/// Precision and recall of each kind, and of "not content" as a whole, printed and held.
#[test]
fn precision_and_recall() {
    let fixtures = fixtures();
    assert!(fixtures.len() >= 90, "{}", fixtures.len());
    let mut counts: BTreeMap<String, [u32; 3]> = BTreeMap::new();
    let mut wrong = Vec::new();
    for fixture in &fixtures {
        let dom = Dom::parse(fixture.html, &Limits::default());
        let verdict = classify_page(&dom, ContentKind::Html, None, fixture.status);
        let right = verdict.kind == fixture.kind;
        if !right {
            wrong.push(format!(
                "{:?} taken for {:?}: {} {:?}",
                fixture.kind, verdict.kind, fixture.name, verdict.evidence
            ));
        }
        counts.entry(format!("{:?}", fixture.kind)).or_default()[if right { 0 } else { 2 }] += 1;
        if !right {
            counts.entry(format!("{:?}", verdict.kind)).or_default()[1] += 1;
        }
        let walls = counts.entry("(any wall)".into()).or_default();
        match (fixture.kind != VerdictKind::Content, verdict.kind != VerdictKind::Content) {
            (true, true) => walls[0] += 1,
            (false, true) => walls[1] += 1,
            (true, false) => walls[2] += 1,
            (false, false) => {}
        }
    }
    println!("{} pages\n{:<14} precision recall", fixtures.len(), "verdict");
    for (name, &[hits, false_hits, misses]) in &counts {
        let of = |part: u32, whole: u32| if whole == 0 { 1.0 } else { f64::from(part) / f64::from(whole) };
        let (precision, recall) = (of(hits, hits + false_hits), of(hits, hits + misses));
        println!("{name:<14} {precision:>9.3} {recall:>6.3}");
        assert!(precision >= 0.9 && recall >= 0.9, "{name}\n{}", wrong.join("\n"));
        if name == "(any wall)" {
            assert!(precision >= 0.97 && recall >= 0.97, "{name}\n{}", wrong.join("\n"));
        }
    }
}

#[test]
fn what_is_no_html() {
    let dom = Dom::parse("", &Limits::default());
    assert_eq!(classify_page(&dom, ContentKind::Binary("pdf"), Some(""), None).kind, VerdictKind::Binary);
    assert_eq!(classify_page(&dom, ContentKind::Text, Some(" \n"), None).kind, VerdictKind::Empty);
    assert_eq!(classify_page(&dom, ContentKind::Json, Some("{}"), None).kind, VerdictKind::Content);
    assert_eq!(classify_page(&dom, ContentKind::Html, None, None).kind, VerdictKind::Empty);
}
