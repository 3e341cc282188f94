use super::*;
use crate::address::Sameness;

fn address(url: &str) -> Address {
    Address::parse(url, Sameness { similar: true, ..Sameness::default() }).unwrap()
}

fn scope(start: &str, rules: &Rules) -> Scope {
    Scope::new(&address(start), rules).unwrap()
}

const LINKED: Found = Found::Linked { depth: 1, on_own_page: true, nofollow: false };

fn decide(scope: &Scope, url: &str) -> Result<(), Reason> {
    match scope.decide(&address(url), LINKED, None) {
        Decision::Take => Ok(()),
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
        let scope = scope(start, &Rules::default());
        assert_eq!(decide(&scope, inside), Ok(()), "{start} {inside}");
        assert_eq!(decide(&scope, outside), Err(Reason::OutsideStartPath), "{start} {outside}");
    }
    let entire = scope("https://a.com/docs/", &Rules { crawl_entire_domain: true, ..Rules::default() });
    assert_eq!(decide(&entire, "https://a.com/blog"), Ok(()));
    assert_eq!(decide(&scope("https://a.com", &Rules::default()), "https://a.com/blog"), Ok(()));
}

#[test]
fn hosts_are_told_apart_by_the_public_suffix_list() {
    let near = scope("https://www.shop.co.uk/", &Rules::default());
    assert_eq!(decide(&near, "https://shop.co.uk/a"), Ok(()));
    assert_eq!(decide(&near, "https://blog.shop.co.uk/a"), Err(Reason::Subdomain));
    assert_eq!(decide(&near, "https://other.co.uk/"), Err(Reason::OffSite));
    assert_eq!(decide(&near, "https://shop.co.uk:8443/"), Err(Reason::OffSite));
    assert_eq!(decide(&near, "https://shop.co.uk.evil.com/"), Err(Reason::OffSite));

    let wide = scope("https://docs.shop.co.uk/x/", &Rules { allow_subdomains: true, ..Rules::default() });
    assert_eq!(decide(&wide, "https://blog.shop.co.uk/a"), Ok(()));
    assert_eq!(decide(&wide, "https://shop.co.uk/a"), Ok(()));
    assert_eq!(decide(&wide, "https://docs.shop.co.uk/a"), Err(Reason::OutsideStartPath));
    assert_eq!(decide(&wide, "https://other.co.uk/"), Err(Reason::OffSite));
    // Pages of one host's users are sites of their own.
    let pages = scope("https://me.github.io/", &Rules { allow_subdomains: true, ..Rules::default() });
    assert_eq!(decide(&pages, "https://you.github.io/"), Err(Reason::OffSite));
    let machine = scope("http://127.0.0.1:80/", &Rules { allow_subdomains: true, ..Rules::default() });
    assert_eq!(decide(&machine, "http://10.0.0.1/"), Err(Reason::OffSite));
    assert_eq!(decide(&machine, "http://127.0.0.1/x"), Ok(()));
}

#[test]
fn external_links_are_followed_for_one_hop() {
    let scope = scope("https://a.com/", &Rules { allow_external_links: true, ..Rules::default() });
    assert_eq!(decide(&scope, "https://b.org/x"), Ok(()));
    assert_eq!(decide(&scope, "https://docs.a.com/x"), Ok(()));
    assert!(!scope.is_own(&address("https://b.org/x")));
    let further = Found::Linked { depth: 2, on_own_page: false, nofollow: false };
    let decision = scope.decide(&address("https://c.org/"), further, None);
    assert_eq!(decision, Decision::Skip(Reason::OffSite));
}

#[test]
fn regexes_choose_paths() {
    let rules = Rules {
        include_paths: vec!["blog/.*".into(), r"^/grüße/\w+$".into()],
        exclude_paths: vec![r"^\/blog\/(draft|old)".into()],
        ..Rules::default()
    };
    let chosen = scope("https://a.com/", &rules);
    assert_eq!(decide(&chosen, "https://a.com/en/blog/x"), Ok(()));
    assert_eq!(decide(&chosen, "https://a.com/grüße/alle"), Ok(()));
    assert_eq!(decide(&chosen, "https://a.com/blog/draft-1"), Err(Reason::Excluded));
    assert_eq!(decide(&chosen, "https://a.com/?next=/blog/x"), Err(Reason::NotIncluded));
    let full = scope("https://a.com/", &Rules { regex_on_full_url: true, ..rules });
    assert_eq!(decide(&full, "https://a.com/?next=/blog/x"), Ok(()));
    // The start itself was asked for by name.
    assert_eq!(chosen.decide(&address("https://a.com/"), Found::Start, None), Decision::Take);
}

#[test]
fn wrong_regexes_are_named() {
    let start = address("https://a.com/");
    let refused = |patterns: &[&str]| {
        let include_paths = patterns.iter().map(|&pattern| pattern.to_owned()).collect();
        Scope::new(&start, &Rules { include_paths, ..Rules::default() }).unwrap_err().to_string()
    };
    assert_eq!(refused(&["ok", "a(b"]), "includePaths[1] is not a usable regular expression: unclosed group");
    assert!(refused(&["(?=x)y"]).contains("look-around"));
    assert!(refused(&["(((a{100}){100}){100})"]).contains("2 MiB"));
    assert!(refused(&[&"a".repeat(3000)]).contains("2000 bytes"));
    assert!(refused(&vec!["a"; 1001]).starts_with("includePaths is too large"));
    assert!(refused(&vec!["[a-z]{500}[a-z]{500}"; 200]).starts_with("includePaths is too large"));
    let exclude_paths = vec!["[".to_owned()];
    let error = Scope::new(&start, &Rules { exclude_paths, ..Rules::default() }).unwrap_err();
    assert!(error.to_string().starts_with("excludePaths[0]"));
}

#[test]
fn what_people_write_compiles() {
    let include_paths =
        [r"/product/[\w-]{5,80}", r"^/(en|de)/.*$", r"\p{L}+", "[ä-ü]", r"(?i)/BLOG", r"\d{4}/\d{2}"];
    let include_paths = include_paths.map(str::to_owned).to_vec();
    let scope = scope("https://a.com/", &Rules { include_paths, ..Rules::default() });
    assert_eq!(decide(&scope, "https://a.com/2024/05"), Ok(()));
}

#[test]
fn the_rest_has_a_reason_each() {
    let scope = scope("https://a.com/", &Rules { max_discovery_depth: Some(2), ..Rules::default() });
    assert_eq!(decide(&scope, "https://a.com/logo.PNG"), Err(Reason::FileType));
    for page in ["paper.pdf", "tag/node.js", "wiki/File:Bird.png", ".well-known", "v1.2"] {
        assert_eq!(decide(&scope, &format!("https://a.com/{page}")), Ok(()), "{page}");
    }
    assert_eq!(decide(&scope, &format!("https://a.com/{}", "a".repeat(2100))), Err(Reason::TooLong));
    assert!(matches!(decide(&scope, "https://a.com/x/y/x/y/x/y"), Err(Reason::Trap(_))));
    let at = |depth, nofollow| {
        scope.decide(&address("https://a.com/x"), Found::Linked { depth, on_own_page: true, nofollow }, None)
    };
    assert_eq!(at(2, false), Decision::Take);
    assert_eq!(at(3, false), Decision::Skip(Reason::TooDeep));
    assert_eq!(at(1, true), Decision::Skip(Reason::NoFollow));
    let robots = Robots::parse(b"User-agent: *\nDisallow: /x?secret", "gannet");
    let x = |url: &str, found| scope.decide(&address(url), found, Some(&robots));
    assert_eq!(x("https://a.com/x?secret=1", LINKED), Decision::Skip(Reason::Robots));
    assert_eq!(x("https://a.com/x?secret=1", Found::Start), Decision::Skip(Reason::Robots));
    assert_eq!(x("https://a.com/x", Found::Listed), Decision::Take);
    assert_eq!(Reason::from(Unusable::NotHttp).name(), "notHttp");
}
