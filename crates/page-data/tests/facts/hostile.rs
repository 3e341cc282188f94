//! Hostile input: time in proportion to its size, bounded results, never a panic.

use crate::pages::page;
use content::Page;
use page_data::{branding, injection, menu, product};
use proptest::prelude::*;
use serde_json::Value;
use testkit::growth::{SLOW_PIECES, assert_linear};

#[test]
fn texts_made_to_be_slow() {
    for piece in SLOW_PIECES {
        let text = |n: usize| piece.repeat(n);
        let n = 30_000 / piece.len();
        assert_linear(piece, n, text, |text| injection::inspect_text(text));
        assert_linear(piece, n, text, |text| injection::inspect_comments(text));
    }
}

#[test]
fn megabytes_of_prose() {
    // Five megabytes take a debug build a while; one shows the same growth.
    let size = if std::env::var_os("GANNET_TEST_SOAK").is_some() { 5 << 20 } else { 1 << 20 };
    let sentence =
        "Anna Schmidt of 12 Main Street wrote to a@b.org about the tide, which was 3 metres high in 1999. ";
    let (n, text) = (size / sentence.len() / 2, |n: usize| sentence.repeat(n));
    let found = assert_linear("inspect", n, text, |text| injection::inspect_text(text));
    assert!(found.complete && !found.suspicious);
}

#[test]
fn pages_made_to_be_slow() {
    let deep = format!("{}1{}", "{\"@type\":\"Product\",\"offers\":".repeat(100), "}".repeat(100));
    let circle = r##"[{"@type":"Menu","@id":"#a","name":"x","hasMenuSection":{"@id":"#b"}},{"@type":"MenuSection","@id":"#b","name":"y","hasMenuSection":[{"@id":"#a"},{"@id":"#b"}]},
        {"@type":"Product","@id":"#p","name":"P","isVariantOf":{"@id":"#p"},"hasVariant":[{"@id":"#p"},{"@id":"#q"}],"offers":{"@id":"#p"}},{"@type":"Product","@id":"#q","name":"Q","isVariantOf":{"@id":"#p"},"hasVariant":{"@id":"#p"}}]"##;
    let script = |json: &str| format!("<h1>P</h1><script type='application/ld+json'>{json}</script>");
    let fixed = [script(&deep), script(circle)];
    let many = "{\"@type\":\"MenuItem\",\"name\":\"a\",\"offers\":{\"price\":1}},";
    let pages: [(&str, &str, &str); 10] = [
        ("<h1>P</h1><script type='application/ld+json'>[", many, "0]</script>"),
        ("<h1>x</h1>", "<fieldset><legend>a</legend>", ""),
        ("<h1>x</h1>", "<select><option>a", ""),
        ("", "<li>a <b>$1</b>", ""),
        ("<table>", "<tr><td>a<td>1.50", ""),
        ("<div>", "<div role=heading><span>", ""),
        ("", "<p style='color:#fff;display:none'>x", ""),
        ("<style>", ".a{color:#fff}@media{", "</style><p class=a>x"),
        ("<a class='", "a ", "'>x"),
        ("", "<button>add to cart</button>", ""),
    ];
    for html in &fixed {
        facts_of(&page(html, "https://page.test/"));
    }
    for (before, piece, after) in pages {
        let html = |n: usize| page(&format!("{before}{}{after}", piece.repeat(n)), "https://page.test/");
        assert_linear(piece, 10_000, html, facts_of);
    }
}

/// Extracts all facts of a page and checks their bounds.
fn facts_of(page: &Page) {
    if let Some(product) = product::product(page) {
        assert!(product.variants.len() <= 250 && !product.title.is_empty());
    }
    let menu = menu::menu(page);
    assert!(menu.sections.iter().map(|section| section.items.len()).sum::<usize>() <= 2_000);
    assert!(injection::inspect(page).found.len() <= 50);
    branding::profile(&Value::Null, page);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn any_text_is_inspected(text in "(\\PC|[@.:/=+0-9 \n`*<>\\[\\]()|#\\\\-]|a@b\\.org|\\+49 30 901820|Dr\\. Anna|4111111111111111){0,60}") {
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
