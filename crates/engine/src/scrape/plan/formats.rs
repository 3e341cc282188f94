//! Formats by name and with options.

use super::{needs_model, nested};
use browser::Screenshot;
use wire::scrape::{FormatAsked, FormatObject, ScrapeOptions, Viewport};
use wire::{Issue, Issues, Kind, WireError};

const LONGEST_QUERY: usize = 10_000;
const MOST_FORMATS: usize = 50;
const MOST_PAIRS: usize = 100;

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
    pub change_tracking: Option<Tracking>,
    /// The old place of the option of the same name.
    pub check_injection: bool,
}

/// How changes are tracked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tracking {
    /// A history of its own.
    pub tag: Option<String>,
    /// With what changed, not only whether.
    pub diff: bool,
}

pub fn resolve(asked: &ScrapeOptions, issues: &mut Issues) -> Result<Formats, WireError> {
    let mut formats = Formats::default();
    let markdown = [FormatAsked::Plain("markdown".to_owned())];
    let list = asked.formats.as_deref().unwrap_or(&markdown);
    if list.len() > MOST_FORMATS {
        issues.add("formats", &format!("must have at most {MOST_FORMATS} entries"), "too_big");
        return Ok(formats);
    }
    let plain = FormatObject::default();
    for (index, format) in list.iter().enumerate() {
        let (name, options) = match format {
            FormatAsked::Plain(name) => (name.as_str(), &plain),
            FormatAsked::Object(object) => (object.kind.as_deref().unwrap_or_default(), object.as_ref()),
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
    ) -> Result<(), WireError> {
        let known: &[&str] = match name {
            "markdown" => {
                self.markdown = true;
                &[]
            }
            "html" => {
                self.html = true;
                &[]
            }
            "rawHtml" | "raw_html" => {
                self.raw_html = true;
                &[]
            }
            "rawBase64" => {
                self.raw_base64 = true;
                &[]
            }
            "links" => {
                self.links = true;
                &[]
            }
            "images" => {
                self.images = true;
                &[]
            }
            "branding" => {
                self.branding = true;
                &[]
            }
            "product" => {
                self.product = true;
                &[]
            }
            "menu" => {
                self.menu = true;
                &[]
            }
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
                self.highlights = Some(query(options, index, issues));
                &["query"]
            }
            "changeTracking" | "change_tracking" => {
                self.change_tracking = Some(tracking(options, index, issues)?);
                &["modes", "tag", "schema", "prompt"]
            }
            "json" | "deterministicJson" | "summary" | "question" | "query" => {
                self.check_injection |= options.check_prompt_injection == Some(true);
                return Err(needs_model(name));
            }
            "audio" => return Err(Kind::ScrapeAudioUnsupported.into()),
            "video" => return Err(Kind::ScrapeVideoUnsupported.into()),
            _ => {
                issues.push(nested(
                    "formats",
                    index,
                    "type",
                    &format!("there is no format `{}`", clip(name)),
                ));
                return Ok(());
            }
        };
        for key in given(options).filter(|key| !known.contains(key)) {
            issues.push(nested("formats", index, key, &format!("does not belong to `{name}`")));
        }
        Ok(())
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
    if asked.is_empty() || asked.len() > MOST_PAIRS {
        let why = format!("must have 1 to {MOST_PAIRS} pairs of selector and attribute");
        issues.push(nested("formats", index, "selectors", &why));
        return Vec::new();
    }
    for pair in &asked {
        if let Err(error) = content::css::Selector::parse(&pair.selector) {
            issues.push(nested("formats", index, "selectors", &error.to_string()));
        }
    }
    asked.into_iter().map(|pair| (pair.selector, pair.attribute)).collect()
}

fn query(options: &FormatObject, index: usize, issues: &mut Issues) -> String {
    let query = options.query.clone().unwrap_or_default();
    if !(1..=LONGEST_QUERY).contains(&query.chars().count()) {
        let why = format!("must have 1 to {LONGEST_QUERY} characters");
        issues.push(nested("formats", index, "query", &why));
    }
    query
}

fn tracking(options: &FormatObject, index: usize, issues: &mut Issues) -> Result<Tracking, WireError> {
    let modes = options.modes.clone().unwrap_or_default();
    for mode in &modes {
        match mode.as_str() {
            "git-diff" => {}
            "json" => return Err(needs_model("changeTracking in json mode")),
            _ => issues.push(nested("formats", index, "modes", "must be git-diff or json")),
        }
    }
    if options.schema.is_some() || options.prompt.is_some() {
        return Err(needs_model("changeTracking with a schema or prompt"));
    }
    let tag = options.tag.clone();
    if tag.as_ref().is_some_and(|tag| tag.chars().count() > 256) {
        issues.push(Issue::at("formats", "tag must have at most 256 characters", "too_big"));
    }
    Ok(Tracking { tag, diff: modes.iter().any(|mode| mode == "git-diff") })
}

fn clip(text: &str) -> &str {
    &text[..text.floor_char_boundary(40)]
}
