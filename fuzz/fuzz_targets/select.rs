//! Whatever the page, choosing its content and judging it ends, and chooses only what is there.
#![no_main]

use content::budget::WorkBudget;
use content::css::Selector;
use content::{Limits, Page, Source, Wanted};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let page = Page::read(&Source { bytes, content_type: Some("text/html"), ..Source::default() }, &Limits::default());
    let selection = page.select(&Wanted::default()).expect("no selectors were given");
    assert!(selection.keep.iter().all(|id| id.index() < page.dom().len()));
    page.verdict();
    // The first line may also be read as a selector.
    if let Some(line) = std::str::from_utf8(bytes).ok().and_then(|text| text.lines().next())
        && let Ok(selector) = Selector::parse(line)
    {
        // Some steps; what takes more ends there.
        let found = WorkBudget::new(1_000_000, None).run(|| selector.find(page.dom()));
        assert!(found.is_ok(), "selectors end by themselves");
    }
});
