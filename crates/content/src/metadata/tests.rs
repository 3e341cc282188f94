use super::*;
use html::dom::Limits;
use serde_json::json;
use url::Url;

fn read_metadata(html: &str) -> Metadata {
    let dom = Dom::parse(html, &Limits::default());
    Metadata::from_dom(
        &dom,
        &Base::from_dom(&dom, Url::parse("https://ex.org/2024/03/09/post").ok().as_ref()),
    )
}

#[test]
fn every_wire_field() {
    let html = "<html lang=en-GB><head><title> A
        title </title><meta name=Description content=D><meta name=keywords content='a, b'><meta name=robots content=noindex>
        <link rel='shortcut icon' href=/f.ico><link rel=canonical href='/c'>
        <link rel=alternate hreflang=de href=/de><link rel=alternate type=application/rss+xml href=/feed title=News>
        <meta property=og:title content=OT><meta property=og:image content=/i/1><meta property=og:image content=https://i/2>
        <meta property=og:locale:alternate content=fr_FR><meta property=article:tag content=t1><meta property=article:section content=S>
        <meta property=article:modified_time content='2024-05-06 10:00'><meta name=dc.date content=2001/02/03>
        <meta name=DCTERMS.created content=2000-01-01><meta name=viewport content=w></head>";
    let metadata = read_metadata(html);
    let wire = metadata.to_wire();
    for (name, value) in [
        ("title", json!("A title")),
        ("description", json!("D")),
        ("language", json!("en-GB")),
        ("keywords", json!("a, b")),
        ("robots", json!("noindex")),
        ("favicon", json!("https://ex.org/f.ico")),
        ("canonical", json!("https://ex.org/c")),
        ("ogTitle", json!("OT")),
        ("ogImage", json!("https://ex.org/i/1")),
        ("og:image", json!(["https://ex.org/i/1", "https://i/2"])),
        ("ogLocaleAlternate", json!(["fr_FR"])),
        ("articleTag", json!("t1")),
        ("articleSection", json!("S")),
        ("modifiedTime", json!("2024-05-06T10:00")),
        ("publishedTime", json!("2001-02-03")),
        ("publishedTimeSource", json!("meta:dc.date")),
        ("dcDate", json!("2001/02/03")),
        ("dcTermsCreated", json!("2000-01-01")),
        ("viewport", json!("w")),
        ("feeds", json!([{"url": "https://ex.org/feed", "kind": "rss", "title": "News"}])),
        ("alternates", json!([{"language": "de", "url": "https://ex.org/de"}])),
    ] {
        assert_eq!(wire.get(name), Some(&value), "{name}");
    }
}

#[test]
fn author_and_date_by_order_of_trust() {
    let ld = r##"<script type="application/ld+json">{"@graph":[{"@type":"WebSite","name":"x"},
        {"@type":"NewsArticle","datePublished":"2020-01-02T03:04:05Z","dateModified":"2021-01-01",
         "author":[{"@id":"#p"},{"@type":"Person","name":"Bo Li"}]},{"@id":"#p","@type":"Person","name":"Ann Ray"}]}</script>"##;
    let metadata = read_metadata(&format!("<meta name=author content='Someone Else'>{ld}"));
    assert_eq!(metadata.author, Some(Sourced { value: "Ann Ray, Bo Li".into(), source: "json-ld" }));
    assert_eq!(metadata.published, Some(Sourced { value: "2020-01-02T03:04:05Z".into(), source: "json-ld" }));
    assert_eq!(metadata.modified, Some(Sourced { value: "2021-01-01".into(), source: "json-ld" }));
    let metadata = read_metadata("<meta name=author content='By Someone Else'><time datetime=2019-05-05>");
    assert_eq!(metadata.author, Some(Sourced { value: "Someone Else".into(), source: "meta:author" }));
    assert_eq!(metadata.published, Some(Sourced { value: "2019-05-05".into(), source: "time" }));
    let metadata = read_metadata("<p class=byline>By <a href=/a>Cy Dee</a></p>");
    assert_eq!(metadata.author, Some(Sourced { value: "Cy Dee".into(), source: "byline" }));
    assert_eq!(metadata.published, Some(Sourced { value: "2024-03-09".into(), source: "url" }));
}

#[test]
fn broken_json_ld_is_mended_or_left_out() {
    let metadata = read_metadata(
        "<script type='application/ld+json'>{\"@type\":\"Article\",\"headline\":\"two\nlines\"};</script>\
                         <script type='application/ld+json'>{nonsense</script>",
    );
    assert_eq!(metadata.json_ld, [json!({"@type": "Article", "headline": "two lines"})]);
    let deep = "[".repeat(100_000);
    assert!(read_metadata(&format!("<script type='application/ld+json'>{deep}</script>")).json_ld.is_empty());
}

#[test]
fn microdata_as_items() {
    let html = "<div itemscope itemtype=https://schema.org/Product><span itemprop=name>Pen</span><a itemprop=url href=/p>x</a>\
                <div itemprop=offers itemscope itemtype=https://schema.org/Offer><meta itemprop=price content=3></div>\
                <i itemprop=color>red</i><i itemprop=color>blue</i></div>";
    let expected = json!([{"@type": "Product", "name": "Pen", "url": "https://ex.org/p",
        "offers": {"@type": "Offer", "price": "3"}, "color": ["red", "blue"]}]);
    assert_eq!(json!(read_metadata(html).microdata), expected);
    let deep = "<div itemscope itemprop=x>".repeat(400);
    assert!(!read_metadata(&deep).microdata.is_empty());
}

#[test]
fn language_when_undeclared() {
    for (text, code) in [
        (
            "Der schnelle braune Fuchs springt über den faulen Hund, und danach schläft er lange im Garten hinter dem Haus.",
            "de",
        ),
        (
            "Le renard brun rapide saute par-dessus le chien paresseux, puis il dort longtemps dans le jardin derrière la maison.",
            "fr",
        ),
        (
            "素早い茶色の狐は怠け者の犬を飛び越えて、それから家の後ろの庭で長い間眠りました。とても気持ちがよかったです。",
            "ja",
        ),
        (
            "Быстрая коричневая лиса перепрыгивает через ленивую собаку, а потом долго спит в саду за домом.",
            "ru",
        ),
    ] {
        let metadata = read_metadata(&format!("<p>{text}</p>"));
        assert_eq!(metadata.language, Some(Sourced { value: code.into(), source: "detected" }));
    }
    assert_eq!(read_metadata("<p>ok").language, None);
}

#[test]
fn a_title_in_a_meta_tag_alone_is_what_callers_get() {
    let titled = |html: &str| read_metadata(html).wire_title().map(str::to_owned);
    assert_eq!(titled("<meta name=title content=M>").as_deref(), Some("M"));
    assert_eq!(titled("<title>T</title><meta name=title content=M>").as_deref(), Some("T"));
    assert_eq!(titled("<meta name=title content=M><meta name=title content=N>"), None);
    let html = "<meta name=title content=M><meta name=a content=1><meta name=a content=2>";
    let metadata = read_metadata(html);
    assert_eq!(metadata.to_wire()["title"], json!(metadata.wire_title()));
    assert_eq!((metadata.only_value("a"), metadata.only_value("b")), (None, None));
}
