//! Runs work on several threads and returns the results in order.

use std::sync::mpsc::sync_channel;

use crate::error::Result;

/// Queue length of items to each thread and of results from it.
const QUEUE_LENGTH: usize = 2;
const MAX_THREADS: usize = 8;

/// Applies `work` to every item on as many threads as there are processors, and passes the results to `each`
/// in the order of the items. Stops at the first error of `each`; only a few items are in flight at a time.
pub fn map_in_order<T: Send, U: Send>(
    items: impl Iterator<Item = T> + Send,
    work: impl Fn(T) -> U + Sync,
    mut each: impl FnMut(U) -> Result<()>,
) -> Result<()> {
    let threads = std::thread::available_parallelism().map_or(1, usize::from).clamp(1, MAX_THREADS);
    std::thread::scope(|scope| {
        let (mut to_threads, mut from_threads) = (Vec::new(), Vec::new());
        for _ in 0..threads {
            let (send_item, arriving) = sync_channel::<T>(QUEUE_LENGTH);
            let (send_outcome, outcomes) = sync_channel::<U>(QUEUE_LENGTH);
            let work = &work;
            scope.spawn(move || {
                for item in arriving {
                    if send_outcome.send(work(item)).is_err() {
                        return;
                    }
                }
            });
            to_threads.push(send_item);
            from_threads.push(outcomes);
        }
        scope.spawn(move || {
            for (turn, item) in items.enumerate() {
                if to_threads[turn % threads].send(item).is_err() {
                    return;
                }
            }
        });
        // Items are distributed to the threads in turn, so results are collected in the same order. A thread
        // that ends early has panicked: its closed channel ends the loop, and the scope propagates the panic.
        let mut turn = 0;
        while let Ok(outcome) = from_threads[turn % threads].recv() {
            each(outcome)?;
            turn += 1;
        }
        Ok(())
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Error;

    #[test]
    fn results_keep_the_order_of_their_items() {
        let mut seen = Vec::new();
        let slow_when_even = |item: u64| {
            std::thread::sleep(std::time::Duration::from_micros(if item.is_multiple_of(2) {
                200
            } else {
                0
            }));
            item * 3
        };
        map_in_order(0..100, slow_when_even, |outcome| {
            seen.push(outcome);
            Ok(())
        })
        .unwrap();
        assert!(seen.iter().copied().eq((0..100).map(|item| item * 3)), "{seen:?}");
    }

    #[test]
    fn an_error_ends_an_endless_input() {
        let outcome = map_in_order(
            0_u64..,
            |item| item,
            |outcome| {
                if outcome < 10 { Ok(()) } else { Err(Error::TooMany { what: "items", limit: 10 }) }
            },
        );
        assert!(outcome.is_err());
    }
}
