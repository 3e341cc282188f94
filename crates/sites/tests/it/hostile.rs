//! Hostile input costs time in proportion to its size, and bounded memory.

use gannet_sites::page_url::{PageUrl, UrlEquivalence};
use gannet_sites::robots::{self, Robots};
use gannet_sites::scope::{Decision, Discovery, Scope, ScopeRules};
use gannet_sites::sitemap::Sitemap;
use gannet_sites::{Fingerprint, search_rank};
use std::time::{Duration, Instant};
use url::Url;

const SIMILAR: UrlEquivalence = UrlEquivalence { ignore_query: false, similar: true };

/// Runs something that would take hours if it were not linear. Debug builds on busy machines get a generous
/// limit.
fn assert_fast<T>(work: impl FnOnce() -> T) -> T {
    let start = Instant::now();
    let result = work();
    assert!(start.elapsed() < Duration::from_mins(4), "{:?}", start.elapsed());
    result
}

#[test]
fn robots_of_a_hundred_megabytes() {
    let mut file = b"User-agent: *\nDisallow: /no\n".to_vec();
    file.resize(100 << 20, b'*');
    let robots = assert_fast(|| Robots::parse(&file, "x"));
    assert!(robots.is_truncated() && !robots.allows("/no") && robots.allows("/yes"));
}

#[test]
fn patterns_that_make_others_backtrack() {
    let mut file = String::from("User-agent: *\n");
    while file.len() < robots::MAX_FILE_BYTES - 100 {
        file += "Disallow: /*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*b$\n";
    }
    let robots = Robots::parse(file.as_bytes(), "x");
    let path = format!("/{}", "a".repeat(2000));
    assert!(assert_fast(|| robots.allows(&path)));
    assert!(!robots.allows(&format!("{path}b")));
}

#[test]
fn regexes_that_make_others_backtrack() {
    let start = PageUrl::parse("https://a.com/", SIMILAR).unwrap();
    let include_paths =
        ["^/(a+)+$", "^/(a|aa)+$", "^/(.*a){20}$", "(a?){50}a{50}$"].map(str::to_owned).to_vec();
    let scope = Scope::new(&start, &ScopeRules { include_paths, ..ScopeRules::default() }).unwrap();
    let long = PageUrl::parse(&format!("https://a.com/{}!", "a".repeat(2000)), SIMILAR).unwrap();
    for _ in 0..20 {
        assert_ne!(assert_fast(|| scope.decide(&long, Discovery::Listed, None)), Decision::Accept);
    }
}

#[test]
fn a_thousand_large_regexes() {
    let start = PageUrl::parse("https://a.com/", SIMILAR).unwrap();
    let large = |number: usize| format!("(?:[ab]?c?){{1000}}{number}");
    let rules = ScopeRules { include_paths: (0..1000).map(large).collect(), ..ScopeRules::default() };
    let began = Instant::now();
    let refused = Scope::new(&start, &rules).unwrap_err();
    assert!(refused.to_string().contains("compile to more than 2 MiB"), "{refused}");
    assert!(began.elapsed() < Duration::from_mins(1), "{:?}", began.elapsed());
    let small = |number: usize| format!("^/blog/{number}/.*");
    let rules = ScopeRules { include_paths: (0..1000).map(small).collect(), ..ScopeRules::default() };
    let scope = Scope::new(&start, &rules).unwrap();
    let page = PageUrl::parse("https://a.com/blog/999/x", SIMILAR).unwrap();
    assert_eq!(scope.decide(&page, Discovery::Listed, None), Decision::Accept);
}

#[test]
fn sitemaps_without_end() {
    let base = Url::parse("https://a.com/").unwrap();
    for piece in [
        "<url>",
        "<a b='",
        "<!--",
        "<![CDATA[x",
        "&amp;",
        "<!DOCTYPE a [",
        "x",
        "<",
        "<url><loc>https://a.com/",
        "]]>",
        "\"'",
    ] {
        let chunk = piece.repeat((256 << 10) / piece.len());
        let mut sitemap = Sitemap::new(base.clone(), 1000);
        sitemap.feed(b"<urlset><url><loc>/first</loc></url>");
        assert_fast(|| (0..4).for_each(|_| drop(sitemap.feed(chunk.as_bytes()))));
        assert!(sitemap.finish().1.entries >= 1, "{piece}");
    }
}

#[test]
fn more_entries_than_anybody_wants() {
    let base = Url::parse("https://a.com/").unwrap();
    let mut sitemap = Sitemap::new(base, 50_000);
    let mut entries = 0;
    assert_fast(|| {
        for n in 0..60_000 {
            if sitemap.is_done() {
                break;
            }
            entries += sitemap.feed(format!("<url><loc>https://a.com/{n}</loc></url>\n").as_bytes()).len();
        }
    });
    let (rest, summary) = sitemap.finish();
    assert_eq!((entries + rest.len(), summary.truncated), (50_000, true));
}

#[test]
fn texts_and_titles_of_any_size() {
    let text = "word ".repeat(4 << 20);
    assert_fast(|| Fingerprint::from_text(&text)).unwrap();
    let page = search_rank::PageInfo { url: "https://a.com/x", title: &text, description: &text };
    assert_eq!(assert_fast(|| search_rank::rank(&[page; 100], &text)).len(), 100);
}
