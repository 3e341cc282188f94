//! The unmodified official Rust client against a running server: all of its asynchronous methods, with what they return.
//! `tests/blackbox/clients.rs` starts the server and the sites, and runs this program.

mod jobs;
mod monitors;
mod pages;
mod searches;
mod sessions;

use firecrawl::{Client, FirecrawlError};
use std::collections::BTreeSet;
use std::fmt::Debug;
use std::sync::Mutex;
use std::time::{Duration, Instant};

/// Public asynchronous methods of the client in the version that Cargo.toml names.
const METHODS: usize = 47;

/// The server, and the sites that it reads.
struct World {
    client: Client,
    /// One that no server knows.
    stranger: Client,
    pages: String,
    site: String,
    companies: String,
    changing: String,
}

/// The names of the methods that were called.
static CALLED: Mutex<BTreeSet<&str>> = Mutex::new(BTreeSet::new());

fn note(method: &'static str) {
    CALLED.lock().expect("no test panics while it holds the lock").insert(method);
}

/// Calls a method and notes its name.
macro_rules! call {
    ($client:expr, $method:ident($($argument:expr),* $(,)?)) => {{
        $crate::note(stringify!($method));
        // Methods that the client itself advises against are called too: all of them have to work.
        #[allow(deprecated)]
        let answer = $client.$method($($argument),*).await;
        answer
    }};
}
pub(crate) use call;

/// Calls a method that must succeed.
macro_rules! get {
    ($client:expr, $method:ident($($argument:expr),* $(,)?)) => {
        match $crate::call!($client, $method($($argument),*)) {
            Ok(answer) => answer,
            Err(error) => panic!("{}: {error:?}", stringify!($method)),
        }
    };
}
pub(crate) use get;

/// The status and the text of an error of the API.
#[track_caller]
fn refused<T: Debug>(answer: Result<T, FirecrawlError>, words: &str) {
    let error = answer.expect_err("it must be refused").to_string();
    assert!(error.contains(words), "{error}");
}

/// Waits until a question has an answer.
async fn eventually<T>(mut ask: impl AsyncFnMut() -> Option<T>) -> T {
    let end = Instant::now() + Duration::from_secs(120);
    loop {
        if let Some(answer) = ask().await {
            return answer;
        }
        assert!(Instant::now() < end, "it did not come");
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
}

fn variable(name: &str) -> String {
    std::env::var(name).unwrap_or_else(|_| panic!("{name} is not set"))
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let (url, key) = (variable("API_URL"), variable("API_KEY"));
    let world = World {
        client: Client::new_selfhosted(&url, Some(&key)).expect("a client"),
        stranger: Client::new_selfhosted(&url, Some("gn-wrong")).expect("a client"),
        pages: variable("SITE_URL"),
        site: variable("CRAWL_URL"),
        companies: variable("AGENT_URL"),
        changing: variable("CHANGING_URL"),
    };
    pages::use_pages(&world).await;
    jobs::use_jobs(&world).await;
    searches::use_searches(&world).await;
    monitors::use_monitors(&world).await;
    sessions::use_sessions(&world).await;
    let called = CALLED.lock().expect("no test panics while it holds the lock");
    assert_eq!(called.len(), METHODS, "{called:?}");
    println!("{} methods, all passed", called.len());
}
