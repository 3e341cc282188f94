//! How a maze is made: first the pages and what is true of them, then their HTML.

use super::prose::{Dice, paragraphs};
use super::{Answer, Fate, Known, Maze, Way};
use std::collections::BTreeMap;
use std::fmt::Write;

/// Pages for each thing that can go wrong.
const OF_EACH: usize = 10;

struct Builder {
    dice: Dice,
    drafts: BTreeMap<String, Draft>,
    answers: BTreeMap<String, Answer>,
    truth: BTreeMap<String, Known>,
}

#[derive(Default)]
struct Draft {
    status: u16,
    head: String,
    links: String,
}

pub fn build(seed: u64, size: usize) -> Maze {
    let mut builder = Builder {
        dice: Dice::new(seed),
        drafts: BTreeMap::new(),
        answers: BTreeMap::new(),
        truth: BTreeMap::new(),
    };
    builder.page("/", Way::Link);
    let ordinary = builder.ordinary(size);
    builder.redirects(&ordinary);
    builder.canonical(&ordinary);
    builder.rules_for_robots();
    builder.what_is_no_page();
    builder.broken();
    builder.scripted();
    builder.sessions();
    builder.listed();
    builder.link_from_home("/calendar/");
    builder.link_from_home("/deeper/");
    builder.link_from_home("/shop?brand=1&amp;colour=1&amp;size=1&amp;sort=1");
    for (path, draft) in std::mem::take(&mut builder.drafts) {
        let mut answer = html(seed, &path, &draft.head, &draft.links);
        answer.status = draft.status;
        builder.answers.insert(path, answer);
    }
    Maze { answers: builder.answers, truth: builder.truth, seed }
}

impl Builder {
    fn know(&mut self, address: &str, fate: Fate, way: Way) {
        self.truth.insert(address.to_owned(), Known { fate, way });
    }

    fn draft(&mut self, path: &str) -> &mut Draft {
        self.drafts.entry(path.to_owned()).or_insert_with(|| Draft { status: 200, ..Draft::default() })
    }

    /// A page that a crawl returns.
    fn page(&mut self, path: &str, way: Way) {
        self.know(path, Fate::Page, way);
        self.draft(path);
    }

    fn link_from_home(&mut self, target: &str) {
        self.draft("/").links += &link(target);
    }

    fn redirect(&mut self, from: &str, to: &str, fate: Fate) {
        self.know(from, fate, Way::Link);
        let answer = Answer { status: 301, headers: vec![("location", to.to_owned())], body: String::new() };
        self.answers.insert(from.to_owned(), answer);
    }

    /// Pages in a tree that has no order, each linked from one before it and from two others, under any spelling.
    fn ordinary(&mut self, size: usize) -> Vec<String> {
        let mut paths = vec!["/".to_owned()];
        for n in 1..=size {
            let path = match n % 4 {
                0 => format!("/s{}/p{n}", n % 9),
                1 => format!("/docs/v{}.{}/page-{n}", n % 3, n % 5),
                2 => format!("/blog/2024/{:02}/{:02}/post-{n}", n % 12 + 1, n % 28 + 1),
                _ => format!("/item?id={n}&lang=en"),
            };
            self.page(&path, Way::Link);
            for _ in 0..3 {
                let from = paths[self.dice.below(paths.len())].clone();
                let spelling = self.spelled(&path);
                self.draft(&from).links += &link(&spelling);
            }
            paths.push(path);
        }
        paths
    }

    /// One of the many ways to write the address of a page.
    fn spelled(&mut self, path: &str) -> String {
        let (bare, query) = path.split_once('?').unwrap_or((path, ""));
        match (self.dice.below(9), query) {
            (0, _) => format!("{path}#part-{}", self.dice.below(9)).replace('&', "&amp;"),
            (1, "") => format!("{path}?utm_source=maze&amp;utm_medium={}", self.dice.below(9)),
            (1, _) => format!("{path}&utm_campaign={}", self.dice.below(9)).replace('&', "&amp;"),
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
        for n in 0..OF_EACH {
            let target = ordinary[self.dice.below(ordinary.len())].clone();
            self.redirect(&format!("/old/{n}"), &target, Fate::Redirects);
            self.link_from_home(&format!("/old/{n}"));
        }
        // Three hops, the last to a page that nothing else links to.
        self.redirect("/hop/1", "/hop/2", Fate::Redirects);
        self.redirect("/hop/2", "{base}/hop/3", Fate::Redirects);
        self.redirect("/hop/3", "/behind-the-hops", Fate::Redirects);
        self.page("/behind-the-hops", Way::Link);
        self.redirect("/round/1", "/round/2", Fate::RedirectLoop);
        self.redirect("/round/2", "/round/1", Fate::RedirectLoop);
        self.redirect("/away", "http://elsewhere.invalid/landing", Fate::RedirectsAway);
        for start in ["/hop/1", "/round/1", "/away"] {
            self.link_from_home(start);
        }
        // These are reached by redirects alone, so a crawl never has them in its list.
        for hop in ["/hop/2", "/hop/3", "/round/2"] {
            self.truth.remove(hop);
        }
    }

    fn canonical(&mut self, ordinary: &[String]) {
        // The front page is no variant's original: sites that name it do so for every page they have.
        let originals = &ordinary[1..];
        for n in 0..OF_EACH {
            let target = originals[self.dice.below(originals.len())].clone();
            self.variant(&format!("/print/{n}"), &target);
        }
        self.variant("/version/1", "/version/2");
        self.variant("/version/2", "{base}/version/3");
        self.page("/version/3", Way::Link);
        self.link_from_home("/version/3");
    }

    fn variant(&mut self, path: &str, canonical: &str) {
        self.know(path, Fate::HasCanonical, Way::Link);
        self.draft(path).head =
            format!(r#"<link rel="canonical" href="{}">"#, canonical.replace('&', "&amp;"));
        self.link_from_home(path);
    }

    fn rules_for_robots(&mut self) {
        for n in 0..OF_EACH {
            let path = format!("/private/{n}");
            self.know(&path, Fate::Robots, Way::Link);
            self.draft(&path);
            self.link_from_home(&path);
        }
        self.page("/private/open/door", Way::Link);
        self.link_from_home("/private/open/door");
        self.know("/unloved", Fate::NoFollow, Way::Link);
        self.draft("/unloved");
        self.draft("/").links += r#"<li><a rel="noopener nofollow" href="/unloved">unloved</a></li>"#;
        self.page("/quiet", Way::Link);
        self.link_from_home("/quiet");
        self.draft("/quiet").head += r#"<meta name="robots" content="nofollow">"#;
        self.draft("/quiet").links = link("/behind-the-quiet");
        self.know("/behind-the-quiet", Fate::NoFollow, Way::Link);
        self.draft("/behind-the-quiet");
        let robots = "# Rules of the maze\r\nUser-agent: *\r\nDisallow: /private/\r\nAllow: /private/open/\r\n\r\n\
                      Sitemap: {base}/maps/index.xml\r\nSitemap: {base}/feed.xml\r\n";
        self.file("/robots.txt", "text/plain", robots.to_owned());
    }

    fn what_is_no_page(&mut self) {
        for (address, fate) in [
            ("http://elsewhere.invalid/page", Fate::OffSite),
            ("https://maze.example/", Fate::OffSite),
            ("mailto:somebody@maze.example", Fate::NotHttp),
            ("tel:+123456", Fate::NotHttp),
            ("/logo.png", Fate::NoText),
            ("/files/archive.zip", Fate::NoText),
        ] {
            self.know(address, fate, Way::Link);
            self.link_from_home(address);
        }
    }

    fn broken(&mut self) {
        for (path, status) in [("/gone", 404), ("/forbidden", 403), ("/failing", 500)] {
            self.know(path, Fate::Error(status), Way::Link);
            self.draft(path).status = status;
            self.link_from_home(path);
        }
        // Tags that never close, and a link in the midst of them.
        self.page("/torn", Way::Link);
        self.link_from_home("/torn");
        self.draft("/torn").links += "<table><tr><td><b><i><a href=/behind-the-torn title='a > b'>on<p>";
        self.page("/behind-the-torn", Way::Link);
    }

    fn scripted(&mut self) {
        self.page("/app", Way::Link);
        self.link_from_home("/app");
        let mut script = String::from("<script>\nfor (const n of [");
        for n in 0..OF_EACH {
            self.page(&format!("/made/{n}"), Way::Script);
            write!(script, "{n},").expect("a string takes all");
        }
        script += "]) {\n  const a = document.createElement('a');\n  a.href = '/ma' + 'de/' + n;\n  \
                   a.textContent = 'made ' + n;\n  document.body.append(a);\n}\n</script>";
        self.draft("/app").links = script;
    }

    /// A forum that writes the visit into every link.
    fn sessions(&mut self) {
        for n in 0..OF_EACH {
            let path = format!("/topic?t={n}");
            self.page(&path, Way::Link);
            for from in ["/", &format!("/topic?t={}", n.saturating_sub(1))] {
                self.draft(from).links += &link(&format!("/topic?sid={{session}}&amp;t={n}"));
            }
        }
    }

    /// What only lists know. One index names itself, one list is cut, one is a page that says it is missing.
    fn listed(&mut self) {
        let index = ["index", "whole", "cut", "plain", "missing"]
            .map(|name| format!("<sitemap><loc>{{base}}/maps/{name}.xml</loc></sitemap>\n"));
        let index = format!("<?xml version=\"1.0\"?>\n<sitemapindex>\n{}</sitemapindex>", index.concat());
        self.file("/maps/index.xml", "application/xml", index);
        let entry =
            |path: &str| format!("<url><loc>{{base}}{path}</loc><lastmod>2026-01-02</lastmod></url>\n");
        let item = |path: &str| format!("<item><title>{path}</title><link>{{base}}{path}</link></item>\n");
        let whole = self.known_to("/orphan/a", Way::Sitemap, entry);
        let cut = self.known_to("/orphan/b", Way::Sitemap, entry);
        let plain = self.known_to("/orphan/c", Way::Sitemap, |path| format!("{{base}}{path}\n"));
        let items = self.known_to("/news/", Way::Feed, item);
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

    /// Pages that only a list has, and their part of the list.
    fn known_to(&mut self, prefix: &str, way: Way, write: impl Fn(&str) -> String) -> String {
        let paths: Vec<String> = (0..OF_EACH).map(|n| format!("{prefix}{n}")).collect();
        for path in &paths {
            self.page(path, way);
        }
        paths.iter().map(|path| write(path)).collect()
    }

    fn file(&mut self, path: &str, kind: &str, body: String) {
        let headers = vec![("content-type", kind.to_owned())];
        self.answers.insert(path.to_owned(), Answer { status: 200, headers, body });
    }
}

pub fn link(target: &str) -> String {
    format!("<li><a href=\"{target}\">{target}</a></li>\n")
}

pub fn html(seed: u64, path: &str, head: &str, links: &str) -> Answer {
    let name = path.replace('&', " and ");
    let body = format!(
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>Maze: {name}</title>{head}</head>\n\
         <body><main><h1>{name}</h1>\n{}</main>\n<ul>\n{links}</ul></body></html>\n",
        paragraphs(seed, path)
    );
    Answer { status: 200, headers: vec![("content-type", "text/html; charset=utf-8".to_owned())], body }
}

/// What the site says about a page it does not have: an error page, as HTML, even for lists.
pub fn missing(path: &str) -> Answer {
    let mut answer = html(0, path, "", "");
    answer.status = 404;
    answer
}
