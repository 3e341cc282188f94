//! The desk where questions are taken: who is asked, in which order, what becomes of those who fail, and one list in the end.

use crate::filter;
use crate::fusion::fuse;
use crate::health::{Condition, Health, Quota};
use crate::hit::Hit;
use crate::provider::{Answer, Leave, Problem, Provider};
use crate::question::{Question, WEB};
use crate::report::{Found, Outcome, Report};
use futures_util::future::join_all;
use net::Deadline;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::Instant;

/// How several providers are asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Mode {
    /// One after another, until one has results.
    #[default]
    Fallback,
    /// All at once; what they answer is fused.
    Parallel,
}

/// All providers of this process, in the order they are asked.
#[derive(Debug)]
pub struct Desk {
    seats: Vec<Seat>,
    mode: Mode,
    /// The longest that one of them is waited for.
    patience: Duration,
}

#[derive(Debug)]
struct Seat {
    provider: Arc<dyn Provider>,
    health: Health,
}

impl Desk {
    pub fn new(providers: Vec<(Arc<dyn Provider>, Quota)>, mode: Mode, patience: Duration) -> Self {
        let seat = |(provider, quota): (Arc<dyn Provider>, Quota)| {
            let health = if provider.is_local() { Health::tireless() } else { Health::new(quota) };
            Seat { provider, health }
        };
        Self { seats: providers.into_iter().map(seat).collect(), mode, patience }
    }

    /// Whether anybody but this server's own index can be asked.
    pub fn reaches_the_web(&self) -> bool {
        self.seats.iter().any(|seat| !seat.provider.is_local())
    }

    pub fn conditions(&self) -> Vec<Condition> {
        self.seats.iter().map(|seat| seat.health.condition(seat.provider.name())).collect()
    }

    /// Puts a question. Ends by the deadline, and never fails: who did is in the reports.
    pub async fn ask(&self, question: &Question, deadline: Deadline) -> Found {
        let imported = question.collection != WEB;
        let able = self
            .seats
            .iter()
            .filter(|seat| seat.provider.answers(question.kind) && (seat.provider.is_local() || !imported));
        let answers = match self.mode {
            Mode::Fallback => {
                let mut answers = Vec::new();
                for seat in able {
                    // Half of what is left, so that whoever comes next has time as well.
                    let patience = self.patience.min(deadline.remaining() / 2);
                    let answer = seat.ask(question, deadline.child(patience)).await;
                    let enough = !answer.1.is_empty();
                    answers.push(answer);
                    if enough {
                        break;
                    }
                }
                answers
            }
            Mode::Parallel => {
                join_all(able.map(|seat| seat.ask(question, deadline.child(self.patience)))).await
            }
        };
        let (reports, lists) = answers.into_iter().unzip();
        Found { hits: fuse(question, lists), reports, reaches_the_web: self.reaches_the_web() || imported }
    }
}

impl Seat {
    async fn ask(&self, question: &Question, deadline: Deadline) -> (Report, Vec<Hit>) {
        let began = Instant::now();
        let outcome = self.try_asking(question, deadline, began).await;
        let name = self.provider.name().to_owned();
        let local = self.provider.is_local();
        count(&name, &outcome, began.elapsed());
        match outcome {
            Ok(mut answer) => {
                let able = self.provider.abilities();
                let before = answer.hits.len();
                answer.hits.retain_mut(|hit| filter::keep(question, able, hit));
                let cannot = self.provider.cannot(question);
                let outcome = Outcome::Answered {
                    hits: answer.hits.len(),
                    dropped: before - answer.hits.len(),
                    searched: answer.searched,
                    notes: answer.notes,
                    cannot,
                };
                (Report { provider: name, local, outcome }, answer.hits)
            }
            Err(problem) => (Report { provider: name, local, outcome: Outcome::Failed(problem) }, Vec::new()),
        }
    }

    async fn try_asking(
        &self,
        question: &Question,
        deadline: Deadline,
        began: Instant,
    ) -> Result<Answer, Problem> {
        let granted = self.health.admit(self.provider.requests(question))?;
        let leave = Leave::new(deadline, granted);
        let mut visit = Visit { health: &self.health, leave: &leave, granted, settled: false };
        let answer = match deadline.run(self.provider.ask(question, &leave)).await {
            Ok(answer) => answer,
            Err(_) => Err(Problem::Timeout(began.elapsed())),
        };
        visit.settle(began.elapsed(), answer.as_ref().err());
        let resting = f64::from(u8::from(self.health.is_resting()));
        metrics::gauge!("gannet_search_resting", "provider" => self.provider.name().to_owned()).set(resting);
        answer
    }
}

/// An admission that is settled even when whoever asked goes away in the middle.
struct Visit<'a> {
    health: &'a Health,
    leave: &'a Leave,
    granted: u32,
    settled: bool,
}

impl Visit<'_> {
    fn settle(&mut self, took: Duration, problem: Option<&Problem>) {
        self.settled = true;
        self.health.settle(self.granted, self.leave.spent(), took, problem);
    }
}

impl Drop for Visit<'_> {
    fn drop(&mut self) {
        if !self.settled {
            self.health.abandon(self.granted, self.leave.spent());
        }
    }
}

fn count(provider: &str, outcome: &Result<Answer, Problem>, took: Duration) {
    let word = match outcome {
        Ok(answer) if answer.hits.is_empty() => "empty",
        Ok(_) => "answered",
        Err(problem) if problem.was_asked() => "failed",
        Err(_) => "not_asked",
    };
    let labels = [("provider", provider.to_owned()), ("outcome", word.to_owned())];
    metrics::counter!("gannet_search_asked_total", &labels).increment(1);
    if word != "not_asked" {
        metrics::histogram!("gannet_search_seconds", "provider" => provider.to_owned())
            .record(took.as_secs_f64());
    }
}
