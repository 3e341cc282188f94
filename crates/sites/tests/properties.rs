//! What must hold for any input at all.

use gannet_sites::address::{Address, Sameness};
use gannet_sites::robots::{Robots, page_rules};
use gannet_sites::scope::{Found, Rules, Scope};
use gannet_sites::sitemap::{Entry, Sitemap, Summary};
use gannet_sites::{Fingerprint, TrapState, rank, traps};
use proptest::prelude::*;
use proptest::sample::select;
use url::Url;

/// Addresses made of the pieces that are hard.
fn addresses() -> impl Strategy<Value = String> {
    let piece = select(vec![
        "%2e",
        "%2E%2e",
        "%41",
        "%2",
        "%",
        "%65",
        "..",
        ".",
        "/",
        "//",
        ";jsessionid=1",
        ";",
        "index.html",
        "?",
        "&",
        "=",
        "a",
        "ü",
        "#",
        "\\",
        "utm_source=x",
        "&sid=0123456789abcdef0123456789abcdef",
        "PHPSESSID=1",
        "b=2&a=1",
        "%5Fga=1",
        " ",
    ]);
    let host = select(vec![
        "https://www.example.com",
        "http://example.com:80",
        "HTTP://EXAMPLE.com.:8080",
        "https://[::1]",
        "http://me:word@127.1",
        "http://bücher.example",
    ]);
    (host, proptest::collection::vec(piece, 0..12))
        .prop_map(|(host, pieces)| format!("{host}/{}", pieces.concat()))
}

fn sameness() -> impl Strategy<Value = Sameness> {
    (any::<bool>(), any::<bool>()).prop_map(|(ignore_query, similar)| Sameness { ignore_query, similar })
}

fn read(file: &[u8], size: usize) -> (Vec<Entry>, Summary) {
    let mut sitemap = Sitemap::new(Url::parse("https://example.com/").unwrap(), 100);
    let mut entries: Vec<Entry> = file.chunks(size.max(1)).flat_map(|chunk| sitemap.feed(chunk)).collect();
    let (rest, summary) = sitemap.finish();
    entries.extend(rest);
    (entries, summary)
}

proptest! {
    #[test]
    fn the_normal_form_is_its_own(text in addresses(), sameness in sameness()) {
        if let Ok(address) = Address::parse(&text, sameness) {
            let again = Address::parse(address.url().as_str(), sameness);
            prop_assert_eq!(again, Ok(address));
        }
    }

    #[test]
    fn looser_sameness_never_tells_apart(left in addresses(), right in addresses()) {
        let key = |text: &str, similar| Address::parse(text, Sameness { similar, ignore_query: false }).map(|a| a.key().to_owned());
        if key(&left, false).is_ok() && key(&left, false) == key(&right, false) {
            prop_assert_eq!(key(&left, true), key(&right, true));
        }
    }

    #[test]
    fn any_text_is_decided_about(text in "\\PC{0,80}", path in addresses()) {
        let options = Sameness { similar: true, ignore_query: false };
        let _ = Address::parse(&text, options);
        let start = Address::parse("https://example.com/a/", options).unwrap();
        let rules = Rules { include_paths: vec![text.clone()], ..Rules::default() };
        if let (Ok(scope), Ok(address)) = (Scope::new(&start, &rules), Address::parse(&path, options)) {
            scope.decide(&address, Found::Listed, Some(&Robots::parse(text.as_bytes(), "x")));
            traps::shape(&address);
            TrapState::new(2026).admit(&address);
        }
        page_rules(&[&text], &[&text], &text);
        Fingerprint::of(&text.repeat(20));
        let page = rank::Page { url: &text, title: &path, description: &text };
        prop_assert_eq!(rank::rank(&[page, page], &text).len(), 2);
    }

    #[test]
    fn any_bytes_are_robots_rules(file in proptest::collection::vec(any::<u8>(), 0..300), path in "/[ -~]{0,30}") {
        let mut named = b"user-agent:*\ndisallow:".to_vec();
        named.extend(&file);
        Robots::parse(&named, "x").allows(&path);
    }

    /// The matcher against the definition of a pattern, written as a regex.
    #[test]
    fn patterns_match_as_defined(pattern in "/[ab*]{0,8}\\$?", path in "/[ab]{0,10}") {
        let robots = Robots::parse(format!("user-agent: *\ndisallow: {pattern}").as_bytes(), "x");
        let regex = regex::Regex::new(&format!("^{}", pattern.replace('*', ".*"))).unwrap();
        prop_assert_eq!(robots.allows(&path), !regex.is_match(&path));
    }

    #[test]
    fn chunks_make_no_difference(
        pieces in proptest::collection::vec(select(vec!["<urlset>", "<url>", "</url>", "<loc>", "</loc>", "https://a.com/ü?", "&amp;", "&", "<![CDATA[", "]]>", "]", "<!--", "-->", "-", "<?x", "?>", ">", "<", "\"", "<link href='/x' rel=\"alternate\"/>", "<item>", "<!DOCTYPE", "[", "\n", "<html>", "http://b.org"]), 0..40),
        size in 1..7_usize,
    ) {
        let file = pieces.concat();
        prop_assert_eq!(read(file.as_bytes(), size), read(file.as_bytes(), file.len()));
    }

    #[test]
    fn any_bytes_are_a_sitemap(file in proptest::collection::vec(any::<u8>(), 0..300)) {
        let (entries, summary) = read(&file, 13);
        prop_assert_eq!(entries.len(), summary.entries);
    }
}
