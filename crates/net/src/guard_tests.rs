use super::*;

fn policy(allow: &str) -> EgressPolicy {
    EgressPolicy::new(EgressAllow::parse(allow).unwrap())
}

fn destination(url: &str) -> Destination {
    Destination::from_url(&Url::parse(url).unwrap()).unwrap()
}

fn check(policy: &EgressPolicy, url: &str, address: &str) -> Result<CheckedAddress, EgressError> {
    policy.check_address(Purpose::Scrape, &destination(url), address.parse().unwrap())
}

#[test]
fn public_addresses_pass_and_private_ones_do_not() {
    let closed = policy("");
    assert!(check(&closed, "http://site.example/", "8.8.8.8").is_ok());
    assert!(matches!(
        check(&closed, "http://site.example/", "10.0.0.1"),
        Err(EgressError::Address { class: AddressClass::Private, .. })
    ));
}

#[test]
fn one_forbidden_address_refuses_the_name() {
    let addresses = ["8.8.8.8", "127.0.0.1"].map(|address| address.parse().unwrap());
    assert!(
        policy("").check_addresses(Purpose::Scrape, &destination("http://a.example/"), &addresses).is_err()
    );
    assert_eq!(
        policy("")
            .check_addresses(Purpose::Scrape, &destination("http://a.example/"), &addresses[..1])
            .map(|checked| checked.len()),
        Ok(1)
    );
}

#[test]
fn networks_and_names_open_what_they_say_for_their_purpose() {
    let open = policy("scrape=10.1.0.0/16,intranet.example;webhook=10.2.0.0/16");
    assert!(check(&open, "http://10.1.2.3/", "10.1.2.3").is_ok());
    assert!(check(&open, "http://10.2.2.3/", "10.2.2.3").is_err(), "open for webhooks only");
    assert!(check(&open, "http://intranet.example/", "192.168.7.7").is_ok());
    assert!(check(&open, "http://other.example/", "192.168.7.7").is_err());
}

#[test]
fn a_name_never_opens_metadata_link_local_or_unspecified_addresses() {
    let open = policy("scrape=intranet.example");
    for address in
        ["169.254.169.254", "169.254.1.1", "0.0.0.0", "224.0.0.1", "255.255.255.255", "fe80::1", "::"]
    {
        assert!(check(&open, "http://intranet.example/", address).is_err(), "{address}");
    }
}

#[test]
fn an_open_translation_network_does_not_open_what_lies_behind_it() {
    let open = policy("scrape=64:ff9b::/96");
    assert!(check(&open, "http://a.example/", "64:ff9b::8.8.8.8").is_ok());
    assert!(check(&open, "http://a.example/", "64:ff9b::10.0.0.1").is_err());
    assert!(check(&policy(""), "http://a.example/", "64:ff9b::8.8.8.8").is_err());
}

#[test]
fn the_own_listener_is_refused_even_when_its_network_is_open() {
    let open =
        policy("scrape=127.0.0.0/8,0.0.0.0/8,::/0").refuse_own_listener("127.0.0.1:3002".parse().unwrap());
    for (url, address) in [
        ("http://127.0.0.1:3002/", "127.0.0.1"),
        ("http://0.0.0.0:3002/", "0.0.0.0"),
        ("http://a.example:3002/", "127.0.0.1"),
        ("http://[::ffff:127.0.0.1]:3002/", "::ffff:127.0.0.1"),
    ] {
        assert!(matches!(check(&open, url, address), Err(EgressError::OwnListener { .. })), "{url}");
    }
    assert!(check(&open, "http://127.0.0.1:3003/", "127.0.0.1").is_ok());
    assert!(check(&open, "http://127.0.0.2:3002/", "127.0.0.2").is_ok(), "another address, another socket");
}

#[test]
fn a_listener_on_all_addresses_is_found_at_each_of_them() {
    for bound in ["0.0.0.0:3002", "[::]:3002"] {
        let open = policy("scrape=127.0.0.0/8,::1,0.0.0.0/8").refuse_own_listener(bound.parse().unwrap());
        for address in ["127.0.0.1", "127.9.9.9", "::1", "0.0.0.0"] {
            assert!(
                matches!(
                    check(&open, "http://a.example:3002/", address),
                    Err(EgressError::OwnListener { .. })
                ),
                "{bound} {address}"
            );
        }
    }
    assert!(is_this_machine("127.0.0.1".parse().unwrap()));
}

#[test]
fn addresses_that_cannot_be_fetched_say_why() {
    for (url, expected) in [
        ("ftp://a.example/", BadUrl::Scheme("ftp".into())),
        ("file:///etc/passwd", BadUrl::Scheme("file".into())),
        ("javascript:alert(1)", BadUrl::Scheme("javascript".into())),
        ("data:text/plain,x", BadUrl::Scheme("data".into())),
        ("gopher://a.example/", BadUrl::Scheme("gopher".into())),
        ("http://a.example:25/", BadUrl::Port(25)),
        ("http://a.example:6379/", BadUrl::Port(6379)),
        ("http://a.example:0/", BadUrl::Port(0)),
    ] {
        assert_eq!(Destination::from_url(&Url::parse(url).unwrap()), Err(expected), "{url}");
    }
    let long = format!("http://a.example/{}", "x".repeat(MAX_URL_BYTES));
    assert_eq!(Destination::from_url(&Url::parse(&long).unwrap()), Err(BadUrl::TooLong(MAX_URL_BYTES)));
}

#[test]
fn a_proxy_is_not_asked_for_names_of_private_networks() {
    let through =
        |allow: &str, url: &str| policy(allow).check_through_proxy(Purpose::Scrape, &destination(url));
    for local in [
        "http://localhost/",
        "http://LOCALHOST.:8080/",
        "http://app.localhost/",
        "http://metadata.google.internal/",
        "http://printer.local/",
        "http://router.home.arpa/",
        "http://redis/",
    ] {
        assert!(matches!(through("", local), Err(EgressError::LocalName { .. })), "{local}");
    }
    for public in [
        "http://site.example/",
        "http://localhost.example/",
        "http://notinternal.example/",
        "http://8.8.8.8/",
    ] {
        assert!(through("", public).is_ok(), "{public}");
    }
    assert!(through("", "http://127.0.0.1/").is_err());
    assert!(through("scrape=wiki.internal", "http://wiki.internal/").is_ok(), "opened by name");
    assert!(through("scrape=127.0.0.0/8", "http://localhost/").is_ok(), "opened by its address");
    assert!(through("webhook=wiki.internal", "http://wiki.internal/").is_err(), "for webhooks only");
}
