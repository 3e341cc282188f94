//! What is told about a check. Plain data that can be stored until it is sent; each way of telling renders it
//! in its own form.

use crate::text::{count, one_line, safe_url};
use crate::unified::{DiffLine, DiffRow, parse_shown};
use jiff::Timestamp;
use monitor::judge::{Judgment, JudgmentConfidence};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use uuid::Uuid;

/// Pages that a message names; the others are counted.
pub const MAX_PAGES: usize = 50;
/// Changes of a page that a message shows.
pub const MAX_CHANGES: usize = 8;
pub const MAX_NAME_CHARS: usize = 120;
const MAX_LINE_CHARS: usize = 240;
const MAX_URL_CHARS: usize = 300;
const MAX_REASON_CHARS: usize = 400;
/// Longer addresses are shown and not linked: services refuse them.
const MAX_LINK_BYTES: usize = 2_000;
/// A page that does not fit as a whole is shown with so many changes, of so many characters.
const SHORT_CHANGES: usize = 2;
const SHORT_LINE_CHARS: usize = 80;

/// What one check of a monitor found.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CheckMessage {
    pub monitor_id: Uuid,
    pub monitor_name: String,
    pub check_id: Uuid,
    #[serde(with = "millis")]
    pub checked_at: Timestamp,
    /// What is worth telling: see [`crate::alerts`].
    pub pages: Vec<PageMessage>,
    /// Pages beyond those, by what became of them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub more_pages: Vec<(PageStatus, usize)>,
    /// The diff page of the whole check.
    pub link: Option<String>,
}

/// What became of one page.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PageMessage {
    pub url: String,
    pub status: PageStatus,
    /// Why the page could not be read.
    pub error: Option<String>,
    pub changes: Vec<PageLineChange>,
    /// Changes beyond those.
    pub more_changes: usize,
    pub judgment: Option<Judgment>,
    /// The diff page, at this page.
    pub link: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum PageStatus {
    Same,
    New,
    Changed,
    Removed,
    Error,
    /// It can be read again after people were told that it could not. Only in messages.
    Recovered,
}

impl PageStatus {
    pub const ALL: [Self; 6] =
        [Self::Changed, Self::New, Self::Removed, Self::Error, Self::Recovered, Self::Same];

    pub fn name(self) -> &'static str {
        match self {
            Self::Same => "same",
            Self::New => "new",
            Self::Changed => "changed",
            Self::Removed => "removed",
            Self::Error => "error",
            Self::Recovered => "recovered",
        }
    }

    /// For people.
    pub fn title(self) -> &'static str {
        match self {
            Self::Same => "Unchanged",
            Self::New => "New",
            Self::Changed => "Changed",
            Self::Removed => "Removed",
            Self::Error => "Error",
            Self::Recovered => "Recovered",
        }
    }

    /// With enough contrast on white and on black.
    pub fn color(self) -> &'static str {
        match self {
            Self::Same => "#7d8590",
            Self::New | Self::Recovered => "#1f883d",
            Self::Changed => "#d98e04",
            Self::Removed => "#8250df",
            Self::Error => "#cf222e",
        }
    }

    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|status| status.name() == name)
    }
}

/// A line, or a field of data, that changed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PageLineChange {
    /// Of data: the field, as `plans[0].price`.
    pub field: Option<String>,
    pub before: Option<String>,
    pub after: Option<String>,
}

impl PageMessage {
    pub fn new(url: impl Into<String>, status: PageStatus) -> Self {
        Self {
            url: url.into(),
            status,
            error: None,
            changes: Vec::new(),
            more_changes: 0,
            judgment: None,
            link: None,
        }
    }

    /// Adds what a unified diff says, up to the number of changes that messages show.
    #[must_use]
    pub fn with_diff(mut self, unified: &str) -> Self {
        for row in parse_shown(unified).chunks.into_iter().flat_map(|chunk| chunk.rows) {
            let DiffRow::Changed { before, after } = row else { continue };
            let side = |line: Option<DiffLine>| line.map(|line| one_line(&line.text, MAX_LINE_CHARS));
            self.push_change(PageLineChange { field: None, before: side(before), after: side(after) });
        }
        self
    }

    /// Adds changes of data: `{"plans[0].price": {"previous": 5, "current": 7}}`.
    #[must_use]
    pub fn with_data_changes(mut self, changes: &Map<String, Value>) -> Self {
        for (field, change) in changes {
            let side = |name: &str| change.get(name).filter(|value| !value.is_null()).map(shown_value);
            self.push_change(PageLineChange {
                field: Some(one_line(field, MAX_LINE_CHARS)),
                before: side("previous"),
                after: side("current"),
            });
        }
        self
    }

    fn push_change(&mut self, change: PageLineChange) {
        if self.changes.len() < MAX_CHANGES {
            self.changes.push(change);
        } else {
            self.more_changes += 1;
        }
    }

    /// The lines that tell about this page, not escaped: `− before`, `+ after`, the judgement.
    pub fn lines(&self) -> Vec<String> {
        let mut lines = Vec::new();
        if let Some(error) = &self.error {
            lines.push(one_line(error, MAX_REASON_CHARS));
        }
        for change in self.changes.iter().take(MAX_CHANGES) {
            let field = change.field.as_deref().map(|field| format!("{field}: ")).unwrap_or_default();
            let side = |sign: &str, text: &str| format!("{sign} {field}{}", one_line(text, MAX_LINE_CHARS));
            lines.extend(change.before.as_deref().map(|text| side("−", text)));
            lines.extend(change.after.as_deref().map(|text| side("+", text)));
        }
        if self.more_changes > 0 {
            lines.push(format!("… and {}", count(self.more_changes, "more change", "more changes")));
        }
        lines.extend(self.judgment.as_ref().map(judgment_line));
        lines
    }

    /// The address as it is shown.
    pub fn shown_url(&self) -> String {
        one_line(&self.url, MAX_URL_CHARS)
    }

    /// Where to look: the diff page, or else the page itself.
    pub fn target_url(&self) -> Option<String> {
        let url = self.link.as_deref().and_then(safe_url).or_else(|| safe_url(&self.url));
        url.filter(|url| url.len() <= MAX_LINK_BYTES)
    }

    /// The same with less text, for services that take little.
    fn shortened(&self) -> Self {
        let mut page = self.clone();
        let short = |text: &mut String| *text = one_line(text, SHORT_LINE_CHARS);
        page.more_changes += page.changes.len().saturating_sub(SHORT_CHANGES);
        page.changes.truncate(SHORT_CHANGES);
        for change in &mut page.changes {
            [&mut change.field, &mut change.before, &mut change.after].into_iter().flatten().for_each(short);
        }
        page.error.iter_mut().for_each(short);
        page.judgment.iter_mut().for_each(|judgment| short(&mut judgment.reason));
        page
    }
}

impl CheckMessage {
    pub fn shown_name(&self) -> String {
        one_line(&self.monitor_name, MAX_NAME_CHARS)
    }

    /// `Prices: 2 changed, 1 error`
    pub fn title(&self) -> String {
        format!("{}: {}", self.shown_name(), self.counts())
    }

    /// `2 changed, 1 error`
    pub fn counts(&self) -> String {
        let counts = PageStatus::ALL.into_iter().filter_map(|status| {
            let more = self.more_pages.iter().filter(|(of, _)| *of == status).map(|(_, number)| number);
            let number = self.pages.iter().filter(|page| page.status == status).count() + more.sum::<usize>();
            let name = if status == PageStatus::Error && number > 1 { "errors" } else { status.name() };
            (number > 0).then(|| format!("{number} {name}"))
        });
        let counts: Vec<String> = counts.collect();
        if counts.is_empty() { "no changes".to_owned() } else { counts.join(", ") }
    }

    /// `2026-11-18 09:30 UTC`
    pub fn shown_time(&self) -> String {
        shown_time(self.checked_at)
    }

    pub fn link(&self) -> Option<String> {
        self.link.as_deref().and_then(safe_url)
    }

    /// The pages that are named, each rendered, as long as they fit into `max_size`; and how many are left
    /// out. What is rendered is shown whole or not at all, so that no markup is cut.
    pub fn fitting_pages<T>(
        &self,
        max_size: usize,
        max_pages: usize,
        render: impl Fn(&PageMessage) -> T,
        size: impl Fn(&T) -> usize,
    ) -> (Vec<T>, usize) {
        let mut left = max_size;
        let mut fitting = Vec::new();
        for page in self.pages.iter().take(MAX_PAGES.min(max_pages)) {
            let mut rendered = render(page);
            if size(&rendered) > left {
                rendered = render(&page.shortened());
            }
            let Some(rest) = left.checked_sub(size(&rendered)) else { break };
            left = rest;
            fitting.push(rendered);
        }
        let left_out = self.pages.len() - fitting.len();
        (fitting, left_out + self.pages_beyond())
    }

    /// Pages that are only counted.
    pub fn pages_beyond(&self) -> usize {
        self.more_pages.iter().map(|(_, number)| number).sum()
    }

    /// Adds a page; beyond the number of pages that messages name it is only counted.
    pub fn push_page(&mut self, page: PageMessage) {
        if self.pages.len() < MAX_PAGES {
            self.pages.push(page);
        } else {
            self.count_pages(page.status, 1);
        }
    }

    fn count_pages(&mut self, status: PageStatus, number: usize) {
        match self.more_pages.iter_mut().find(|(of, _)| *of == status) {
            Some((_, known)) => *known += number,
            None => self.more_pages.push((status, number)),
        }
    }

    /// Several checks of one monitor as one message, from the oldest to the newest: what was found while
    /// nobody was to be told. It is known by its last check.
    pub fn join(messages: impl IntoIterator<Item = Self>) -> Option<Self> {
        messages.into_iter().reduce(|mut joined, message| {
            let Self { monitor_id, monitor_name, check_id, checked_at, pages, more_pages, link } = message;
            for page in pages {
                joined.push_page(page);
            }
            for (status, number) in more_pages {
                joined.count_pages(status, number);
            }
            Self { monitor_id, monitor_name, check_id, checked_at, link, ..joined }
        })
    }
}

/// `… and 3 more pages`, for messages that do not name all pages.
pub fn left_out_line(pages: usize) -> Option<String> {
    (pages > 0).then(|| format!("… and {}", count(pages, "more page", "more pages")))
}

pub fn shown_time(time: Timestamp) -> String {
    time.strftime("%Y-%m-%d %H:%M UTC").to_string()
}

pub fn confidence_name(confidence: JudgmentConfidence) -> &'static str {
    match confidence {
        JudgmentConfidence::High => "high",
        JudgmentConfidence::Medium => "medium",
        JudgmentConfidence::Low => "low",
    }
}

/// `Matters (medium confidence): the price fell`
pub fn judgment_line(judgment: &Judgment) -> String {
    format!(
        "{} ({} confidence): {}",
        if judgment.meaningful { "Matters" } else { "Does not matter" },
        confidence_name(judgment.confidence),
        one_line(&judgment.reason, MAX_REASON_CHARS)
    )
}

fn shown_value(value: &Value) -> String {
    match value {
        Value::String(text) => one_line(text, MAX_LINE_CHARS),
        other => one_line(&other.to_string(), MAX_LINE_CHARS),
    }
}

mod millis {
    use jiff::Timestamp;
    use serde::de::Error;
    use serde::{Deserialize, Deserializer, Serializer};

    pub(super) fn serialize<S: Serializer>(time: &Timestamp, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_i64(time.as_millisecond())
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Timestamp, D::Error> {
        Timestamp::from_millisecond(i64::deserialize(from)?).map_err(D::Error::custom)
    }
}
