//! Whatever comes in the place of a page, with status 200, is never a change of it: errors, walls, maintenance, logins,
//! pages of servers, torn pages. Each bare, and between the header and the footer of the site.

use content::verdict::VerdictKind;
use content::{ContentScope, Limits, Page, PageSource};
use jiff::Timestamp;
use monitor::noise::Focus;
use monitor::page::{CheckStep, MAX_READS, PageChange, PageHistory, PageRead, first_step, next_step};

const KINDS: &str = include_str!("fixtures/walls.html");
const HEADER: &str = "<header><a href='/'>Chairs of ash</a><nav><a href='/chairs'>Chairs</a> <a href='/tables'>Tables</a> \
    <a href='/about'>About us</a> <a href='/basket'>Basket</a></nav></header>";
const FOOTER: &str = "<footer><p>© 2026 Chairs of ash, Harbour Street 4, Leeds</p><a href='/terms'>Terms</a> \
    <a href='/privacy'>Privacy</a></footer>";

/// Pages that are watched: a product, an article, and a page with little text.
fn contents() -> [(&'static str, String); 3] {
    let sentences: Vec<String> = (1..14)
        .map(|number| {
            format!(
                "<p>Step {number}: the wood is cut in winter, dried for {number} months under a roof that the wind \
                 goes through, and then planed by hand until it is even.</p>"
            )
        })
        .collect();
    let product = "<h1>Dining chair</h1><p>Price: 249 EUR</p><p>In stock, delivered within three days.</p>\
        <p>A chair made of ash, oiled by hand, with a seat of woven paper cord. It carries 120 kg, weighs 4 kg and \
        is delivered in one piece.</p><h2>Care</h2><ul><li>Oil it once a year.</li><li>Keep it dry.</li></ul>\
        <h2>Size</h2><table><tr><th>Height</th><td>82 cm</td></tr><tr><th>Width</th><td>46 cm</td></tr></table>";
    [
        ("product", product.to_owned()),
        ("article", format!("<article><h1>How a chair is made</h1>{}</article>", sentences.concat())),
        ("short", "<h1>Opening hours</h1><p>Monday to Friday 9:00 to 18:00, Saturday 10:00 to 14:00. Closed on \
            public holidays. You find us in Harbour Street 4, beside the old mill; the yard has places for six cars, \
            and the tram stops at the corner. In August we close at noon.</p>".to_owned()),
    ]
}

fn in_site(content: &str) -> String {
    format!(
        "<html><head><title>Chairs of ash</title></head><body>{HEADER}<main>{content}</main>{FOOTER}</body></html>"
    )
}

/// A page as a scrape reads it; none where the scrape says that it is not the page.
struct Reading {
    text: String,
    whole: String,
}

fn read(html: &str) -> Option<Reading> {
    let source = PageSource { bytes: html.as_bytes(), status: Some(200), ..PageSource::default() };
    let page = Page::parse(&source, &Limits::default());
    let written = |only_main_content| {
        let scope = ContentScope { only_main_content, ..ContentScope::default() };
        page.markdown(&page.select(&scope).unwrap(), true)
    };
    let is_content = page.verdict().kind == VerdictKind::Content;
    is_content.then(|| Reading { text: written(true), whole: written(false) })
}

fn page_read(reading: &Reading) -> PageRead<'_> {
    let at: Timestamp = "2026-11-17T14:03:00Z".parse().unwrap();
    PageRead { at, text: &reading.text, whole: Some(&reading.whole) }
}

/// What a check makes of a page that was another one before.
fn check(before: &Reading, after: Option<&Reading>) -> Option<PageChange> {
    let focus = Focus::default();
    let before = page_read(before);
    let history = match first_step(&[before, before], &focus) {
        CheckStep::Done(checked) => checked.history,
        CheckStep::ReadAgain => PageHistory::default(),
    };
    let reads = [page_read(after?); MAX_READS];
    let step = (1..=MAX_READS).find_map(|count| match next_step(before, &reads[..count], &history, &focus) {
        CheckStep::Done(checked) => Some(checked.change),
        CheckStep::ReadAgain => None,
    });
    Some(step.expect("so many reads are enough"))
}

/// What is told as a change; none for anything else.
fn told_change(before: &Reading, html: &str) -> Option<String> {
    match check(before, read(html).as_ref())? {
        PageChange::Changed(changed) => Some(changed.diff().text.clone()),
        _ => None,
    }
}

#[test]
fn what_comes_in_the_place_of_a_page_is_never_a_change() {
    let kinds: Vec<(&str, &str)> =
        KINDS.split("=== ").skip(1).map(|kind| kind.split_once('\n').unwrap_or((kind, ""))).collect();
    assert!(kinds.len() >= 50, "{}", kinds.len());
    let mut told = Vec::new();
    for (page, content) in contents() {
        let before = read(&in_site(&content)).expect("content");
        for (name, wall) in &kinds {
            let half = &content[..content.len() / 2];
            let forms = [
                ("bare", (*wall).to_owned()),
                ("in the site", in_site(wall)),
                ("in the middle of the page", format!("<html><body>{HEADER}<main>{half}{wall}")),
            ];
            // In the middle of a page stands what a program prints when it stops.
            let count = if is_crash(name) { 3 } else { 2 };
            for (form, html) in forms.iter().take(count) {
                let change = told_change(&before, html);
                told.extend(change.map(|change| format!("{page}: {name}, {form}\n{change}")));
            }
        }
    }
    assert!(told.is_empty(), "told as changes:\n{}", told.join("\n"));
}

fn is_crash(name: &str) -> bool {
    ["php fatal error", "php parse error", "python traceback", "database error", "sql error"].contains(&name)
}

#[test]
fn a_torn_page_is_never_a_change() {
    for (page, content) in contents().into_iter().take(2) {
        let whole = in_site(&content);
        let before = read(&whole).expect("content");
        for part in 1..12 {
            let start = whole.find("<main>").unwrap();
            let end = whole.floor_char_boundary(start + (whole.len() - start) * part / 12);
            assert_eq!(told_change(&before, &whole[..end]), None, "{page}, {part} of twelve parts");
        }
    }
}

#[test]
fn a_change_of_the_same_page_is_told() {
    for (page, content) in contents() {
        let before = read(&in_site(&content)).expect("content");
        let other =
            content.replace("249 EUR", "229 EUR").replace("Step 7", "Pause 7").replace("18:00", "17:00");
        assert!(told_change(&before, &in_site(&other)).is_some(), "{page}");
        assert_eq!(told_change(&before, &in_site(&content)), None, "{page}");
    }
}
