//! `docs/scrape.md` has the table of request fields that the code has. `GANNET_TEST_WRITE=1` writes it.

use std::path::Path;

#[test]
fn docs_scrape_md_has_the_table_of_fields_of_the_code() {
    check_table("scrape.md", "fields", &wire::scrape::table());
}

/// Asserts that a page of the documentation has a table of the code between `<!-- mark -->` and `<!-- /mark -->`, or writes
/// it there.
pub fn check_table(page: &str, mark: &str, table: &str) {
    let (begin, end) = (format!("<!-- {mark} -->\n"), format!("<!-- /{mark} -->"));
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs").join(page);
    let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("docs/{page}: {error}"));
    let (before, rest) = text.split_once(&begin).unwrap_or_else(|| panic!("docs/{page} has no {begin}"));
    let (shown, after) = rest.split_once(&end).unwrap_or_else(|| panic!("docs/{page} has no {end}"));
    if std::env::var_os("GANNET_TEST_WRITE").is_some() {
        std::fs::write(&path, format!("{before}{begin}{table}{end}{after}")).expect("write the page");
        return;
    }
    assert!(
        shown == table,
        "the table of {mark} in docs/{page} is out of date; GANNET_TEST_WRITE=1 writes it anew"
    );
}
