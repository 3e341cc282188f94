//! Code in Node.

use crate::support::{LONG, Session, runtimes, trial};
use code_runner::Language::Node;
use code_runner::{CodeUser, Language, LockIn, RuntimeSettings, Runtimes};
use libtest_mimic::Trial;
use std::sync::Arc;
use std::time::Duration;

const PAGE: &str =
    "data:text/html,<title>First</title><button onclick=\"document.title='Clicked'\">Go</button>";

pub fn trials() -> Vec<Trial> {
    vec![
        trial("node::a_page_is_ready_and_variables_survive", page_is_ready_and_variables_survive),
        trial("node::results_and_outputs_are_told_apart", results_and_outputs_are_told_apart),
        trial("node::errors_have_a_stack_and_an_exit_code", errors_have_a_stack_and_an_exit_code),
        trial("node::a_closed_page_is_replaced", closed_page_is_replaced),
        trial("node::worker_threads_run_and_too_many_are_told", worker_threads_run),
        trial("node::files_stay_in_the_folder_of_the_session", files_stay_in_the_folder),
        trial("node::a_trial_tells_what_runs_from_what_is_only_there", trial_tells_what_runs),
    ]
}

/// What `gannet doctor` shows: each language starts under the account of a session and reaches for the browser, and a
/// package of which only the manifest is there does not.
async fn trial_tells_what_runs() {
    let found = Arc::new(runtimes().await);
    for language in Language::ALL {
        let outcome = Arc::clone(&found).try_language(language, LockIn::Required, CodeUser::Same).await;
        assert_eq!(outcome, Ok(()), "{}", language.name());
    }
    let folder = tempfile::tempdir().unwrap();
    let package = folder.path().join("playwright-core");
    std::fs::create_dir(&package).unwrap();
    std::fs::write(package.join("package.json"), r#"{"version":"1.65.0","main":"index.js"}"#).unwrap();
    let settings =
        RuntimeSettings { node_modules: Some(folder.path().to_owned()), ..RuntimeSettings::default() };
    let broken = Arc::new(Runtimes::find(&settings, CodeUser::Same).await);
    assert!(broken.node.is_ok(), "{:?}", broken.node);
    let outcome = broken.try_language(Node, LockIn::Required, CodeUser::Same).await;
    assert!(
        outcome.as_ref().is_err_and(|error| error.to_string().contains("Cannot find module")),
        "{outcome:?}"
    );
}

async fn page_is_ready_and_variables_survive() {
    let session = Session::start().await;
    let code = format!("await page.goto({PAGE:?});\nconst title = await page.title();\ntitle;");
    assert_eq!(session.result(Node, &code).await, "First");
    assert_eq!(session.result(Node, "title + '!'").await, "First!");
    // The same cell again must not fail because its names exist.
    assert_eq!(session.result(Node, &code).await, "First");
    let code = "await page.getByRole('button').click(); const title = await page.title(); ({ title, n: 1 })";
    assert_eq!(session.result(Node, code).await, r#"{"title":"Clicked","n":1}"#);
    assert_eq!(session.result(Node, "[context.pages().length, browser.isConnected()]").await, "[1,true]");
    // Two clients of one browser work side by side in one session, the page is the same.
    assert_eq!(session.result(Node, "(await context.newPage()).isClosed()").await, "false");
}

async fn worker_threads_run() {
    let session = Session::start().await;
    let few = "const { Worker } = require('worker_threads'); \
        const twice = n => new Promise((done, failed) => { \
          const worker = new Worker('const t = require(\"worker_threads\"); t.parentPort.postMessage(2 * t.workerData)', { eval: true, workerData: n }); \
          worker.on('message', done); worker.on('error', failed); }); \
        await Promise.all([1, 2, 3].map(twice))";
    assert_eq!(session.result(Node, few).await, "[2,4,6]");
    let many = "const all = Array.from({ length: 80 }, () => new Worker('setTimeout(() => {}, 60000)', { eval: true })); \
        await new Promise((_, failed) => all.forEach(worker => worker.on('error', failed)))";
    let output = session.run(Node, many).await;
    let reason = "more than 64 processes and threads";
    // Either the system refuses the thread, which Node reports, or all are counted and ended.
    assert!(output.exit_code != 0 && !output.stderr.is_empty(), "{output:?}");
    assert!(!output.killed || output.stderr.contains(reason), "{output:?}");
    let mut next = session.run(Node, "1 + 1").await;
    if next.killed {
        // Node told of the refused thread first, and the supervisor counted the others a moment later.
        assert!(next.stderr.contains(reason), "{next:?}");
        next = session.run(Node, "1 + 1").await;
    }
    assert_eq!(next.result, "2", "{next:?}");
}

async fn results_and_outputs_are_told_apart() {
    let session = Session::start().await;
    let output = session.run(Node, "console.log('to', 1); console.error('oh'); 42").await;
    assert_eq!(
        (output.stdout.as_str(), output.stderr.as_str(), output.result.as_str()),
        ("to 1\n", "oh\n", "42")
    );
    assert_eq!((output.exit_code, output.killed, output.truncated), (0, false, false));
    assert_eq!(session.result(Node, "console.log('only'); console.log('output')").await, "only\noutput");
    for (code, expected) in [
        ("let a = 1", ""),
        ("'text'", "text"),
        ("null", "null"),
        ("{a: 1}", r#"{"a":1}"#),
        ("page.title()", ""),
        ("Promise.resolve([1, 'b'])", r#"[1,"b"]"#),
        ("Buffer.from('abc')", "YWJj"),
        ("10n", "10n"),
        ("new Map([[1, 2]])", "Map(1) { 1 => 2 }"),
        ("const circle = {}; circle.self = circle; circle", "<ref *1> { self: [Circular *1] }"),
        ("for (const n of [1, 2]) { await n }\n'end'", "end"),
    ] {
        assert_eq!(session.result(Node, code).await, expected, "{code}");
    }
    let output = session.run(Node, "'x'.repeat(300000)").await;
    assert!(output.truncated && output.result.len() == 256 * 1024, "{}", output.result.len());
}

async fn errors_have_a_stack_and_an_exit_code() {
    let session = Session::start().await;
    let code = "function inner() { throw new TypeError('broken') }\ninner()";
    let output = session.run(Node, code).await;
    assert_eq!((output.exit_code, output.killed), (1, false));
    assert!(
        output.stderr.starts_with("TypeError: broken\n    at inner (<anonymous>:1:"),
        "{}",
        output.stderr
    );
    assert!(!output.stderr.contains("inspector"), "{}", output.stderr);
    let output = session.run(Node, "await page.click('#missing', { timeout: 50 })").await;
    assert!(output.exit_code == 1 && output.stderr.contains("Timeout 50ms exceeded"), "{output:?}");
    assert!(session.run(Node, "let let = 1").await.stderr.starts_with("SyntaxError"));
    assert!(session.run(Node, "Promise.reject(new Error('late'))").await.stderr.starts_with("Error: late"));
    // What nobody awaits does not end the process.
    session.run(Node, "var kept = 7; Promise.reject(new Error('unseen')); 0").await;
    assert_eq!(session.result(Node, "kept").await, "7");
    let output = session.run(Node, "process.exit(3)").await;
    assert_eq!((output.exit_code, output.killed), (3, false));
    let output = session.run(Node, "typeof kept").await;
    assert_eq!(output.result, "undefined");
    assert!(output.stderr.contains("variables of earlier calls are gone"), "{output:?}");
}

async fn closed_page_is_replaced() {
    let session = Session::start().await;
    assert_eq!(session.result(Node, "await page.close(); page.isClosed()").await, "true");
    assert_eq!(session.result(Node, "await page.goto('about:blank'); page.url()").await, "about:blank");
}

async fn files_stay_in_the_folder() {
    let session = Session::start().await;
    let code = "require('fs').writeFileSync('shot.png', await page.screenshot()); \
        require('fs').copyFileSync('shot.png', require('os').tmpdir() + '/copy.png'); process.cwd()";
    let folder = session.result(Node, code).await;
    assert_eq!(folder, session.runners.folder().home().to_string_lossy());
    assert!(std::fs::metadata(session.path().join("home/tmp/copy.png")).expect("the file").len() > 100);
    let late = session.runners.run(Node, "await new Promise(() => {})", Duration::from_millis(300)).await;
    assert!(late.expect("an output").killed);
    assert_eq!(session.runners.run(Node, "1", LONG).await.expect("an output").result, "1");
}
