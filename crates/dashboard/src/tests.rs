//! What the embedded and the on-disk dashboard answer.

use super::*;
use std::path::Path;

fn web() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../web")
}

#[test]
fn the_page_names_files_that_are_there() {
    let dashboard = Dashboard::embedded();
    let page = dashboard.page().expect("the page");
    let text = String::from_utf8(page.plain.to_vec()).unwrap();
    assert!(!page.immutable && !text.contains(ASSETS_PLACEHOLDER));
    let mut found = 0;
    for address in text.split('"').filter_map(|part| part.strip_prefix("/assets/")) {
        let (version, path) = address.split_once('/').expect("a version and a path");
        let asset = dashboard.asset(version, path).unwrap_or_else(|| panic!("{path} is not there"));
        assert!(asset.immutable, "{path}");
        found += 1;
    }
    assert!(found >= 2, "a script and a style sheet");
    assert!(dashboard.asset("other", "app.js").is_none());
    let icon = dashboard.icon().expect("the icon");
    assert!(!icon.immutable && icon.content_type == "image/svg+xml");
}

#[test]
fn a_folder_gives_its_own_files_only() {
    let dashboard = Dashboard::from_folder(web());
    assert!(dashboard.page().is_some());
    let asset = dashboard.asset(DEVELOPMENT, "app.js").expect("a file");
    assert!(!asset.immutable && asset.gzip.is_some());
    for outside in
        ["../Cargo.toml", "views/../../Cargo.toml", ".hidden", "", "views//home.js", "views", "/etc/passwd"]
    {
        assert!(dashboard.asset(DEVELOPMENT, outside).is_none(), "{outside}");
    }
}

/// Vendored files are what their authors published, but for the imports, which name files here instead of packages.
#[test]
fn vendored_files_are_unchanged() {
    let folder = web().join("vendor");
    let list = std::fs::read_to_string(folder.join("HASHES")).expect("the list of vendored files");
    let mut checked = 0;
    for line in list.lines().filter(|line| !line.starts_with('#') && !line.trim().is_empty()) {
        let mut words = line.split_whitespace();
        let (hash, file) = (words.next().unwrap(), words.next().expect("a file"));
        let text = std::fs::read_to_string(folder.join(file)).expect(file);
        let published = text.replace("\"./preact.js\"", "\"preact\"");
        assert_eq!(hex(&Sha256::digest(published.as_bytes()), 32), hash, "{file}");
        checked += 1;
    }
    let scripts = std::fs::read_dir(&folder).unwrap().flatten();
    let scripts = scripts.filter(|entry| entry.path().extension().is_some_and(|kind| kind == "js")).count();
    assert_eq!(checked, scripts, "every vendored script is in the list");
}

#[test]
fn all_files_together_are_small() {
    let size: usize = files::FILES
        .iter()
        .map(|(name, content)| Asset::new(name, Bytes::from_static(content), true).plain.len())
        .sum();
    assert!(size <= 450_000, "{size} bytes are embedded");
}
