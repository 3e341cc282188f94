//! Which link to follow next: those whose words speak of what is still missing.

use crate::Link;
use crate::addresses::{address, one_site};
use crate::run::Reading;
use std::collections::HashSet;
use url::Url;

/// Words of a name that are in every schema and tell nothing.
const COMMON: [&str; 17] = [
    "name", "title", "url", "link", "id", "the", "of", "and", "for", "an", "in", "is", "value", "list",
    "item", "type", "text",
];
/// Where pages keep what they are usually asked for: a word of a field, and words of links that lead to it.
const KEPT_AT: [(&[&str], &[&str]); 9] = [
    (
        &[
            "email",
            "mail",
            "phone",
            "telephone",
            "tel",
            "fax",
            "address",
            "contact",
            "street",
            "postcode",
            "zip",
        ],
        &["contact", "kontakt", "about", "impressum", "imprint", "reach", "visit", "office", "offices"],
    ),
    (
        &["price", "prices", "cost", "plan", "plans", "fee", "tier"],
        &["price", "prices", "pricing", "plans", "fees", "tickets", "admission", "shop", "preise"],
    ),
    (
        &["hours", "opening", "open", "closed", "admission", "ticket", "tickets"],
        &["visit", "hours", "opening", "plan", "tickets", "öffnungszeiten", "besuch", "practical"],
    ),
    (
        &[
            "founder",
            "founded",
            "founders",
            "ceo",
            "team",
            "employees",
            "headquarters",
            "history",
            "staff",
            "director",
        ],
        &["about", "company", "team", "people", "history", "us", "über", "story"],
    ),
    (
        &["version", "release", "released", "changelog"],
        &["release", "releases", "changelog", "news", "download"],
    ),
    (&["license", "licence", "licensed"], &["license", "licence", "legal", "about"]),
    (
        &["return", "returns", "shipping", "delivery", "warranty"],
        &["shipping", "returns", "delivery", "faq", "terms"],
    ),
    (&["job", "jobs", "salary", "vacancy"], &["jobs", "careers", "vacancies", "work", "join", "stellen"]),
    (
        &["option", "options", "default", "parameter", "flag"],
        &["reference", "configuration", "docs", "options", "manual"],
    ),
];

/// What is still wanted, as words to compare links with.
#[derive(Debug, Default)]
pub(super) struct Wanted {
    /// Of the fields that are missing, and where such things are kept.
    fields: HashSet<String>,
    kept_at: HashSet<String>,
    /// Of the prompt.
    prompt: HashSet<String>,
}

impl Wanted {
    /// `missing` holds names and descriptions of fields.
    pub fn new<'m>(prompt: &str, missing: impl Iterator<Item = &'m str>) -> Self {
        let mut wanted = Self { prompt: words(&crate::wants::query(prompt)).collect(), ..Self::default() };
        for text in missing {
            for word in words(text).filter(|word| !COMMON.contains(&word.as_str())).take(40) {
                for (asked, kept) in KEPT_AT {
                    if asked.iter().any(|asked| single(asked) == word) {
                        wanted.kept_at.extend(kept.iter().map(|word| single(word).to_owned()));
                    }
                }
                wanted.fields.insert(word);
            }
        }
        wanted
    }

    /// How much a link promises; nothing when it speaks of none of it.
    pub fn promise(&self, link: &Link) -> f32 {
        let path = Url::parse(&link.url).map(|url| url.path().to_owned()).unwrap_or_default();
        let text: HashSet<String> = words(&link.text).collect();
        let path: HashSet<String> = words(&path).collect();
        let hits = |set: &HashSet<String>, found: &HashSet<String>| {
            found.iter().filter(|word| set.contains(*word)).count()
        };
        let of = |found: &HashSet<String>| {
            hits(&self.fields, found) as f32 * 3.0
                + hits(&self.kept_at, found) as f32 * 2.0
                + hits(&self.prompt, found) as f32 * 1.5
        };
        let promise = of(&text) + 0.5 * of(&path);
        // Long texts hold any word by chance.
        promise / (1.0 + text.len() as f32 / 12.0)
    }

    /// Links of a page that promise something and lie on its site, best first.
    pub fn links<'r>(&self, reading: &'r Reading) -> Vec<(f32, &'r str)> {
        let Ok(here) = Url::parse(&reading.url) else { return Vec::new() };
        let mut found: Vec<(f32, &str)> = reading
            .links
            .iter()
            .filter(|link| address(&link.url).is_some_and(|there| one_site(&here, there.url())))
            .map(|link| (self.promise(link), link.url.as_str()))
            .filter(|(promise, _)| *promise > 0.0)
            .collect();
        found.sort_by(|one, other| other.0.total_cmp(&one.0));
        found
    }
}

/// Words in small letters, `camelCase` and `snake_case` taken apart, plurals as singulars.
fn words(text: &str) -> impl Iterator<Item = String> {
    let mut apart = String::with_capacity(text.len() + 8);
    let mut small = false;
    for c in text.chars().take(2_000) {
        if c.is_uppercase() && small {
            apart.push(' ');
        }
        small = c.is_lowercase();
        apart.extend(c.to_lowercase());
    }
    let words: Vec<String> = apart
        .split(|c: char| !c.is_alphanumeric())
        .filter(|word| word.chars().count() > 1)
        .map(|word| single(word).to_owned())
        .collect();
    words.into_iter()
}

/// A plural as its singular, where an `s` makes the difference.
fn single(word: &str) -> &str {
    word.strip_suffix('s').filter(|rest| rest.len() > 3 && !rest.ends_with('s')).unwrap_or(word)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Seen;

    fn reading(url: &str, links: &[(&str, &str)]) -> Reading {
        let links = links.iter().map(|(url, text)| Link { url: (*url).to_owned(), text: (*text).to_owned() });
        let (markdown, html) = ("".into(), "".into());
        let seen =
            Seen { url: url.to_owned(), title: None, markdown, links: links.collect(), html, credits: 1 };
        Reading::of(0, "", seen)
    }

    #[test]
    fn links_that_speak_of_what_is_missing_come_first() {
        let page = reading(
            "https://a.example/",
            &[
                ("https://a.example/blog", "Blog"),
                ("https://a.example/contact", "Get in touch"),
                ("https://a.example/opening-hours", "Opening hours"),
                ("https://b.example/contact", "Contact"),
            ],
        );
        let wanted = Wanted::new("museum", ["openingHours", "phone number"].into_iter());
        let found: Vec<&str> = wanted.links(&page).into_iter().map(|(_, url)| url).collect();
        assert_eq!(found, ["https://a.example/opening-hours", "https://a.example/contact"]);
    }
}
