use crate::{EvidenceKind, Filled, PageView, Schema, conform, fill, fill_free, rank};
use content::{ContentScope, Limits, Page, PageSource};
use serde_json::{Value, json};

pub(super) fn page(url: &str, html: &str) -> (String, Page, String) {
    let parsed = url::Url::parse(url).unwrap();
    let source = PageSource {
        bytes: html.as_bytes(),
        content_type: Some("text/html; charset=utf-8"),
        url: Some(&parsed),
        status: Some(200),
    };
    let page = Page::parse(&source, &Limits::default());
    let markdown = page.markdown(&page.select(&ContentScope::default()).unwrap(), true);
    (url.to_owned(), page, markdown)
}

fn filled(schema: &Value, pages: &[(String, Page, String)]) -> Filled {
    let views: Vec<PageView> =
        pages.iter().map(|(url, page, markdown)| PageView { url, page, markdown }).collect();
    fill(&Schema::parse(schema).unwrap(), "", &views)
}

pub(super) fn one(schema: &Value, html: &str) -> Filled {
    filled(schema, &[page("https://a.example/p", html)])
}

pub(super) fn object(properties: &Value) -> Value {
    json!({"type": "object", "properties": properties})
}

pub(super) fn rows(properties: &Value) -> Value {
    object(&json!({"rows": {"type": "array", "items": {"type": "object", "properties": properties}}}))
}

#[test]
fn nothing_is_invented() {
    let schema = object(
        &json!({"price": {"type": "number"}, "email": {"type": "string"}, "isbn": {"type": "string"}, "in_stock": {"type": "boolean"},
        "rows": {"type": "array", "items": {"type": "object", "properties": {"name": {"type": "string"}, "score": {"type": "integer"}}}}}),
    );
    let found = one(
        &schema,
        "<h1>On rivers</h1><p>Rivers flow down to the sea, and have always done so.</p><p>They carry silt.</p>",
    );
    assert_eq!(found.value, json!({}));
    assert!(found.evidence.is_empty());
    assert!(
        found.missing.contains(&"/price".to_owned()) && found.missing.contains(&"/rows".to_owned()),
        "{:?}",
        found.missing
    );
}

#[test]
fn evidence_is_word_for_word() {
    let schema = object(
        &json!({"name": {"type": "string"}, "price": {"type": "number"}, "released": {"type": "string", "format": "date"}}),
    );
    let found = one(
        &schema,
        "<h1>Blue  <i>chair</i></h1><ul><li>Price: <b>1,299.00</b> €</li><li>Released: 3 May 2026</li></ul>",
    );
    assert_eq!(found.value, json!({"name": "Blue chair", "price": 1299, "released": "2026-05-03"}));
    let quote = |pointer: &str| {
        found
            .evidence
            .iter()
            .find(|evidence| evidence.pointer == pointer)
            .map(|evidence| (evidence.quote.as_str(), evidence.how))
    };
    assert_eq!(quote("/name"), Some(("Blue chair", EvidenceKind::Heading)));
    assert_eq!(quote("/price"), Some(("1,299.00 €", EvidenceKind::Label)));
    assert_eq!(quote("/released"), Some(("3 May 2026", EvidenceKind::Label)));
    assert!(
        found
            .evidence
            .iter()
            .all(|evidence| evidence.url == "https://a.example/p" && evidence.confidence > 0.3)
    );
}

#[test]
fn a_value_must_be_of_its_type() {
    let schema = object(
        &json!({"rooms": {"type": "integer"}, "email": {"type": "string", "format": "email"}, "size": {"enum": ["S", "M", "L"]}}),
    );
    let found = one(&schema, "<p>Rooms: many</p><p>Email: ask at the desk</p><p>Size: huge</p>");
    assert_eq!(found.value, json!({}));
}

#[test]
fn the_page_is_believed_before_a_description_of_something_else() {
    let html = r#"<title>Red kite</title><script type="application/ld+json">{"@type":"Product","name":"Gift card","offers":{"price":"25"}}</script>
        <h1>Red kite</h1><p>Price: $80</p>"#;
    let found = one(&object(&json!({"name": {"type": "string"}, "price": {"type": "number"}})), html);
    assert_eq!(found.value, json!({"name": "Red kite", "price": 80}));
    let html = html.replace("Gift card", "Red kite");
    let found = one(&object(&json!({"price": {"type": "number"}})), &html);
    assert_eq!((found.value, found.evidence[0].how), (json!({"price": 25}), EvidenceKind::JsonLd));
}

#[test]
fn rows_come_once_each_and_in_order() {
    let html =
        "<table><tr><th>Name<th>Score</tr><tr><td>b<td>2</tr><tr><td>a<td>1</tr><tr><td>b<td>2</tr></table>";
    let found = one(&rows(&json!({"name": {"type": "string"}, "score": {"type": "integer"}})), html);
    assert_eq!(found.value, json!({"rows": [{"name": "b", "score": 2}, {"name": "a", "score": 1}]}));
    let pointers: Vec<&str> = found.evidence.iter().map(|evidence| evidence.pointer.as_str()).collect();
    assert_eq!(pointers, ["/rows/0/name", "/rows/0/score", "/rows/1/name", "/rows/1/score"]);
}

#[test]
fn cells_that_reach_down_count_in_every_row() {
    let html = "<table><tr><th>Team<th>Player</tr><tr><td rowspan=2>Reds<td>Ann</tr><tr><td>Bob</tr><tr><td>Blues<td>Cy</tr></table>";
    let found = one(&rows(&json!({"team": {"type": "string"}, "player": {"type": "string"}})), html);
    assert_eq!(
        found.value["rows"],
        json!([{"team": "Reds", "player": "Ann"}, {"team": "Reds", "player": "Bob"}, {"team": "Blues", "player": "Cy"}])
    );
}

#[test]
fn lists_over_pages_merge_and_details_join() {
    let list = |n: usize, names: &[&str]| {
        let items: Vec<String> =
            names.iter().map(|name| format!("<li class=m><a href=/{name}>{name}</a></li>")).collect();
        let items = items.concat();
        page(
            &format!("https://a.example/list?p={n}"),
            &format!("<h1>Members</h1><ul class=members>{items}</ul>"),
        )
    };
    let detail = |name: &str, city: &str| {
        page(
            &format!("https://a.example/{name}"),
            &format!("<h1>{name}</h1><dl><dt>City</dt><dd>{city}</dd></dl>"),
        )
    };
    let schema = object(
        &json!({"members": {"type": "array", "items": {"type": "object", "properties": {"name": {"type": "string"}, "city": {"type": "string"}}}}}),
    );
    let found = filled(
        &schema,
        &[list(1, &["Ada", "Bo"]), list(2, &["Cy"]), detail("Ada", "Rome"), detail("Cy", "Oslo")],
    );
    assert_eq!(
        found.value,
        json!({"members": [{"name": "Ada", "city": "Rome"}, {"name": "Bo"}, {"name": "Cy", "city": "Oslo"}]})
    );
    let city = found.evidence.iter().find(|evidence| evidence.pointer == "/members/2/city").unwrap();
    assert_eq!(city.url, "https://a.example/Cy");
    // Without a list, each page is a row.
    let found = filled(&schema, &[detail("Ada", "Rome"), detail("Cy", "Oslo")]);
    assert_eq!(
        found.value["members"],
        json!([{"name": "Ada", "city": "Rome"}, {"name": "Cy", "city": "Oslo"}])
    );
}

#[test]
fn citations_are_filled_when_the_schema_asks() {
    let schema = object(
        &json!({"price": {"type": "number"}, "price_citation": {"type": "string"}, "weight": {"type": "string"}, "weight_citation": {"type": "string"}}),
    );
    let found = one(&schema, "<h1>Kite</h1><p>Price: $80</p>");
    assert_eq!(found.value, json!({"price": 80, "price_citation": "https://a.example/p"}));
}

#[test]
fn objects_with_any_members_take_the_pairs_of_their_part() {
    let schema =
        object(&json!({"specifications": {"type": "object", "additionalProperties": {"type": "string"}}}));
    let found = one(
        &schema,
        "<h1>Kite</h1><p>Call: us</p><h2>Specifications</h2><table><tr><td>Span</td><td>2 m</td></tr><tr><td>Lines</td><td>4</td></tr></table>",
    );
    assert_eq!(found.value, json!({"specifications": {"Span": "2 m", "Lines": "4"}}));
}

#[test]
fn what_a_shop_embeds_counts_where_nothing_is_declared() {
    let html = r#"<title>Wool cap</title><meta property="og:type" content="product"><h1>Wool cap</h1><div>Only <span>$24.00</span></div><button>Add to cart</button>
        <p>Warm and light.</p>"#;
    let found = one(&object(&json!({"price": {"type": "number"}, "name": {"type": "string"}})), html);
    assert_eq!(found.value, json!({"name": "Wool cap", "price": 24}));
}

#[test]
fn hidden_text_is_not_stated() {
    let schema = object(&json!({"price": {"type": "number"}}));
    let found = one(&schema, "<h1>Kite</h1><p style='display:none'>Price: $1</p><p hidden>Price: $2</p>");
    assert_eq!(found.value, json!({}));
}

#[test]
fn answers_without_a_schema_quote_the_page() {
    let (url, page, markdown) = page(
        "https://a.example/",
        "<h1>Ferry</h1><p>Telephone: 555 0144</p><p>The first ferry leaves at 06:10 on weekdays.</p><p>We love the sea.</p>",
    );
    let found = fill_free(
        "What is the telephone number, and when does the first ferry leave?",
        &[PageView { url: &url, page: &page, markdown: &markdown }],
    );
    assert!(
        found.value.to_string().contains("555 0144")
            && found.value["answer"].as_str().unwrap().contains("leaves at 06:10"),
        "{}",
        found.value
    );
    assert!(!found.value.to_string().contains("love"));
    let nothing = fill_free("zxqv", &[PageView { url: &url, page: &page, markdown: &markdown }]);
    assert_eq!(nothing.value, json!({}));
}

#[test]
fn partial_values_are_made_to_fit_or_named() {
    let schema = Schema::parse(&json!({"type": "object", "required": ["name", "tags", "note", "size"], "properties": {
        "name": {"type": "string"}, "tags": {"type": "array", "items": {"type": "string"}}, "note": {"type": ["string", "null"]},
        "size": {"type": "integer"}, "rate": {"type": "number", "maximum": 5},
        "rows": {"type": "array", "items": {"type": "object", "required": ["id"], "properties": {"id": {"type": "string"}}}}}}))
    .unwrap();
    let found =
        conform(json!({"name": "n", "size": 3, "rate": 9, "rows": [{"id": "a"}, {}, {"id": "b"}]}), &schema);
    assert!(found.valid);
    assert_eq!(
        found.value,
        json!({"name": "n", "size": 3, "tags": [], "note": null, "rows": [{"id": "a"}, {"id": "b"}]})
    );
    assert_eq!(found.dropped, ["/rows/1", "/rate"]);
    let lacking = conform(json!({"name": "n"}), &schema);
    assert!(!lacking.valid && lacking.missing == ["/size"], "{lacking:?}");
}

#[test]
fn links_are_ranked_by_what_is_missing() {
    let html = "<nav><a href=/>Home</a><a href=/team>Our team</a></nav><main><ul><li><a href=/p/a>Alder</a></li><li><a href=/p/b>Bolt</a></li><li><a href=/p/c>Corvid</a></li></ul>\
        <a href=/contact>Telephone and address</a><a rel=next href=/list?p=2>2</a></main>";
    let (url, page, markdown) = page("https://a.example/list", html);
    let view = PageView { url: &url, page: &page, markdown: &markdown };
    let links = rank::rank_links("find the members", None, &["/phone".to_owned()], &view);
    let kind = |path: &str| links.iter().find(|link| link.url.ends_with(path)).map(|link| link.kind);
    assert_eq!(kind("p=2"), Some(rank::LinkKind::Next));
    assert_eq!(kind("/p/b"), Some(rank::LinkKind::Detail));
    assert_eq!(kind("/contact"), Some(rank::LinkKind::Other));
    let place = |path: &str| links.iter().position(|link| link.url.ends_with(path)).unwrap();
    assert!(place("/contact") < place("/team") && place("p=2") < place("/p/a"), "{links:?}");
}

#[test]
fn words_that_ask_name_no_field() {
    let (url, page, markdown) = page(
        "https://a.example/p",
        "<h1>Sea</h1><dl><dt>What</dt><dd>a large body of water</dd><dt>The depth</dt><dd>11 km</dd></dl>",
    );
    let view = PageView { url: &url, page: &page, markdown: &markdown };
    let found = fill_free("What is the depth of the sea?", &[view]);
    assert!(found.value.get("what").is_none(), "{}", found.value);
    assert_eq!(found.value["depth"], "11 km");
}
