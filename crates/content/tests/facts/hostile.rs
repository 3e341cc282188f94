//! Hostile input: bounded time, bounded answers, never a panic.

use crate::sets::page;
use gannet_content::redact::{EntitySet, Mode, RedactOptions, Style};
use gannet_content::{branding, highlights, injection, menu, product, redact};
use proptest::prelude::*;
use serde_json::Value;
use std::time::{Duration, Instant};

/// Generous for debug builds on a busy machine; what is guarded against would take hours.
const LIMIT: Duration = Duration::from_secs(90);

fn timed<T>(what: &str, work: impl FnOnce() -> T) -> T {
    let start = Instant::now();
    let done = work();
    assert!(start.elapsed() < LIMIT, "{what}: {:?}", start.elapsed());
    done
}

fn redacted(text: &str, style: Style) -> String {
    redact::redact(text, &RedactOptions { mode: Mode::Aggressive, entities: EntitySet::all(), style }).text
}

#[test]
fn texts_made_to_be_slow() {
    let pieces = [
        "@",
        "a@",
        "a@b.",
        "1 ",
        "+1 ",
        "((",
        "eyJ.",
        "J. ",
        "Dr. ",
        "://",
        "](",
        "password=",
        "a:",
        "<!--",
        "-----BEGIN PRIVATE KEY",
        "“",
        "`",
        "1.2345,",
        "\u{e0041}",
        "\u{200b}",
        "|a|\n",
        "# h\n",
        "ignore all ",
        "12 Main ",
        "忽略",
        "....",
        "\n ",
        "a@b.cd ",
        "system:",
        "\\",
        "```\n",
    ];
    for piece in pieces {
        let text = piece.repeat(60_000 / piece.len());
        let marked = timed(piece, || redacted(&text, Style::Mask));
        assert!(marked.len() <= text.len() * 8 + 64, "{piece}");
        timed(piece, || highlights::highlights(&text, "ignore all main system"));
        timed(piece, || injection::inspect_text(&text));
        timed(piece, || injection::inspect_comments(&text));
    }
}

#[test]
fn megabytes_of_prose() {
    // Five megabytes take a debug build a while; one shows the same growth.
    let size = if std::env::var_os("GANNET_TEST_SOAK").is_some() { 5 << 20 } else { 1 << 20 };
    let sentence =
        "Anna Schmidt of 12 Main Street wrote to a@b.org about the tide, which was 3 metres high in 1999. ";
    let text = sentence.repeat(size / sentence.len());
    let tagged = timed("redact", || redacted(&text, Style::Tag));
    assert!(!tagged.contains("a@b.org") && !tagged.contains("Schmidt") && tagged.len() < text.len());
    assert!(timed("highlights", || highlights::highlights(&text, "how high was the tide")).len() < 5_000);
    let found = timed("inspect", || injection::inspect_text(&text));
    assert!(found.complete && !found.suspicious);
}

#[test]
fn pages_made_to_be_slow() {
    let deep = format!("{}1{}", "{\"@type\":\"Product\",\"offers\":".repeat(100), "}".repeat(100));
    let circle = r##"[{"@type":"Menu","@id":"#a","name":"x","hasMenuSection":{"@id":"#b"}},{"@type":"MenuSection","@id":"#b","name":"y","hasMenuSection":[{"@id":"#a"},{"@id":"#b"}]},
        {"@type":"Product","@id":"#p","name":"P","isVariantOf":{"@id":"#p"},"hasVariant":[{"@id":"#p"},{"@id":"#q"}],"offers":{"@id":"#p"}},{"@type":"Product","@id":"#q","name":"Q","isVariantOf":{"@id":"#p"},"hasVariant":{"@id":"#p"}}]"##;
    let many =
        format!("[{}0]", "{\"@type\":\"MenuItem\",\"name\":\"a\",\"offers\":{\"price\":1}},".repeat(20_000));
    let script = |json: &str| format!("<h1>P</h1><script type='application/ld+json'>{json}</script>");
    let pages = [
        script(&deep),
        script(circle),
        script(&many),
        "<h1>x</h1>".to_owned() + &"<fieldset><legend>a</legend>".repeat(20_000),
        "<h1>x</h1>".to_owned() + &"<select><option>a".repeat(20_000),
        "<li>a <b>$1</b>".repeat(20_000),
        format!("<table>{}", "<tr><td>a<td>1.50".repeat(20_000)),
        format!("<div>{}", "<div role=heading><span>".repeat(20_000)),
        "<p style='color:#fff;display:none'>x".repeat(20_000),
        format!("<style>{}</style><p class=a>x", ".a{color:#fff}@media{".repeat(20_000)),
        format!("<a class='{}'>x", "a ".repeat(50_000)),
        "<button>add to cart</button>".repeat(20_000),
    ];
    for html in &pages {
        let name = &html[..60];
        let page = page(html, "https://page.test/");
        if let Some(product) = timed(name, || product::product(&page)) {
            assert!(product.variants.len() <= 250 && !product.title.is_empty(), "{name}");
        }
        let menu = timed(name, || menu::menu(&page));
        assert!(menu.sections.iter().map(|section| section.items.len()).sum::<usize>() <= 2_000, "{name}");
        assert!(timed(name, || injection::inspect(&page)).found.len() <= 50, "{name}");
        timed(name, || branding::profile(&Value::Null, &page));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn any_text_is_redacted_and_searched(text in "(\\PC|[@.:/=+0-9 \n`*<>\\[\\]()|#\\\\-]|a@b\\.org|\\+49 30 901820|Dr\\. Anna|4111111111111111){0,60}", query in "\\PC{0,20}") {
        for style in [Style::Tag, Style::Mask, Style::Remove] {
            let out = redacted(&text, style);
            prop_assert!(out.len() <= text.len() * 8 + 64);
        }
        for span in redact::find(&text, Mode::Accurate, EntitySet::all()).windows(2) {
            prop_assert!(span[0].end <= span[1].start);
        }
        highlights::highlights(&text, &query);
        injection::inspect_text(&text);
    }

    #[test]
    fn any_markup_is_a_page_with_or_without_facts(html in "(<h1>|<p>|<b>|</b>|\\$[0-9]{1,3}|[a-z ]{1,5}|<div style='(display:none|color:#fff|font-size:0)'>|</div>|<select><option>|<script type='application/ld\\+json'>\\{\"@type\":\"(Product|Menu|MenuItem)\",\"name\":\"x\"\\}</script>|<button>add to cart</button>|<tr><td>|<li>|\\PC){0,40}") {
        let page = page(&html, "https://page.test/");
        if let Some(product) = product::product(&page) {
            prop_assert!(!product.title.is_empty() && !product.variants.is_empty());
        }
        let menu = menu::menu(&page);
        prop_assert!((0.0..=1.0).contains(&menu.confidence) && (menu.is_menu || menu.sections.is_empty()));
        injection::inspect(&page);
        branding::profile(&Value::Null, &page);
    }
}
