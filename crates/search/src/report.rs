//! The results of a search: hits, and a report for each provider that was tried.

use crate::fusion::fuse;
use crate::hit::Hit;
use crate::provider::ProviderError;
use crate::question::Question;

/// The result of one search.
#[derive(Debug, Clone, Default)]
pub struct SearchResults {
    /// Best first.
    pub hits: Vec<Hit>,
    /// One for each provider that was tried, in order.
    pub reports: Vec<ProviderReport>,
    pub has_web_provider: bool,
}

#[derive(Debug, Clone)]
pub struct ProviderReport {
    pub provider: String,
    /// The provider is this server's own index.
    pub local: bool,
    pub outcome: ProviderOutcome,
}

#[derive(Debug, Clone)]
pub enum ProviderOutcome {
    Answered {
        hits: usize,
        /// Results that were filtered out.
        dropped: usize,
        /// The number of pages searched, if known.
        searched: Option<u64>,
        notes: Vec<String>,
        /// Options that the provider does not support.
        unsupported: Vec<&'static str>,
    },
    Failed(ProviderError),
}

impl SearchResults {
    /// Merges hits of another source, best first.
    pub fn merge_hits(&mut self, question: &Question, hits: Vec<Hit>) {
        self.hits = fuse(question, vec![std::mem::take(&mut self.hits), hits]);
    }

    /// Whether nothing was found because of timeouts: no web provider responded in time.
    pub fn ran_out_of_time(&self) -> bool {
        let mut asked = self.reports.iter().filter(|report| match &report.outcome {
            ProviderOutcome::Failed(error) => error.was_asked(),
            ProviderOutcome::Answered { .. } => !report.local,
        });
        let late = |report: &ProviderReport| {
            matches!(report.outcome, ProviderOutcome::Failed(ProviderError::Timeout(_)))
        };
        self.hits.is_empty() && asked.clone().next().is_some() && asked.all(late)
    }

    /// One sentence for each provider that failed, each option that was ignored, and each reason for an empty
    /// list.
    pub fn warnings(&self) -> Vec<String> {
        let mut warnings = Vec::new();
        for ProviderReport { provider, local, outcome } in &self.reports {
            match outcome {
                ProviderOutcome::Failed(error) => warnings.push(format!("{provider} {error}")),
                ProviderOutcome::Answered { hits, unsupported, notes, .. } => {
                    // Ignored options matter only if the provider's results are in the list.
                    if *hits > 0 && !unsupported.is_empty() {
                        warnings.push(format!("{provider} does not support {}", unsupported.join(", ")));
                    }
                    warnings.extend(notes.iter().cloned());
                    if self.hits.is_empty() {
                        warnings.push(no_results_reason(provider, *local, outcome));
                    }
                }
            }
        }
        if self.hits.is_empty() && !self.has_web_provider {
            warnings.push("no web provider is configured (docs/search.md)".to_owned());
        }
        if self.hits.is_empty() && self.reports.is_empty() {
            warnings.push("no provider serves this source".to_owned());
        }
        warnings
    }
}

fn no_results_reason(provider: &str, local: bool, outcome: &ProviderOutcome) -> String {
    match outcome {
        ProviderOutcome::Answered { searched: Some(0), .. } if local => "the local index is empty".to_owned(),
        ProviderOutcome::Answered { searched: Some(pages), .. } if local => {
            format!("the local index has {pages} pages and none matches")
        }
        ProviderOutcome::Answered { dropped: 1.., .. } => {
            format!("{provider} found nothing that matches all filters")
        }
        _ => format!("{provider} found nothing"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    fn report(provider: &str, outcome: ProviderOutcome) -> ProviderReport {
        ProviderReport { provider: provider.to_owned(), local: provider == "local", outcome }
    }

    fn answered(hits: usize, searched: Option<u64>) -> ProviderOutcome {
        ProviderOutcome::Answered { hits, dropped: 0, searched, notes: Vec::new(), unsupported: vec!["safe"] }
    }

    #[test]
    fn an_empty_list_says_why() {
        let mut found = SearchResults {
            reports: vec![report("local", answered(0, Some(12)))],
            ..SearchResults::default()
        };
        assert_eq!(
            found.warnings(),
            [
                "the local index has 12 pages and none matches",
                "no web provider is configured (docs/search.md)"
            ]
        );
        found.has_web_provider = true;
        found.reports.insert(0, report("brave", ProviderOutcome::Failed(ProviderError::KeyRejected)));
        assert_eq!(
            found.warnings(),
            ["brave rejected the API key", "the local index has 12 pages and none matches"]
        );
    }

    #[test]
    fn only_timeouts_count_as_running_out_of_time() {
        let late =
            || report("brave", ProviderOutcome::Failed(ProviderError::Timeout(Duration::from_secs(1))));
        let empty = report("local", answered(0, Some(0)));
        let mut found = SearchResults { reports: vec![late(), empty.clone()], ..SearchResults::default() };
        assert!(found.ran_out_of_time());
        found.reports.push(report("serper", answered(0, None)));
        assert!(!found.ran_out_of_time(), "one provider responded with no results");
        assert!(!SearchResults { reports: vec![empty], ..SearchResults::default() }.ran_out_of_time());
    }
}
