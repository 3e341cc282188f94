use super::*;

const EXACT: UrlEquivalence = UrlEquivalence { ignore_query: false, similar: false };
const SIMILAR: UrlEquivalence = UrlEquivalence { ignore_query: false, similar: true };
const NO_QUERY: UrlEquivalence = UrlEquivalence { ignore_query: true, similar: true };

fn fetched(text: &str) -> String {
    PageUrl::parse(text, EXACT).unwrap().into_url().into()
}

fn one_page(left: &str, right: &str, equivalence: UrlEquivalence) -> bool {
    PageUrl::parse(left, equivalence).unwrap().key() == PageUrl::parse(right, equivalence).unwrap().key()
}

#[test]
fn fetched_without_what_cannot_matter() {
    for (written, url) in [
        ("HTTP://Example.COM:80", "http://example.com/"),
        ("https://example.com:443/a/../b/./c#part", "https://example.com/b/c"),
        ("https://example.com/%7euser/%e4%BD%a0?q=%41%2f", "https://example.com/~user/%E4%BD%A0?q=A%2F"),
        ("https://example.com/a?", "https://example.com/a"),
        ("https://example.com/a?utm_source=x&id=3&GCLID=y", "https://example.com/a?id=3"),
        ("https://example.com/a?utm%5Fsource=x", "https://example.com/a"),
        ("https://example.com/a?fbclid=x#y", "https://example.com/a"),
        ("https://example.com/a?x=%zz%41", "https://example.com/a?x=%zzA"),
        ("https://example.com/a;%6asessionid=%/b", "https://example.com/a/b"),
        ("https://example.com/cart;jsessionid=1A2B.n1/items;v=2", "https://example.com/cart/items;v=2"),
        ("https://example.com/a?PHPSESSID=1f0&x=1", "https://example.com/a?x=1"),
        (" https://example.com/ü ", "https://example.com/%C3%BC"),
        ("https://bücher.example/", "https://xn--bcher-kva.example/"),
    ] {
        assert_eq!(fetched(written), url, "{written}");
    }
}

#[test]
fn what_may_matter_stays() {
    for url in [
        "https://example.com/A/b/",
        "https://example.com/index.html",
        "https://example.com/a?b=2&a=1&b=1",
        "https://example.com/a?ref=main&source=x&id=1",
        "https://example.com/a%2Fb",
        "https://example.com//a//b",
        "https://example.com/100%/x%2",
        "https://example.com/%2%65",
        "https://example.com/story?sid=0123456789abcdef0123456789abcdef",
        "https://example.com/story?x=1&sid=24/01/02/123",
    ] {
        assert_eq!(fetched(url), url);
    }
}

#[test]
fn a_login_is_not_part_of_an_address() {
    assert_eq!(fetched("https://me:word@example.com/a"), "https://example.com/a");
}

#[test]
fn similar_addresses_are_one_page() {
    for (left, right) in [
        ("http://example.com/", "https://www.example.com"),
        ("https://example.com/a", "https://example.com/a/"),
        ("https://example.com/a/", "https://example.com/a/index.html"),
        ("https://example.com/", "https://example.com/Default.aspx"),
        ("https://example.com/a//b", "https://example.com/a/b"),
        ("https://example.com/a?x=1&y=2", "https://example.com/a/?y=2&x=1&"),
        ("https://example.com./a", "https://example.com/a"),
        (
            "https://example.com/t?t=1&sid=0123456789abcdef0123456789abcdef",
            "https://example.com/t?sid=fedcba98765432100123456789abcdef&t=1",
        ),
    ] {
        assert!(one_page(left, right, SIMILAR), "{left} {right}");
    }
}

#[test]
fn other_pages_stay_apart() {
    for (left, right) in [
        ("https://example.com/a", "https://example.com/A"),
        ("https://example.com/a?x=1&x=2", "https://example.com/a?x=2&x=1"),
        ("https://example.com:8080/", "https://example.com/"),
        ("https://www.com/", "https://com/"),
        ("https://example.com/a%2Fb", "https://example.com/a/b"),
        ("https://example.com/index", "https://example.com/"),
        ("https://example.com/a?x", "https://example.com/a"),
        ("https://docs.example.com/", "https://example.com/"),
    ] {
        assert!(!one_page(left, right, SIMILAR), "{left} {right}");
    }
    assert!(!one_page("http://example.com/a", "https://example.com/a", EXACT));
    assert!(!one_page("http://example.com/a", "http://example.com/a/", EXACT));
}

#[test]
fn queries_can_be_ignored_but_are_fetched() {
    assert!(one_page("https://example.com/a?x=1", "https://example.com/a?y=2", NO_QUERY));
    let address = PageUrl::parse("https://example.com/a?x=1", NO_QUERY).unwrap();
    assert_eq!(address.url().as_str(), "https://example.com/a?x=1");
    assert_eq!(address.without_query().as_str(), "https://example.com/a");
}

#[test]
fn what_is_no_page_says_why() {
    let refused = |text: &str| PageUrl::parse(text, EXACT).unwrap_err();
    assert_eq!(refused("mailto:a@example.com"), PageUrlError::NotHttp);
    assert_eq!(refused("/relative"), PageUrlError::Malformed);
    assert_eq!(refused(&format!("https://example.com/{}", "a".repeat(MAX_URL_BYTES))), PageUrlError::TooLong);
    // Three bytes for one: short as written, too long when encoded.
    assert_eq!(
        refused(&format!("https://example.com/{}", "ü".repeat(MAX_URL_BYTES / 2 - 20))),
        PageUrlError::TooLong
    );
}
