//! From a captured page to the formats that were asked for. Pure computing, for a [`super::workbench::Workbench`].

use super::capture::{Capture, Rung};
use super::failure;
use super::plan::ScrapePlan;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use content::budget::{self, OutOfBudget};
use content::css::SelectorError;
use content::page::Wanted;
use content::select::Selection;
use content::sniff::Kind as Sniffed;
use content::verdict::VerdictKind;
use serde::Serialize;
use serde_json::{Value, json};
use wire::scrape::{Document, Metadata};
use wire::{Issue, Kind, WireError};

/// Longer pages are not checked for instructions, and the answer says so.
const LARGEST_CHECKED: usize = 2_000_000;

/// Writes the formats of a plan. What needs the store or a browser's souvenirs is added by the caller.
pub fn write(plan: &ScrapePlan, capture: &Capture) -> Result<Document, WireError> {
    let mut notes = Notes::default();
    let mut document = Document { metadata: metadata(plan, capture), ..Document::default() };
    if plan.check_injection {
        check_injection(capture, &mut notes)?;
    }
    if plan.formats.raw_base64 {
        document.raw_base64 = Some(STANDARD.encode(&capture.answer.body));
        return Ok(notes.into(document));
    }
    if let Sniffed::Binary(_) = capture.page.kind() {
        let file = STANDARD.encode(&capture.answer.body);
        let formats = &plan.formats;
        document.markdown = formats.markdown.then(|| file.clone());
        document.html = formats.html.then(|| file.clone());
        document.raw_html = formats.raw_html.then_some(file);
        return Ok(notes.into(document));
    }
    fill(plan, capture, &mut document, &mut notes)?;
    verdict_note(capture, &mut notes);
    if capture.answer.cut || capture.page.truncated() {
        notes.add("the page was larger than the limit; what came after it is missing");
        document.metadata.insert("truncated".to_owned(), true.into());
    }
    Ok(notes.into(document))
}

fn fill(
    plan: &ScrapePlan,
    capture: &Capture,
    document: &mut Document,
    notes: &mut Notes,
) -> Result<(), WireError> {
    let (formats, page) = (&plan.formats, &capture.page);
    let needs_markdown = formats.reads_text();
    if needs_markdown || formats.html {
        let selection = select(plan, capture)?;
        if selection.widened {
            notes.add("little of the page looked like main content, so more of it was kept");
        }
        if formats.html {
            document.html = Some(option("html", || page.html(&selection))?);
        }
        if needs_markdown {
            let mut markdown = page.markdown(&selection, plan.parts.remove_base64_images);
            if let Some(options) = &plan.redact {
                markdown = option("redactPII", || content::redact::redact(&markdown, options).text)?;
            }
            if let Some(query) = &formats.highlights {
                let found = option("highlights", || content::highlights::highlights(&markdown, query))?;
                document.highlights = Some(found);
            }
            document.markdown = Some(markdown);
        }
    }
    if formats.raw_html {
        let answer = &capture.answer;
        let decoded = content::decode::decode(&answer.body, answer.content_type.as_deref());
        document.raw_html = Some(decoded.text.into_owned());
    }
    document.links = formats.links.then(|| page.links().into_iter().map(|link| link.url).collect());
    document.images = formats.images.then(|| page.images());
    if let Some(pairs) = &formats.attributes {
        let values = page.attributes(pairs).map_err(|error| bad_selector("formats", &error))?;
        document.attributes = Some(value(&values));
    }
    if formats.product {
        let product = option("product", || content::product::product(page))?;
        document.product = product.map(|product| value(&product));
        if document.product.is_none() {
            notes.add("the page shows no product");
        }
    }
    if formats.menu {
        document.menu = Some(value(&option("menu", || content::menu::menu(page))?));
    }
    if formats.branding {
        let styles = capture.souvenirs.styles.as_ref().unwrap_or(&Value::Null);
        document.branding = Some(value(&option("branding", || content::branding::profile(styles, page))?));
    }
    Ok(())
}

fn select(plan: &ScrapePlan, capture: &Capture) -> Result<Selection, WireError> {
    let parts = &plan.parts;
    let wanted = Wanted {
        only_main_content: parts.only_main_content,
        include_tags: &parts.include_tags,
        exclude_tags: &parts.exclude_tags,
    };
    capture.page.select(&wanted).map_err(|error| {
        let excludes = matches!(&error, SelectorError::Unfinished { selector, .. } if parts.exclude_tags.contains(selector));
        bad_selector(if excludes { "excludeTags" } else { "includeTags" }, &error)
    })
}

fn check_injection(capture: &Capture, notes: &mut Notes) -> Result<(), WireError> {
    if capture.answer.body.len() > LARGEST_CHECKED {
        notes.add("the page was too large to be checked for instructions to its reader");
        return Ok(());
    }
    let answer = &capture.answer;
    let mut inspections = vec![content::injection::inspect(&capture.page)];
    if capture.page.kind() == Sniffed::Html {
        // The tree keeps no comments; a model that is given the source would read them.
        let source = content::decode::decode(&answer.body, answer.content_type.as_deref());
        inspections.push(content::injection::inspect_comments(&source.text));
    }
    if inspections.iter().any(|inspection| !inspection.complete) {
        notes.add("not all of the page could be checked for instructions to its reader");
    }
    if !inspections.iter().any(|inspection| inspection.suspicious) {
        return Ok(());
    }
    let signs: Vec<_> = inspections.into_iter().flat_map(|inspection| inspection.found).collect();
    Err(WireError::from(Kind::PromptInjection).with_details(&json!({ "signs": signs })))
}

fn verdict_note(capture: &Capture, notes: &mut Notes) {
    let kind = capture.verdict.kind;
    let named = matches!(
        kind,
        VerdictKind::LoginWall | VerdictKind::ConsentWall | VerdictKind::Parked | VerdictKind::SoftNotFound
    );
    // Who sees a 404 need not be told that it looks like one.
    let told = kind == VerdictKind::SoftNotFound && matches!(capture.answer.status, 404 | 410);
    if named && !told {
        notes.add(&format!("the page looks like {}", failure::word(&capture.verdict)));
    }
}

/// What the page says about itself, then how it was had.
fn metadata(plan: &ScrapePlan, capture: &Capture) -> Metadata {
    let answer = &capture.answer;
    let mut map = match capture.page.kind() {
        Sniffed::Html => capture.page.metadata().to_wire(),
        _ => Metadata::new(),
    };
    let mut put = |name: &str, value: Value| map.insert(name.to_owned(), value);
    put("sourceURL", plan.written_url.as_str().into());
    put("url", answer.url.as_str().into());
    put("statusCode", answer.status.into());
    if let Some(kind) = &answer.content_type {
        put("contentType", kind.as_str().into());
    }
    put("proxyUsed", "basic".into());
    put("verdict", value(&capture.verdict.kind));
    put("engine", capture.rung.name().into());
    put("ladder", value(&capture.steps));
    if let (Rung::Browser, Some(zone)) = (capture.rung, plan.access.place.timezone()) {
        put("timezone", zone.into());
    }
    match capture.stored {
        Some(stored) => {
            let at = crate::time::iso(stored.fetched_at);
            put("cacheState", "hit".into());
            put("cachedAt", at.as_str().into());
            let source = if stored.revalidated { "revalidated" } else { "stored" };
            put("cache", json!({ "source": source, "cachedAt": at }));
        }
        None => {
            put("cacheState", "miss".into());
        }
    }
    map
}

/// Does what an option asks for. Where the work that one request may ask for ends there, the error names the option.
fn option<T>(name: &str, work: impl FnOnce() -> T) -> Result<T, WireError> {
    budget::attempt(work).map_err(|out| out_of_budget(name, out))
}

fn out_of_budget(option: &str, out: OutOfBudget) -> WireError {
    match out {
        OutOfBudget::Steps => {
            let why = format!("`{option}` takes more work on this page than one request may ask for");
            WireError::because(Kind::UnprocessableEntity, &why)
        }
        out => super::workbench::out_of_budget(out),
    }
}

fn bad_selector(field: &str, error: &SelectorError) -> WireError {
    match error {
        SelectorError::Unfinished { why: out @ (OutOfBudget::Time | OutOfBudget::Stopped), .. } => {
            super::workbench::out_of_budget(*out)
        }
        error => WireError::invalid(&[Issue::at(field, &error.to_string(), "invalid_value")]),
    }
}

/// Bytes of what a document is mostly made of.
pub fn size(document: &Document) -> usize {
    let texts = [&document.markdown, &document.html, &document.raw_html, &document.raw_base64];
    texts.into_iter().flatten().map(String::len).sum()
}

fn value<T: Serialize>(plain: &T) -> Value {
    // Our own plain data always serialises.
    serde_json::to_value(plain).unwrap_or_default()
}

/// Adds what to know about a result.
pub fn note(document: &mut Document, text: &str) {
    let mut notes = Notes(document.warning.take().unwrap_or_default());
    notes.add(text);
    document.warning = Some(notes.0);
}

/// What to know about a result, in one line.
#[derive(Default)]
struct Notes(String);

impl Notes {
    fn add(&mut self, note: &str) {
        if !self.0.is_empty() {
            self.0.push_str("; ");
        }
        self.0.push_str(note);
    }

    fn into(self, mut document: Document) -> Document {
        document.warning = (!self.0.is_empty()).then_some(self.0);
        document
    }
}
