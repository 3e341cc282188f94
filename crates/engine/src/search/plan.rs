//! What a search request means: every default filled in, every mistake named.

use crate::scrape::ScrapePlan;
use crate::scrape::plan::{HostRules, host_rules};
use search::{Category, Kind, Question, WEB, Window};
use std::time::Duration;
use url::Url;
use uuid::Uuid;
use wire::scrape::ScrapeOptions;
use wire::search::{SearchRequest, SourceObject};
use wire::{Issue, Issues, PathPart, WireError};

const DEFAULT_LIMIT: i64 = 10;
const DEFAULT_TIMEOUT: i64 = 60_000;
const LONGEST_QUERY: usize = 500;
const MOST_DOMAINS: usize = 100;
const LONGEST_LOCATION: usize = 200;
/// Credits for so many results.
const CREDITS: i64 = 2;
const RESULTS: usize = 10;

/// A search to make.
#[derive(Debug, Clone)]
pub struct SearchPlan {
    /// As it was written, for the activity.
    pub query: String,
    /// One for each source, in the order they were asked for.
    pub questions: Vec<Question>,
    /// Tools of a catalogue were asked for; the list is empty, but it is there.
    pub tools: bool,
    /// How every hit is scraped, when it is.
    pub scrape: Option<ScrapeOptions>,
    pub timeout: Duration,
    /// Results that cannot be scraped by their address are left out.
    pub leave_out_unusable: bool,
    pub highlights: bool,
    /// Nothing of it is kept.
    pub private: bool,
    pub rules: Option<HostRules>,
}

impl SearchPlan {
    pub fn resolve(asked: &SearchRequest, team: Uuid, team_keeps_nothing: bool) -> Result<Self, WireError> {
        let mut issues = Issues::default();
        let query = asked.query.clone().unwrap_or_default();
        match (&asked.query, query.trim().is_empty()) {
            (None, _) => issues.add("query", "required", "invalid_type"),
            (Some(_), true) => issues.add("query", "must have at least 1 characters", "too_small"),
            (Some(_), false) => issues.length("query", &query, &(1..=LONGEST_QUERY)),
        }
        let limit = asked.limit.unwrap_or(DEFAULT_LIMIT);
        issues.range("limit", limit, &(1..=100));
        let timeout = asked.timeout.unwrap_or(DEFAULT_TIMEOUT);
        issues.range("timeout", timeout, &(1_000..=300_000));
        let common = Question {
            sites: domains(&mut issues, "includeDomains", asked.include_domains.as_deref()),
            without_sites: domains(&mut issues, "excludeDomains", asked.exclude_domains.as_deref()),
            safe: asked.safe,
            highlights: asked.highlights.unwrap_or(true),
            ..Question::new(&query, usize::try_from(limit).unwrap_or(1), team)
        };
        let categories = Categories::resolve(asked, &mut issues);
        let (questions, tools) = sources(asked, &common, &categories, &mut issues);
        let private = team_keeps_nothing
            || asked.zero_data_retention == Some(true)
            || asked.enterprise.iter().flatten().any(|mode| matches!(mode.as_str(), "zdr" | "anon"));
        refuse_the_rest(asked, &mut issues);
        let rules = host_rules(asked.threat_protection.as_ref(), &mut issues);
        issues.finish()?;
        if !common.sites.is_empty() && !common.without_sites.is_empty() {
            return Err(both_lists());
        }
        let scrape = asked
            .scrape_options
            .clone()
            .filter(|options| options.formats.as_ref().is_some_and(|formats| !formats.is_empty()));
        if let Some(options) = &scrape {
            check_scraping(options, private)?;
        }
        Ok(Self {
            query,
            questions,
            tools,
            scrape,
            timeout: Duration::from_millis(u64::try_from(timeout).unwrap_or(0)),
            leave_out_unusable: asked.ignore_invalid_urls.unwrap_or(false),
            highlights: common.highlights,
            private,
            rules,
        })
    }

    /// What the search itself may cost at most.
    pub fn most_credits(&self) -> i64 {
        credits(self.questions.iter().map(|question| question.limit).sum())
    }
}

/// What this many results cost.
pub fn credits(results: usize) -> i64 {
    let tens = results.div_ceil(RESULTS);
    i64::try_from(tens).unwrap_or(i64::MAX / CREDITS) * CREDITS
}

fn both_lists() -> WireError {
    let text = "includeDomains and excludeDomains cannot both be specified";
    WireError::with_text(wire::Kind::BadRequest, text.to_owned()).with_details(&[Issue::at(
        "excludeDomains",
        text,
        "custom",
    )])
}

fn domains(issues: &mut Issues, field: &str, asked: Option<&[String]>) -> Vec<String> {
    let asked = asked.unwrap_or_default();
    if asked.len() > MOST_DOMAINS {
        issues.add(field, &format!("at most {MOST_DOMAINS} are allowed"), "too_big");
        return Vec::new();
    }
    let mut domains = Vec::new();
    for (place, text) in asked.iter().enumerate() {
        match search::site(text) {
            Some(site) => domains.push(site),
            None => {
                let path = vec![PathPart::Key(field.to_owned()), PathPart::Index(place)];
                issues.push(Issue::new(path, "must be a host name", "invalid_value"));
            }
        }
    }
    domains
}

/// The categories of a search.
struct Categories {
    narrowing: Vec<Category>,
    /// A collection that is searched instead of the web.
    collection: &'static str,
}

impl Categories {
    fn resolve(asked: &SearchRequest, issues: &mut Issues) -> Self {
        let mut found = Self { narrowing: Vec::new(), collection: WEB };
        let asked = asked.categories.as_deref().unwrap_or_default();
        for (place, category) in asked.iter().enumerate() {
            match (category.name(), Category::from_name(category.name())) {
                (_, Some(narrowing)) if !found.narrowing.contains(&narrowing) => {
                    found.narrowing.push(narrowing)
                }
                (_, Some(_)) => {}
                ("developer", None) => found.collection = "developer",
                ("gov", None) => found.collection = "gov",
                _ => {
                    let path = vec![PathPart::Key("categories".to_owned()), PathPart::Index(place)];
                    issues.push(Issue::new(
                        path,
                        "must be github, research, pdf, developer or gov",
                        "invalid_value",
                    ));
                }
            }
        }
        let others = asked.iter().filter(|category| category.name() != found.collection).count();
        if found.collection != WEB && others > 0 {
            let text = format!("{} cannot be combined with other categories", found.collection);
            issues.add("categories", &text, "custom");
        }
        found
    }
}

/// A question for each source, with the options of its own; and whether tools were asked for.
fn sources(
    asked: &SearchRequest,
    common: &Question,
    categories: &Categories,
    issues: &mut Issues,
) -> (Vec<Question>, bool) {
    let mut questions: Vec<Question> = Vec::new();
    let mut tools = asked.domain_tools == Some(true);
    let own = SourceObject::default();
    let named: Vec<(&str, &SourceObject)> = match asked.sources.as_deref() {
        None | Some([]) => vec![("web", &own)],
        Some(sources) => {
            sources.iter().map(|source| (source.name(), source.options().unwrap_or(&own))).collect()
        }
    };
    let listed = asked.sources.as_ref().is_some_and(|sources| !sources.is_empty());
    for (place, (name, options)) in named.into_iter().enumerate() {
        let at = if listed {
            vec![PathPart::Key("sources".to_owned()), PathPart::Index(place)]
        } else {
            Vec::new()
        };
        let kind = match name {
            "web" => Kind::Web,
            "news" => Kind::News,
            "images" => Kind::Images,
            "alexandria" => {
                tools = true;
                continue;
            }
            _ => {
                issues.push(Issue::new(at, "must be web, news, images or alexandria", "invalid_value"));
                continue;
            }
        };
        if categories.collection != WEB && kind != Kind::Web {
            let text = format!("the category {} has results for web only", categories.collection);
            issues.push(Issue::new(at.clone(), &text, "custom"));
        }
        if questions.iter().any(|known| known.kind == kind) {
            continue;
        }
        questions.push(Question {
            kind,
            collection: categories.collection,
            categories: categories.narrowing.clone(),
            window: window(issues, &at, options.tbs.as_ref(), asked.tbs.as_ref()),
            country: country(issues, &at, options.country.as_ref(), asked.country.as_ref()),
            language: language(issues, &at, options.lang.as_ref(), asked.lang.as_ref()),
            location: location(issues, &at, options.location.as_ref(), asked.location.as_ref()),
            ..common.clone()
        });
    }
    (questions, tools)
}

/// The value of a source, else of the request, with where it stands.
fn either<'a>(
    at: &[PathPart],
    field: &str,
    own: Option<&'a String>,
    common: Option<&'a String>,
) -> Option<(&'a str, Vec<PathPart>)> {
    let mut path = if own.is_some() { at.to_vec() } else { Vec::new() };
    path.push(PathPart::Key(field.to_owned()));
    own.or(common).map(|value| (value.trim(), path))
}

fn window(issues: &mut Issues, at: &[PathPart], own: Option<&String>, common: Option<&String>) -> Window {
    let Some((tbs, path)) = either(at, "tbs", own, common) else { return Window::default() };
    Window::read(tbs).unwrap_or_else(|why| {
        issues.push(Issue::new(path, &why, "invalid_value"));
        Window::default()
    })
}

fn country(
    issues: &mut Issues,
    at: &[PathPart],
    own: Option<&String>,
    common: Option<&String>,
) -> Option<String> {
    let (code, path) = either(at, "country", own, common)?;
    if code.len() == 2 && code.bytes().all(|byte| byte.is_ascii_alphabetic()) {
        return Some(code.to_ascii_uppercase());
    }
    issues.push(Issue::new(path, "must be a country code of two letters (ISO 3166-1)", "invalid_value"));
    None
}

/// The language of a tag such as `en` or `pt-BR`.
fn language(
    issues: &mut Issues,
    at: &[PathPart],
    own: Option<&String>,
    common: Option<&String>,
) -> Option<String> {
    let (tag, path) = either(at, "lang", own, common)?;
    let primary = tag.split(['-', '_']).next().unwrap_or_default();
    if (2..=3).contains(&primary.len())
        && primary.bytes().all(|byte| byte.is_ascii_alphabetic())
        && tag.len() <= 12
    {
        return Some(primary.to_ascii_lowercase());
    }
    issues.push(Issue::new(path, "must be a language tag such as en", "invalid_value"));
    None
}

fn location(
    issues: &mut Issues,
    at: &[PathPart],
    own: Option<&String>,
    common: Option<&String>,
) -> Option<String> {
    let (place, path) = either(at, "location", own, common)?;
    if place.is_empty() || place.chars().count() > LONGEST_LOCATION {
        let text = format!("must have 1 to {LONGEST_LOCATION} characters");
        issues.push(Issue::new(path, &text, "invalid_value"));
        return None;
    }
    Some(place.to_owned())
}

fn refuse_the_rest(asked: &SearchRequest, issues: &mut Issues) {
    if asked.async_scraping == Some(true) {
        issues.add(
            "asyncScraping",
            "results are scraped before the answer; use a batch to scrape later",
            "invalid_value",
        );
    }
    let detail = asked.tool_detail.as_deref();
    if detail.is_some_and(|detail| !["compact", "summary", "full"].contains(&detail)) {
        issues.add("toolDetail", "must be compact, summary or full", "invalid_value");
    }
    let known = ["default", "anon", "zdr"];
    if asked.enterprise.iter().flatten().any(|mode| !known.contains(&mode.as_str())) {
        issues.add("enterprise", "must be default, anon or zdr", "invalid_value");
    }
}

/// Finds mistakes in the options before anything is looked for: they are the same for every page.
fn check_scraping(options: &ScrapeOptions, private: bool) -> Result<(), WireError> {
    let any = Url::parse("http://localhost/").map_err(|_| WireError::from(wire::Kind::Internal))?;
    ScrapePlan::of_options(any, "", options, private).map_err(|error| error.within("scrapeOptions"))?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn plan(body: &Value) -> Result<SearchPlan, WireError> {
        let asked = wire::read::body(body.to_string().as_bytes())?;
        SearchPlan::resolve(&asked, Uuid::nil(), false)
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
        assert_eq!((question.kind, question.limit, plan.timeout), (Kind::Web, 10, Duration::from_mins(1)));
        assert!(question.highlights && plan.scrape.is_none() && !plan.tools && !plan.private);
        assert_eq!((credits(0), credits(1), credits(10), credits(11)), (0, 2, 2, 4));
    }

    #[test]
    fn a_source_has_options_of_its_own() {
        let sources = json!([{ "type": "web", "tbs": "qdr:d", "country": "de", "lang": "de-AT", "location": "Wien" }, "news", "web"]);
        let plan =
            plan(&json!({ "query": "x", "sources": sources, "tbs": "qdr:y", "country": "us" })).unwrap();
        assert_eq!(plan.questions.len(), 2, "a source that is named twice is asked once");
        let (web, news) = (&plan.questions[0], &plan.questions[1]);
        assert_eq!(
            (web.window.tbs().as_deref(), news.window.tbs().as_deref()),
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
            (
                json!({ "query": "x", "sources": [{ "type": "web", "tbs": "soon" }] }),
                r#"["sources",0,"tbs"]"#,
            ),
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
                r#"["scrapeOptions","formats",0]"#,
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
}
