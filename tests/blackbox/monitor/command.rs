//! `gannet monitor`, beside a running server.

use super::{ChangingSite, config};
use crate::server::run;
use serde_json::Value;
use std::io::{BufRead, BufReader};
use std::process::Stdio;
use std::time::Duration;
use testkit::TempDir;

#[tokio::test]
async fn monitors_are_used_from_the_command_line() {
    let dir = TempDir::new();
    let config = config(&dir);
    let server = config.start().await;
    let site = ChangingSite::start("<p>Price: 80 EUR</p>");
    let gannet = |arguments: &[&str]| {
        let mut words = vec!["monitor"];
        words.extend(arguments);
        let (code, out, errors) = run(config.command(&words));
        assert_eq!(code, Some(0), "{arguments:?}: {out}{errors}");
        out
    };
    let url = site.server.url("/chair");
    let created =
        gannet(&["create", &url, "--name", "Chair", "--schedule", "every 30 minutes", "--goal", "price"]);
    assert!(created.contains("created Chair") && created.contains("next run"), "{created}");
    let listed: Value = serde_json::from_str(&gannet(&["list", "--json"])).unwrap();
    let id = listed[0]["id"].as_str().unwrap();
    assert!(gannet(&["list"]).contains(id));
    assert!(gannet(&["run", "Chair", "--wait"]).contains("1 page: 1 new"));
    site.set("<p>Price: 45 EUR</p>");
    assert!(gannet(&["run", &id[..30], "--wait"]).contains("1 changed"));
    let diff = gannet(&["diff", "Chair"]);
    assert!(
        diff.contains("-Price: 80 EUR") && diff.contains("+Price: 45 EUR") && diff.contains("matters"),
        "{diff}"
    );
    let shown = gannet(&["show", "Chair"]);
    assert!(shown.contains("goal       price") && shown.contains("1 changed"), "{shown}");
    assert!(shown.contains("timeline   http://") && shown.contains("feed       http://"), "{shown}");
    let page = diff.lines().find_map(|line| line.strip_prefix("page       ")).expect("the page of the check");
    let page = server.http.with_key(None).get(&super::mail_server::path_of(page)).await.unwrap();
    assert!(page.status == 200 && page.text.contains("45"), "{}", page.text);
    // Checks are seen as they end.
    let mut watch =
        config.command(&["monitor", "watch"]).stdout(Stdio::piped()).spawn().expect("start `monitor watch`");
    let lines = BufReader::new(watch.stdout.take().unwrap()).lines();
    let (send, printed) = std::sync::mpsc::channel();
    std::thread::spawn(move || lines.map_while(Result::ok).try_for_each(|line| send.send(line)));
    // It prints nothing when it begins, and checks that ended before are not news.
    let line = (30..40).rev().find_map(|price| {
        site.set(&format!("<p>Price: {price} EUR</p>"));
        gannet(&["run", "Chair", "--wait"]);
        printed.recv_timeout(Duration::from_secs(3)).ok()
    });
    watch.kill().unwrap();
    watch.wait().unwrap();
    let line = line.expect("a line for a check");
    assert!(line.contains("1 changed") && line.ends_with("Chair"), "{line}");
    assert!(gannet(&["pause", "Chair"]).contains("paused"));
    let (code, _, errors) = run(config.command(&["monitor", "run", "Chair"]));
    assert!(code == Some(1) && errors.contains("Monitor is paused."), "{errors}");
    assert!(gannet(&["resume", "Chair"]).contains("active"));
    assert!(gannet(&["delete", "Chair"]).contains("deleted"));
    let (code, _, errors) = run(config.command(&["monitor", "show", "Chair"]));
    assert!(code == Some(1) && errors.contains("no monitor has the name"), "{errors}");
    drop(server);
}
