//! Server-side request forgery: no attempt may reach the forbidden listener, which counts its connections.

use crate::servers::{
    ScriptedResolver, Server, fetch, fetcher, fetcher_with, page, policy, redirect, short_limits,
    test_deadline,
};
use gannet_net::{
    BadUrl, Credentials, EgressError, FetchError, Fetcher, FetcherSettings, Purpose, Request, Resolve,
};
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// Hosts as an attacker would write them. All must be refused without an allow-list.
pub const SPELLINGS: &[&str] = &[
    "127.0.0.1",
    "127.1",
    "127.0.1",
    "127.9.8.7",
    "127.255.255.254",
    "127.0.0.1.",
    "0x7f.0.0.1",
    "0x7F.0x0.0x0.0x1",
    "0x7f000001",
    "0x7f.1",
    "0x7f.0.1",
    "2130706433",
    "017700000001",
    "0177.0.0.1",
    "0177.1",
    "0177.0x0.0.1",
    "00000177.0.0.01",
    "0",
    "0.0.0.0",
    "0x0",
    "00",
    "0.0",
    "%31%32%37.0.0.1",
    "127%2e0%2e0%2e1",
    "１２７.０.０.１",
    "127。0。0。1",
    "①②⑦.⓪.⓪.①",
    "[::1]",
    "[::]",
    "[0:0:0:0:0:0:0:1]",
    "[0000:0000:0000:0000:0000:0000:0000:0001]",
    "[::0.0.0.1]",
    "[::ffff:127.0.0.1]",
    "[::ffff:7f00:1]",
    "[::FFFF:7F00:0001]",
    "[0:0:0:0:0:ffff:127.0.0.1]",
    "[::127.0.0.1]",
    "[::ffff:0:127.0.0.1]",
    "[64:ff9b::127.0.0.1]",
    "[64:ff9b::7f00:1]",
    "[64:ff9b:1::7f00:1]",
    "[2002:7f00:1::]",
    "[2002:a00:1::1]",
    "[2001:0:4136:e378:8000:63bf:80ff:fffe]",
    "[2a00::5efe:7f00:1]",
    "[::ffff:8.8.8.8]",
    "10.0.0.1",
    "10.1",
    "167772161",
    "172.16.0.1",
    "172.31.255.254",
    "192.168.1.1",
    "192.168.257",
    "0xc0a80101",
    "169.254.169.254",
    "0xa9fea9fe",
    "2852039166",
    "0251.0376.0251.0376",
    "[::ffff:169.254.169.254]",
    "169.254.1.1",
    "100.64.0.1",
    "100.100.100.200",
    "168.63.129.16",
    "192.0.0.192",
    "224.0.0.1",
    "239.255.255.250",
    "255.255.255.255",
    "4294967295",
    "240.0.0.1",
    "198.18.0.1",
    "192.0.2.1",
    "198.51.100.7",
    "203.0.113.9",
    "192.88.99.1",
    "[fc00::1]",
    "[fd12:3456:789a::1]",
    "[fd00:ec2::254]",
    "[fe80::1]",
    "[fec0::1]",
    "[ff02::1]",
    "[2001:db8::1]",
    "[100::1]",
    "[4000::1]",
    "user@127.0.0.1",
    "user:password@[::1]",
    "site.example@127.0.0.1",
    "site.example%00@127.0.0.1",
];

/// Whole URLs that lead to the same host by their syntax.
const WHOLE: &[&str] = &[
    "http:/127.0.0.1:PORT/",
    "http:127.0.0.1:PORT/",
    "http:\\\\127.0.0.1:PORT\\",
    "HTTP://127.0.0.1:PORT/",
    "  http://127.0.0.1:PORT/  ",
    "ht\ntp://127.0\t.0.1:PORT/",
    "http://127.0.0.1:PORT\\@site.example/",
    "http:///127.0.0.1:PORT/",
    "http://127.0.0.1:0PORT/",
];

async fn forbidden() -> Server {
    Server::http("127.0.0.1:0", |_| page("secret")).await
}

fn is_refused(error: &FetchError) -> bool {
    matches!(error, FetchError::Refused(EgressError::Address { .. }))
}

#[tokio::test(flavor = "multi_thread")]
async fn no_spelling_of_an_address_reaches_the_listener() {
    let target = forbidden().await;
    let closed = fetcher("");
    let mut forms = 0;
    let addresses = SPELLINGS
        .iter()
        .map(|host| format!("http://{host}:{}/", target.port()))
        .chain(WHOLE.iter().map(|url| url.replace("PORT", &target.port().to_string())));
    for url in addresses {
        let error = fetch(&closed, &url).await.expect_err(&url);
        assert!(is_refused(&error), "{url}: {error:?}");
        forms += 1;
    }
    assert!(forms >= 90, "{forms}");
    assert_eq!(target.connections(), 0);
    // The listener does respond where it is allowed; otherwise the count above would prove nothing.
    let open = fetcher("scrape=127.0.0.0/8");
    let found = fetch(&open, &format!("http://0x7f.1:{}/", target.port())).await.unwrap();
    assert_eq!((&found.body[..], target.connections()), (&b"secret"[..], 1));
}

#[tokio::test(flavor = "multi_thread")]
async fn no_redirect_reaches_the_listener() {
    let target = forbidden().await;
    let port = target.port();
    // One host that is allowed by name, and redirects to whatever its path says.
    let entry = Server::http("127.0.0.1:0", move |head| {
        let path = head.split(' ').nth(1).unwrap();
        let place: usize = path[1..].parse().unwrap();
        redirect(&format!("http://{}:{port}/", SPELLINGS[place]))
    })
    .await;
    let names = ScriptedResolver::new(&[("entry.example", &[&["127.0.0.1"]])]);
    let fetcher = fetcher_with("scrape=entry.example", &names);
    for (place, host) in SPELLINGS.iter().enumerate() {
        let error =
            fetch(&fetcher, &format!("http://entry.example:{}/{place}", entry.port())).await.expect_err(host);
        // Some spellings are not valid header text; then no redirect is followed at all.
        assert!(is_refused(&error), "{host}: {error:?}");
    }
    assert_eq!(target.connections(), 0);
    assert_eq!(entry.heads().len(), SPELLINGS.len(), "every redirect was asked for");
}

#[tokio::test(flavor = "multi_thread")]
async fn no_name_reaches_the_listener() {
    let target = forbidden().await;
    let answers: [&[&str]; 22] = [
        &["127.0.0.1"],
        &["127.0.0.53"],
        &["::1"],
        &["0.0.0.0"],
        &["::"],
        &["::ffff:127.0.0.1"],
        &["::127.0.0.1"],
        &["64:ff9b::7f00:1"],
        &["2002:7f00:1::"],
        &["10.0.0.1"],
        &["172.20.0.1"],
        &["192.168.0.1"],
        &["169.254.169.254"],
        &["100.64.1.1"],
        &["fd00:ec2::254"],
        &["fe80::1"],
        &["ff02::1"],
        &["224.0.0.251"],
        &["255.255.255.255"],
        // A public address together with a private one, in both orders: not even the public one is tried.
        &["8.8.8.8", "127.0.0.1"],
        &["127.0.0.1", "8.8.8.8"],
        &["2606:4700::1", "::1"],
    ];
    for answer in answers {
        let names = ScriptedResolver::new(&[("rebind.example", &[answer])]);
        let fetcher = fetcher_with("", &names);
        for host in ["rebind.example", "REBIND.example"] {
            let error =
                fetch(&fetcher, &format!("http://{host}:{}/", target.port())).await.expect_err("refused");
            assert!(is_refused(&error), "{answer:?}: {error:?}");
        }
        assert_eq!(fetcher.traffic().direct, 0, "{answer:?}");
    }
    assert_eq!(target.connections(), 0);
}

/// DNS rebinding: harmless when it is checked, private when it is used. `127.0.0.2` stands for the public
/// address, so that nothing leaves this machine.
#[tokio::test(flavor = "multi_thread")]
async fn a_name_that_changes_its_answer_gains_nothing() {
    let target = forbidden().await;
    let harmless = Server::http(&format!("127.0.0.2:{}", target.port()), |_| {
        b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok".to_vec()
    })
    .await;
    let names = ScriptedResolver::new(&[("rebind.example", &[&["127.0.0.2"], &["127.0.0.1"]])]);
    let fetcher = fetcher_with("scrape=127.0.0.2", &names);
    let url = format!("http://rebind.example:{}/", target.port());
    let first = fetch(&fetcher, &url).await.unwrap();
    assert_eq!((&first.body[..], first.meta.head.remote), (&b"ok"[..], harmless.address));
    assert_eq!(names.lookups.load(Ordering::SeqCst), 1, "checked and connected with one look-up");
    let error = fetch(&fetcher, &url).await.unwrap_err();
    assert!(is_refused(&error), "{error:?}");
    // The same in the middle of a redirect: the second lookup is the private one.
    let names = ScriptedResolver::new(&[("rebind.example", &[&["127.0.0.2"], &["127.0.0.1"]])]);
    let hopper = Server::http("127.0.0.2:0", {
        let url = url.clone();
        move |_| redirect(&url)
    })
    .await;
    let fetcher = fetcher_with("scrape=127.0.0.2", &names);
    let error = fetch(&fetcher, &format!("http://rebind.example:{}/", hopper.port())).await.unwrap_err();
    assert!(is_refused(&error), "{error:?}");
    assert_eq!((target.connections(), hopper.connections()), (0, 1));
}

#[tokio::test(flavor = "multi_thread")]
async fn the_own_listener_is_refused_by_address_name_and_redirect() {
    let own = forbidden().await;
    let names = ScriptedResolver::new(&[("self.example", &[&["127.0.0.1"]])]);
    let resolver: Arc<dyn Resolve> = names;
    let policy = policy("scrape=127.0.0.0/8,0.0.0.0/8,self.example").refuse_own_listener(own.address);
    let fetcher = Fetcher::new(FetcherSettings { resolver, ..FetcherSettings::new(policy) }).unwrap();
    let location = own.url("/");
    let hop = Server::http("127.0.0.1:0", move |_| redirect(&location)).await;
    for url in [
        own.url("/"),
        format!("http://0.0.0.0:{}/", own.port()),
        format!("http://0x7f.1:{}/", own.port()),
        format!("http://self.example:{}/", own.port()),
        hop.url("/"),
    ] {
        let error = fetch(&fetcher, &url).await.unwrap_err();
        assert!(matches!(error, FetchError::Refused(EgressError::OwnListener { .. })), "{url}: {error:?}");
    }
    assert_eq!(own.connections(), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_open_for_one_purpose_is_closed_for_another() {
    let target = forbidden().await;
    let fetcher = fetcher("webhook=127.0.0.0/8");
    let ask = |purpose| {
        fetcher.fetch(
            Request::get(purpose, &target.url("/"), Credentials::none()).unwrap().limits(short_limits()),
            test_deadline(),
        )
    };
    assert!(ask(Purpose::Webhook).await.is_ok());
    for closed in [Purpose::Scrape, Purpose::Model] {
        // The idle connection from the webhook must not serve them either.
        assert!(is_refused(&ask(closed).await.unwrap_err()));
    }
    assert_eq!(target.connections(), 1);
}

#[tokio::test]
async fn other_schemes_and_foreign_ports_are_not_fetched() {
    let fetcher = fetcher("scrape=127.0.0.0/8");
    for url in [
        "file:///etc/passwd",
        "ftp://127.0.0.1/",
        "gopher://127.0.0.1:70/_x",
        "javascript:alert(1)",
        "data:text/html,x",
        "dict://127.0.0.1:11211/stats",
        "ws://127.0.0.1/",
        "blob:http://127.0.0.1/x",
        "view-source:http://127.0.0.1/",
        "about:blank",
        "unix:///var/run/docker.sock",
        "http://127.0.0.1:25/",
        "http://127.0.0.1:22/",
        "http://127.0.0.1:6379/",
        "http://127.0.0.1:0/",
        "http://",
        "http://[::1",
        "http://a b/",
        "http://1.2.3.4.5/",
        "http://256.1.1.1/",
        "http://127.0.0.1:99999/",
        "",
    ] {
        let error = fetch(&fetcher, url).await.expect_err(url);
        assert!(matches!(error, FetchError::BadUrl(_)), "{url}: {error:?}");
    }
    let long = format!("http://127.0.0.1/{}", "a".repeat(9000));
    assert_eq!(fetch(&fetcher, &long).await.unwrap_err(), FetchError::BadUrl(BadUrl::TooLong(8192)));
}
