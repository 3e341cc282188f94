use super::*;
use std::collections::VecDeque;

const BASE: &str = "http://127.0.0.1:4000";

/// URLs in a page, sitemap or feed, found without parsing HTML.
fn urls(response: &SiteResponse) -> Vec<String> {
    let body = response.body.replace("<loc>", "<loc href=\"").replace("</loc>", "\">");
    let body =
        body.replace("<link>", "<link href=\"").replace("</link>", "\">").replace("href=/", "href=\"/");
    // A link without an end was truncated.
    let marked = body.split("href=\"").skip(1).filter_map(|rest| Some(rest.split_once(['"', ' ', '>'])?.0));
    let location = response.headers.iter().filter(|(name, _)| *name == "location").map(|(_, to)| to.as_str());
    let listed = response.body.lines().filter(|line| line.starts_with(BASE));
    marked.chain(location).chain(listed).map(|url| url.replace("&amp;", "&")).collect()
}

/// A path as a browser resolves it, or none for other sites.
fn resolved(url: &str, page: &str) -> Option<String> {
    let path = url.strip_prefix(BASE).unwrap_or(url);
    if path.contains(':') {
        return None;
    }
    let path = if path.starts_with('/') { path.to_owned() } else { format!("{page}/{path}") };
    Some(path.replace("/x/./y/../..", ""))
}

/// Every page of the site, found from its front page, sitemaps, feeds and scripts.
fn walk(site: &GeneratedSite) -> BTreeMap<String, SiteResponse> {
    let scripted = (0..10).map(|n| format!("/made/{n}"));
    let mut open: VecDeque<String> = ["/", "/maps/index.xml", "/feed.xml"].map(str::to_owned).into();
    open.extend(scripted);
    let mut seen = BTreeMap::new();
    while let Some(path) = open.pop_front() {
        let page = GeneratedSite::canonical_path(&path);
        if seen.contains_key(&page) || GeneratedSite::trap_of(&path).is_some() {
            continue;
        }
        let response = site.response(&path, BASE, u64::try_from(seen.len()).unwrap());
        open.extend(urls(&response).iter().filter_map(|url| resolved(url, &page)));
        seen.insert(page, response);
    }
    seen
}

#[test]
fn every_expected_url_can_be_discovered_and_no_other() {
    let site = GeneratedSite::new(7, 300);
    let seen = walk(&site);
    for (path, known) in site.expected_urls().iter().filter(|(path, _)| path.starts_with('/')) {
        let response = seen.get(path).unwrap_or_else(|| panic!("nothing leads to {path}"));
        let expected = match known.expected {
            Expected::Error(status) => status,
            Expected::Redirects | Expected::RedirectsAway | Expected::RedirectLoop => 301,
            Expected::NoText => 404,
            _ => 200,
        };
        assert_eq!(response.status, expected, "{path}");
    }
    let lists = |path: &&String| path.starts_with("/maps/") || *path == "/feed.xml";
    let hops = ["/hop/2", "/hop/3", "/round/2"];
    for path in seen.keys().filter(|path| !lists(path) && !hops.contains(&path.as_str())) {
        assert!(site.expected_urls().contains_key(path), "{path} is not in the truth");
    }
    assert!(site.expected_pages(&[DiscoveredBy::Link]).len() > 300);
}

#[test]
fn one_seed_makes_one_site() {
    let (one, same, other) =
        (GeneratedSite::new(1, 50), GeneratedSite::new(1, 50), GeneratedSite::new(2, 50));
    assert_eq!(one.responses, same.responses);
    assert_ne!(one.responses, other.responses);
    assert_eq!(one.expected_urls().len(), other.expected_urls().len());
}

#[test]
fn traps_have_no_end() {
    let site = GeneratedSite::new(1, 5);
    for (place, start) in TRAPS.iter().zip(["/calendar/", "/deeper/", "/shop?brand=1"]) {
        let mut page = start.to_owned();
        for _ in 0..40 {
            let response = site.response(&page, BASE, 0);
            assert_eq!(response.status, 200);
            page = resolved(urls(&response).last().unwrap(), &GeneratedSite::canonical_path(&page)).unwrap();
            assert_eq!(GeneratedSite::trap_of(&page), Some(place));
        }
    }
}

#[test]
fn session_ids_change_the_url_but_not_the_page() {
    let site = GeneratedSite::new(1, 5);
    let [first, second] =
        [1, 2].map(|request_number| urls(&site.response("/topic?t=3", BASE, request_number)));
    assert_ne!(first, second);
    assert_eq!(GeneratedSite::canonical_path(&first[0]), GeneratedSite::canonical_path(&second[0]));
}
