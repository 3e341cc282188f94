//! Hostile input is normal input: it takes time in proportion to its size and gives the best possible result.

use gannet_content::sniff::ContentKind;
use gannet_content::verdict::VerdictKind;
use gannet_content::{ContentScope, Limits, Page, PageSource};
use std::time::{Duration, Instant};
use testkit::growth::assert_linear;

/// Parses a page and computes everything that can be made of it.
fn everything(bytes: &[u8]) -> (Page, String) {
    let page = Page::parse(&PageSource { bytes, ..PageSource::default() }, &Limits::default());
    let whole = page.select(&ContentScope { only_main_content: false, ..ContentScope::default() }).unwrap();
    let main = page.select(&ContentScope::default()).unwrap();
    let markdown = page.markdown(&whole, true);
    let kept = page.markdown(&main, true);
    assert!(kept.len() <= markdown.len().max(64) * 4);
    page.html(&whole);
    page.metadata().to_wire();
    page.links();
    page.images();
    page.tables(&whole);
    page.verdict();
    (page, markdown)
}

/// Computes everything for pages of two sizes; returns the result of the larger one.
fn everything_linear(name: &str, n: usize, html: impl Fn(usize) -> String) -> (Page, String) {
    assert_linear(name, n, html, |html| everything(html.as_bytes()))
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
    let page =
        Page::parse(&PageSource { bytes: text.as_bytes(), ..PageSource::default() }, &Limits::default());
    assert!(page.truncated());
    let whole = page.select(&ContentScope { only_main_content: false, ..ContentScope::default() }).unwrap();
    let markdown = page.markdown(&whole, true);
    assert!(markdown.len() > 60 << 20 && markdown.len() <= (64 << 20) + 1);
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
        let count = 500_000 / tag.matches('<').count();
        let (page, markdown) = everything_linear(tag, count, |n| format!("{}deep", tag.repeat(n)));
        // A link ends the link before it, so those do not nest.
        assert!(page.truncated() || tag.starts_with("<a "), "{tag}");
        assert!(markdown.contains("deep"), "{tag}");
    }
}

#[test]
fn a_hundred_thousand_attributes() {
    let (page, markdown) = everything_linear("attributes", 50_000, |n| {
        let attributes: Vec<String> = (0..n).map(|n| format!("a{n}=v")).collect();
        format!("<p {}>text</p>", attributes.join(" "))
    });
    assert!(page.truncated());
    assert_eq!(markdown, "text\n");
}

#[test]
fn millions_of_tiny_nodes() {
    let (page, markdown) = everything_linear("tiny nodes", 1_000_000, |n| "<p>x</p>".repeat(n));
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
    assert_eq!(page.kind(), ContentKind::Binary("pdf"));
    assert_eq!(page.verdict().kind, VerdictKind::Binary);
    assert_eq!(markdown, "");
}

/// Makes a page of the given size.
type MakePage = Box<dyn Fn(usize) -> String>;

fn repeat(piece: &'static str) -> MakePage {
    Box::new(|n| piece.repeat(n))
}

fn around(before: &'static str, piece: &'static str, after: &'static str) -> MakePage {
    Box::new(move |n| format!("{before}{}{after}", piece.repeat(n)))
}

#[test]
fn quadratic_traps() {
    let traps: [(usize, MakePage); 23] = [
        (15_000, repeat("<p><b a=1><i b=2></p>")),
        (30_000, repeat("<table>x<tr><td>y</td>")),
        (50_000, repeat("<b><div></b>")),
        (100_000, repeat("</p></br></div>")),
        (30_000, repeat("<a href=x><div>")),
        (30_000, repeat("<svg><foreignObject>")),
        (50_000, repeat("<select><option>")),
        (75_000, repeat("<li><p>")),
        (50_000, repeat("<h1><a href=#x>t")),
        (150_000, repeat("&lt;&amp;&#42;")),
        (100_000, repeat("`*_[]()!#|~\\")),
        (50_000, around("<p>", "<b>*</b>", "")),
        (100_000, around("<p>", "a<br>", "")),
        (10_000, around("<table>", "<tr><td colspan=1000 rowspan=65000>x</td></tr>", "</table>")),
        (500_000, around("<pre>", "`", "</pre>")),
        (100_000, around("<img srcset=\"", "a 1w, ", "\">")),
        (500_000, around("<script type='application/ld+json'>", "[", "")),
        (100_000, around("<div style=\"", "a:b;", "\">x")),
        (250_000, repeat("<!--")),
        (25_000, repeat("<meta name=a content=b>")),
        (
            15_000,
            Box::new(|n| "<sup><a href='#fn1'>1</a></sup>".repeat(n) + &"<li id=fn1>note</li>".repeat(n)),
        ),
        (2_000_000, repeat("x")),
        (2_500, Box::new(|n| "<div id=root>".repeat(400) + &"<p>x</p>".repeat(n))),
    ];
    for (n, trap) in &traps {
        everything_linear(&trap(1), *n, trap);
    }
}

#[test]
fn highlights_of_odd_text() {
    use text::highlights::{fit_within, highlights};
    let texts: [(usize, MakePage); 3] = [
        (250_000, repeat("a.")),
        (
            10_000,
            Box::new(|n| format!("## {}\n\n{}", "word ".repeat(5 * n), "The price is low.\n\n".repeat(n))),
        ),
        (
            10_000,
            Box::new(|n| format!("| {}\n| --- |\n", "Price | ".repeat(5 * n)) + &"| 12 | x |\n".repeat(n)),
        ),
    ];
    for (n, text) in &texts {
        assert_linear(&text(1), *n, text, |text| {
            highlights(text, "what is the price of the word");
            fit_within(text, "price", 10_000);
        });
    }
}

#[test]
fn everything_ends_soon_after_its_deadline() {
    use budget::{OutOfBudget, WorkBudget};
    let line =
        "<p>Mr. John Smith, 12 Main Street, Berlin, called +49 30 1234567 about 4111 1111 1111 1111.</p>";
    let html = line.repeat(100_000);
    let budget = WorkBudget::new(u64::MAX, Some(Instant::now() + Duration::from_millis(300)));
    let start = Instant::now();
    let out = budget.run(|| {
        let (_, markdown) = everything(html.as_bytes());
        text::redact::redact(&markdown, &text::redact::RedactOptions::default());
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
