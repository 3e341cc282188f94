//! `docs/scrape.md` has the table of request fields that the code has. `GANNET_TEST_WRITE=1` writes it.

use std::path::Path;

const BEGIN: &str = "<!-- fields -->\n";
const END: &str = "<!-- /fields -->";

#[test]
fn docs_scrape_md_has_the_table_of_fields_of_the_code() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/scrape.md");
    let text = std::fs::read_to_string(&path).expect("docs/scrape.md");
    let (before, rest) = text.split_once(BEGIN).expect("a mark where the table begins");
    let (shown, after) = rest.split_once(END).expect("a mark where the table ends");
    let table = wire::scrape::table();
    if std::env::var_os("GANNET_TEST_WRITE").is_some() {
        std::fs::write(&path, format!("{before}{BEGIN}{table}{END}{after}")).expect("write docs/scrape.md");
        return;
    }
    assert!(shown == table, "the table in docs/scrape.md is out of date; GANNET_TEST_WRITE=1 writes it anew");
}
