//! A fuzzer small enough for a normal test run: takes the seeds of a fuzz target from `fuzz/corpus`, cuts
//! them up, puts them together anew and hands each result to a check. The same inputs in every run.

use std::cell::Cell;
use std::panic::PanicHookInfo;
use std::path::{Path, PathBuf};
use std::sync::Once;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

const MAX_INPUT_BYTES: usize = 20_000;
const SOAK_DURATION: Duration = Duration::from_mins(1);

/// The seeds of one fuzz target, and short pieces of its input language that mutations insert anywhere.
#[derive(Debug)]
pub struct Corpus<'a> {
    target: String,
    seeds: Vec<Vec<u8>>,
    fragments: &'a [&'a [u8]],
}

impl<'a> Corpus<'a> {
    /// # Panics
    /// When the target has no seeds.
    pub fn load(target: &str, fragments: &'a [&'a [u8]]) -> Self {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus").join(target);
        let entries = std::fs::read_dir(&folder)
            .unwrap_or_else(|error| panic!("{}: {error}", folder.display()))
            .map(|entry| entry.expect("a readable folder").path());
        let mut files: Vec<PathBuf> = entries.collect();
        files.sort();
        let read = |file: &PathBuf| std::fs::read(file).expect("a readable seed");
        let seeds: Vec<Vec<u8>> = files.iter().map(read).collect();
        assert!(!seeds.is_empty(), "{} is empty", folder.display());
        Self { target: target.to_owned(), seeds, fragments }
    }

    /// Gives `check` every seed, and then `inputs` mutations of them; with `GANNET_TEST_SOAK=1` as many as
    /// fit in a minute, and other ones for another number.
    ///
    /// # Panics
    /// When a check panics, on whatever thread, also where the panic was caught: the message holds the input.
    pub fn check(&self, inputs: usize, check: fn(&[u8])) {
        let soak = std::env::var("GANNET_TEST_SOAK").ok();
        // Another number than 1 gives other inputs, which are the same for the same number.
        let series: u64 = soak.as_deref().and_then(|number| number.parse().ok()).unwrap_or(1);
        let mut random = Random::new(0x9e37_79b9_7f4a_7c15_u64.wrapping_mul(series | 1));
        let (start, mut done) = (Instant::now(), 0);
        let mut run = |input: &[u8]| {
            let panics = panics_so_far();
            let outcome = std::panic::catch_unwind(|| check(input));
            let input = input.escape_ascii();
            assert!(outcome.is_ok(), "{} fails with input {done}: \"{input}\"", self.target);
            // Other tests of the same process count as well; their own messages say so.
            assert!(panics_so_far() == panics, "a thread panicked during input {done}: \"{input}\"");
            done += 1;
        };
        for seed in &self.seeds {
            run(seed);
        }
        let is_enough = |mutations: usize| {
            if soak.is_some() { start.elapsed() > SOAK_DURATION } else { mutations >= inputs }
        };
        let mut mutations = 0;
        while !is_enough(mutations) {
            run(&self.mutate(&mut random));
            mutations += 1;
        }
        println!("{}: {done} inputs in {:?}", self.target, start.elapsed());
    }

    /// One seed with up to six changes: a part removed, repeated, replaced by a part of another seed, a
    /// fragment inserted, or a few bytes changed.
    fn mutate(&self, random: &mut Random) -> Vec<u8> {
        let mut bytes = self.seeds[random.below(self.seeds.len())].clone();
        for _ in 0..=random.below(6) {
            let from = random.below(bytes.len());
            let to = bytes.len().min(from + random.below(400));
            match random.below(6) {
                0 => drop(bytes.drain(from..to)),
                1 => {
                    let repeated = bytes[from..to].repeat(1 + random.below(40));
                    bytes.splice(from..from, repeated).for_each(drop);
                }
                2 => {
                    let other = &self.seeds[random.below(self.seeds.len())];
                    let start = random.below(other.len());
                    let part = &other[start..other.len().min(start + random.below(800))];
                    bytes.splice(from..to, part.iter().copied()).for_each(drop);
                }
                3 => {
                    let fragment = self.fragments[random.below(self.fragments.len())];
                    bytes.splice(from..from, fragment.iter().copied()).for_each(drop);
                }
                4 => bytes[from..to].iter_mut().take(3).for_each(|byte| *byte = byte.wrapping_add(128)),
                _ => {
                    if let Some(byte) = bytes.get_mut(from) {
                        *byte = u8::try_from(random.below(256)).unwrap_or(0);
                    }
                }
            }
            bytes.truncate(MAX_INPUT_BYTES);
        }
        bytes
    }
}

/// Numbers that look random and are the same in every run (xorshift).
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// A number below `bound`; 0 when `bound` is 0.
    pub(crate) fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 >> 33).unwrap_or(0) % bound.max(1)
    }
}

static PANICS: AtomicUsize = AtomicUsize::new(0);

thread_local! {
    static TOLERATES_LIBRARIES: Cell<bool> = const { Cell::new(false) };
}

/// Runs something that catches panics of other people's libraries: those do not count. Panics of our own code do, and those
/// of the standard library, which are the fault of whoever called it.
pub fn tolerate_panics_of_libraries<T>(run: impl FnOnce() -> T) -> T {
    TOLERATES_LIBRARIES.set(true);
    let result = run();
    TOLERATES_LIBRARIES.set(false);
    result
}

/// Ends the process at a panic that counts, also where it is caught: for fuzzers, which keep the input.
pub fn abort_on_panic() {
    let previous = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        if counts(panic) {
            previous(panic);
            std::process::abort();
        }
    }));
}

/// Whether a panic breaks a promise.
fn counts(panic: &PanicHookInfo<'_>) -> bool {
    let is_of_library = panic.location().is_some_and(|place| place.file().contains("/registry/src/"));
    !(is_of_library && TOLERATES_LIBRARIES.get())
}

/// Panics of this process, on any thread. Runtimes and some parsers catch panics; the count shows them all
/// the same.
fn panics_so_far() -> usize {
    static COUNTING: Once = Once::new();
    COUNTING.call_once(|| {
        let previous = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| {
            if counts(panic) {
                PANICS.fetch_add(1, Ordering::SeqCst);
                previous(panic);
            }
        }));
    });
    PANICS.load(Ordering::SeqCst)
}
