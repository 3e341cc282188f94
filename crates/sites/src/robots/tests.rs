use super::*;

fn allowed(file: &str, path: &str) -> bool {
    Robots::parse(file.as_bytes(), "GannetBot/1.0 (+https://example.com)").allows(path)
}

#[test]
fn the_longest_rule_decides_and_allow_wins_ties() {
    let file = "User-agent: *\nDisallow: /a\nAllow: /a/b\nDisallow: /a/b/c$\nAllow: /same\nDisallow: /same\n";
    for (path, expected) in [
        ("/", true),
        ("/a", false),
        ("/ab", false),
        ("/a/x", false),
        ("/a/b/x", true),
        ("/a/b/c", false),
        ("/a/b/c/d", true),
        ("/A", true),
        ("/same", true),
    ] {
        assert_eq!(allowed(file, path), expected, "{path}");
    }
}

#[test]
fn wildcards_and_ends() {
    for (pattern, path, matches) in [
        ("/*.php", "/a/b.php?x", true),
        ("/*.php$", "/a/b.php?x", false),
        ("/*.php$", "/a.php/b.php", true),
        ("/fish*", "/fishheads/y", true),
        ("/*/secret/*/x", "/a/secret/b/x", true),
        ("/*/secret/*/x", "/a/secret/x", false),
        ("/a*b*c$", "/abbc", true),
        ("/a*b*c$", "/abcb", false),
        ("/a**b", "/ab", true),
        ("*/end$", "/x/end", true),
        ("/$", "/", true),
        ("/$", "/a", false),
        ("$", "/a", false),
        ("folder", "/folder/x", true),
        ("/*?", "/a?b", true),
        ("/*?", "/a", false),
        ("/a$b", "/a$b", true),
        ("/file-%2A.html", "/file-*.html", true),
        ("/file-%2a.html", "/file-x.html", false),
    ] {
        assert_eq!(
            !allowed(&format!("User-agent: *\nDisallow: {pattern}"), path),
            matches,
            "{pattern} {path}"
        );
    }
}

#[test]
fn escapes_are_compared_in_one_form() {
    for (pattern, path) in [
        ("/ü", "/%C3%BC"),
        ("/%c3%bc", "/%C3%BC/x"),
        ("/%7Ejoe", "/~joe/"),
        ("/~joe", "/%7ejoe"),
        ("/a%2Fb", "/a%2fb"),
    ] {
        assert!(!allowed(&format!("User-agent: *\nDisallow: {pattern}"), path), "{pattern} {path}");
    }
    assert!(allowed("User-agent: *\nDisallow: /a%2Fb", "/a/b"));
}

#[test]
fn groups_are_found_by_product_and_joined() {
    let file = "\u{feff}# ours\r\nUser-Agent: OtherBot\rUser-agent: gannetbot/2 # both\n\nDisallow: /one\n\
                Sitemap: https://example.com/s.xml\nUser-agent: *\nDisallow: /\n\nuser-agent: GANNETBOT\nDisallow: /two\n";
    assert!(!allowed(file, "/one"));
    assert!(!allowed(file, "/two"));
    assert!(allowed(file, "/three"));
    let everybody = Robots::parse(file.as_bytes(), "SomeBot");
    assert!(!everybody.allows("/three"));
    assert!(everybody.allows("/robots.txt"));
    assert_eq!(everybody.sitemaps(), ["https://example.com/s.xml"]);
    // A group for us without rules overrides the one for all.
    assert!(allowed("User-agent: gannetbot\nDisallow:\nUser-agent: *\nDisallow: /", "/x"));
    // A part of a name is another agent.
    assert!(allowed("User-agent: gannet\nDisallow: /", "/x"));
    assert!(allowed("Disallow: /\n", "/x"), "a rule before any group is nobody's");
}

#[test]
fn files_as_people_write_them() {
    let file = "USERAGENT : *\nDissalow: /a\nDisallow /b\nCrawl-delay: 2.5\nNoindex: /x\nHost: example.com\n";
    assert!(!allowed(file, "/a") && !allowed(file, "/b") && allowed(file, "/x"));
    let delay = |file: &str| Robots::parse(file.as_bytes(), "x").delay();
    assert_eq!(delay(file), Some(Duration::from_millis(2500)));
    assert_eq!(delay("User-agent: *\nCrawl-delay: 1e30"), None);
    assert_eq!(delay("User-agent: *\nCrawl-delay: 99999"), Some(MAX_CRAWL_DELAY));
    for wrong in ["-1", "NaN", "inf", "soon", "", "0"] {
        assert_eq!(delay(&format!("User-agent: *\nCrawl-delay: {wrong}")), None, "{wrong}");
    }
    // A delay is a rule too: it ends the list of agents.
    let two = "User-agent: slow\nCrawl-delay: 5\nUser-agent: gannetbot\nDisallow: /\n";
    assert!(Robots::parse(two.as_bytes(), "slow").allows("/x"));
    assert!(allowed("<!doctype html><title>Not found</title><p>Disallow: /", "/x"));
}

#[test]
fn an_answer_that_is_no_file() {
    let robots = |status| Robots::from_response(status, b"User-agent: *\nDisallow: /x", "a");
    assert!(!robots(Some(200)).allows("/x"));
    assert!(robots(Some(404)).allows("/x"));
    assert!(robots(Some(302)).allows("/x"));
    for status in [Some(500), Some(503), None] {
        assert!(!robots(status).allows("/y") && robots(status).is_unreachable(), "{status:?}");
    }
}

#[test]
fn the_limit_cuts_between_lines() {
    let mut file = b"User-agent: *\nDisallow: /early\n".to_vec();
    file.resize(MAX_FILE_BYTES - 12, b'#');
    file.extend(b"\nDisallow: /late-and-cut\nDisallow: /never\n");
    let robots = Robots::parse(&file, "a");
    assert!(robots.is_truncated());
    assert!(!robots.allows("/early"));
    assert!(robots.allows("/late-and-cut") && robots.allows("/l") && robots.allows("/never"));
    assert!(!Robots::parse(b"User-agent: *", "a").is_truncated());
}

#[test]
fn pages_speak_for_themselves() {
    let rules = |meta: &[&str], headers: &[&str]| {
        let rules = page_rules(meta, headers, "GannetBot/1.0");
        (rules.follow, rules.index)
    };
    assert_eq!(rules(&[], &[]), (true, true));
    assert_eq!(rules(&["index, follow"], &[]), (true, true));
    assert_eq!(rules(&["NOFOLLOW"], &["noindex"]), (false, false));
    assert_eq!(rules(&["none"], &[]), (false, false));
    assert_eq!(rules(&["noindex follow"], &[]), (true, false));
    assert_eq!(rules(&[], &["otherbot: nofollow, noindex"]), (true, true));
    assert_eq!(rules(&[], &["otherbot: noindex, gannetbot: nofollow"]), (false, true));
    assert_eq!(rules(&[], &["unavailable_after: Friday, 25 Jun 2010 15:00:00 GMT, nofollow"]), (false, true));
    assert_eq!(rules(&[], &["max-snippet: 20, *: noindex"]), (true, false));
}
