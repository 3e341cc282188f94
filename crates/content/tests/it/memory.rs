//! A ten-megabyte page, read and asked for everything, costs less than fifteen times its size at its peak.
//! The peak is that of a whole process, so the measurement has a process of its own: this program, started again.

use gannet_content::{ContentScope, Limits, Page, PageSource};

/// Peak resident memory of this process in bytes, where the system tells.
fn peak() -> Option<usize> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM:"))?;
    Some(line.split_ascii_whitespace().nth(1)?.parse::<usize>().ok()? * 1024)
}

/// Set in the process that measures.
const MEASURE: &str = "GANNET_TEST_MEASURE_MEMORY";

#[test]
fn ten_megabytes() {
    if std::env::var_os(MEASURE).is_none() {
        let program = std::env::current_exe().unwrap();
        let arguments = ["--exact", "memory::ten_megabytes", "--nocapture"];
        let output = std::process::Command::new(program).args(arguments).env(MEASURE, "1").output().unwrap();
        let printed = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success() && printed.contains("1 passed"), "{printed}");
        return;
    }
    let section = "<section class=\"item card\" data-k=\"v\"><h2 id=h><a href=\"/item/4711?ref=list\">A heading of some length</a></h2>\
        <p>Some <b>bold</b> words and a <a href=\"https://ex.org/a/b?c=d\">link</a> in a sentence of an ordinary length.</p>\
        <ul><li>one</li><li>two</li></ul><table><tr><th>a</th><th>b</th></tr><tr><td>1</td><td>2</td></tr></table></section>\n";
    let html = section.repeat((10 << 20) / section.len() + 1);
    let Some(before) = peak() else { return };
    let page =
        Page::parse(&PageSource { bytes: html.as_bytes(), ..PageSource::default() }, &Limits::default());
    let selection = page.select(&ContentScope::default()).unwrap();
    let markdown = page.markdown(&selection, true);
    let metadata = page.metadata();
    let links = page.links();
    let used = peak().unwrap_or(usize::MAX) - before;
    assert!(!page.truncated() && !markdown.is_empty() && links.len() == 2 && metadata.title.is_none());
    let times = used / (html.len() / 10);
    println!("peak memory {}.{} times the page", times / 10, times % 10);
    assert!(times < 150, "peak memory {} bytes for a page of {}", used, html.len());
}
