//! `set`, `cookies`, `storage`.

use crate::fixture::Fixture;

#[tokio::test(flavor = "multi_thread")]
async fn cookies_and_storage() {
    let fixture = Fixture::at("/about.html").await;
    fixture.ok("cookies set color green").await;
    fixture.ok("cookies set hidden x --http-only --same-site Lax --path /").await;
    assert_eq!(fixture.ok("eval document.cookie").await, "\"color=green\"");
    let all = fixture.ok("cookies").await;
    assert!(all.contains("color=green") && all.contains("hidden=x"), "{all}");
    assert_eq!(fixture.json("cookies get").await["cookies"].as_array().unwrap().len(), 2);
    assert_eq!(fixture.ok("cookies clear").await, "✓ Cookies cleared");
    assert_eq!(fixture.ok("cookies").await, "");
    assert!(fixture.err("cookies set x").await.contains("Missing arguments for: cookies set"));
    assert!(fixture.err("cookies set a b --same-site Maybe").await.contains("Strict, Lax or None"));
    fixture.ok("storage local set theme dark").await;
    assert_eq!(fixture.ok("storage local").await, "theme: dark");
    assert_eq!(fixture.ok("storage local get theme").await, "theme: dark");
    assert_eq!(fixture.json("storage local get theme").await["value"], "dark");
    assert_eq!(fixture.ok("storage session").await, "");
    fixture.ok("storage local clear").await;
    assert_eq!(fixture.ok("storage local").await, "");
    fixture.ok("open about:blank").await;
    assert!(fixture.err("storage local").await.contains("no local storage"));
}

#[tokio::test(flavor = "multi_thread")]
async fn settings_change_what_pages_see_and_hold_for_new_tabs() {
    let fixture = Fixture::at("/about.html").await;
    fixture.ok("set viewport 800 600").await;
    assert_eq!(fixture.ok("eval '[innerWidth, innerHeight].join()'").await, "\"800,600\"");
    fixture.ok("set media dark reduced-motion").await;
    let media = "eval 'matchMedia(\"(prefers-color-scheme: dark)\").matches && matchMedia(\"(prefers-reduced-motion)\").matches'";
    assert_eq!(fixture.ok(media).await, "true");
    fixture.ok("set geo 52.5 13.4").await;
    let place = "eval 'new Promise((done) => navigator.geolocation.getCurrentPosition((p) => done(p.coords.latitude), (e) => done(e.message), { timeout: 3000 }))'";
    fixture.ok(place).await;
    fixture.ok("set headers '{\"X-Test\": \"yes\"}'").await;
    fixture.open("/headers").await;
    assert!(fixture.ok("get text body").await.to_lowercase().contains("x-test: yes"));
    fixture.ok(&format!("tab new {}", fixture.site.url("/headers"))).await;
    assert!(fixture.ok("get text body").await.to_lowercase().contains("x-test: yes"));
    assert_eq!(fixture.ok("eval innerWidth").await, "800");
    fixture.ok("set offline on").await;
    assert!(
        fixture.err(&format!("open {}", fixture.site.url("/"))).await.contains("ERR_INTERNET_DISCONNECTED")
    );
    fixture.ok("set offline off").await;
    fixture.open("/").await;
    fixture.ok("set device 'iPhone 12'").await;
    assert!(fixture.ok("eval navigator.userAgent").await.contains("iPhone"));
    assert!(fixture.err("set device Nokia").await.contains("iPhone 15"));
    assert!(fixture.err("set viewport 0 10").await.contains("1 to 10000"));
    assert!(fixture.err("set headers nonsense").await.contains("JSON object"));
    assert!(fixture.err("set geo 100 0").await.contains("Latitude"));
    assert!(fixture.err("set media pink").await.contains("dark, light"));
}

#[tokio::test(flavor = "multi_thread")]
async fn logins_of_servers_are_answered() {
    let fixture = Fixture::at("/about.html").await;
    fixture.ok("set credentials admin secret").await;
    fixture.open("/login").await;
    assert_eq!(fixture.ok("get text h1").await, "Welcome admin");
}
