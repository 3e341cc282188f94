//! Formats by name and with options.

use super::json_format::{JsonFormat, text};
use super::nested;
use crate::Error;
use crate::models::Task;
use browser::Screenshot;
use wire::scrape::{FormatInput, FormatObject, ScrapeOptions, Viewport};
use wire::{Issue, Issues, Kind};

const MAX_FORMATS: usize = 50;
/// Credits of a format that is worked out of the text.
const DERIVED_FORMAT_CREDITS: i64 = 4;
/// The formats by the names that are documented.
const FORMAT_NAMES: [&str; 19] = [
    "markdown",
    "html",
    "rawHtml",
    "rawBase64",
    "links",
    "images",
    "screenshot",
    "attributes",
    "json",
    "deterministicJson",
    "summary",
    "question",
    "query",
    "highlights",
    "changeTracking",
    "branding",
    "product",
    "menu",
    "screenshot@fullPage",
];
const MAX_ATTRIBUTE_PAIRS: usize = 100;

/// What is returned.
#[expect(clippy::struct_excessive_bools, reason = "each is one format of the request")]
#[derive(Debug, Clone, Default)]
pub struct Formats {
    pub markdown: bool,
    pub html: bool,
    pub raw_html: bool,
    pub raw_base64: bool,
    pub links: bool,
    pub images: bool,
    pub screenshot: Option<Screenshot>,
    /// Pairs of selector and attribute.
    pub attributes: Option<Vec<(String, String)>>,
    pub branding: bool,
    pub product: bool,
    pub menu: bool,
    pub highlights: Option<String>,
    pub change_tracking: Option<TrackingFormat>,
    pub json: Option<JsonFormat>,
    pub summary: bool,
    pub answer: Option<AnswerFormat>,
    /// The old place of the option of the same name.
    pub check_injection: bool,
    /// The whole page beside its main content. No request can ask for it: monitors do.
    pub whole_markdown: bool,
}

/// What `answer` is to hold.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AnswerFormat {
    /// To a question, in new words.
    Written(String),
    /// To a query, in the words of the page.
    Quoted(String),
}

/// How changes are tracked.
#[derive(Debug, Clone)]
pub struct TrackingFormat {
    /// A history of its own.
    pub tag: Option<String>,
    /// Whether the text counts: without it only the data does.
    pub text: bool,
    /// With what changed, not only whether.
    pub diff: bool,
    /// The data whose changes are told.
    pub json: Option<JsonFormat>,
}

pub fn resolve(asked: &ScrapeOptions, issues: &mut Issues) -> Result<Formats, Error> {
    let mut formats = Formats::default();
    let markdown = [FormatInput::Plain("markdown".to_owned())];
    let list = asked.formats.as_deref().unwrap_or(&markdown);
    if list.len() > MAX_FORMATS {
        issues.add("formats", &format!("must have at most {MAX_FORMATS} entries"), "too_big");
        return Ok(formats);
    }
    let plain = FormatObject::default();
    for (index, format) in list.iter().enumerate() {
        let (name, options) = match format {
            FormatInput::Plain(name) => (name.as_str(), &plain),
            FormatInput::Object(object) => (object.kind.as_deref().unwrap_or_default(), object.as_ref()),
        };
        formats.add(name, options, index, issues)?;
    }
    if formats.change_tracking.is_some() && !formats.markdown {
        issues.add("formats", "changeTracking requires markdown", "custom");
    }
    if formats.raw_base64 && list.len() > 1 {
        issues.add("formats", "rawBase64 must stand alone", "custom");
    }
    Ok(formats)
}

impl Formats {
    fn add(
        &mut self,
        name: &str,
        options: &FormatObject,
        index: usize,
        issues: &mut Issues,
    ) -> Result<(), Error> {
        if let Some(flag) = self.flag(name) {
            *flag = true;
            only(&[], name, options, index, issues);
            return Ok(());
        }
        let known: &[&str] = match name {
            "screenshot" | "screenshot@fullPage" => {
                if self.screenshot.is_some() {
                    issues.push(nested("formats", index, "type", "there may be only one screenshot"));
                }
                let full_page = options.full_page.unwrap_or(name == "screenshot@fullPage");
                let place = ("formats", index);
                self.screenshot =
                    Some(screenshot(full_page, options.quality, options.viewport, place, issues));
                &["fullPage", "quality", "viewport"]
            }
            "attributes" => {
                self.attributes = Some(pairs(options, index, issues));
                &["selectors"]
            }
            "highlights" => {
                self.highlights = Some(text(options.query.as_ref(), "query", index, issues));
                &["query"]
            }
            "changeTracking" | "change_tracking" => {
                self.change_tracking = Some(tracking(options, index, issues)?);
                &["modes", "tag", "schema", "prompt"]
            }
            "json" | "deterministicJson" => {
                if self.json.is_some() {
                    issues.push(nested("formats", index, "type", "there may be only one json"));
                }
                let by_rules = name == "deterministicJson";
                if by_rules && options.schema.is_none() {
                    issues.push(nested("formats", index, "schema", "is needed: it names what is looked for"));
                }
                self.json = Some(JsonFormat { by_rules, ..JsonFormat::resolve(options, index, issues)? });
                self.check_injection |= options.check_prompt_injection == Some(true);
                &["prompt", "schema", "checkPromptInjection"]
            }
            "question" => {
                let question = text(options.question.as_ref(), "question", index, issues);
                self.set_answer(AnswerFormat::Written(question), index, issues);
                &["question"]
            }
            "query" => {
                let prompt = text(options.prompt.as_ref(), "prompt", index, issues);
                let answer = match options.mode.as_deref() {
                    None | Some("freeform") => AnswerFormat::Written(prompt),
                    Some("directQuote") => AnswerFormat::Quoted(prompt),
                    Some(_) => {
                        issues.push(nested("formats", index, "mode", "must be freeform or directQuote"));
                        AnswerFormat::Written(prompt)
                    }
                };
                self.set_answer(answer, index, issues);
                &["prompt", "mode"]
            }
            "audio" => return Err(Kind::ScrapeAudioUnsupported.into()),
            "video" => return Err(Kind::ScrapeVideoUnsupported.into()),
            _ => {
                issues.push(nested(
                    "formats",
                    index,
                    "type",
                    &format!("there is no format `{}`; there are {}", clip(name), FORMAT_NAMES.join(", ")),
                ));
                return Ok(());
            }
        };
        only(known, name, options, index, issues);
        Ok(())
    }

    /// The formats that have no options.
    fn flag(&mut self, name: &str) -> Option<&mut bool> {
        Some(match name {
            "markdown" => &mut self.markdown,
            "html" => &mut self.html,
            "rawHtml" | "raw_html" => &mut self.raw_html,
            "rawBase64" => &mut self.raw_base64,
            "links" => &mut self.links,
            "images" => &mut self.images,
            "branding" => &mut self.branding,
            "product" => &mut self.product,
            "menu" => &mut self.menu,
            "summary" => &mut self.summary,
            _ => return None,
        })
    }

    /// Questions and queries are answered in one place.
    fn set_answer(&mut self, answer: AnswerFormat, index: usize, issues: &mut Issues) {
        if self.answer.replace(answer).is_some() {
            issues.push(nested("formats", index, "type", "there may be only one question or query"));
        }
    }

    /// The formats that only a language model can give, each with whose task it is.
    pub fn needs_models(&self) -> Vec<(&'static str, Task)> {
        let tracked = self.change_tracking.as_ref().and_then(|tracking| tracking.json.as_ref());
        let without_schema = |json: Option<&JsonFormat>| json.is_some_and(|json| json.schema.is_none());
        let written = matches!(self.answer, Some(AnswerFormat::Written(_)));
        let tasks = [
            (self.summary, "summary", Task::Summary),
            (written, "question", Task::Summary),
            (without_schema(self.json.as_ref()), "json without a schema", Task::Extract),
            (without_schema(tracked), "changeTracking in json mode without a schema", Task::Extract),
        ];
        tasks.into_iter().filter(|(asked, ..)| *asked).map(|(_, what, task)| (what, task)).collect()
    }

    /// Whether the text of the page is needed, though it may not be returned.
    pub fn reads_text(&self) -> bool {
        self.markdown
            || self.highlights.is_some()
            || self.change_tracking.is_some()
            || self.json.is_some()
            || self.summary
            || self.answer.is_some()
    }

    /// Whether all of them are written from the text of the page alone. Changes are not: a site that begins
    /// to send markdown has changed nothing.
    pub fn only_text(&self) -> bool {
        let Self {
            markdown,
            highlights,
            summary,
            answer,
            html,
            raw_html,
            raw_base64,
            links,
            images,
            screenshot,
            attributes,
            branding,
            product,
            menu,
            change_tracking,
            json,
            check_injection: _,
            whole_markdown: _,
        } = self;
        let reads_text = *markdown || highlights.is_some() || *summary || answer.is_some();
        let reads_elements = *html || *raw_html || *raw_base64 || *links || *images || *product || *menu;
        let needs_page = screenshot.is_some() || attributes.is_some() || *branding || json.is_some();
        reads_text && !reads_elements && !needs_page && change_tracking.is_none()
    }

    /// What they cost beside the page itself.
    pub fn credits(&self) -> i64 {
        let tracked = self.change_tracking.as_ref().is_some_and(|tracking| tracking.json.is_some());
        let dear = [self.json.is_some(), self.answer.is_some(), tracked];
        dear.into_iter().filter(|asked| *asked).map(|_| DERIVED_FORMAT_CREDITS).sum()
    }
}

/// Refuses options that do not belong to a format.
fn only(known: &[&str], name: &str, options: &FormatObject, index: usize, issues: &mut Issues) {
    for key in given(options).filter(|key| !known.contains(key)) {
        issues.push(nested("formats", index, key, &format!("does not belong to `{name}`")));
    }
}

/// The options that are set.
fn given(options: &FormatObject) -> impl Iterator<Item = &'static str> {
    let set = [
        ("prompt", options.prompt.is_some()),
        ("schema", options.schema.is_some()),
        ("checkPromptInjection", options.check_prompt_injection.is_some()),
        ("fullPage", options.full_page.is_some()),
        ("quality", options.quality.is_some()),
        ("viewport", options.viewport.is_some()),
        ("modes", options.modes.is_some()),
        ("tag", options.tag.is_some()),
        ("selectors", options.selectors.is_some()),
        ("question", options.question.is_some()),
        ("query", options.query.is_some()),
        ("mode", options.mode.is_some()),
    ];
    set.into_iter().filter_map(|(name, set)| set.then_some(name))
}

/// A picture of the page, from the options of a format or an action.
pub fn screenshot(
    full_page: bool,
    quality: Option<i64>,
    viewport: Option<Viewport>,
    (list, index): (&str, usize),
    issues: &mut Issues,
) -> Screenshot {
    if quality.is_some_and(|quality| !(1..=100).contains(&quality)) {
        issues.push(nested(list, index, "quality", "must be 1 to 100"));
    }
    let viewport = viewport.and_then(|size| {
        let width = u32::try_from(size.width).ok().filter(|width| (1..=7680).contains(width));
        let height = u32::try_from(size.height).ok().filter(|height| (1..=4320).contains(height));
        if width.is_none() || height.is_none() {
            issues.push(nested(list, index, "viewport", "must be within 1 to 7680 by 1 to 4320"));
        }
        width.zip(height)
    });
    Screenshot { full_page, quality: quality.and_then(|quality| u8::try_from(quality).ok()), viewport }
}

fn pairs(options: &FormatObject, index: usize, issues: &mut Issues) -> Vec<(String, String)> {
    let asked = options.selectors.clone().unwrap_or_default();
    if asked.is_empty() || asked.len() > MAX_ATTRIBUTE_PAIRS {
        let why = format!("must have 1 to {MAX_ATTRIBUTE_PAIRS} pairs of selector and attribute");
        issues.push(nested("formats", index, "selectors", &why));
        return Vec::new();
    }
    for pair in &asked {
        if let Err(error) = html::css::Selector::parse(&pair.selector) {
            issues.push(nested("formats", index, "selectors", &error.to_string()));
        }
    }
    asked.into_iter().map(|pair| (pair.selector, pair.attribute)).collect()
}

fn tracking(options: &FormatObject, index: usize, issues: &mut Issues) -> Result<TrackingFormat, Error> {
    let modes = options.modes.clone().unwrap_or_default();
    if modes.iter().any(|mode| mode != "git-diff" && mode != "json") {
        issues.push(nested("formats", index, "modes", "must be git-diff or json"));
    }
    let has = |name: &str| modes.iter().any(|mode| mode == name);
    let given = [("schema", options.schema.is_some()), ("prompt", options.prompt.is_some())];
    for (field, _) in given.into_iter().filter(|(_, set)| *set && !has("json")) {
        issues.push(nested("formats", index, field, "belongs to the mode json"));
    }
    let json = if has("json") { Some(JsonFormat::resolve(options, index, issues)?) } else { None };
    let tag = options.tag.clone();
    if tag.as_ref().is_some_and(|tag| tag.chars().count() > 256) {
        issues.push(Issue::at("formats", "tag must have at most 256 characters", "too_big"));
    }
    Ok(TrackingFormat { tag, text: !has("json") || has("git-diff"), diff: has("git-diff"), json })
}

fn clip(text: &str) -> &str {
    &text[..text.floor_char_boundary(40)]
}
