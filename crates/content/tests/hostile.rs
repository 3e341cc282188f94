//! Hostile input is normal input: each ends in bounded time with the best answer there is.

use gannet_content::sniff::Kind;
use gannet_content::verdict::VerdictKind;
use gannet_content::{Limits, Page, Source, Wanted};
use std::time::{Duration, Instant};

/// Reads a page and asks it for everything. Debug builds on a busy machine get a generous limit; what these tests guard
/// against would take hours.
fn everything(bytes: &[u8]) -> (Page, String) {
    let start = Instant::now();
    let page = Page::read(&Source { bytes, ..Source::default() }, &Limits::default());
    let whole = page.select(&Wanted { only_main_content: false, ..Wanted::default() }).unwrap();
    let main = page.select(&Wanted::default()).unwrap();
    let markdown = page.markdown(&whole, true);
    let kept = page.markdown(&main, true);
    assert!(kept.len() <= markdown.len().max(64) * 4);
    page.html(&whole);
    page.metadata().to_wire();
    page.links();
    page.images();
    page.tables(&whole);
    page.verdict();
    assert!(start.elapsed() < Duration::from_mins(4), "{:?}", start.elapsed());
    (page, markdown)
}

#[test]
fn empty() {
    let (page, markdown) = everything(b"");
    assert_eq!(markdown, "");
    assert_eq!(page.verdict().kind, VerdictKind::Empty);
}

#[test]
fn a_hundred_megabytes_of_text() {
    let text = "All work and no play makes a dull page. ".repeat(100 * 1024 * 1024 / 40);
    let start = Instant::now();
    let page = Page::read(&Source { bytes: text.as_bytes(), ..Source::default() }, &Limits::default());
    assert!(page.truncated());
    let whole = page.select(&Wanted { only_main_content: false, ..Wanted::default() }).unwrap();
    let markdown = page.markdown(&whole, true);
    assert!(markdown.len() > 60 << 20 && markdown.len() <= (64 << 20) + 1);
    assert!(start.elapsed() < Duration::from_mins(4), "{:?}", start.elapsed());
}

#[test]
fn a_million_nested_tags() {
    for tag in [
        "<div>",
        "<b>",
        "<ul><li>",
        "<blockquote>",
        "<table><tr><td>",
        "<a href=x>",
        "<font size=1>",
        "<x-y>",
    ] {
        let count = 1_000_000 / tag.matches('<').count();
        let (page, markdown) = everything(format!("{}deep", tag.repeat(count)).as_bytes());
        // A link ends the link before it, so those do not nest.
        assert!(page.truncated() || tag.starts_with("<a "), "{tag}");
        assert!(markdown.contains("deep"), "{tag}");
    }
}

#[test]
fn a_hundred_thousand_attributes() {
    let attributes: Vec<String> = (0..100_000).map(|n| format!("a{n}=v")).collect();
    let (page, markdown) = everything(format!("<p {}>text</p>", attributes.join(" ")).as_bytes());
    assert!(page.truncated());
    assert_eq!(markdown, "text\n");
}

#[test]
fn millions_of_tiny_nodes() {
    let (page, markdown) = everything("<p>x</p>".repeat(2_000_000).as_bytes());
    assert!(page.truncated());
    assert!(page.dom().len() <= 2_000_100);
    assert!(markdown.starts_with("x\n\nx\n"));
}

#[test]
fn invalid_utf8_nuls_and_lone_surrogates() {
    let (_, markdown) = everything(b"<p>caf\xe9 \xff\xfe \x00nul &#xD800; &#xDFFF; &#0; &#x110000; end</p>");
    assert!(markdown.contains("nul") && markdown.contains("end"));
    let (_, markdown) = everything(b"<p>ok \xf0\x9f\x98\x80 \xc3");
    assert!(markdown.starts_with("ok"));
}

#[test]
fn unclosed_everything() {
    let (_, markdown) =
        everything(b"<html><body><div><p>one<b>two<table><tr><td>three<a href='x>four<!-- five <script> six");
    assert!(markdown.contains("one") && markdown.contains("three"));
    for cut in
        ["<", "<p", "<p a", "<p a='", "</", "<!--", "<!doctype", "&", "&#", "&#x", "<script>", "<![CDATA["]
    {
        everything(cut.as_bytes());
    }
}

#[test]
fn a_pdf_named_html() {
    let (page, markdown) = everything(b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n1 0 obj<</Type/Catalog>>endobj");
    assert_eq!(page.kind(), Kind::Binary("pdf"));
    assert_eq!(page.verdict().kind, VerdictKind::Binary);
    assert_eq!(markdown, "");
}

#[test]
fn quadratic_traps() {
    let traps = [
        "<p><b a=1><i b=2></p>".repeat(30_000),
        "<table>x<tr><td>y</td>".repeat(60_000),
        "<b><div></b>".repeat(100_000),
        "</p></br></div>".repeat(200_000),
        "<a href=x><div>".repeat(60_000),
        "<svg><foreignObject>".repeat(60_000),
        "<select><option>".repeat(100_000),
        "<li><p>".repeat(150_000),
        "<h1><a href=#x>t".repeat(100_000),
        "&lt;&amp;&#42;".repeat(300_000),
        "`*_[]()!#|~\\".repeat(200_000),
        format!("<p>{}", "<b>*</b>".repeat(100_000)),
        format!("<p>{}", "a<br>".repeat(200_000)),
        format!("<table>{}</table>", "<tr><td colspan=1000 rowspan=65000>x</td></tr>".repeat(20_000)),
        format!("<pre>{}</pre>", "`".repeat(1_000_000)),
        format!("<img srcset=\"{}\">", "a 1w, ".repeat(200_000)),
        format!("<script type='application/ld+json'>{}", "[".repeat(1_000_000)),
        format!("<div style=\"{}\">x", "a:b;".repeat(200_000)),
        "<!--".repeat(500_000),
        "<meta name=a content=b>".repeat(50_000),
        "<sup><a href='#fn1'>1</a></sup>".repeat(30_000) + &"<li id=fn1>note</li>".repeat(30_000),
        "x".repeat(4_000_000),
        "<div id=root>".repeat(400) + &"<p>x</p>".repeat(5_000),
    ];
    for trap in &traps {
        everything(trap.as_bytes());
    }
}

#[test]
fn highlights_of_odd_text() {
    use gannet_content::highlights::{highlights, within};
    let start = Instant::now();
    let wide = format!("| {}\n| --- |\n", "Price | ".repeat(100_000));
    for text in [
        "a.".repeat(500_000),
        format!("## {}\n\n{}", "word ".repeat(100_000), "The price is low.\n\n".repeat(20_000)),
        wide + &"| 12 | x |\n".repeat(20_000),
    ] {
        highlights(&text, "what is the price of the word");
        within(&text, "price", 10_000);
    }
    assert!(start.elapsed() < Duration::from_mins(4), "{:?}", start.elapsed());
}

#[test]
fn everything_ends_soon_after_it_is_told_to() {
    use gannet_content::budget::{OutOfBudget, WorkBudget};
    let line =
        "<p>Mr. John Smith, 12 Main Street, Berlin, called +49 30 1234567 about 4111 1111 1111 1111.</p>";
    let html = line.repeat(100_000);
    let budget = WorkBudget::new(u64::MAX, Some(Instant::now() + Duration::from_millis(300)));
    let start = Instant::now();
    let out = budget.run(|| {
        let (_, markdown) = everything(html.as_bytes());
        gannet_content::redact::redact(&markdown, &gannet_content::redact::RedactOptions::default());
    });
    assert_eq!(out, Err(OutOfBudget::Time));
    assert!(start.elapsed() < Duration::from_secs(20), "{:?}", start.elapsed());
}

#[test]
fn every_byte_string_is_some_page() {
    let mut state = 0x2545_f491_4f6c_dd1d_u64;
    for round in 0..300 {
        let mut bytes = Vec::new();
        for _ in 0..round * 7 {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            let pieces: [&[u8]; 12] = [
                b"<p>",
                b"</",
                b"<td",
                b"\xff",
                b"&#x",
                b"\x00",
                b">",
                b"<b>",
                b"'",
                b"\"",
                b"x y",
                b"\xe4\xb8\x96",
            ];
            bytes.extend_from_slice(pieces[usize::try_from(state % 12).unwrap()]);
        }
        everything(&bytes);
    }
}
