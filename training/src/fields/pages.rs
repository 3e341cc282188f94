//! Pages with marked values, the schemas that ask for them, and how an answer is judged.

use content::{ContentScope, Limits, Page, PageSource};
use extract::PageView;
use serde::Deserialize;
use serde_json::{Map, Value, json};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::io::BufRead;

/// Share of common words from which on an answer is near a marked value.
const MIN_NEAR: f64 = 0.75;

#[derive(Debug, Deserialize)]
pub struct Annotated {
    pub id: String,
    pub vertical: String,
    pub fields: BTreeMap<String, Vec<String>>,
    pub html: String,
}

/// A page that was read, with its markdown as the service would pass it on.
pub struct ReadPage {
    pub id: String,
    pub vertical: String,
    pub fields: BTreeMap<String, Vec<String>>,
    pub url: String,
    pub page: Page,
    pub markdown: String,
}

impl ReadPage {
    pub fn view(&self) -> PageView<'_> {
        PageView { url: &self.url, page: &self.page, markdown: &self.markdown }
    }
}

pub fn read_pages(file: impl BufRead) -> Result<Vec<ReadPage>, String> {
    let mut pages = Vec::new();
    for line in file.lines() {
        let line = line.map_err(|error| error.to_string())?;
        if line.trim().is_empty() {
            continue;
        }
        let row: Annotated = serde_json::from_str(&line).map_err(|error| error.to_string())?;
        let url = site_url(&row.id);
        let parsed = url::Url::parse(&url).map_err(|error| error.to_string())?;
        let source = PageSource {
            bytes: row.html.as_bytes(),
            content_type: Some("text/html; charset=utf-8"),
            url: Some(&parsed),
            status: Some(200),
        };
        let page = Page::parse(&source, &Limits::default());
        let selection = page.select(&ContentScope::default()).map_err(|error| error.to_string())?;
        let markdown = page.markdown(&selection, true);
        pages.push(ReadPage { id: row.id, vertical: row.vertical, fields: row.fields, url, page, markdown });
    }
    Ok(pages)
}

/// An address with a host for each site; ids are `vertical/site/number`.
fn site_url(id: &str) -> String {
    let name = |part: usize| -> String {
        id.split('/').nth(part).unwrap_or("pages").chars().filter(char::is_ascii_alphanumeric).collect()
    };
    format!("http://{}.{}.example/{id}", name(1), name(0))
}

/// What each field of the development set is, as a user would describe it.
fn description(vertical: &str, field: &str) -> &'static str {
    match (vertical, field) {
        ("auto", "model") => "Name of the car, with make and year where given",
        ("camera", "model") => "Name of the camera model",
        ("book", "title") => "Title of the book",
        ("job", "title") => "Job title",
        ("movie", "title") => "Title of the film",
        ("job", "date_posted") => "Date on which the job was posted",
        (_, "publication_date") => "Date of publication",
        (_, "price") => "Price",
        (_, "engine") => "Engine",
        (_, "fuel_economy") => "Fuel economy",
        (_, "author") => "Author",
        (_, "isbn_13") => "ISBN-13",
        (_, "publisher") => "Publisher",
        (_, "manufacturer") => "Manufacturer",
        (_, "company") => "Company",
        (_, "location") => "Location",
        (_, "director") => "Director",
        (_, "genre") => "Genre",
        (_, "mpaa_rating") => "MPAA rating",
        _ => "",
    }
}

/// The schema of a page's fields, as the scorer asks for them.
pub fn schema(page: &ReadPage) -> Value {
    let properties: Map<String, Value> = page
        .fields
        .keys()
        .map(|field| {
            let about = description(&page.vertical, field);
            (field.clone(), json!({"type": "string", "description": about}))
        })
        .collect();
    json!({"type": "object", "properties": properties})
}

/// One way of asking for the fields of a page: the schema, and which marked values each property wants.
pub struct Question {
    pub schema: Value,
    pub wanted: BTreeMap<String, Vec<String>>,
    pub weight: f32,
}

/// The ways of asking that training learns from: as the scorer does, by bare names, with numbers, and for
/// fields that only pages of other kinds have. `foreign` are fields of other kinds with their descriptions.
pub fn questions(page: &ReadPage, foreign: &[(String, String)]) -> Vec<Question> {
    let all = Question { schema: schema(page), wanted: page.fields.clone(), weight: 1.0 };
    let bare: Map<String, Value> = page
        .fields
        .keys()
        .map(|field| (field.clone(), json!({"type": if field == "price" { "number" } else { "string" }})))
        .collect();
    let bare = Question {
        schema: json!({"type": "object", "properties": bare}),
        wanted: page.fields.clone(),
        weight: 0.5,
    };
    let other: Map<String, Value> = foreign
        .iter()
        .map(|(field, about)| (field.clone(), json!({"type": "string", "description": about})))
        .collect();
    let nothing = foreign.iter().map(|(field, _)| (field.clone(), Vec::new())).collect();
    let foreign =
        Question { schema: json!({"type": "object", "properties": other}), wanted: nothing, weight: 0.3 };
    vec![all, bare, foreign]
}

/// The fields that occur in one vertical only, with their descriptions, by vertical.
pub fn own_fields(pages: &[ReadPage]) -> BTreeMap<String, Vec<(String, String)>> {
    let mut seen: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for page in pages {
        let fields = seen.entry(&page.vertical).or_default();
        fields.extend(page.fields.keys().map(String::as_str));
    }
    let shared = |field: &str| seen.values().filter(|fields| fields.contains(field)).count() > 1;
    // Any page may state these, whatever it is about.
    let general = ["price", "location", "company", "author", "genre", "publisher", "manufacturer"];
    seen.iter()
        .map(|(vertical, fields)| {
            let own = fields
                .iter()
                .filter(|field| !shared(field) && !general.contains(field) && !field.contains("date"))
                .map(|field| ((*field).to_owned(), description(vertical, field).to_owned()))
                .collect();
            ((*vertical).to_owned(), own)
        })
        .collect()
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    Right,
    Near,
    Wrong,
}

/// Judges an answer as the scorer does.
pub fn judge(answer: &str, marked: &[String]) -> Verdict {
    let given = squeeze(answer);
    let joined = squeeze(&marked.concat());
    if marked.iter().any(|value| squeeze(value) == given) || (marked.len() > 1 && given == joined) {
        return Verdict::Right;
    }
    if marked.iter().any(|value| agreement(answer, value) >= MIN_NEAR) {
        return Verdict::Near;
    }
    Verdict::Wrong
}

/// Whether a candidate counts as right in training: also what the marks have with its label.
pub fn label(value: &Value, marked: &[String]) -> f32 {
    let Some(text) = value.as_str() else {
        let digits = |text: &str| text.chars().filter(char::is_ascii_digit).collect::<String>();
        let given = value.as_f64().unwrap_or(-1.0);
        let same = |text: &String| {
            let amount: String = text.chars().filter(|c| c.is_ascii_digit() || *c == '.').collect();
            !digits(text).is_empty()
                && amount.trim_matches('.').parse::<f64>().is_ok_and(|amount| (amount - given).abs() < 0.005)
        };
        return f32::from(u8::from(marked.iter().any(same)));
    };
    match judge(text, marked) {
        Verdict::Right => 1.0,
        Verdict::Near => 0.9,
        Verdict::Wrong => {
            let given = squeeze(text);
            let ends = |value: &String| {
                let value = squeeze(value);
                value.ends_with(&given) && given.len() * 5 >= value.len() * 2
            };
            if given.len() >= 4 && marked.iter().any(ends) { 0.8 } else { 0.0 }
        }
    }
}

pub fn squeeze(text: &str) -> String {
    text.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

/// The F1 of two texts' words.
fn agreement(one: &str, other: &str) -> f64 {
    let words = |text: &str| {
        let mut counts: HashMap<String, usize> = HashMap::new();
        let mut sum = 0_usize;
        for word in text.split(|c: char| !(c.is_alphanumeric() || c == '_')).filter(|word| !word.is_empty()) {
            *counts.entry(word.to_lowercase()).or_default() += 1;
            sum += 1;
        }
        (counts, sum)
    };
    let ((one, one_sum), (other, other_sum)) = (words(one), words(other));
    let common: usize =
        one.iter().map(|(word, count)| (*count).min(other.get(word).copied().unwrap_or(0))).sum();
    2.0 * common as f64 / (one_sum + other_sum).max(1) as f64
}
