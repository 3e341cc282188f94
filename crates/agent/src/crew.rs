//! Work shared out among sub-agents. They live inside the run's own future, so that dropping it stops them all, and each that began is
//! said to have ended: by itself, or because the run needed it no longer.

use crate::run::Setback;
use crate::worker::Worker;
use crate::{Fault, FaultCode, FaultSource, Outcome};
use futures_util::StreamExt;
use futures_util::future::BoxFuture;
use futures_util::stream::FuturesUnordered;
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

/// What a sub-agent does with one part of the work.
pub(crate) type Part<'w, J> =
    dyn for<'p> Fn(&'p Worker<'w>, J) -> BoxFuture<'p, Result<(), Setback>> + Send + Sync + 'w;

/// Shares `parts` out among at most as many sub-agents as the run's effort allows, until all are done or `enough`.
pub(crate) async fn share_out<'w, J: Send + 'w>(
    lead: &Worker<'w>,
    name: &str,
    parts: Vec<J>,
    work: &Part<'w, J>,
    enough: &(dyn Fn() -> bool + Send + Sync),
) {
    let hands = lead.run.bounds.parallel.min(parts.len());
    let queue = Mutex::new(VecDeque::from(parts));
    let next = || queue.lock().unwrap_or_else(PoisonError::into_inner).pop_front();
    let mut crew: Vec<Option<Arc<Worker<'w>>>> = Vec::with_capacity(hands);
    let mut busy = FuturesUnordered::new();
    for number in 0..hands {
        let Some(first) = next() else { break };
        let worker = Arc::new(lead.hire(format!("{name} {}", number + 1)).await);
        crew.push(Some(Arc::clone(&worker)));
        busy.push(step(number, worker, first, work));
    }
    while let Some((number, worker, done)) = busy.next().await {
        let out = matches!(done, Err(Setback::Credits | Setback::Pages));
        let part = if out || enough() { None } else { next() };
        if let Some(part) = part {
            busy.push(step(number, worker, part, work));
        } else {
            crew[number] = None;
            // A page that cannot be had is told where it happened; only missing credits are the worker's own end.
            let spent = matches!(done, Err(Setback::Credits));
            let outcome = if spent { Outcome::Failed } else { Outcome::Succeeded };
            let error = spent.then(out_of_credits);
            worker.finish(outcome, error).await;
        }
        if enough() {
            break;
        }
    }
    drop(busy);
    for worker in crew.into_iter().flatten() {
        worker.dismiss().await;
    }
}

async fn step<'w, J>(
    number: usize,
    worker: Arc<Worker<'w>>,
    part: J,
    work: &Part<'w, J>,
) -> (usize, Arc<Worker<'w>>, Result<(), Setback>) {
    let done = work(&worker, part).await;
    (number, worker, done)
}

fn out_of_credits() -> Fault {
    Fault {
        code: FaultCode::CreditLimitReached,
        source: FaultSource::Billing,
        retryable: false,
        message: Setback::Credits.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rehearsal::{Notes, Stage, task};
    use crate::run::Run;
    use crate::{FaultCode, Told};
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::time::Duration;

    fn pages() -> Vec<String> {
        (0..12).map(|n| format!("https://a.example/{n}")).collect()
    }

    fn stage() -> Stage {
        let pages = pages();
        let pages: Vec<(&str, &str)> = pages.iter().map(|url| (url.as_str(), "<p>text</p>")).collect();
        let mut stage = Stage::new(&pages);
        stage.slow = Duration::from_millis(50);
        stage
    }

    #[tokio::test(start_paused = true)]
    async fn parts_are_shared_out_within_bounds() {
        let (task, stage, notes) = (task("x", &["https://a.example/"]), stage(), Notes::new(100));
        let run = Run::new(&task, &stage, &notes, 0);
        let lead = Worker::lead(&run).await;
        share_out(
            &lead,
            "Reader",
            pages(),
            &|hand, url: String| Box::pin(async move { hand.read(&url).await.map(drop) }),
            &|| false,
        )
        .await;
        lead.finish(Outcome::Succeeded, None).await;
        notes.assert_well_formed();
        assert_eq!(run.readings().len(), 12);
        assert_eq!(stage.most_at_once.load(Ordering::SeqCst), 4);
        assert_eq!(notes.outcomes(), [Outcome::Succeeded; 4]);
        let order: Vec<usize> = run.readings().iter().map(|reading| reading.place).collect();
        assert!(order.is_sorted());
    }

    #[tokio::test(start_paused = true)]
    async fn who_is_needed_no_longer_is_dismissed() {
        let (task, stage, notes) = (task("x", &["https://a.example/"]), stage(), Notes::new(100));
        let run = Run::new(&task, &stage, &notes, 0);
        let lead = Worker::lead(&run).await;
        let done = AtomicUsize::new(0);
        share_out(
            &lead,
            "Reader",
            vec![0_usize, 1, 2],
            &|hand, number: usize| {
                let done = &done;
                Box::pin(async move {
                    let call = hand.begin("wait", serde_json::json!({})).await;
                    if number > 0 {
                        std::future::pending::<()>().await;
                    }
                    hand.end(&call, serde_json::json!({})).await;
                    done.fetch_add(1, Ordering::SeqCst);
                    Ok(())
                })
            },
            &|| done.load(Ordering::SeqCst) > 0,
        )
        .await;
        lead.finish(Outcome::Succeeded, None).await;
        notes.assert_well_formed();
        let ends: Vec<_> = notes
            .told()
            .into_iter()
            .filter_map(|(_, told)| {
                if let Told::AgentFinished { error, .. } = told {
                    Some(error.map(|fault| fault.code))
                } else {
                    None
                }
            })
            .collect();
        let parent = Some(FaultCode::ParentFinished);
        assert_eq!(ends, [None, parent, parent, None]);
    }

    #[tokio::test(start_paused = true)]
    async fn credits_end_all_of_them() {
        let (task, stage, notes) = (task("x", &["https://a.example/"]), stage(), Notes::new(5));
        let run = Run::new(&task, &stage, &notes, 0);
        let lead = Worker::lead(&run).await;
        share_out(
            &lead,
            "Reader",
            pages(),
            &|hand, url: String| Box::pin(async move { hand.read(&url).await.map(drop) }),
            &|| false,
        )
        .await;
        lead.finish(Outcome::Failed, None).await;
        notes.assert_well_formed();
        assert_eq!((run.readings().len(), stage.asked().len()), (5, 5));
        assert_eq!(notes.outcomes(), [Outcome::Failed; 4]);
    }
}
