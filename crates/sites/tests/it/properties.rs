//! Properties that hold for any input.

use gannet_sites::page_url::{PageUrl, UrlEquivalence};
use gannet_sites::robots::{Robots, page_rules};
use gannet_sites::scope::{Discovery, Scope, ScopeRules};
use gannet_sites::sitemap::{Sitemap, SitemapEntry, SitemapSummary};
use gannet_sites::{Fingerprint, TrapState, search_rank, traps};
use proptest::prelude::*;
use proptest::sample::select;
use url::Url;

/// URLs made of difficult parts.
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

fn equivalence() -> impl Strategy<Value = UrlEquivalence> {
    (any::<bool>(), any::<bool>())
        .prop_map(|(ignore_query, similar)| UrlEquivalence { ignore_query, similar })
}

fn read_sitemap(file: &[u8], size: usize) -> (Vec<SitemapEntry>, SitemapSummary) {
    let mut sitemap = Sitemap::new(Url::parse("https://example.com/").unwrap(), 100);
    let mut entries: Vec<SitemapEntry> =
        file.chunks(size.max(1)).flat_map(|chunk| sitemap.feed(chunk)).collect();
    let (rest, summary) = sitemap.finish();
    entries.extend(rest);
    (entries, summary)
}

proptest! {
    #[test]
    fn the_normal_form_is_its_own(text in addresses(), equivalence in equivalence()) {
        if let Ok(address) = PageUrl::parse(&text, equivalence) {
            let again = PageUrl::parse(address.url().as_str(), equivalence);
            prop_assert_eq!(again, Ok(address));
        }
    }

    #[test]
    fn looser_equivalence_never_separates(left in addresses(), right in addresses()) {
        let key = |text: &str, similar| PageUrl::parse(text, UrlEquivalence { similar, ignore_query: false }).map(|a| a.key().to_owned());
        if key(&left, false).is_ok() && key(&left, false) == key(&right, false) {
            prop_assert_eq!(key(&left, true), key(&right, true));
        }
    }

    #[test]
    fn any_text_is_decided_about(text in "\\PC{0,80}", path in addresses()) {
        let options = UrlEquivalence { similar: true, ignore_query: false };
        let _ = PageUrl::parse(&text, options);
        let start = PageUrl::parse("https://example.com/a/", options).unwrap();
        let rules = ScopeRules { include_paths: vec![text.clone()], ..ScopeRules::default() };
        if let (Ok(scope), Ok(address)) = (Scope::new(&start, &rules), PageUrl::parse(&path, options)) {
            scope.decide(&address, Discovery::Listed, Some(&Robots::parse(text.as_bytes(), "x")));
            traps::trap_by_shape(&address);
            TrapState::new(2026).admit(&address);
        }
        page_rules(&[&text], &[&text], &text);
        Fingerprint::from_text(&text.repeat(20));
        let page = search_rank::PageInfo { url: &text, title: &path, description: &text };
        prop_assert_eq!(search_rank::rank(&[page, page], &text).len(), 2);
    }

    #[test]
    fn any_bytes_are_robots_rules(file in proptest::collection::vec(any::<u8>(), 0..300), path in "/[ -~]{0,30}") {
        let mut named = b"user-agent:*\ndisallow:".to_vec();
        named.extend(&file);
        Robots::parse(&named, "x").allows(&path);
    }

    /// Compares the matcher with the definition of a pattern, written as a regex.
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
        prop_assert_eq!(read_sitemap(file.as_bytes(), size), read_sitemap(file.as_bytes(), file.len()));
    }

    #[test]
    fn any_bytes_are_a_sitemap(file in proptest::collection::vec(any::<u8>(), 0..300)) {
        let (entries, summary) = read_sitemap(&file, 13);
        prop_assert_eq!(entries.len(), summary.entries);
    }
}
