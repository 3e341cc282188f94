//! The sources and categories of a search, each source with options of its own.

use search::{Category, Question, SourceKind, TimeRange, WEB_COLLECTION};
use wire::search::{SearchRequest, SourceObject};
use wire::{Issue, Issues, PathPart};

const MAX_LOCATION_CHARS: usize = 200;
/// Other names of the category `developer`, which callers of earlier versions of the contract send.
const DEVELOPER_NAMES: [&str; 6] = ["repo", "code", "docs", "devdex", "repo_search", "developer_index"];

/// The categories of a search.
pub struct Categories {
    narrowing: Vec<Category>,
    /// A collection that is searched instead of the web.
    collection: &'static str,
}

impl Categories {
    pub fn resolve(asked: &SearchRequest, issues: &mut Issues) -> Self {
        let mut found = Self { narrowing: Vec::new(), collection: WEB_COLLECTION };
        let asked = asked.categories.as_deref().unwrap_or_default();
        for (place, category) in asked.iter().enumerate() {
            let name = current_name(category.name());
            match (name, Category::from_name(name)) {
                (_, Some(narrowing)) if !found.narrowing.contains(&narrowing) => {
                    found.narrowing.push(narrowing);
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
        let others =
            asked.iter().filter(|category| current_name(category.name()) != found.collection).count();
        if found.collection != WEB_COLLECTION && others > 0 {
            let text = format!("{} cannot be combined with other categories", found.collection);
            issues.add("categories", &text, "custom");
        }
        found
    }
}

/// The name of a category, for one of its other names.
fn current_name(name: &str) -> &str {
    if DEVELOPER_NAMES.contains(&name) { "developer" } else { name }
}

/// A question for each source, with the options of its own; and whether tools were asked for.
pub fn sources(
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
            "web" => SourceKind::Web,
            "news" => SourceKind::News,
            "images" => SourceKind::Images,
            "alexandria" => {
                tools = true;
                continue;
            }
            _ => {
                issues.push(Issue::new(at, "must be web, news, images or alexandria", "invalid_value"));
                continue;
            }
        };
        if categories.collection != WEB_COLLECTION && kind != SourceKind::Web {
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
            time_range: time_range(issues, &at, options.tbs.as_ref(), asked.tbs.as_ref()),
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

fn time_range(
    issues: &mut Issues,
    at: &[PathPart],
    own: Option<&String>,
    common: Option<&String>,
) -> TimeRange {
    let Some((tbs, path)) = either(at, "tbs", own, common) else { return TimeRange::default() };
    TimeRange::parse(tbs).unwrap_or_else(|why| {
        issues.push(Issue::new(path, &why, "invalid_value"));
        TimeRange::default()
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
    if place.is_empty() || place.chars().count() > MAX_LOCATION_CHARS {
        let text = format!("must have 1 to {MAX_LOCATION_CHARS} characters");
        issues.push(Issue::new(path, &text, "invalid_value"));
        return None;
    }
    Some(place.to_owned())
}
