use super::*;

fn blocked(url: &str, source: &str, kind: RequestKind) -> bool {
    Ads::bundled().blocks(&Url::parse(url).unwrap(), &Url::parse(source).unwrap(), kind)
}

const NEWS: &str = "https://www.news.example/2026/story.html";

#[test]
fn advertisers_trackers_and_consent_managers_are_not_asked() {
    use RequestKind::{Fetch, Frame, Image, Ping, Script, WebSocket};
    for (url, kind) in [
        ("https://pagead2.googlesyndication.com/pagead/js/adsbygoogle.js?client=ca-pub-1", Script),
        ("https://securepubads.g.doubleclick.net/tag/js/gpt.js", Script),
        ("https://ad.doubleclick.net/ddm/adi/x", Frame),
        ("https://www.googletagmanager.com/gtag/js?id=G-1", Script),
        ("https://www.google-analytics.com/g/collect?v=2", Ping),
        ("https://www.facebook.com/tr?id=1&ev=PageView", Image),
        ("https://connect.facebook.net/en_US/fbevents.js", Script),
        ("https://cdn.cookielaw.org/scripttemplates/otSDKStub.js", Script),
        ("https://consent.cookiebot.com/uc.js", Script),
        ("https://sdk.privacy-center.org/loader.js", Script),
        ("https://cdn.privacy-mgmt.com/unified/wrapperMessagingWithoutDetection.js", Script),
        ("https://api.segment.io/v1/t", Fetch),
        ("wss://x.hotjar.com/api/v2/client/ws", WebSocket),
        ("http://cdn.taboola.com/libtrc/site/loader.js", Script),
        ("https://widgets.outbrain.com/outbrain.js", Script),
    ] {
        assert!(blocked(url, NEWS, kind), "{url}");
    }
}

#[test]
fn what_a_site_serves_itself_always_passes() {
    use RequestKind::{Fetch, Frame, Image, Page, Script, Style};
    for (url, source, kind) in [
        ("https://www.news.example/ads-policy", NEWS, Page),
        ("https://www.news.example/ads/policy.html", NEWS, Frame),
        ("https://www.news.example/js/analytics-book.js", NEWS, Script),
        ("https://static.news.example/tracking/parcels.js", NEWS, Script),
        ("https://www.news.example/img/banner-ad-history.png", NEWS, Image),
        ("https://www.news.example/cookie-consent.css", NEWS, Style),
        ("https://cdn.other.example/lib/advert-parser.js", NEWS, Script),
        ("https://cdn.jsdelivr.net/npm/cookieconsent@3/build/cookieconsent.min.js", NEWS, Script),
        ("https://fonts.googleapis.com/css2?family=Inter", NEWS, Style),
        ("https://ajax.googleapis.com/ajax/libs/jquery/3.7.1/jquery.min.js", NEWS, Script),
        ("https://www.google.com/recaptcha/api.js", NEWS, Script),
        ("https://www.facebook.com/treehouse/photo.jpg", NEWS, Image),
        ("https://notdoubleclick.net/app.js", NEWS, Script),
        ("https://doubleclick.net.evil.example/app.js", NEWS, Script),
        ("https://api.news.example/google-analytics.com/report.json", NEWS, Fetch),
        // On their own sites, trackers and advertisers are ordinary sites.
        ("https://www.hotjar.com/static/app.js", "https://www.hotjar.com/pricing", Script),
        ("https://cdn.taboola.com/site.js", "https://www.taboola.com/", Script),
        ("https://ad.doubleclick.net/x", "https://ad.doubleclick.net/x", Page),
        ("https://www.cookiebot.com/en/guide/", NEWS, Frame),
        ("data:text/javascript,1", NEWS, Script),
        ("blob:https://www.news.example/1", NEWS, Script),
    ] {
        assert!(!blocked(url, source, kind), "{url}");
    }
}

#[test]
fn every_line_of_the_list_counts_and_is_for_third_parties() {
    let lines: Vec<&str> =
        REQUESTS.lines().filter(|line| !line.is_empty() && !line.starts_with('!')).collect();
    let mut seen = std::collections::HashSet::new();
    for line in &lines {
        assert!(line.starts_with("||") && line.contains("$third-party"), "{line}");
        assert!(seen.insert(line), "{line} stands there twice");
        let host = line[2..].split(['^', '/']).next().unwrap();
        let mut wider =
            lines.iter().filter_map(|other| other.strip_prefix("||")?.strip_suffix("^$third-party"));
        let covered_by = wider.find(|other| host.ends_with(&format!(".{other}")));
        assert_eq!(covered_by, None, "{line} says nothing new");
        let place = &line[2..line.find(['^', '$']).unwrap()];
        let kind = if line.ends_with(",xmlhttprequest") { RequestKind::Fetch } else { RequestKind::Script };
        assert!(blocked(&format!("https://{place}"), NEWS, kind), "{line} blocks nothing");
    }
}

#[test]
fn banners_are_hidden_and_articles_about_cookies_are_not() {
    let css = Ads::bundled().hiding_css("www.news.example").into_owned();
    for name in [
        "#onetrust-consent-sdk",
        "#CybotCookiebotDialog",
        ".qc-cmp2-container",
        "#didomi-host",
        "#usercentrics-root",
        "#truste-consent-track",
        ".cky-consent-container",
        ".osano-cm-window",
        "#iubenda-cs-banner",
        ".klaro .cookie-notice",
        ".cmplz-cookiebanner",
        "#axeptio_overlay",
        ".cookie-banner",
        "#cookie-consent",
    ] {
        assert!(css.contains(&format!("\n{name}{{display:none!important}}")), "{name}");
    }
    // Nothing that would match a recipe: whole names only, unless it is also a dialog.
    for line in css.lines().filter(|line| line.contains("class*=") || line.contains("id*=")) {
        assert!(line.contains("role=\"dialog\""), "{line}");
    }
    assert!(
        !css.contains(".cookie{") && !css.contains(".ad{") && !css.contains(".ads{") && !css.contains("##")
    );
}

#[test]
fn lines_for_one_host_add_and_take_back() {
    let list =
        "! a comment\n##.banner\n##.other\nshop.example##.sale\nshop.example,b.example#@#.banner\nnonsense\n";
    let ads = Ads::from_lists("", list, "");
    let every = ".banner{display:none!important}\n.other{display:none!important}\n";
    assert_eq!(ads.hiding_css("news.example"), every);
    assert_eq!(ads.hiding_css("notshop.example"), every);
    let own = ".other{display:none!important}\n.sale{display:none!important}\n";
    assert_eq!(ads.hiding_css("www.shop.example"), own);
    assert_eq!(ads.hiding_css("b.example."), ".other{display:none!important}\n");
    assert!(
        matches!(ads.hiding_css("news.example"), Cow::Borrowed(_)),
        "nearly every page gets the same text"
    );
}
