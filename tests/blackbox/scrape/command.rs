//! `gannet scrape`, without a server: its output and its exit code.

use super::config;
use crate::server::run;
use crate::site::{ARTICLE, Site};
use serde_json::Value;
use testkit::TempDir;

/// Runs the command on a page of a site.
fn scrape(dir: &TempDir, url: &str, more: &[&str]) -> (Option<i32>, String, String) {
    let mut arguments = vec!["scrape", url];
    arguments.extend(more);
    run(config(dir).command(&arguments))
}

#[test]
fn one_format_is_printed_as_it_is_and_several_as_a_document() {
    let (dir, site) = (TempDir::new(), Site::start());
    let url = site.url("/article");
    let (code, text, error) = scrape(&dir, &url, &[]);
    assert_eq!(code, Some(0), "{error}");
    assert!(text.starts_with("# How gannets dive") && text.contains("lastword"), "{text}");
    assert!(!text.contains("navigationword"));
    let (_, text, _) = scrape(&dir, &url, &["--whole"]);
    assert!(text.contains("navigationword"), "{text}");
    let (_, text, _) = scrape(&dir, &url, &["--format", "raw-html"]);
    assert_eq!(text, ARTICLE);
    let (_, text, _) = scrape(&dir, &url, &["--format", "links"]);
    assert!(text.lines().any(|line| line == site.url("/puffins")), "{text}");
    let (_, text, _) = scrape(&dir, &url, &["--format", "json"]);
    let document: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(
        (&document["metadata"]["statusCode"], &document["metadata"]["engine"]),
        (&200.into(), &"http".into())
    );
    let file = dir.join("page.json");
    let out = file.to_str().unwrap();
    let (code, text, _) = scrape(&dir, &url, &["--format", "markdown", "--format", "images", "--out", out]);
    assert_eq!((code, text.as_str()), (Some(0), ""));
    let document: Value = serde_json::from_slice(&std::fs::read(&file).unwrap()).unwrap();
    assert!(document["markdown"].as_str().unwrap().contains("firstword") && document["images"].is_array());
    assert!(!dir.join("data").exists(), "nothing is stored");
}

#[test]
fn pages_are_rendered_and_screenshots_written() {
    let (dir, site) = (TempDir::new(), Site::start());
    let (code, text, error) = scrape(&dir, &site.url("/app"), &[]);
    assert_eq!(code, Some(0), "{error}");
    assert!(text.contains("renderedword"), "{text}");
    let picture = dir.join("page.png");
    let path = picture.to_str().unwrap();
    let (code, text, error) = scrape(&dir, &site.url("/form"), &["--screenshot", path, "--full-page"]);
    assert_eq!((code, text.as_str()), (Some(0), ""), "{error}");
    assert!(error.contains("wrote") && error.contains("page.png"), "{error}");
    let (_, height) = crate::browser::png_size(&std::fs::read(&picture).unwrap());
    assert!(height > 3000, "the whole page, not a window: {height}");
}

#[test]
fn the_exit_code_tells_the_outcome() {
    let (dir, site) = (TempDir::new(), Site::start());
    for (url, more, code, printed) in [
        ("http://no-such-host.invalid/", &[][..], 1, "resolve"),
        (site.url("/archive").as_str(), &[], 1, "gzip"),
        ("file:///etc/passwd", &[], 2, "Invalid URL"),
        (site.url("/article").as_str(), &["--timeout", "5"], 2, "timeout"),
        (site.url("/article").as_str(), &["--header", "nonsense"], 2, "Name: value"),
        (site.url("/hang").as_str(), &["--timeout", "1000"], 6, "Timeout"),
        (site.url("/captcha").as_str(), &["--fast"], 4, "captcha"),
        ("http://10.9.8.7/", &[], 5, "is not allowed"),
    ] {
        let (got, text, error) = scrape(&dir, url, more);
        assert_eq!((got, text.as_str()), (Some(code), ""), "{url}: {error}");
        let is_plain =
            !error.contains("gannet: 2") && !error.contains("gannet: 4") && !error.contains("\"path\"");
        assert!(is_plain, "an answer of the API instead of a message: {error}");
        assert!(
            error.to_lowercase().contains(&printed.to_lowercase()),
            "{printed:?} is missing for {url}: {error}"
        );
    }
    let (code, _, error) = scrape(&dir, &site.url("/article"), &["--format", "poem"]);
    assert_eq!(code, Some(2), "{error}");
}

#[test]
fn a_missing_browser_and_an_error_page_are_said() {
    let (dir, site) = (TempDir::new(), Site::start());
    let without = config(&dir).set("browser", "off");
    let (code, _, error) = run(without.command(&["scrape", &site.url("/app")]));
    assert!(code == Some(1) && error.contains("a browser may do better"), "{error}");
    let (code, _, error) = scrape(&dir, &site.url("/missing"), &["--fast"]);
    assert!(code == Some(0) && error.contains("status 404"), "{error}");
}

#[test]
fn every_command_calls_mistakes_by_the_same_code() {
    let dir = TempDir::new();
    let out = dir.join("out.jsonl").display().to_string();
    let missing = dir.join("missing.txt").display().to_string();
    for (arguments, named) in [
        (&["scrape", "ftp://x.example"][..], "Invalid URL"),
        (&["map", "ftp://x.example"], "Invalid URL"),
        (&["map", "https://example.com", "--limit", "0"], "--limit"),
        (&["search", "birds", "--limit", "0"], "--limit"),
        (&["crawl", "ftp://x.example", "--out", &out], "Invalid URL"),
        (&["crawl", "https://example.com", "--out", &out, "--include", "("], "--include"),
        (&["batch", &missing, "--out", &out], "missing.txt"),
        (&["agent", "what?", "--url", "ftp://x.example"], "Invalid URL"),
        (&["scrape", "https://example.com", "--set", "nonsense=1"], "nonsense"),
    ] {
        let (code, text, error) = run(config(&dir).command(arguments));
        assert_eq!((code, text.as_str()), (Some(2), ""), "{arguments:?}: {error}");
        assert!(error.contains(named) && !error.contains("400"), "{arguments:?}: {error}");
    }
    assert!(!dir.join("data").exists() && !dir.join("out.jsonl").exists(), "nothing is left behind");
}

#[test]
fn options_are_sent_with_the_request() {
    let (dir, site) = (TempDir::new(), Site::start());
    let (code, text, error) = scrape(&dir, &site.url("/echo"), &["--mobile", "--header", "X-Berth: nine"]);
    assert_eq!(code, Some(0), "{error}");
    assert!(text.contains("x-berth: nine") && text.contains("Mobile"), "{text}");
}
