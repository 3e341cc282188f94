use super::*;

fn url(text: &str) -> Url {
    Url::parse(text).unwrap()
}

#[test]
fn a_named_origin_is_scheme_host_and_port() {
    for (named, asked, expected) in [
        ("https://a.example/x", "https://a.example/y?z", true),
        ("https://a.example/", "https://A.EXAMPLE./", true),
        ("https://a.example/", "https://a.example:443/", true),
        // Upwards and to the host with or without `www.`, because that is where most sites lead at once.
        ("http://a.example/", "https://a.example/", true),
        ("http://a.example/", "https://www.a.example/", true),
        ("https://www.a.example/", "https://a.example/", true),
        // Never downwards.
        ("https://a.example/", "http://a.example/", false),
        ("https://www.a.example/", "http://a.example/", false),
        // Another port is another server.
        ("http://a.example/", "http://a.example:8080/", false),
        ("http://a.example:8080/", "https://a.example:8080/", false),
        ("http://a.example:8080/", "https://a.example/", false),
        ("http://127.0.0.1:4001/", "http://127.0.0.1:4002/", false),
        ("http://localhost:4001/", "http://127.0.0.1:4001/", false),
        // Other hosts, however alike.
        ("https://a.example/", "https://b.a.example/", false),
        ("https://b.a.example/", "https://a.example/", false),
        ("https://a.example/", "https://b.example/", false),
        ("https://a.example/", "https://a.example.evil.test/", false),
        ("https://a.example/", "https://xa.example/", false),
        // `www` of a public suffix is a site of its own.
        ("https://github.io/", "https://www.github.io/", false),
        ("http://www.localhost/", "http://localhost/", false),
        ("https://a.example/", "ftp://a.example/", false),
        ("https://a.example/", "data:text/plain,x", false),
    ] {
        assert_eq!(
            CredentialScope::from_urls([&url(named)]).covers(&url(asked)),
            expected,
            "{named} → {asked}"
        );
    }
    assert!(!CredentialScope::none().covers(&url("https://a.example/")));
    let two = CredentialScope::from_urls([&url("https://a.example/"), &url("https://b.example/")]);
    assert!(two.covers(&url("https://b.example/x")) && !two.covers(&url("https://c.example/")));
}

#[test]
fn a_redirect_keeps_credentials_on_one_site_and_never_downwards() {
    for (from, to, expected) in [
        ("https://a.example/", "https://a.example/x", true),
        ("https://a.example/", "https://b.a.example/", true),
        ("https://b.a.example/", "https://c.a.example/", true),
        ("http://a.example/", "http://b.a.example/", true),
        ("http://a.example/", "https://b.a.example/", true),
        ("https://a.example/", "http://a.example/", false),
        ("https://a.example/", "http://b.a.example/", false),
        ("https://a.example/", "https://b.example/", false),
        ("https://a.example/", "https://a.example:8443/", false),
        ("https://a.co.uk/", "https://b.co.uk/", false),
        ("https://me.github.io/", "https://you.github.io/", false),
        ("http://127.0.0.1:4001/", "http://127.0.0.1:4001/x", true),
        ("http://127.0.0.1:4001/", "http://127.0.0.1:4002/", false),
        ("http://127.0.0.1/", "http://1.0.0.127/", false),
        ("http://10.0.0.1/", "http://10.0.0.2/", false),
        ("http://[::1]/", "http://[::2]/", false),
        ("http://localhost/", "http://a.localhost/", false),
        ("http://wiki/", "http://mail/", false),
        ("http://wiki/", "https://wiki/", true),
    ] {
        assert_eq!(Credentials::may_follow(&url(from), &url(to)), expected, "{from} → {to}");
    }
}

#[test]
fn only_what_says_nothing_of_the_caller_goes_to_any_host() {
    let own = [
        ("Authorization", "Bearer x"),
        ("Cookie", "a=b"),
        ("X-Jwt-Assertion", "j"),
        ("X-Pass", "p"),
        ("X-Trace", "1"),
        ("Referer", "https://a.example/private"),
        ("Accept", "text/plain"),
        ("User-Agent", "Own/1"),
    ];
    let credentials =
        Credentials::new(own, CredentialScope::from_urls([&url("https://a.example/")])).unwrap();
    let headers = credentials.headers(false);
    let mut left: Vec<&str> = headers.names().collect();
    left.sort_unstable();
    assert_eq!(left, ["accept", "user-agent"]);
    assert_eq!(credentials.headers(true).names().count(), own.len());
}

#[test]
fn certificates_count_where_something_secret_is_sent() {
    let of = |name: &str| {
        let scope = CredentialScope::from_urls([&url("https://a.example/")]);
        Credentials::new([(name, "x")], scope).unwrap()
    };
    assert!(of("X-Anything").need_checked_certificate());
    assert!(!of("User-Agent").need_checked_certificate(), "everybody may see it");
    assert!(!of("X-Anything").accepting_any_certificate(true).need_checked_certificate());
    assert!(!Credentials::none().need_checked_certificate());
    let login = take_login(&mut url("https://me:secret@a.example/"));
    assert!(Credentials::none().with_login(login.as_ref()).need_checked_certificate());
}

#[test]
fn a_login_leaves_its_address_and_is_never_shown() {
    let mut address = url("https://us%65r:p%40ss@a.example/x?y");
    let login = take_login(&mut address).unwrap();
    assert_eq!(address.as_str(), "https://a.example/x?y");
    assert_eq!(login.to_header(), ("Authorization", "Basic dXNlcjpwQHNz".to_owned()));
    assert_eq!(Login::parse(&login.to_text()).unwrap(), login);
    assert_eq!(take_login(&mut address), None);
    let mut credentials = Credentials::none();
    credentials.add_login_from_url(&address, &login);
    assert!(credentials.covers(&address) && !credentials.covers(&url("https://b.example/")));
    let shown = format!("{login:?} {credentials:?}");
    assert!(!shown.contains("ss") && !shown.contains("dXNl"), "{shown}");
    for (written, expected) in [
        ("https://me:secret@a.example/x", "https://a.example/x"),
        ("https://me@a.example/", "https://a.example/"),
        ("https://:secret@a.example/", "https://a.example/"),
        ("https://a.example/me:secret@x", "https://a.example/me:secret@x"),
        ("HTTPS://A.example", "HTTPS://A.example"),
        ("me:secret@a.example/x", "http://a.example/x"),
        ("me@a.example", "http://a.example/"),
        ("a.example:80/@x", "a.example:80/@x"),
        ("words, not an address", "words, not an address"),
    ] {
        assert_eq!(without_login(written), expected);
    }
}

#[test]
fn a_login_in_an_address_does_not_take_along_headers_for_others() {
    let scope = CredentialScope::from_urls([&url("https://a.example/")]);
    let mut credentials = Credentials::new([("X-Key", "k")], scope).unwrap();
    let login = Login::parse("me:secret").unwrap();
    credentials.add_login_from_url(&url("https://b.example/"), &login);
    assert!(!credentials.covers(&url("https://b.example/")));
    assert!(credentials.pairs().iter().all(|(name, _)| name != "authorization"));
}
