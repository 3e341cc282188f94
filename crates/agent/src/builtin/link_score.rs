//! Scores links by how well their words match the missing fields.

use crate::PageLink;
use crate::addresses::{parse_address, same_site};
use crate::run::ParsedPage;
use std::collections::HashSet;
use text::{names, stem};
use url::Url;

/// Of a link's text or path that are compared.
const MAX_TEXT_CHARACTERS: usize = 2_000;

/// Words that appear in every schema and say nothing about a field.
const GENERIC_WORDS: [&str; 17] = [
    "name", "title", "url", "link", "id", "the", "of", "and", "for", "an", "in", "is", "value", "list",
    "item", "type", "text",
];
/// Typical link words by kind of field: the words of a field, and the words of links that lead to it.
const LINK_WORDS_BY_FIELD: [(&[&str], &[&str]); 9] = [
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

/// The words that links are compared with.
#[derive(Debug, Default)]
pub(super) struct LinkScorer {
    /// Words of the missing fields, and of links that usually lead to such fields.
    fields: HashSet<String>,
    link_words: HashSet<String>,
    /// Words of the prompt.
    prompt: HashSet<String>,
}

impl LinkScorer {
    /// `missing` holds names and descriptions of fields.
    pub fn new<'m>(prompt: &str, missing: impl Iterator<Item = &'m str>) -> Self {
        let mut scorer =
            Self { prompt: words(&crate::prompt_words::search_query(prompt)).collect(), ..Self::default() };
        for text in missing {
            for word in words(text).filter(|word| !GENERIC_WORDS.contains(&word.as_str())).take(40) {
                for (field_words, link_words) in LINK_WORDS_BY_FIELD {
                    if field_words.iter().any(|field_words| stem::singular(field_words) == word) {
                        scorer.link_words.extend(link_words.iter().map(|word| stem::singular(word)));
                    }
                }
                scorer.fields.insert(word);
            }
        }
        scorer
    }

    /// The score of a link; 0 when none of its words match.
    pub fn score(&self, link: &PageLink) -> f32 {
        let path = Url::parse(&link.url).map(|url| url.path().to_owned()).unwrap_or_default();
        let text: HashSet<String> = words(&link.text).collect();
        let path: HashSet<String> = words(&path).collect();
        let hits = |set: &HashSet<String>, found: &HashSet<String>| {
            found.iter().filter(|word| set.contains(*word)).count()
        };
        let of = |found: &HashSet<String>| {
            hits(&self.fields, found) as f32 * 3.0
                + hits(&self.link_words, found) as f32 * 2.0
                + hits(&self.prompt, found) as f32 * 1.5
        };
        let score = of(&text) + 0.5 * of(&path);
        // Long texts contain any word by chance.
        score / (1.0 + text.len() as f32 / 12.0)
    }

    /// Links of a page to its own site with a positive score, best first.
    pub fn links<'r>(&self, parsed: &'r ParsedPage) -> Vec<(f32, &'r str)> {
        let Ok(here) = Url::parse(&parsed.url) else { return Vec::new() };
        let mut found: Vec<(f32, &str)> = parsed
            .links
            .iter()
            .filter(|link| parse_address(&link.url).is_some_and(|there| same_site(&here, there.url())))
            .map(|link| (self.score(link), link.url.as_str()))
            .filter(|(score, _)| *score > 0.0)
            .collect();
        found.sort_by(|one, other| other.0.total_cmp(&one.0));
        found
    }
}

/// The words of a text or a path that are longer than one letter, with plurals made singular.
fn words(text: &str) -> impl Iterator<Item = String> {
    names::words(text.chars().take(MAX_TEXT_CHARACTERS))
        .filter(|word| word.chars().nth(1).is_some())
        .map(|word| stem::singular(&word))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::AgentPage;

    fn parsed(url: &str, links: &[(&str, &str)]) -> ParsedPage {
        let links =
            links.iter().map(|(url, text)| PageLink { url: (*url).to_owned(), text: (*text).to_owned() });
        let page = content::Page::parse(&content::PageSource::default(), &content::Limits::default());
        let seen = AgentPage {
            url: url.to_owned(),
            title: None,
            markdown: "".into(),
            links: links.collect(),
            page: page.into(),
            credits: 1,
        };
        ParsedPage::from_agent_page(0, "", seen)
    }

    #[test]
    fn links_about_missing_fields_come_first() {
        let page = parsed(
            "https://a.example/",
            &[
                ("https://a.example/blog", "Blog"),
                ("https://a.example/contact", "Get in touch"),
                ("https://a.example/opening-hours", "Opening hours"),
                ("https://b.example/contact", "Contact"),
            ],
        );
        let scorer = LinkScorer::new("museum", ["openingHours", "phone number"].into_iter());
        let found: Vec<&str> = scorer.links(&page).into_iter().map(|(_, url)| url).collect();
        assert_eq!(found, ["https://a.example/opening-hours", "https://a.example/contact"]);
    }
}
