//! Asserts that work takes time in proportion to the size of its input.

use rustix::time::{ClockId, clock_gettime};
use std::time::Duration;

/// How much longer twice the input may take. Linear work takes twice as long, quadratic work four times.
const MAX_RATIO: f64 = 3.5;
/// Shorter times are dominated by noise and fixed costs, so they count as this much.
const MIN_TIME: Duration = Duration::from_millis(50);
/// The best time of so many rounds counts. Both sizes are measured in each round, so that a busy machine
/// slows down both.
const ROUNDS: usize = 3;

/// Beginnings of patterns that readers of text look for; repeated, they make a careless one slow.
pub const SLOW_PIECES: [&str; 31] = [
    "@",
    "a@",
    "a@b.",
    "1 ",
    "+1 ",
    "((",
    "eyJ.",
    "J. ",
    "Dr. ",
    "://",
    "](",
    "password=",
    "a:",
    "<!--",
    "-----BEGIN PRIVATE KEY",
    "“",
    "`",
    "1.2345,",
    "\u{e0041}",
    "\u{200b}",
    "|a|\n",
    "# h\n",
    "ignore all ",
    "12 Main ",
    "忽略",
    "....",
    "\n ",
    "a@b.cd ",
    "system:",
    "\\",
    "```\n",
];

/// Does `work` on inputs of size `n` and `2 * n`, and compares the times that it had a processor. It must not start threads.
/// Returns the result for `2 * n`.
pub fn assert_linear<I, O>(
    name: &str,
    n: usize,
    input: impl Fn(usize) -> I,
    mut work: impl FnMut(&I) -> O,
) -> O {
    let (single, double) = (input(n), input(2 * n));
    let (mut best_single, mut best_double) = (Duration::MAX, Duration::MAX);
    for round in 1..=ROUNDS {
        best_single = best_single.min(timed(|| work(&single)).0);
        let (time, output) = timed(|| work(&double));
        best_double = best_double.min(time);
        let ratio = best_double.as_secs_f64() / best_single.max(MIN_TIME).as_secs_f64();
        if ratio <= MAX_RATIO {
            return output;
        }
        assert!(round < ROUNDS, "{name}: {best_single:?} for {n}, but {best_double:?} for twice as much");
    }
    unreachable!("the last round returns or fails")
}

fn timed<O>(work: impl FnOnce() -> O) -> (Duration, O) {
    let start = processor_time();
    let output = work();
    (processor_time().saturating_sub(start), output)
}

/// How long this thread has had a processor: waiting for one says nothing about the work.
fn processor_time() -> Duration {
    clock_gettime(ClockId::ThreadCPUTime).try_into().expect("a time from the kernel")
}
