//! Markdown → HTML → markdown gives the same markdown: nothing we write is read as something else.

use gannet_content::{ContentScope, Limits, Page, PageSource};
use proptest::prelude::*;
use pulldown_cmark::{Options, Parser, html::push_html};
use url::Url;

fn to_markdown(html: &str) -> String {
    let url = Url::parse("https://ex.org/a/").unwrap();
    let source = PageSource {
        bytes: html.as_bytes(),
        content_type: Some("text/html; charset=utf-8"),
        url: Some(&url),
        status: None,
    };
    let page = Page::parse(&source, &Limits::default());
    let wanted = ContentScope { only_main_content: false, ..ContentScope::default() };
    page.markdown(&page.select(&wanted).unwrap(), true)
}

fn to_html(markdown: &str) -> String {
    let options = Options::ENABLE_TABLES
        | Options::ENABLE_STRIKETHROUGH
        | Options::ENABLE_TASKLISTS
        | Options::ENABLE_DEFINITION_LIST;
    let mut html = String::new();
    push_html(&mut html, Parser::new_ext(markdown, options));
    html
}

#[track_caller]
fn is_stable(html: &str) -> Result<(), TestCaseError> {
    let first = to_markdown(html);
    let second = to_markdown(&to_html(&first));
    prop_assert_eq!(&first, &second, "from {}\nread as {}", html, to_html(&first));
    Ok(())
}

/// Words, and the characters markdown gives a meaning.
fn text() -> impl Strategy<Value = String> {
    let word = prop_oneof![
        8 => "[a-zA-Z0-9é世]{1,6}",
        3 => "[\\\\`*_~\\[\\]()<>&#+\\-.!|:=0-9]{1,4}",
        1 => Just("&amp;".to_owned()),
        1 => Just("1.".to_owned()),
        1 => Just("---".to_owned()),
    ];
    proptest::collection::vec(word, 1..7)
        .prop_map(|words| words.join(" ").replace('&', "&amp;").replace('<', "&lt;"))
}

fn inline() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        6 => text(),
        1 => Just("<br>".to_owned()),
        1 => Just("<img src=\"/i.png\" alt=\"a [b]\">".to_owned()),
        1 => "[a-z`]{1,5}".prop_map(|code| format!("<code>{code}</code>")),
    ];
    leaf.prop_recursive(3, 12, 4, |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 1..4).prop_map(|parts| parts.join(" ")),
            proptest::collection::vec(inner.clone(), 1..3).prop_map(|parts| parts.concat()),
            inner.clone().prop_map(|part| format!("<b>{part}</b>")),
            inner.clone().prop_map(|part| format!("<i>{part}</i>")),
            inner.clone().prop_map(|part| format!("<del>{part}</del>")),
            inner.prop_map(|part| format!("<a href=\"/x?a=1&amp;b=2\">{part}</a>")),
        ]
    })
}

fn block() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        4 => inline().prop_map(|text| format!("<p>{text}</p>")),
        1 => (1..7, inline()).prop_map(|(level, text)| format!("<h{level}>{text}</h{level}>")),
        1 => "[a-z`~ \n]{1,20}".prop_map(|code| format!("<pre><code class=\"language-x\">a{code}</code></pre>")),
        1 => Just("<hr>".to_owned()),
        1 => (text(), text(), text(), text()).prop_map(|(a, b, c, d)| format!(
            "<table><thead><tr><th>{a}</th><th>{b}</th></tr></thead><tr><td>{c}</td><td>{d}</td></tr></table>"
        )),
    ];
    leaf.prop_recursive(3, 16, 4, |inner| {
        let items = proptest::collection::vec(proptest::collection::vec(inner.clone(), 1..3), 1..4);
        let list = (items, any::<bool>()).prop_map(|(items, ordered)| {
            let name = if ordered { "ol" } else { "ul" };
            let items: Vec<String> = items.iter().map(|item| item.concat()).collect();
            format!("<{name}><li>{}</li></{name}>", items.join("</li><li>"))
        });
        prop_oneof![
            proptest::collection::vec(inner.clone(), 1..4).prop_map(|parts| parts.concat()),
            inner.prop_map(|part| format!("<blockquote>{part}</blockquote>")),
            list,
        ]
    })
}

/// TeX as authors write it, in the forms that pages hold it.
fn formula() -> impl Strategy<Value = String> {
    let tex = proptest::collection::vec(
        prop_oneof![
            4 => "[a-z0-9]{1,3}",
            2 => "[a-z]_[0-9]",
            1 => "[a-z]\\^\\*",
            1 => Just("\\alpha".to_owned()),
            1 => Just("\\frac{a_1}{b}".to_owned()),
            1 => Just("[0, 1]".to_owned()),
            1 => Just("|x|".to_owned()),
            1 => Just("&lt;".to_owned()),
        ],
        1..5,
    )
    .prop_map(|parts| parts.join(" "));
    (tex, 0..5).prop_map(|(tex, form)| match form {
        0 => format!("<span class=\"math notranslate\">\\({tex}\\)</span>"),
        1 => format!("<span class=\"arithmatex\">\\[{tex}\\]</span>"),
        2 => format!("<script type=\"math/tex\">{}</script>", tex.replace("&lt;", "<")),
        3 => format!("${tex}$"),
        _ => format!("\\({tex}\\)"),
    })
}

/// Readers that know formulas must find the same ones again.
fn to_html_with_formulas(markdown: &str) -> String {
    let options = Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH | Options::ENABLE_MATH;
    let mut html = String::new();
    push_html(&mut html, Parser::new_ext(markdown, options));
    html
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn inline_text(html in inline()) {
        is_stable(&format!("<p>{html}</p>"))?;
    }

    #[test]
    fn formulas(parts in proptest::collection::vec((text(), formula()), 1..4), cell in any::<bool>()) {
        let renderer = "<script src=\"/mathjax.js\"></script>";
        let parts: Vec<String> = parts.iter().map(|(text, formula)| format!("{text} {formula}")).collect();
        let html = if cell {
            format!("<table><tr><th>a</th><th>b</th></tr><tr><td>c</td><td>{}</td></tr></table>", parts.join(" "))
        } else {
            format!("<p>{}</p>", parts.join(" "))
        };
        let first = to_markdown(&format!("{renderer}{html}"));
        let second = to_markdown(&to_html_with_formulas(&first));
        prop_assert_eq!(&first, &second, "from {}", html);
    }

    #[test]
    fn blocks(html in block()) {
        is_stable(&html)?;
    }
}

#[test]
fn known_shapes() {
    for html in [
        "<p>a<br>b</p><ul><li>x<ul><li>y</li></ul></li></ul><ul><li>z</li></ul>",
        "<ol start=7><li><p>p</p><p>q</p></li></ol><ol><li>r</li></ol>",
        "<blockquote><ul><li>a<pre>x\n\ny</pre></li></ul></blockquote><blockquote>b</blockquote>",
        "<dl><dt>T</dt><dd>D</dd></dl>",
        "<table><tr><td>1<td>2<tr><td>a|b<td></table>",
        // A mark beside the signs of others.
        "<p><i>A</i><b><del>é</del></b></p>",
        "<p><b><del>é</del></b><i>A</i></p>",
        "<p>a<del><b>b</b></del>c <i><del>d</del></i>e <b>f<del>g</del></b><i>h</i></p>",
    ] {
        is_stable(html).unwrap();
    }
}

#[test]
fn known_formulas() {
    let renderer = "<script src=\"/mathjax.js\"></script>";
    for html in [r"\( &amp;amp; \(0\)", r"\(a &amp;lt; b\)", "<script type=math/tex>a &amp;lt; b</script>"] {
        let first = to_markdown(&format!("{renderer}<p>x {html}</p>"));
        assert_eq!(to_markdown(&to_html_with_formulas(&first)), first);
    }
}
