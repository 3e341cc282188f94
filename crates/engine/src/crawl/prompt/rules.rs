//! Rules that read a prompt as people write them: "only the blog and docs, at most 50 pages, skip the
//! archive". Each word is seen once, from left to right; whether it takes in or leaves out is decided by the
//! last word that said so.

use wire::crawl::CrawlOptions;

/// Words of a prompt that are looked at.
const MAX_WORDS: usize = 2_000;
const MAX_PATHS: usize = 50;
const MAX_PAGES: i64 = 1_000_000_000;
const MAX_DELAY_SECONDS: i64 = 60;

/// Parts of sites by the words people have for them, and where they usually lie.
const PARTS: &[(&[&str], &[&str])] = &[
    (&["blog", "blogs", "post", "posts"], &["blog/.*"]),
    (&["doc", "docs", "documentation"], &["docs/.*"]),
    (&["guide", "guides"], &["guides?/.*"]),
    (&["tutorial", "tutorials"], &["tutorials?/.*"]),
    (&["api", "reference"], &["api/.*", "reference/.*"]),
    (&["article", "articles"], &["articles?/.*"]),
    (&["news"], &["news/.*"]),
    (&["press"], &["press/.*"]),
    (&["product", "products"], &["products?/.*"]),
    (&["pricing", "prices"], &["pricing.*"]),
    (&["shop", "store"], &["shop/.*", "store/.*"]),
    (&["career", "careers", "job", "jobs", "vacancies"], &["careers?/.*", "jobs?/.*"]),
    (&["faq", "faqs"], &["faqs?.*"]),
    (&["help", "support"], &["help/.*", "support/.*"]),
    (&["changelog", "changelogs"], &["changelog.*"]),
    (&["release", "releases"], &["releases?/.*"]),
    (&["event", "events"], &["events?/.*"]),
    (&["case", "studies"], &["case-stud.*"]),
    (&["customer", "customers"], &["customers?/.*"]),
    (&["team"], &["team.*"]),
    (&["about"], &["about.*"]),
    (&["contact"], &["contact.*"]),
    (&["legal", "privacy", "terms"], &["legal.*", "privacy.*", "terms.*"]),
    (&["login", "signin", "account", "accounts"], &["login.*", "account.*"]),
    (&["cart", "checkout", "basket"], &["cart.*", "checkout.*"]),
    (&["tag", "tags"], &["tags?/.*"]),
    (&["category", "categories"], &["categor(y|ies)/.*"]),
    (&["author", "authors"], &["authors?/.*"]),
    (&["archive", "archives"], &["archives?/.*"]),
    (&["forum", "forums"], &["forums?/.*"]),
    (&["wiki"], &["wiki/.*"]),
    (&["recipe", "recipes"], &["recipes?/.*"]),
];

const LEAVES_OUT: &[&str] = &[
    "except",
    "excluding",
    "exclude",
    "excludes",
    "skip",
    "skipping",
    "without",
    "ignore",
    "ignoring",
    "avoid",
    "avoiding",
    "omit",
    "omitting",
    "not",
    "don't",
    "dont",
    "never",
    "no",
    "besides",
];
const TAKES_IN: &[&str] = &[
    "only",
    "include",
    "including",
    "crawl",
    "get",
    "extract",
    "scrape",
    "find",
    "fetch",
    "collect",
    "want",
    "just",
    "but",
    "follow",
    "allow",
    "use",
];
const NUMBERS: &[(&str, i64)] = &[
    ("one", 1),
    ("single", 1),
    ("two", 2),
    ("three", 3),
    ("four", 4),
    ("five", 5),
    ("six", 6),
    ("seven", 7),
    ("eight", 8),
    ("nine", 9),
    ("ten", 10),
    ("twelve", 12),
    ("fifteen", 15),
    ("twenty", 20),
    ("thirty", 30),
    ("fifty", 50),
    ("hundred", 100),
    ("thousand", 1000),
];
const LIMITS: &[&str] = &[
    "first", "most", "max", "maximum", "limit", "limited", "top", "than", "up", "latest", "last", "only",
    "just",
];
const PAGES: &[&str] =
    &["page", "pages", "url", "urls", "posts", "articles", "documents", "results", "items", "links"];
const DEPTHS: &[&str] = &["level", "levels", "deep", "depth", "click", "clicks", "hop", "hops"];
const WHOLE: &[&str] = &["entire", "whole", "complete", "full"];
const SITES: &[&str] = &["site", "website", "domain", "host"];

/// What a prompt says.
pub fn parse_prompt(prompt: &str) -> CrawlOptions {
    let words = words(prompt);
    let mut reading = Reading { words: &words, out: false, options: CrawlOptions::default() };
    for at in 0..words.len() {
        reading.word(at);
    }
    reading.options
}

/// A word, and whether a sentence or a part of one ends behind it.
struct Word {
    text: String,
    ends: bool,
}

fn words(prompt: &str) -> Vec<Word> {
    let split = prompt.split_whitespace().take(MAX_WORDS);
    let word = |written: &str| {
        let ends = written.ends_with(['.', ';', '!', '?', ':', '\n']);
        let text = written.trim_matches(|char: char| !(char.is_alphanumeric() || "/*".contains(char)));
        Word { text: text.to_lowercase().replace('’', "'"), ends }
    };
    split.map(word).filter(|word| !word.text.is_empty() || word.ends).collect()
}

struct Reading<'a> {
    words: &'a [Word],
    /// What comes now is left out.
    out: bool,
    options: CrawlOptions,
}

impl Reading<'_> {
    fn word(&mut self, at: usize) {
        let word = self.words[at].text.as_str();
        if LEAVES_OUT.contains(&word) {
            // "no more than 20" leaves nothing out.
            self.out = !(word == "no" && self.at(at + 1) == "more");
        } else if TAKES_IN.contains(&word) && self.at(at + 1) != "not" {
            // "do not follow": the verb is part of what is denied.
            let denied = at > 0 && ["not", "don't", "dont", "never"].contains(&self.at(at - 1));
            self.out = self.out && denied;
        }
        self.number(at);
        self.switches(at);
        self.paths(at);
        if self.words[at].ends {
            self.out = false;
        }
    }

    fn at(&self, at: usize) -> &str {
        self.words.get(at).map_or("", |word| word.text.as_str())
    }

    /// Whether one of these stands among the next so many words.
    fn soon(&self, at: usize, within: usize, among: &[&str]) -> bool {
        (at + 1..=at + within).any(|next| among.contains(&self.at(next)))
    }

    fn before(&self, at: usize, within: usize, among: &[&str]) -> bool {
        (at.saturating_sub(within)..at).any(|last| among.contains(&self.at(last)))
    }

    fn number(&mut self, at: usize) {
        let Some(number) = number(self.at(at)) else { return };
        if self.soon(at, 2, DEPTHS) || self.before(at, 2, &["depth"]) {
            self.options.max_discovery_depth = Some(number);
        } else if self.soon(at, 1, &["second", "seconds", "sec", "s"]) {
            self.options.delay = u32::try_from(number.min(MAX_DELAY_SECONDS)).ok().map(f64::from);
        } else if self.soon(at, 2, PAGES) || self.before(at, 3, LIMITS) {
            self.options.limit = Some(number.clamp(1, MAX_PAGES));
        }
    }

    fn switches(&mut self, at: usize) {
        let on = !self.out;
        let options = &mut self.options;
        match self.words[at].text.as_str() {
            "subdomain" | "subdomains" | "sub-domains" => options.allow_subdomains = Some(on),
            "external" | "outbound" => options.allow_external_links = Some(on),
            "query" | "querystring" if !on => options.ignore_query_parameters = Some(true),
            "sitemap" | "sitemaps" => {
                let only = self.before(at, 3, &["only", "just"]) || self.at(at + 1) == "only";
                let way = if !on {
                    "skip"
                } else if only {
                    "only"
                } else {
                    "include"
                };
                self.options.sitemap = Some(way.to_owned());
            }
            "everything" if on => self.options.crawl_entire_domain = Some(true),
            word if WHOLE.contains(&word) && on && self.soon(at, 2, SITES) => {
                self.options.crawl_entire_domain = Some(true);
            }
            _ => {}
        }
    }

    fn paths(&mut self, at: usize) {
        let word = self.at(at);
        // "20 posts" is a number of pages, "api key" no part of a site.
        let counted =
            number(self.at(at.wrapping_sub(1))).is_some() && word != "blog" && PAGES.contains(&word);
        let known = PARTS.iter().find(|(names, _)| names.contains(&word)).filter(|_| !counted);
        let paths: Vec<String> = if let Some((_, paths)) = known {
            paths.iter().map(|path| (*path).to_owned()).collect()
        } else if let Some(path) = written_path(word) {
            vec![path]
        } else if ["section", "directory", "folder", "subfolder"].contains(&self.at(at + 1)) && is_name(word)
        {
            vec![format!("{}/.*", regex_escaped(word))]
        } else {
            return;
        };
        let list = if self.out { &mut self.options.exclude_paths } else { &mut self.options.include_paths };
        let list = list.get_or_insert_default();
        for path in paths {
            if !list.contains(&path) && list.len() < MAX_PATHS {
                list.push(path);
            }
        }
    }
}

/// `20`, `1,000`, `2k`, `twenty`.
fn number(word: &str) -> Option<i64> {
    if let Some((_, number)) = NUMBERS.iter().find(|(name, _)| *name == word) {
        return Some(*number);
    }
    let (digits, factor) = word.strip_suffix('k').map_or((word, 1), |digits| (digits, 1000));
    let digits = digits.replace([',', '_'], "");
    digits.parse::<i64>().ok().filter(|number| *number >= 0)?.checked_mul(factor)
}

/// `/docs/v2` or `/shop/*` as a pattern.
fn written_path(word: &str) -> Option<String> {
    let path = word.strip_prefix('/')?.trim_end_matches(['*', '/']);
    let legal = |char: char| char.is_alphanumeric() || "/-_.~%".contains(char);
    let plain = !path.is_empty() && path.len() <= 200 && path.chars().all(legal);
    plain.then(|| format!("{}/.*", regex_escaped(path)))
}

fn is_name(word: &str) -> bool {
    const EMPTY: &[&str] =
        &["the", "this", "that", "a", "an", "each", "every", "any", "same", "main", "whole", "entire", "one"];
    !EMPTY.contains(&word) && word.chars().all(|char| char.is_alphanumeric() || char == '-')
}

fn regex_escaped(text: &str) -> String {
    text.replace('.', r"\.")
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn said(prompt: &str) -> Value {
        serde_json::to_value(parse_prompt(prompt)).unwrap()
    }

    #[test]
    fn prompts_as_people_write_them() {
        for (prompt, options) in [
            ("Extract all blog posts and documentation", json!({ "includePaths": ["blog/.*", "docs/.*"] })),
            (
                "Only the blog and docs, at most 50 pages. Skip the archive and /blog/drafts/*.",
                json!({ "includePaths": ["blog/.*", "docs/.*"], "limit": 50,
                    "excludePaths": ["archives?/.*", "blog/drafts/.*"] }),
            ),
            ("Crawl the first 20 pages", json!({ "limit": 20 })),
            (
                "get the entire website except the careers pages",
                json!({ "crawlEntireDomain": true,
                "excludePaths": ["careers?/.*", "jobs?/.*"] }),
            ),
            ("no more than 1,000 pages, two levels deep", json!({ "limit": 1000, "maxDiscoveryDepth": 2 })),
            (
                "everything including subdomains, but don't follow external links",
                json!({ "crawlEntireDomain": true,
                "allowSubdomains": true, "allowExternalLinks": false }),
            ),
            ("use only the sitemap, up to 2k urls", json!({ "sitemap": "only", "limit": 2000 })),
            (
                "ignore the sitemap and query parameters, wait 3 seconds between pages",
                json!({ "sitemap": "skip", "ignoreQueryParameters": true, "delay": 3.0 }),
            ),
            ("just the recipes section", json!({ "includePaths": ["recipes?/.*"] })),
            (
                "only the whales section; depth of 3",
                json!({ "includePaths": ["whales/.*"], "maxDiscoveryDepth": 3 }),
            ),
            ("the latest ten articles", json!({ "limit": 10 })),
            ("pages under /de/v1.2/", json!({ "includePaths": [r"de/v1\.2/.*"] })),
            ("hello there", json!({})),
            ("", json!({})),
        ] {
            assert_eq!(said(prompt), options, "{prompt}");
        }
    }

    #[test]
    fn hostile_prompts_end() {
        let many = "/a ".repeat(100_000);
        assert_eq!(said(&many)["includePaths"], json!(["a/.*"]));
        let paths: Vec<String> = (0..10_000).map(|index| format!("/p{index}")).collect();
        assert_eq!(said(&paths.join(" "))["includePaths"].as_array().unwrap().len(), MAX_PATHS);
        assert_eq!(said("first 99999999999999999999 pages, 9223372036854775807k pages"), json!({}));
        assert_eq!(said("only /a(b|c)+/ and /../"), json!({ "includePaths": [r"\.\./.*"] }));
    }
}
