//! Writes the formats that were asked for from a fetched page. Pure computation, for the [`crate::cpu_pool`].

use super::fetched_page::FetchedPage;
use super::plan::ScrapePlan;
use super::{file, file_formats};
use crate::Error;
use crate::wall::{self, Rung};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use budget::OutOfBudget;
use content::Limits;
use content::metadata::Metadata as PageMetadata;
use content::page::ContentScope;
use content::select::Selection;
use content::sniff::ContentKind as Sniffed;
use content::verdict::VerdictKind;
use document_process::ParsedFile;
use documents::FileKind;
use html::css::SelectorError;
use serde::Serialize;
use serde_json::{Value, json};
use wire::Issue;
use wire::scrape::{Document, Metadata};

/// Longer pages are not checked for instructions, and the document's warning says so.
const MAX_CHECKED_BYTES: usize = 2_000_000;

/// What a page says of itself; nothing where it is data or plain text.
pub fn page_metadata(fetched: &FetchedPage) -> PageMetadata {
    match fetched.page.kind() {
        Sniffed::Html | Sniffed::Markdown => fetched.page.metadata(),
        _ => PageMetadata::default(),
    }
}

/// Writes the formats of a plan. What needs the store or the browser's outputs is added by the caller.
pub fn write_formats(
    plan: &ScrapePlan,
    fetched: &FetchedPage,
    said: &PageMetadata,
) -> Result<Document, Error> {
    let mut notes = Notes::default();
    let mut document = Document { metadata: metadata(plan, fetched, said)?, ..Document::default() };
    if plan.check_injection {
        check_injection(fetched, &mut notes)?;
    }
    if plan.formats.raw_base64 {
        document.raw_base64 = Some(STANDARD.encode(&fetched.response.body));
        return Ok(notes.into(document));
    }
    if let Sniffed::Binary(_) = fetched.page.kind() {
        let file = STANDARD.encode(&fetched.response.body);
        let formats = &plan.formats;
        document.markdown = formats.markdown.then(|| file.clone());
        document.html = formats.html.then(|| file.clone());
        document.raw_html = formats.raw_html.then_some(file);
        return Ok(notes.into(document));
    }
    write_text_formats(plan, fetched, &mut document, &mut notes)?;
    if let Some(file) = &fetched.file {
        file_formats::add_warnings(file, |warning| notes.add(warning));
        if file.document.truncated {
            document.metadata.insert("truncated".to_owned(), true.into());
        }
    }
    verdict_note(fetched, &mut notes);
    if fetched.response.cut || fetched.page.truncated() {
        notes.add("the page was larger than the limit; what came after it is missing");
        document.metadata.insert("truncated".to_owned(), true.into());
    }
    Ok(notes.into(document))
}

fn write_text_formats(
    plan: &ScrapePlan,
    fetched: &FetchedPage,
    document: &mut Document,
    notes: &mut Notes,
) -> Result<(), Error> {
    let (formats, page) = (&plan.formats, &fetched.page);
    let needs_markdown = formats.reads_text();
    if needs_markdown || formats.html {
        let selection = select(plan, fetched)?;
        if selection.widened {
            notes.add("little of the page looked like main content, so more of it was kept");
        }
        if formats.html {
            document.html = Some(run_option("html", || page.html(&selection))?);
        }
        if needs_markdown {
            let mut markdown = match &fetched.file {
                Some(file) if !plan.parts.names_elements() => file_formats::to_markdown(plan, file).text,
                _ => page.markdown(&selection, plan.parts.remove_base64_images),
            };
            if let Some(options) = &plan.redact {
                markdown = run_option("redactPII", || text::redact::redact(&markdown, options).text)?;
            }
            if let Some(query) = &formats.highlights {
                let found = run_option("highlights", || text::highlights::highlights(&markdown, query))?;
                document.highlights = Some(found);
            }
            document.markdown = Some(markdown);
        }
        let is_main_content = plan.parts.only_main_content && !plan.parts.names_elements();
        if formats.whole_markdown && is_main_content && plan.redact.is_none() {
            document.whole_markdown = whole_markdown(fetched)?;
        }
    }
    if let Some(file) = &fetched.file {
        run_option("parsers", || file_formats::write_pages(plan, file, document))?;
    }
    if formats.raw_html
        && let Some(file) = &fetched.file
    {
        document.raw_html = Some(file::to_html(&file.document));
    } else if formats.raw_html {
        let response = &fetched.response;
        let decoded = html::decode::decode(&response.body, response.content_type.as_deref());
        document.raw_html = Some(decoded.text.into_owned());
    }
    document.links = formats.links.then(|| page.links().into_iter().map(|link| link.url).collect());
    document.images = formats.images.then(|| page.images());
    if let Some(pairs) = &formats.attributes {
        let values = page.attributes(pairs).map_err(|error| bad_selector("formats", &error))?;
        document.attributes = Some(value(&values)?);
    }
    if formats.product {
        let product = run_option("product", || page_data::product::product(page))?;
        document.product = product.map(|product| value(&product)).transpose()?;
        if document.product.is_none() {
            notes.add("the page shows no product");
        }
    }
    if formats.menu {
        document.menu = Some(value(&run_option("menu", || page_data::menu::menu(page))?)?);
    }
    if formats.branding {
        let styles = fetched.browser_outputs.styles.as_ref().unwrap_or(&Value::Null);
        let branding = run_option("branding", || page_data::branding::profile(styles, page))?;
        document.branding = Some(value(&branding)?);
    }
    Ok(())
}

/// All that a page shows; none where the main content is all of it anyway.
fn whole_markdown(fetched: &FetchedPage) -> Result<Option<String>, Error> {
    if fetched.file.is_some() || fetched.page.kind() != Sniffed::Html {
        return Ok(None);
    }
    let whole = ContentScope { only_main_content: false, ..ContentScope::default() };
    let selection = fetched.page.select(&whole).map_err(|error| bad_selector("excludeTags", &error))?;
    Ok(Some(fetched.page.markdown(&selection, true)))
}

fn select(plan: &ScrapePlan, fetched: &FetchedPage) -> Result<Selection, Error> {
    let parts = &plan.parts;
    let wanted = ContentScope {
        // All of a file is content, and so is all of a page that its site wrote as markdown.
        only_main_content: parts.only_main_content
            && fetched.file.is_none()
            && fetched.page.kind() != Sniffed::Markdown,
        include_tags: &parts.include_tags,
        exclude_tags: &parts.exclude_tags,
    };
    fetched.page.select(&wanted).map_err(|error| {
        let excludes = matches!(&error, SelectorError::Unfinished { selector, .. } if parts.exclude_tags.contains(selector));
        bad_selector(if excludes { "excludeTags" } else { "includeTags" }, &error)
    })
}

fn check_injection(fetched: &FetchedPage, notes: &mut Notes) -> Result<(), Error> {
    let is_large = match &fetched.file {
        Some(_) => {
            let limits = Limits { bytes: MAX_CHECKED_BYTES, ..Limits::default() };
            !fetched.page.is_within(&limits)
        }
        None => fetched.response.body.len() > MAX_CHECKED_BYTES,
    };
    if is_large {
        notes.add("the page was too large to be checked for instructions to its reader");
        return Ok(());
    }
    let response = &fetched.response;
    let mut inspections = vec![page_data::injection::inspect(&fetched.page)];
    if fetched.page.kind() == Sniffed::Html && fetched.file.is_none() {
        // The tree keeps no comments; a model that is given the source would read them.
        let source = html::decode::decode(&response.body, response.content_type.as_deref());
        inspections.push(page_data::injection::inspect_comments(&source.text));
    }
    if inspections.iter().any(|inspection| !inspection.complete) {
        notes.add("not all of the page could be checked for instructions to its reader");
    }
    if !inspections.iter().any(|inspection| inspection.suspicious) {
        return Ok(());
    }
    let signs: Vec<_> = inspections.into_iter().flat_map(|inspection| inspection.found).collect();
    Err(Error::PromptInjection(signs))
}

fn verdict_note(fetched: &FetchedPage, notes: &mut Notes) {
    let kind = fetched.verdict.kind;
    let named = matches!(
        kind,
        VerdictKind::LoginWall | VerdictKind::ConsentWall | VerdictKind::Parked | VerdictKind::SoftNotFound
    );
    // The status says it already.
    let told = kind == VerdictKind::SoftNotFound && matches!(fetched.response.status, 404 | 410);
    if named && !told {
        notes.add(&format!("the page looks like {}", wall::describe(&fetched.verdict)));
    }
}

/// The metadata of the page itself, then how it was fetched.
fn metadata(plan: &ScrapePlan, fetched: &FetchedPage, said: &PageMetadata) -> Result<Metadata, Error> {
    let response = &fetched.response;
    let mut map = said.to_wire();
    if fetched.uploaded_name.is_some() {
        // A page may say where it came from.
        map.remove("url");
        map.remove("sourceURL");
    }
    let mut put = |name: &str, value: Value| map.insert(name.to_owned(), value);
    put("statusCode", response.status.into());
    if let Some(kind) = &response.content_type {
        put("contentType", kind.as_str().into());
    }
    if let Some(ParsedFile { kind: FileKind::Pdf, document, .. }) = fetched.file.as_deref() {
        put("numPages", document.pages.len().into());
        put("totalPages", document.total_pages.into());
    }
    if let Some(name) = &fetched.uploaded_name {
        put("sourceFile", name.as_str().into());
        return Ok(map);
    }
    put("sourceURL", plan.written_url.as_str().into());
    put("url", response.url.as_str().into());
    put("proxyUsed", "basic".into());
    put("verdict", value(&fetched.verdict.kind)?);
    put("engine", fetched.rung.name().into());
    put("ladder", value(&fetched.steps)?);
    if let (Rung::Browser, Some(zone)) = (fetched.rung, plan.access.locale.timezone()) {
        put("timezone", zone.into());
    }
    match fetched.stored {
        Some(stored) => {
            let at = stored_data::time::iso(stored.fetched_at);
            put("cacheState", "hit".into());
            put("cachedAt", at.as_str().into());
            let source = if stored.revalidated { "revalidated" } else { "stored" };
            put("cache", json!({ "source": source, "cachedAt": at }));
        }
        None => {
            put("cacheState", "miss".into());
        }
    }
    Ok(map)
}

/// Runs the work of one option. Where the request's CPU budget ends there, the error names the option.
fn run_option<T>(name: &'static str, work: impl FnOnce() -> T) -> Result<T, Error> {
    budget::catch_out_of_budget(work).map_err(|out| out_of_budget(name, out))
}

fn out_of_budget(option: &'static str, out: OutOfBudget) -> Error {
    match out {
        OutOfBudget::Steps => Error::TooMuchWork { option: Some(option) },
        out => out.into(),
    }
}

fn bad_selector(field: &str, error: &SelectorError) -> Error {
    match error {
        SelectorError::Unfinished { why: out @ (OutOfBudget::Time | OutOfBudget::Stopped), .. } => {
            (*out).into()
        }
        error => Error::invalid(&[Issue::at(field, &error.to_string(), "invalid_value")]),
    }
}

/// About how much memory the document of a page takes, as it is written and as JSON; nothing where it is small.
pub fn expected_bytes(plan: &ScrapePlan, fetched: &FetchedPage) -> usize {
    let formats = &plan.formats;
    let raw = formats.raw_html || formats.raw_base64;
    let texts = [formats.reads_text(), formats.html, raw, formats.whole_markdown, fetched.file.is_some()];
    let copies = 2 * texts.into_iter().filter(|is_written| *is_written).count();
    if fetched.is_large() { fetched.text_bytes().saturating_mul(copies) } else { 0 }
}

/// The bytes of a document's large fields.
pub fn size(document: &Document) -> usize {
    let texts = [&document.markdown, &document.html, &document.raw_html, &document.raw_base64];
    let pages = document.pages.iter().flatten().map(|page| page.markdown.len());
    let blocks =
        document.blocks.iter().flatten().flat_map(|page| &page.items).map(|block| block.content.len());
    texts.into_iter().flatten().map(String::len).chain(pages).chain(blocks).sum()
}

fn value<T: Serialize>(plain: &T) -> Result<Value, Error> {
    serde_json::to_value(plain).map_err(Error::internal)
}

/// Adds a sentence to a document's warning.
pub fn add_warning(document: &mut Document, text: &str) {
    let mut notes = Notes(document.warning.take().unwrap_or_default());
    notes.add(text);
    document.warning = Some(notes.0);
}

/// The sentences of a document's warning.
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
