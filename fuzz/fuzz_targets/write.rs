//! Whatever is kept can be written: markdown, HTML, metadata, links, tables, and a diff of two ways to write it.
#![no_main]

use content::{Limits, Page, Source, Wanted};
use libfuzzer_sys::fuzz_target;
use url::Url;

fuzz_target!(|bytes: &[u8]| {
    let url = Url::parse("https://ex.org/a/b?c#d").expect("a plain address");
    let source = Source { bytes, content_type: Some("text/html; charset=utf-8"), url: Some(&url), status: Some(200) };
    let page = Page::read(&source, &Limits::default());
    let whole = page.select(&Wanted { only_main_content: false, ..Wanted::default() }).expect("no selectors");
    let main = page.select(&Wanted::default()).expect("no selectors");
    let markdown = page.markdown(&whole, true);
    let lines: Vec<&str> = markdown.lines().collect();
    assert!(markdown.is_empty() || markdown.ends_with('\n'));
    // Blank lines never double outside fenced code.
    let mut fence: Option<usize> = None;
    for pair in lines.windows(2) {
        let ticks = pair[0].trim_start_matches(['>', ' ', '-', '*', ':']).bytes().take_while(|&byte| byte == b'`').count();
        match fence {
            Some(open) if ticks >= open => fence = None,
            None if ticks >= 3 => fence = Some(ticks),
            _ => {}
        }
        assert!(fence.is_some() || !(pair[0].is_empty() && pair[1].is_empty()), "{markdown:?}");
    }
    let kept = page.markdown(&main, false);
    content::diff::diff(&markdown, &kept);
    page.html(&main);
    page.metadata().to_wire();
    page.links();
    page.images();
    page.tables(&whole);
});
