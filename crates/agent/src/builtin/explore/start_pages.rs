//! Where a run without a model begins.

use super::{Explorer, MAP_LIMIT};
use crate::prompt_words::search_query;
use crate::{Phase, addresses};

/// Start pages taken from a request for a whole section of a site (`/*`).
const MAX_PAGES_BELOW: usize = 20;

impl Explorer<'_, '_> {
    /// The start pages: the URLs of the request, those in its prompt, or the results of a search.
    pub(super) async fn start_urls(&self) -> Vec<String> {
        let task = self.lead.run.task;
        let mut given = task.urls.clone();
        if given.is_empty() {
            given = addresses::find_urls(&task.prompt, 10);
        }
        if given.is_empty() {
            let words = self.search_words();
            self.lead.progress(Phase::Planning, format!("Searching for: {words}")).await;
            let hits = self.lead.search(&words, self.lead.run.limits.hits).await.unwrap_or_default();
            return hits.into_iter().map(|hit| hit.url).collect();
        }
        let mut start_urls = Vec::new();
        for url in given {
            match url.strip_suffix('*') {
                Some(part) => start_urls.extend(self.pages_below(part).await),
                None => start_urls.push(url),
            }
        }
        start_urls
    }

    /// The pages below a URL that ends in `/*`, those that fit the prompt first.
    async fn pages_below(&self, part: &str) -> Vec<String> {
        let words = search_query(&self.lead.run.task.prompt);
        let words = (!words.is_empty()).then_some(words.as_str());
        let links = self.lead.map(part, words, MAP_LIMIT * 5).await.unwrap_or_default();
        let pages_below: Vec<String> = links
            .into_iter()
            .map(|link| link.url)
            .filter(|url| url.starts_with(part))
            .take(MAX_PAGES_BELOW)
            .collect();
        if pages_below.is_empty() { vec![part.to_owned()] } else { pages_below }
    }

    /// The words of the prompt, with those of the previous turn when this one has too few.
    pub(super) fn search_words(&self) -> String {
        let task = self.lead.run.task;
        let words = search_query(&task.prompt);
        match task.earlier.last() {
            Some(before) if words.split(' ').count() < 3 => {
                format!("{words} {}", search_query(&before.prompt)).trim().to_owned()
            }
            _ if words.is_empty() => task.prompt.clone(),
            _ => words,
        }
    }
}
