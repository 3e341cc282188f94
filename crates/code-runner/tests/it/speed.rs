//! How long calls take, printed; the bounds are far above what is measured on an idle machine.

use crate::support::{Session, trial};
use code_runner::Language;
use libtest_mimic::Trial;
use std::time::{Duration, Instant};

const MAX_FIRST_CALL: Duration = Duration::from_secs(20);
const MAX_LATER_CALL: Duration = Duration::from_secs(2);
const LATER_CALLS: u32 = 20;

pub fn trials() -> Vec<Trial> {
    vec![trial("speed::first_and_later_calls", first_and_later_calls)]
}

async fn first_and_later_calls() {
    let calls = [
        (Language::Node, "await page.title()"),
        (Language::Python, "await page.title()"),
        (Language::Bash, "echo x"),
    ];
    for (language, code) in calls {
        let session = Session::start().await;
        // The browser answers at once only when it has started.
        tokio::time::sleep(Duration::from_secs(1)).await;
        let start = Instant::now();
        session.result(language, code).await;
        let first = start.elapsed();
        let start = Instant::now();
        for _ in 0..LATER_CALLS {
            session.result(language, code).await;
        }
        let later = start.elapsed() / LATER_CALLS;
        println!("{}: first call {first:?}, later calls {later:?}", language.name());
        assert!(first < MAX_FIRST_CALL && later < MAX_LATER_CALL, "{first:?} {later:?}");
    }
}
