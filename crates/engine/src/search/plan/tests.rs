use super::*;
use search::SourceKind;
use serde_json::{Value, json};

fn plan(body: &Value) -> Result<SearchPlan, wire::WireError> {
    let asked = wire::read::body(body.to_string().as_bytes())?;
    Ok(SearchPlan::resolve(&asked, Uuid::nil(), false)?)
}

fn path_of(body: &Value) -> String {
    let error = plan(body).unwrap_err();
    assert_eq!(error.status(), 400, "{body}");
    error.details().unwrap()[0]["path"].to_string()
}

#[test]
fn defaults_are_those_of_the_contract() {
    let plan = plan(&json!({ "query": "cats" })).unwrap();
    assert_eq!(plan.questions.len(), 1);
    let question = &plan.questions[0];
    assert_eq!((question.kind, question.limit, plan.timeout), (SourceKind::Web, 10, Duration::from_mins(1)));
    assert!(question.highlights && plan.scrape.is_none() && !plan.tools && !plan.private);
    assert_eq!((credits(0), credits(1), credits(10), credits(11)), (0, 2, 2, 4));
}

#[test]
fn a_source_has_options_of_its_own() {
    let sources = json!([{ "type": "web", "tbs": "qdr:d", "country": "de", "lang": "de-AT", "location": "Wien" }, "news", "web"]);
    let plan = plan(&json!({ "query": "x", "sources": sources, "tbs": "qdr:y", "country": "us" })).unwrap();
    assert_eq!(plan.questions.len(), 2, "a source that is named twice is asked once");
    let (web, news) = (&plan.questions[0], &plan.questions[1]);
    assert_eq!(
        (web.time_range.tbs().as_deref(), news.time_range.tbs().as_deref()),
        (Some("qdr:d"), Some("qdr:y"))
    );
    assert_eq!((web.country.as_deref(), web.language.as_deref()), (Some("DE"), Some("de")));
    assert_eq!((news.country.as_deref(), news.location.as_deref()), (Some("US"), None));
}

#[test]
fn mistakes_are_named_where_they_stand() {
    for (body, path) in [
        (json!({}), r#"["query"]"#),
        (json!({ "query": "  " }), r#"["query"]"#),
        (json!({ "query": "x".repeat(501) }), r#"["query"]"#),
        (json!({ "query": "x", "limit": 0 }), r#"["limit"]"#),
        (json!({ "query": "x", "limit": 101 }), r#"["limit"]"#),
        (json!({ "query": "x", "timeout": 300_001 }), r#"["timeout"]"#),
        (json!({ "query": "x", "sources": ["web", "videos"] }), r#"["sources",1]"#),
        (json!({ "query": "x", "sources": [{ "type": "web", "tbs": "soon" }] }), r#"["sources",0,"tbs"]"#),
        (json!({ "query": "x", "tbs": "soon" }), r#"["tbs"]"#),
        (json!({ "query": "x", "categories": ["github", "books"] }), r#"["categories",1]"#),
        (json!({ "query": "x", "categories": ["gov", "pdf"] }), r#"["categories"]"#),
        (json!({ "query": "x", "categories": ["gov", "developer"] }), r#"["categories"]"#),
        (json!({ "query": "x", "categories": ["gov"], "sources": ["news"] }), r#"["sources",0]"#),
        (json!({ "query": "x", "includeDomains": ["a.example", "b c"] }), r#"["includeDomains",1]"#),
        (
            json!({ "query": "x", "includeDomains": ["a.example"], "excludeDomains": ["b.example"] }),
            r#"["excludeDomains"]"#,
        ),
        (json!({ "query": "x", "country": "Germany" }), r#"["country"]"#),
        (json!({ "query": "x", "lang": "1" }), r#"["lang"]"#),
        (json!({ "query": "x", "location": "" }), r#"["location"]"#),
        (json!({ "query": "x", "asyncScraping": true }), r#"["asyncScraping"]"#),
        (json!({ "query": "x", "toolDetail": "all" }), r#"["toolDetail"]"#),
        (json!({ "query": "x", "enterprise": ["x"] }), r#"["enterprise"]"#),
        (
            json!({ "query": "x", "scrapeOptions": { "formats": ["nope"] } }),
            r#"["scrapeOptions","formats",0,"type"]"#,
        ),
    ] {
        assert_eq!(path_of(&body), path, "{body}");
    }
    let both =
        plan(&json!({ "query": "x", "includeDomains": ["a.b"], "excludeDomains": ["c.d"] })).unwrap_err();
    assert_eq!(both.text(), "includeDomains and excludeDomains cannot both be specified");
}

#[test]
fn only_formats_make_it_scrape_and_privacy_has_three_names() {
    assert!(
        plan(&json!({ "query": "x", "scrapeOptions": { "onlyMainContent": true } }))
            .unwrap()
            .scrape
            .is_none()
    );
    assert!(
        plan(&json!({ "query": "x", "scrapeOptions": { "formats": ["markdown"] } }))
            .unwrap()
            .scrape
            .is_some()
    );
    for private in [
        json!({ "enterprise": ["zdr"] }),
        json!({ "enterprise": ["anon"] }),
        json!({ "zeroDataRetention": true }),
    ] {
        let mut body = json!({ "query": "x" });
        body.as_object_mut().unwrap().extend(private.as_object().unwrap().clone());
        assert!(plan(&body).unwrap().private, "{body}");
    }
    let tools = plan(&json!({ "query": "x", "sources": ["alexandria"] })).unwrap();
    assert!(tools.tools && tools.questions.is_empty());
}
