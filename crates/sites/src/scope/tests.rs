use super::*;
use crate::page_url::UrlEquivalence;

fn address(url: &str) -> PageUrl {
    PageUrl::parse(url, UrlEquivalence { similar: true, ..UrlEquivalence::default() }).unwrap()
}

fn scope(start: &str, rules: &ScopeRules) -> Scope {
    Scope::new(&address(start), rules).unwrap()
}

const LINKED: Discovery = Discovery::Linked { depth: 1, on_own_page: true, nofollow: false };

fn decide(scope: &Scope, url: &str) -> Result<(), SkipReason> {
    match scope.decide(&address(url), LINKED, None) {
        Decision::Accept => Ok(()),
        Decision::Skip(reason) => Err(reason),
    }
}

#[test]
fn the_start_path_bounds_the_crawl() {
    for (start, inside, outside) in [
        ("https://a.com/docs/", "https://a.com/docs/x/y", "https://a.com/docs-old"),
        ("https://a.com/docs/", "https://www.a.com/docs", "https://a.com/"),
        ("https://a.com/docs", "http://a.com/docs/x", "https://a.com/docs2/x"),
        ("https://a.com/docs/start.html", "https://a.com/docs/other.html", "https://a.com/blog/"),
        ("https://a.com/docs/v1.2", "https://a.com/docs/v1.2/x", "https://a.com/docs/v1.3/x"),
        ("https://a.com/users/john.doe", "https://a.com/users/john.doe/posts", "https://a.com/users/jane"),
    ] {
        let scope = scope(start, &ScopeRules::default());
        assert_eq!(decide(&scope, inside), Ok(()), "{start} {inside}");
        assert_eq!(decide(&scope, outside), Err(SkipReason::OutsideStartPath), "{start} {outside}");
    }
    let entire =
        scope("https://a.com/docs/", &ScopeRules { crawl_entire_domain: true, ..ScopeRules::default() });
    assert_eq!(decide(&entire, "https://a.com/blog"), Ok(()));
    assert_eq!(decide(&scope("https://a.com", &ScopeRules::default()), "https://a.com/blog"), Ok(()));
}

#[test]
fn hosts_are_told_apart_by_the_public_suffix_list() {
    let near = scope("https://www.shop.co.uk/", &ScopeRules::default());
    assert_eq!(decide(&near, "https://shop.co.uk/a"), Ok(()));
    assert_eq!(decide(&near, "https://blog.shop.co.uk/a"), Err(SkipReason::Subdomain));
    assert_eq!(decide(&near, "https://other.co.uk/"), Err(SkipReason::OffSite));
    assert_eq!(decide(&near, "https://shop.co.uk:8443/"), Err(SkipReason::OffSite));
    assert_eq!(decide(&near, "https://shop.co.uk.evil.com/"), Err(SkipReason::OffSite));

    let wide =
        scope("https://docs.shop.co.uk/x/", &ScopeRules { allow_subdomains: true, ..ScopeRules::default() });
    assert_eq!(decide(&wide, "https://blog.shop.co.uk/a"), Ok(()));
    assert_eq!(decide(&wide, "https://shop.co.uk/a"), Ok(()));
    assert_eq!(decide(&wide, "https://docs.shop.co.uk/a"), Err(SkipReason::OutsideStartPath));
    assert_eq!(decide(&wide, "https://other.co.uk/"), Err(SkipReason::OffSite));
    // Sites of different users of one host are separate sites.
    let pages =
        scope("https://me.github.io/", &ScopeRules { allow_subdomains: true, ..ScopeRules::default() });
    assert_eq!(decide(&pages, "https://you.github.io/"), Err(SkipReason::OffSite));
    let machine =
        scope("http://127.0.0.1:80/", &ScopeRules { allow_subdomains: true, ..ScopeRules::default() });
    assert_eq!(decide(&machine, "http://10.0.0.1/"), Err(SkipReason::OffSite));
    assert_eq!(decide(&machine, "http://127.0.0.1/x"), Ok(()));
}

#[test]
fn external_links_are_followed_for_one_hop() {
    let scope = scope("https://a.com/", &ScopeRules { allow_external_links: true, ..ScopeRules::default() });
    assert_eq!(decide(&scope, "https://b.org/x"), Ok(()));
    assert_eq!(decide(&scope, "https://docs.a.com/x"), Ok(()));
    assert!(!scope.is_own_page(&address("https://b.org/x")));
    let further = Discovery::Linked { depth: 2, on_own_page: false, nofollow: false };
    let decision = scope.decide(&address("https://c.org/"), further, None);
    assert_eq!(decision, Decision::Skip(SkipReason::OffSite));
}

#[test]
fn regexes_choose_paths() {
    let rules = ScopeRules {
        include_paths: vec!["blog/.*".into(), r"^/grüße/\w+$".into()],
        exclude_paths: vec![r"^\/blog\/(draft|old)".into()],
        ..ScopeRules::default()
    };
    let chosen = scope("https://a.com/", &rules);
    assert_eq!(decide(&chosen, "https://a.com/en/blog/x"), Ok(()));
    assert_eq!(decide(&chosen, "https://a.com/grüße/alle"), Ok(()));
    assert_eq!(decide(&chosen, "https://a.com/blog/draft-1"), Err(SkipReason::Excluded));
    assert_eq!(decide(&chosen, "https://a.com/?next=/blog/x"), Err(SkipReason::NotIncluded));
    let full = scope("https://a.com/", &ScopeRules { regex_on_full_url: true, ..rules });
    assert_eq!(decide(&full, "https://a.com/?next=/blog/x"), Ok(()));
    // The start URL was requested explicitly.
    assert_eq!(chosen.decide(&address("https://a.com/"), Discovery::Start, None), Decision::Accept);
}

#[test]
fn wrong_regexes_are_named() {
    let start = address("https://a.com/");
    let refused = |patterns: &[&str]| {
        let include_paths = patterns.iter().map(|&pattern| pattern.to_owned()).collect();
        Scope::new(&start, &ScopeRules { include_paths, ..ScopeRules::default() }).unwrap_err().to_string()
    };
    assert_eq!(refused(&["ok", "a(b"]), "includePaths[1] is not a valid regular expression: unclosed group");
    assert!(refused(&["(?=x)y"]).contains("look-around"));
    assert!(refused(&["(((a{100}){100}){100})"]).contains("2 MiB"));
    assert!(refused(&[&"a".repeat(3000)]).contains("2000 bytes"));
    assert!(refused(&vec!["a"; 1001]).starts_with("includePaths is too large"));
    assert!(refused(&vec!["[a-z]{500}[a-z]{500}"; 200]).starts_with("includePaths is too large"));
    let exclude_paths = vec!["[".to_owned()];
    let error = Scope::new(&start, &ScopeRules { exclude_paths, ..ScopeRules::default() }).unwrap_err();
    assert!(error.to_string().starts_with("excludePaths[0]"));
}

#[test]
fn what_people_write_compiles() {
    let include_paths =
        [r"/product/[\w-]{5,80}", r"^/(en|de)/.*$", r"\p{L}+", "[ä-ü]", r"(?i)/BLOG", r"\d{4}/\d{2}"];
    let include_paths = include_paths.map(str::to_owned).to_vec();
    let scope = scope("https://a.com/", &ScopeRules { include_paths, ..ScopeRules::default() });
    assert_eq!(decide(&scope, "https://a.com/2024/05"), Ok(()));
}

#[test]
fn the_rest_has_a_reason_each() {
    let scope =
        scope("https://a.com/", &ScopeRules { max_discovery_depth: Some(2), ..ScopeRules::default() });
    assert_eq!(decide(&scope, "https://a.com/logo.PNG"), Err(SkipReason::FileType));
    for page in ["paper.pdf", "tag/node.js", "wiki/File:Bird.png", ".well-known", "v1.2"] {
        assert_eq!(decide(&scope, &format!("https://a.com/{page}")), Ok(()), "{page}");
    }
    assert_eq!(decide(&scope, &format!("https://a.com/{}", "a".repeat(2100))), Err(SkipReason::TooLong));
    assert!(matches!(decide(&scope, "https://a.com/x/y/x/y/x/y"), Err(SkipReason::Trap(_))));
    let at = |depth, nofollow| {
        scope.decide(
            &address("https://a.com/x"),
            Discovery::Linked { depth, on_own_page: true, nofollow },
            None,
        )
    };
    assert_eq!(at(2, false), Decision::Accept);
    assert_eq!(at(3, false), Decision::Skip(SkipReason::TooDeep));
    assert_eq!(at(1, true), Decision::Skip(SkipReason::NoFollow));
    let robots = Robots::parse(b"User-agent: *\nDisallow: /x?secret", "gannet");
    let x = |url: &str, found| scope.decide(&address(url), found, Some(&robots));
    assert_eq!(x("https://a.com/x?secret=1", LINKED), Decision::Skip(SkipReason::Robots));
    assert_eq!(x("https://a.com/x?secret=1", Discovery::Start), Decision::Skip(SkipReason::Robots));
    assert_eq!(x("https://a.com/x", Discovery::Listed), Decision::Accept);
    assert_eq!(SkipReason::from(PageUrlError::NotHttp).name(), "notHttp");
}
