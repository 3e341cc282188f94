//! Builds a site: first the pages and what is expected of them, then their HTML.

use super::prose::{Random, paragraphs};
use super::{DiscoveredBy, Expected, ExpectedUrl, GeneratedSite, SiteResponse};
use std::collections::BTreeMap;
use std::fmt::Write;

/// Pages for each kind of difficulty.
const PAGES_PER_KIND: usize = 10;

struct Builder {
    random: Random,
    drafts: BTreeMap<String, Draft>,
    responses: BTreeMap<String, SiteResponse>,
    truth: BTreeMap<String, ExpectedUrl>,
}

#[derive(Default)]
struct Draft {
    status: u16,
    head: String,
    links: String,
}

pub fn build(seed: u64, size: usize) -> GeneratedSite {
    let mut builder = Builder {
        random: Random::new(seed),
        drafts: BTreeMap::new(),
        responses: BTreeMap::new(),
        truth: BTreeMap::new(),
    };
    builder.page("/", DiscoveredBy::Link);
    let ordinary = builder.ordinary_pages(size);
    builder.redirects(&ordinary);
    builder.canonical(&ordinary);
    builder.robots_rules();
    builder.links_to_non_pages();
    builder.broken();
    builder.scripted();
    builder.sessions();
    builder.listed();
    builder.link_from_home("/calendar/");
    builder.link_from_home("/deeper/");
    builder.link_from_home("/shop?brand=1&amp;colour=1&amp;size=1&amp;sort=1");
    for (path, draft) in std::mem::take(&mut builder.drafts) {
        let mut response = html(seed, &path, &draft.head, &draft.links);
        response.status = draft.status;
        builder.responses.insert(path, response);
    }
    GeneratedSite { responses: builder.responses, truth: builder.truth, seed }
}

impl Builder {
    fn expect_url(&mut self, address: &str, expected: Expected, discovery: DiscoveredBy) {
        self.truth.insert(address.to_owned(), ExpectedUrl { expected, discovery });
    }

    fn draft(&mut self, path: &str) -> &mut Draft {
        self.drafts.entry(path.to_owned()).or_insert_with(|| Draft { status: 200, ..Draft::default() })
    }

    /// A page that a crawl returns.
    fn page(&mut self, path: &str, discovery: DiscoveredBy) {
        self.expect_url(path, Expected::Page, discovery);
        self.draft(path);
    }

    fn link_from_home(&mut self, target: &str) {
        self.draft("/").links += &link(target);
    }

    fn redirect(&mut self, from: &str, to: &str, expected: Expected) {
        self.expect_url(from, expected, DiscoveredBy::Link);
        let response =
            SiteResponse { status: 301, headers: vec![("location", to.to_owned())], body: String::new() };
        self.responses.insert(from.to_owned(), response);
    }

    /// Pages in a random tree, each linked from one before it and from two others, in any spelling.
    fn ordinary_pages(&mut self, size: usize) -> Vec<String> {
        let mut paths = vec!["/".to_owned()];
        for n in 1..=size {
            let path = match n % 4 {
                0 => format!("/s{}/p{n}", n % 9),
                1 => format!("/docs/v{}.{}/page-{n}", n % 3, n % 5),
                2 => format!("/blog/2024/{:02}/{:02}/post-{n}", n % 12 + 1, n % 28 + 1),
                _ => format!("/item?id={n}&lang=en"),
            };
            self.page(&path, DiscoveredBy::Link);
            for _ in 0..3 {
                let from = paths[self.random.below(paths.len())].clone();
                let spelling = self.random_spelling(&path);
                self.draft(&from).links += &link(&spelling);
            }
            paths.push(path);
        }
        paths
    }

    /// One of the many spellings of the URL of a page.
    fn random_spelling(&mut self, path: &str) -> String {
        let (bare, query) = path.split_once('?').unwrap_or((path, ""));
        match (self.random.below(9), query) {
            (0, _) => format!("{path}#part-{}", self.random.below(9)).replace('&', "&amp;"),
            (1, "") => format!("{path}?utm_source=site&amp;utm_medium={}", self.random.below(9)),
            (1, _) => format!("{path}&utm_campaign={}", self.random.below(9)).replace('&', "&amp;"),
            (2, "") => format!("{path}/"),
            (2, _) => format!("{bare}/?{query}").replace('&', "&amp;"),
            (3, "") => format!("{path}/index.html"),
            (4, _) => format!("/x/./y/../..{path}").replace('&', "&amp;"),
            (5, _) => format!("{{base}}{path}").replace('&', "&amp;"),
            (6, "") => path.replacen("/p", "/%70", 1),
            (6, query) => {
                let mut pairs: Vec<&str> = query.split('&').collect();
                pairs.reverse();
                format!("{bare}?{}", pairs.join("&amp;"))
            }
            _ => path.replace('&', "&amp;"),
        }
    }

    fn redirects(&mut self, ordinary: &[String]) {
        for n in 0..PAGES_PER_KIND {
            let target = ordinary[self.random.below(ordinary.len())].clone();
            self.redirect(&format!("/old/{n}"), &target, Expected::Redirects);
            self.link_from_home(&format!("/old/{n}"));
        }
        // Three redirects, the last to a page that nothing else links to.
        self.redirect("/hop/1", "/hop/2", Expected::Redirects);
        self.redirect("/hop/2", "{base}/hop/3", Expected::Redirects);
        self.redirect("/hop/3", "/behind-the-hops", Expected::Redirects);
        self.page("/behind-the-hops", DiscoveredBy::Link);
        self.redirect("/round/1", "/round/2", Expected::RedirectLoop);
        self.redirect("/round/2", "/round/1", Expected::RedirectLoop);
        self.redirect("/away", "http://elsewhere.invalid/landing", Expected::RedirectsAway);
        for start in ["/hop/1", "/round/1", "/away"] {
            self.link_from_home(start);
        }
        // These are reached by redirects only, so a crawl never lists them.
        for hop in ["/hop/2", "/hop/3", "/round/2"] {
            self.truth.remove(hop);
        }
    }

    fn canonical(&mut self, ordinary: &[String]) {
        // The front page is never a canonical target: sites that name it do so for every page they have.
        let originals = &ordinary[1..];
        for n in 0..PAGES_PER_KIND {
            let target = originals[self.random.below(originals.len())].clone();
            self.variant(&format!("/print/{n}"), &target);
        }
        self.variant("/version/1", "/version/2");
        self.variant("/version/2", "{base}/version/3");
        self.page("/version/3", DiscoveredBy::Link);
        self.link_from_home("/version/3");
    }

    fn variant(&mut self, path: &str, canonical: &str) {
        self.expect_url(path, Expected::HasCanonical, DiscoveredBy::Link);
        self.draft(path).head =
            format!(r#"<link rel="canonical" href="{}">"#, canonical.replace('&', "&amp;"));
        self.link_from_home(path);
    }

    fn robots_rules(&mut self) {
        for n in 0..PAGES_PER_KIND {
            let path = format!("/private/{n}");
            self.expect_url(&path, Expected::Robots, DiscoveredBy::Link);
            self.draft(&path);
            self.link_from_home(&path);
        }
        self.page("/private/open/door", DiscoveredBy::Link);
        self.link_from_home("/private/open/door");
        self.expect_url("/unloved", Expected::NoFollow, DiscoveredBy::Link);
        self.draft("/unloved");
        self.draft("/").links += r#"<li><a rel="noopener nofollow" href="/unloved">unloved</a></li>"#;
        self.page("/quiet", DiscoveredBy::Link);
        self.link_from_home("/quiet");
        self.draft("/quiet").head += r#"<meta name="robots" content="nofollow">"#;
        self.draft("/quiet").links = link("/behind-the-quiet");
        self.expect_url("/behind-the-quiet", Expected::NoFollow, DiscoveredBy::Link);
        self.draft("/behind-the-quiet");
        let robots = "# Rules of the site\r\nUser-agent: *\r\nDisallow: /private/\r\nAllow: /private/open/\r\n\r\n\
                      Sitemap: {base}/maps/index.xml\r\nSitemap: {base}/feed.xml\r\n";
        self.file("/robots.txt", "text/plain", robots.to_owned());
    }

    fn links_to_non_pages(&mut self) {
        for (address, expected) in [
            ("http://elsewhere.invalid/page", Expected::OffSite),
            ("https://maze.example/", Expected::OffSite),
            ("mailto:somebody@maze.example", Expected::NotHttp),
            ("tel:+123456", Expected::NotHttp),
            ("/logo.png", Expected::NoText),
            ("/files/archive.zip", Expected::NoText),
        ] {
            self.expect_url(address, expected, DiscoveredBy::Link);
            self.link_from_home(address);
        }
    }

    fn broken(&mut self) {
        for (path, status) in [("/gone", 404), ("/forbidden", 403), ("/failing", 500)] {
            self.expect_url(path, Expected::Error(status), DiscoveredBy::Link);
            self.draft(path).status = status;
            self.link_from_home(path);
        }
        // Tags that never close, with a link among them.
        self.page("/torn", DiscoveredBy::Link);
        self.link_from_home("/torn");
        self.draft("/torn").links += "<table><tr><td><b><i><a href=/behind-the-torn title='a > b'>on<p>";
        self.page("/behind-the-torn", DiscoveredBy::Link);
    }

    fn scripted(&mut self) {
        self.page("/app", DiscoveredBy::Link);
        self.link_from_home("/app");
        let mut script = String::from("<script>\nfor (const n of [");
        for n in 0..PAGES_PER_KIND {
            self.page(&format!("/made/{n}"), DiscoveredBy::Script);
            write!(script, "{n},").expect("a string takes all");
        }
        script += "]) {\n  const a = document.createElement('a');\n  a.href = '/ma' + 'de/' + n;\n  \
                   a.textContent = 'made ' + n;\n  document.body.append(a);\n}\n</script>";
        self.draft("/app").links = script;
    }

    /// A forum that puts a session ID into every link.
    fn sessions(&mut self) {
        for n in 0..PAGES_PER_KIND {
            let path = format!("/topic?t={n}");
            self.page(&path, DiscoveredBy::Link);
            for from in ["/", &format!("/topic?t={}", n.saturating_sub(1))] {
                self.draft(from).links += &link(&format!("/topic?sid={{session}}&amp;t={n}"));
            }
        }
    }

    /// Pages that only sitemaps and feeds know. One index lists itself, one file is truncated, one is an
    /// error page.
    fn listed(&mut self) {
        let index = ["index", "whole", "cut", "plain", "missing"]
            .map(|name| format!("<sitemap><loc>{{base}}/maps/{name}.xml</loc></sitemap>\n"));
        let index = format!("<?xml version=\"1.0\"?>\n<sitemapindex>\n{}</sitemapindex>", index.concat());
        self.file("/maps/index.xml", "application/xml", index);
        let entry =
            |path: &str| format!("<url><loc>{{base}}{path}</loc><lastmod>2026-01-02</lastmod></url>\n");
        let item = |path: &str| format!("<item><title>{path}</title><link>{{base}}{path}</link></item>\n");
        let whole = self.listed_pages("/orphan/a", DiscoveredBy::Sitemap, entry);
        let cut = self.listed_pages("/orphan/b", DiscoveredBy::Sitemap, entry);
        let plain = self.listed_pages("/orphan/c", DiscoveredBy::Sitemap, |path| format!("{{base}}{path}\n"));
        let items = self.listed_pages("/news/", DiscoveredBy::Feed, item);
        let xmlns = r#"xmlns="http://www.sitemaps.org/schemas/sitemap/0.9""#;
        self.file("/maps/whole.xml", "application/xml", format!("<urlset {xmlns}>\n{whole}</urlset>"));
        self.file(
            "/maps/cut.xml",
            "application/xml",
            format!("<urlset {xmlns}>\n{cut}<url><loc>{{base}}/orp"),
        );
        self.file("/maps/plain.xml", "text/plain", plain);
        let feed = format!(r#"<rss version="2.0"><channel><link>{{base}}/</link>{items}</channel></rss>"#);
        self.file("/feed.xml", "application/rss+xml", feed);
    }

    /// Pages that only one file lists, and their entries in it.
    fn listed_pages(
        &mut self,
        prefix: &str,
        discovery: DiscoveredBy,
        write: impl Fn(&str) -> String,
    ) -> String {
        let paths: Vec<String> = (0..PAGES_PER_KIND).map(|n| format!("{prefix}{n}")).collect();
        for path in &paths {
            self.page(path, discovery);
        }
        paths.iter().map(|path| write(path)).collect()
    }

    fn file(&mut self, path: &str, kind: &str, body: String) {
        let headers = vec![("content-type", kind.to_owned())];
        self.responses.insert(path.to_owned(), SiteResponse { status: 200, headers, body });
    }
}

pub fn link(target: &str) -> String {
    format!("<li><a href=\"{target}\">{target}</a></li>\n")
}

pub fn html(seed: u64, path: &str, head: &str, links: &str) -> SiteResponse {
    let name = path.replace('&', " and ");
    let body = format!(
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>GeneratedSite: {name}</title>{head}</head>\n\
         <body><main><h1>{name}</h1>\n{}</main>\n<ul>\n{links}</ul></body></html>\n",
        paragraphs(seed, path)
    );
    SiteResponse { status: 200, headers: vec![("content-type", "text/html; charset=utf-8".to_owned())], body }
}

/// The error page for a missing path: HTML, even for sitemaps.
pub fn missing(path: &str) -> SiteResponse {
    let mut response = html(0, path, "", "");
    response.status = 404;
    response
}
