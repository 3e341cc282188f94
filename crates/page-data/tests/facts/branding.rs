//! The look of a site, collected by a real browser and from hostile facts.

use crate::pages::page;
use page_data::branding::{COLLECT, profile};
use serde_json::{Value, json};
use std::process::{Command, Stdio};

const PAGE: &str = include_str!("branding.html");
const ADDRESS: &str = "https://nordlicht.test/beans";

/// Runs the collecting expression in Chromium over a page in a file. Names resolve to nothing, so nothing is
/// fetched.
fn collected(html: &str) -> Value {
    let folder =
        std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("branding-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let file = folder.join("page.html");
    let script = format!(
        "<script>document.documentElement.setAttribute('data-facts', JSON.stringify({COLLECT}))</script>"
    );
    std::fs::write(&file, format!("{html}{script}")).unwrap();
    let browser =
        std::env::var("GANNET_TEST_CHROMIUM").unwrap_or_else(|_| "chromium-headless-shell".to_owned());
    let output = Command::new(&browser)
        .args([
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--host-resolver-rules=MAP * ~NOTFOUND",
            "--timeout=20000",
            "--dump-dom",
        ])
        .arg(format!("--user-data-dir={}", folder.join("profile").display()))
        .arg(format!("file://{}", file.display()))
        .stderr(Stdio::null())
        .output()
        .unwrap_or_else(|error| {
            panic!("this test needs Chromium at {browser} (or GANNET_TEST_CHROMIUM): {error}")
        });
    std::fs::remove_dir_all(&folder).unwrap();
    let dumped = String::from_utf8(output.stdout).unwrap();
    let shown = page(&dumped, ADDRESS);
    let facts = shown.dom().attr_named(shown.dom().html().unwrap(), "data-facts").expect("facts");
    serde_json::from_str(facts).unwrap()
}

#[test]
fn a_real_page_in_a_real_browser() {
    let html = PAGE.replacen("<head>", "<head><base href='https://nordlicht.test/'>", 1);
    let facts = collected(&html);
    let look = serde_json::to_value(profile(&facts, &page(PAGE, ADDRESS))).unwrap();
    assert_eq!(look["colorScheme"], "light");
    assert_eq!(look["brandName"], "Nordlicht");
    assert_eq!(look["logo"], "https://nordlicht.test/logo.svg");
    assert_eq!(
        look["images"],
        json!({"logo": "https://nordlicht.test/logo.svg", "favicon": "https://nordlicht.test/icon.svg", "ogImage": "https://nordlicht.test/preview.png"})
    );
    assert_eq!(
        look["colors"],
        json!({"primary": "#0A5C36", "secondary": "#0B7285", "accent": "#E67E22", "background": "#FDFBF7", "textPrimary": "#222222", "textSecondary": "#666666", "link": "#0B7285", "error": "#C0392B"})
    );
    assert_eq!(look["fonts"][0], json!({"family": "Inter", "role": "body"}));
    assert_eq!(
        look["typography"]["fontFamilies"],
        json!({"primary": "Inter", "heading": "Playfair Display"})
    );
    assert_eq!(look["typography"]["fontSizes"]["h1"], "40px");
    assert_eq!(look["typography"]["lineHeights"], json!({"body": 1.5, "heading": 1.2}));
    assert_eq!(look["spacing"]["baseUnit"], 8);
    assert_eq!(look["spacing"]["borderRadius"], "8px");
    assert_eq!(
        look["components"]["buttonPrimary"],
        json!({"background": "#0A5C36", "textColor": "#FFFFFF", "borderRadius": "8px"})
    );
    assert_eq!(look["components"]["buttonSecondary"]["borderColor"], "#0A5C36");
    assert_eq!(look["components"]["input"]["borderColor"], "#999999");
    assert_eq!(look["animations"], json!({"transitionDuration": "0.3s", "easing": "ease-in-out"}));
}

#[test]
fn without_a_browser_the_page_still_has_a_name_and_a_logo() {
    let look = serde_json::to_value(profile(&Value::Null, &page(PAGE, ADDRESS))).unwrap();
    assert_eq!(look["brandName"], "Nordlicht");
    assert_eq!(look["logo"], "https://nordlicht.test/logo.svg");
    assert!(look.get("colors").is_none() && look.get("typography").is_none());
}

#[test]
fn an_address_in_numbers_names_nobody() {
    let named = |address: &str| serde_json::to_value(profile(&Value::Null, &page("<p>x", address))).unwrap();
    assert_eq!(named("https://www.nordlicht.test/")["brandName"], "nordlicht");
    assert!(named("http://127.0.0.1:8080/").get("brandName").is_none());
    assert!(named("http://[::1]/").get("brandName").is_none());
}

/// Whether a value holds a null anywhere, or a colour that is none.
fn is_sound(value: &Value) -> bool {
    let mut waiting = vec![value];
    while let Some(value) = waiting.pop() {
        match value {
            Value::Null => return false,
            Value::Array(list) => waiting.extend(list),
            Value::Object(fields) => waiting.extend(fields.values()),
            _ => {}
        }
    }
    let colours = value["colors"].as_object().into_iter().flatten();
    colours
        .map(|(_, colour)| colour.as_str().unwrap())
        .all(|colour| colour.len() == 7 && colour.starts_with('#'))
}

#[test]
fn hostile_facts_give_less_but_never_nonsense() {
    let nasty = [
        json!(null),
        json!([]),
        json!("x"),
        json!({"background": 5, "areas": {}, "text": [null, 1, [], {"colour": null, "family": 7, "size": "x"}]}),
        json!({"background": "#12345G", "text": [{"kind": "body", "colour": "red;}", "family": "<script>,{}", "size": -4, "lineHeight": 1e300, "weight": -1}]}),
        json!({"buttons": [{"background": "url(x)", "radius": "expression(1)"}], "inputs": [{"radius": "1e999px"}], "radii": ["NaNpx", "-1px"]}),
        json!({"logos": [{"src": "javascript:alert(1)", "named": true, "header": true, "width": 100}], "icons": [{"href": "javascript:x"}]}),
        json!({"logos": [{"svg": "<svg onload=alert(1)></svg>", "named": true, "header": true, "width": 100}]}),
        json!({"variables": {"--primary": "javascript:x", "--error": null}, "durations": ["1e999s", "x"], "easings": ["</style>"], "layout": {"header": -1, "maxWidth": "calc(1)"}}),
        json!({"spacing": vec![f64::MAX; 5000], "gaps": vec![1e308; 100], "text": vec![json!({"kind": "body", "colour": "#000000", "family": "F", "weight": 1e308}); 5000]}),
    ];
    for facts in &nasty {
        let look = serde_json::to_value(profile(facts, &page("<p>x", ADDRESS))).unwrap();
        assert!(is_sound(&look), "{facts}: {look}");
        assert!(!look.to_string().contains("javascript") && !look.to_string().contains("onload"), "{look}");
    }
}
