//! Finding the elements that a description means: in the snapshot, then in the document, where a snapshot does not say what
//! stands beside what.

use super::PromptRun;
use super::document;
use super::look::look_at_all;
use crate::element::{Element, Locator};
use crate::page::CommandPage;
use crate::prompt::parse::{Amount, Description, ElementKind, Place, Reading};
use crate::prompt::target::{self, Item, Purpose};
use crate::snapshot::PageSnapshot;
use serde_json::json;
use std::time::Duration;
use tokio::time::{Instant, sleep};

/// How long an element that is not there is waited for: lists of suggestions and dialogs come a moment after what opens
/// them.
const MISSING_TIMEOUT: Duration = Duration::from_millis(1_500);
const POLL_PAUSE: Duration = Duration::from_millis(150);
/// Elements with the same name whose surroundings are looked at.
const MAX_COMPARED: usize = 100;
const NOTE_CANDIDATE: &str = include_str!("note_candidate.js");
const IS_BESIDE: &str = include_str!("is_beside.js");

/// What a search for elements has come to.
pub(super) enum ElementMatch {
    Elements(Vec<Item>),
    /// Several fit, or fewer than were asked for.
    Unclear(String),
    Missing(String),
}

impl PromptRun<'_> {
    /// The elements that a description means, at least one.
    pub(super) async fn find(
        &mut self,
        description: &Description,
        purpose: Purpose,
    ) -> Result<Vec<Item>, String> {
        let description = self.resolve_pronoun(description)?;
        let scope = self.scope.take();
        let limit = self.deadline.min(Instant::now() + MISSING_TIMEOUT);
        loop {
            match self.find_now(&description, purpose, scope.as_ref()).await? {
                ElementMatch::Elements(items) => {
                    self.named = Some(description);
                    return Ok(items);
                }
                ElementMatch::Unclear(message) => return Err(message),
                ElementMatch::Missing(message) => {
                    if self.open_next_hidden_part().await? {
                        continue;
                    }
                    if Instant::now() >= limit {
                        return Err(message);
                    }
                }
            }
            sleep(POLL_PAUSE).await;
        }
    }

    /// The one element that a description means.
    pub(super) async fn find_one(
        &mut self,
        description: &Description,
        purpose: Purpose,
    ) -> Result<Item, String> {
        let mut items = self.find(description, purpose).await?;
        if items.len() > 1 {
            return Err(format!("\"{}\" are {} elements; say which one", description.phrase, items.len()));
        }
        items.pop().ok_or_else(|| "There is no such element".to_owned())
    }

    pub(super) fn resolve_pronoun(&self, description: &Description) -> Result<Description, String> {
        if !description.is_pronoun {
            return Ok(description.clone());
        }
        let named = self.named.clone();
        named.ok_or_else(|| format!("It is not clear what \"{}\" is; name it", description.phrase))
    }

    pub(super) async fn find_now(
        &self,
        description: &Description,
        purpose: Purpose,
        scope: Option<&Place>,
    ) -> Result<ElementMatch, String> {
        let (page, snapshot) = look_at_all(self.commander, self.deadline).await?;
        let mut unclear = None;
        for reading in &description.readings {
            let scoped = match (scope, &reading.place) {
                (Some(scope), None) => Reading { place: Some(scope.clone()), ..reading.clone() },
                (Some(_), Some(_)) => continue,
                (None, _) => reading.clone(),
            };
            let found = find_reading(&page, &snapshot, &scoped, purpose).await?;
            if found.is_empty() {
                continue;
            }
            let found: Vec<&Item> = found.iter().collect();
            if needs_noun(&scoped, &found) {
                continue;
            }
            match target::pick(&found, scoped.amount) {
                Some(picked) => return Ok(ElementMatch::Elements(picked.into_iter().cloned().collect())),
                None if unclear.is_none() => {
                    unclear = Some(target::ambiguous(description, &found, scoped.amount));
                }
                None => {}
            }
        }
        if let Some(message) = unclear {
            return Ok(ElementMatch::Unclear(message));
        }
        if matches!(purpose, Purpose::Click | Purpose::Any) {
            for reading in &description.readings {
                let place = scope.cloned().or_else(|| reading.place.clone());
                let reading = Reading { place, ..reading.clone() };
                let mut found = document::find_drawn(&page, &reading, purpose).await?;
                if let Some(Place::BesideText(text)) = &reading.place {
                    found = keep_beside(&page, found, text).await?;
                }
                let found: Vec<&Item> = found.iter().collect();
                if let Some(picked) = target::pick(&found, reading.amount) {
                    return Ok(ElementMatch::Elements(picked.into_iter().cloned().collect()));
                }
            }
        }
        Ok(ElementMatch::Missing(target::missing(&snapshot, description, purpose)))
    }
}

/// "the first name" is a name unless a noun is counted, or several elements have just the name that is left.
fn needs_noun(reading: &Reading, found: &[&Item]) -> bool {
    let is_counted = matches!(reading.amount, Amount::Nth(_) | Amount::Last);
    let is_name =
        |item: &&Item| target::compare(&reading.name, true, &item.1.name) == Some(target::NameFit::Equal);
    is_counted && reading.kind.is_none() && found.iter().filter(|item| is_name(item)).count() < 2
}

async fn find_reading(
    page: &CommandPage,
    snapshot: &PageSnapshot,
    reading: &Reading,
    purpose: Purpose,
) -> Result<Vec<Item>, String> {
    if let Some(kind @ (ElementKind::SearchResult | ElementKind::Paragraph)) = reading.kind {
        let is_alone = reading.name.is_empty() && reading.place.is_none();
        return if is_alone { document::find_kind(page, kind).await } else { Ok(Vec::new()) };
    }
    let found: Vec<Item> = target::candidates(snapshot, reading, purpose).into_iter().cloned().collect();
    match &reading.place {
        Some(Place::BesideText(text)) => keep_beside(page, found, text).await,
        _ => Ok(found),
    }
}

/// Of elements that have the same name, those that stand beside a text.
async fn keep_beside(page: &CommandPage, found: Vec<Item>, text: &str) -> Result<Vec<Item>, String> {
    if found.len() > MAX_COMPARED {
        return Err(format!("There are {} such elements, too many to compare", found.len()));
    }
    let mut elements = Vec::new();
    for item in found {
        // An element that is gone meanwhile is no longer meant.
        if let Ok(element) = Element::find(page, &Locator::Ref(item.0)).await {
            elements.push((item, element));
        }
    }
    for (at, (_, element)) in elements.iter().enumerate() {
        let noted = element.call(NOTE_CANDIDATE, &[json!(at == 0)]).await;
        noted.map_err(|error| error.to_string())?;
    }
    let mut kept = Vec::new();
    for (item, element) in elements {
        let is_beside = element.call(IS_BESIDE, &[json!(text)]).await.map_err(|error| error.to_string())?;
        if is_beside == true {
            kept.push(item);
        }
    }
    Ok(kept)
}
