//! Who was asked, what came of it, and how that is told.

use crate::fusion::fuse;
use crate::hit::Hit;
use crate::provider::Problem;
use crate::question::Question;

/// What a question came to.
#[derive(Debug, Clone, Default)]
pub struct Found {
    /// Best first.
    pub hits: Vec<Hit>,
    /// One for each provider that was tried, in order.
    pub reports: Vec<Report>,
    pub reaches_the_web: bool,
}

#[derive(Debug, Clone)]
pub struct Report {
    pub provider: String,
    /// It is this server's own index.
    pub local: bool,
    pub outcome: Outcome,
}

#[derive(Debug, Clone)]
pub enum Outcome {
    Answered {
        hits: usize,
        /// Results that did not fit the question.
        dropped: usize,
        /// Pages it looked through, where that is known.
        searched: Option<u64>,
        notes: Vec<String>,
        /// What it could not do of the question.
        cannot: Vec<&'static str>,
    },
    Failed(Problem),
}

impl Found {
    /// Adds what somebody else knows, best first.
    pub fn join(&mut self, question: &Question, hits: Vec<Hit>) {
        self.hits = fuse(question, vec![std::mem::take(&mut self.hits), hits]);
    }

    /// Whether nothing was found because time ran out: everybody on the web who was asked did not answer in time.
    pub fn ran_out_of_time(&self) -> bool {
        let mut asked = self.reports.iter().filter(|report| match &report.outcome {
            Outcome::Failed(problem) => problem.was_asked(),
            Outcome::Answered { .. } => !report.local,
        });
        let late = |report: &Report| matches!(report.outcome, Outcome::Failed(Problem::Timeout(_)));
        self.hits.is_empty() && asked.clone().next().is_some() && asked.all(late)
    }

    /// Who failed and why, what could not be done, and why there is nothing where there is nothing. One sentence each.
    pub fn sentences(&self) -> Vec<String> {
        let mut sentences = Vec::new();
        for Report { provider, local, outcome } in &self.reports {
            match outcome {
                Outcome::Failed(problem) => sentences.push(format!("{provider} {problem}")),
                Outcome::Answered { hits, cannot, notes, .. } => {
                    // What it cannot do matters only where its results are in the list.
                    if *hits > 0 && !cannot.is_empty() {
                        sentences.push(format!("{provider} has no use for {}", cannot.join(", ")));
                    }
                    sentences.extend(notes.iter().cloned());
                    if self.hits.is_empty() {
                        sentences.push(nothing(provider, *local, outcome));
                    }
                }
            }
        }
        if self.hits.is_empty() && !self.reaches_the_web {
            sentences.push("no web provider is configured (docs/search.md)".to_owned());
        }
        if self.hits.is_empty() && self.reports.is_empty() {
            sentences.push("there is nobody to ask for this source".to_owned());
        }
        sentences
    }
}

fn nothing(provider: &str, local: bool, outcome: &Outcome) -> String {
    match outcome {
        Outcome::Answered { searched: Some(0), .. } if local => "the local index is empty".to_owned(),
        Outcome::Answered { searched: Some(pages), .. } if local => {
            format!("the local index has {pages} pages and none matches")
        }
        Outcome::Answered { dropped: 1.., .. } => {
            format!("{provider} found nothing that fits all of the question")
        }
        _ => format!("{provider} found nothing"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    fn report(provider: &str, outcome: Outcome) -> Report {
        Report { provider: provider.to_owned(), local: provider == "local", outcome }
    }

    fn answered(hits: usize, searched: Option<u64>) -> Outcome {
        Outcome::Answered { hits, dropped: 0, searched, notes: Vec::new(), cannot: vec!["safe"] }
    }

    #[test]
    fn an_empty_list_says_why() {
        let mut found = Found { reports: vec![report("local", answered(0, Some(12)))], ..Found::default() };
        assert_eq!(
            found.sentences(),
            [
                "the local index has 12 pages and none matches",
                "no web provider is configured (docs/search.md)"
            ]
        );
        found.reaches_the_web = true;
        found.reports.insert(0, report("brave", Outcome::Failed(Problem::Refused)));
        assert_eq!(
            found.sentences(),
            ["brave refused the key", "the local index has 12 pages and none matches"]
        );
    }

    #[test]
    fn only_time_running_out_is_a_time_out() {
        let late = || report("brave", Outcome::Failed(Problem::Timeout(Duration::from_secs(1))));
        let empty = report("local", answered(0, Some(0)));
        let mut found = Found { reports: vec![late(), empty.clone()], ..Found::default() };
        assert!(found.ran_out_of_time());
        found.reports.push(report("serper", answered(0, None)));
        assert!(!found.ran_out_of_time(), "somebody answered that there is nothing");
        assert!(!Found { reports: vec![empty], ..Found::default() }.ran_out_of_time());
    }
}
