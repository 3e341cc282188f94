//! Work that several threads do at once and whose outcomes are taken in order.

use std::sync::mpsc::sync_channel;

use crate::error::Result;

/// Items on the way to each thread, and outcomes on the way from it.
const AHEAD: usize = 2;
const MOST_THREADS: usize = 8;

/// Does `work` to every item on as many threads as there are processors, and hands the outcomes to `each` in the order of the
/// items. Stops at the first failure of `each`; at most a few items are under way, whatever their number.
pub fn in_order<T: Send, U: Send>(
    items: impl Iterator<Item = T> + Send,
    work: impl Fn(T) -> U + Sync,
    mut each: impl FnMut(U) -> Result<()>,
) -> Result<()> {
    let threads = std::thread::available_parallelism().map_or(1, usize::from).clamp(1, MOST_THREADS);
    std::thread::scope(|scope| {
        let (mut to_threads, mut from_threads) = (Vec::new(), Vec::new());
        for _ in 0..threads {
            let (send_item, arriving) = sync_channel::<T>(AHEAD);
            let (send_outcome, outcomes) = sync_channel::<U>(AHEAD);
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
        // Items go round the threads, so outcomes come round in the same way. A thread that ends early has panicked: its silence
        // ends the loop, and the scope passes the panic on.
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
    fn outcomes_keep_the_order_of_their_items() {
        let mut seen = Vec::new();
        let slow_when_even = |item: u64| {
            std::thread::sleep(std::time::Duration::from_micros(if item.is_multiple_of(2) {
                200
            } else {
                0
            }));
            item * 3
        };
        in_order(0..100, slow_when_even, |outcome| {
            seen.push(outcome);
            Ok(())
        })
        .unwrap();
        assert!(seen.iter().copied().eq((0..100).map(|item| item * 3)), "{seen:?}");
    }

    #[test]
    fn a_failure_ends_an_endless_input() {
        let outcome = in_order(
            0_u64..,
            |item| item,
            |outcome| {
                if outcome < 10 { Ok(()) } else { Err(Error::TooMany { what: "items", limit: 10 }) }
            },
        );
        assert!(outcome.is_err());
    }
}
