//! Distributes work among sub-agents. They live inside the run's own future, so dropping it stops them all.
//! The trace records the end of every sub-agent: finished by itself, or cancelled because the run no longer
//! needs it.

use crate::agent::Agent;
use crate::run::AccessError;
use crate::{AgentError, AgentErrorCode, AgentErrorSource, AgentOutcome};
use futures_util::StreamExt;
use futures_util::future::BoxFuture;
use futures_util::stream::FuturesUnordered;
use parking_lot::Mutex;
use std::collections::VecDeque;
use std::sync::Arc;

/// What a sub-agent does with one part of the work.
pub(crate) type PartWork<'w, J> =
    dyn for<'p> Fn(&'p Agent<'w>, J) -> BoxFuture<'p, Result<(), AccessError>> + Send + Sync + 'w;

/// Distributes `parts` among sub-agents, no more than the run's effort allows, until all are done or `enough`
/// is true.
pub(crate) async fn run_parts<'w, J: Send + 'w>(
    lead: &Agent<'w>,
    name: &str,
    parts: Vec<J>,
    work: &PartWork<'w, J>,
    enough: &(dyn Fn() -> bool + Send + Sync),
) {
    let count = lead.run.limits.parallel.min(parts.len());
    let queue = Mutex::new(VecDeque::from(parts));
    let next = || queue.lock().pop_front();
    let mut agents: Vec<Option<Arc<Agent<'w>>>> = Vec::with_capacity(count);
    let mut busy = FuturesUnordered::new();
    for number in 0..count {
        let Some(first) = next() else { break };
        let agent = Arc::new(lead.start_subagent(format!("{name} {}", number + 1)).await);
        agents.push(Some(Arc::clone(&agent)));
        busy.push(run_part(number, agent, first, work));
    }
    while let Some((number, agent, done)) = busy.next().await {
        let out = matches!(done, Err(AccessError::CreditLimit | AccessError::PageLimit));
        let part = if out || enough() { None } else { next() };
        if let Some(part) = part {
            busy.push(run_part(number, agent, part, work));
        } else {
            agents[number] = None;
            // A failed page is recorded where it happened; only missing credits make the sub-agent itself
            // fail.
            let spent = matches!(done, Err(AccessError::CreditLimit));
            let outcome = if spent { AgentOutcome::Failed } else { AgentOutcome::Succeeded };
            let error = spent.then(out_of_credits);
            agent.finish(outcome, error).await;
        }
        if enough() {
            break;
        }
    }
    drop(busy);
    for agent in agents.into_iter().flatten() {
        agent.cancel().await;
    }
}

async fn run_part<'w, J>(
    number: usize,
    agent: Arc<Agent<'w>>,
    part: J,
    work: &PartWork<'w, J>,
) -> (usize, Arc<Agent<'w>>, Result<(), AccessError>) {
    let done = work(&agent, part).await;
    (number, agent, done)
}

fn out_of_credits() -> AgentError {
    AgentError {
        code: AgentErrorCode::CreditLimitReached,
        source: AgentErrorSource::Billing,
        retryable: false,
        message: AccessError::CreditLimit.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::RunContext;
    use crate::test_doubles::{FakeWeb, MemoryJournal, task};
    use crate::{AgentErrorCode, AgentEvent};
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::time::Duration;

    fn pages() -> Vec<String> {
        (0..12).map(|n| format!("https://a.example/{n}")).collect()
    }

    fn web() -> FakeWeb {
        let pages = pages();
        let pages: Vec<(&str, &str)> = pages.iter().map(|url| (url.as_str(), "<p>text</p>")).collect();
        let mut web = FakeWeb::new(&pages);
        web.delay = Duration::from_millis(50);
        web
    }

    #[tokio::test(start_paused = true)]
    async fn parts_run_in_parallel_within_limits() {
        let (task, web, journal) = (task("x", &["https://a.example/"]), web(), MemoryJournal::new(100));
        let run = RunContext::new(&task, &web, &journal, 0);
        let lead = Agent::start_lead(&run).await;
        run_parts(
            &lead,
            "Reader",
            pages(),
            &|subagent, url: String| Box::pin(async move { subagent.read_page(&url).await.map(drop) }),
            &|| false,
        )
        .await;
        lead.finish(AgentOutcome::Succeeded, None).await;
        journal.assert_well_formed();
        assert_eq!(run.parsed_pages().len(), 12);
        assert_eq!(web.max_in_flight.load(Ordering::SeqCst), 4);
        assert_eq!(journal.outcomes(), [AgentOutcome::Succeeded; 4]);
        let order: Vec<usize> = run.parsed_pages().iter().map(|parsed| parsed.order).collect();
        assert!(order.is_sorted());
    }

    #[tokio::test(start_paused = true)]
    async fn agents_no_longer_needed_are_cancelled() {
        let (task, web, journal) = (task("x", &["https://a.example/"]), web(), MemoryJournal::new(100));
        let run = RunContext::new(&task, &web, &journal, 0);
        let lead = Agent::start_lead(&run).await;
        let done = AtomicUsize::new(0);
        run_parts(
            &lead,
            "Reader",
            vec![0_usize, 1, 2],
            &|subagent, number: usize| {
                let done = &done;
                Box::pin(async move {
                    let call = subagent.begin_call("wait", serde_json::json!({})).await;
                    if number > 0 {
                        std::future::pending::<()>().await;
                    }
                    subagent.end_call(&call, serde_json::json!({})).await;
                    done.fetch_add(1, Ordering::SeqCst);
                    Ok(())
                })
            },
            &|| done.load(Ordering::SeqCst) > 0,
        )
        .await;
        lead.finish(AgentOutcome::Succeeded, None).await;
        journal.assert_well_formed();
        let ends: Vec<_> = journal
            .events()
            .into_iter()
            .filter_map(|(_, event)| {
                if let AgentEvent::AgentFinished { error, .. } = event {
                    Some(error.map(|error| error.code))
                } else {
                    None
                }
            })
            .collect();
        let parent = Some(AgentErrorCode::ParentFinished);
        assert_eq!(ends, [None, parent, parent, None]);
    }

    #[tokio::test(start_paused = true)]
    async fn credits_end_all_of_them() {
        let (task, web, journal) = (task("x", &["https://a.example/"]), web(), MemoryJournal::new(5));
        let run = RunContext::new(&task, &web, &journal, 0);
        let lead = Agent::start_lead(&run).await;
        run_parts(
            &lead,
            "Reader",
            pages(),
            &|subagent, url: String| Box::pin(async move { subagent.read_page(&url).await.map(drop) }),
            &|| false,
        )
        .await;
        lead.finish(AgentOutcome::Failed, None).await;
        journal.assert_well_formed();
        assert_eq!((run.parsed_pages().len(), web.requests().len()), (5, 5));
        assert_eq!(journal.outcomes(), [AgentOutcome::Failed; 4]);
    }
}
