//! Scores links by how well their words match the missing fields.

use crate::PageLink;
use crate::addresses::{parse_address, same_site};
use crate::run::ParsedPage;
use std::collections::HashSet;
use text::stop_words::REQUESTS;
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

/// What a link scores that has a word of the prompt which few others have: it leads to the thing that is asked
/// about. More than all other words together.
pub(super) const NAMED_LINK_SCORE: f32 = 100.0;
/// Shorter words of the prompt name nothing.
const MIN_NAME_CHARACTERS: usize = 3;
/// A word is rare when at most one of so many links has it, or only a few links.
const RARE_SHARE: usize = 20;
const MAX_RARE_LINKS: usize = 3;
/// With fewer links every word is rare.
const MIN_LINKS_TO_CHOOSE_FROM: usize = 7;
/// Words examined of one prompt.
const MAX_NAMES: usize = 200;

/// The words that links are compared with.
#[derive(Debug, Default)]
pub(super) struct LinkScorer {
    /// Words of the missing fields, and of links that usually lead to such fields.
    fields: HashSet<String>,
    link_words: HashSet<String>,
    /// Words of the prompt.
    prompt: HashSet<String>,
    /// Words of the prompt that may name a thing: `mod_expires`, `3.2.24`.
    names: Vec<AskedName>,
    /// Whether a link whose words are all in the prompt leads to the thing that is asked about.
    pub follow_rows: bool,
}

impl LinkScorer {
    /// `missing` holds names and descriptions of fields.
    pub fn new<'m>(prompt: &str, missing: impl Iterator<Item = &'m str>) -> Self {
        let mut scorer = Self {
            prompt: words(&crate::prompt_words::search_query(prompt)).collect(),
            names: asked_names(prompt),
            ..Self::default()
        };
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

    /// Whether the text of a link is about something, and the prompt has all its words.
    fn has_all_words(&self, link: &PageLink) -> bool {
        let mut said = words(&link.text).filter(|word| !REQUESTS.contains(word)).peekable();
        said.peek().is_some() && said.all(|word| self.prompt.contains(&word))
    }

    /// Links of a page to its own site with a positive score, best first.
    pub fn links<'r>(&self, parsed: &'r ParsedPage) -> Vec<(f32, &'r str)> {
        let Ok(here) = Url::parse(&parsed.url) else { return Vec::new() };
        let links: Vec<(&PageLink, LinkNames)> = parsed
            .links
            .iter()
            .filter(|link| parse_address(&link.url).is_some_and(|there| same_site(&here, there.url())))
            .map(|link| (link, LinkNames::new(&link.url, &link.text)))
            .collect();
        let own = LinkNames::new(&parsed.url, parsed.title.as_deref().unwrap_or_default());
        let rare: Vec<&AskedName> = self
            .names
            .iter()
            // A word of a field says what is wanted, not of which thing; and this page may be about the thing.
            .filter(|name| !words(&name.word).all(|word| self.fields.contains(&word)) && !own.has(name))
            .filter(|name| {
                let having = links.iter().filter(|(_, named)| named.has(name)).count();
                having <= MAX_RARE_LINKS || having * RARE_SHARE <= links.len()
            })
            .collect();
        let enough = links.len() >= MIN_LINKS_TO_CHOOSE_FROM;
        let mut found: Vec<(f32, &str)> = links
            .iter()
            .map(|(link, named)| {
                let names = rare.iter().filter(|name| enough && named.has(name)).count();
                let is_row = self.follow_rows && self.has_all_words(link);
                let names = names.max(usize::from(is_row));
                (self.score(link) + names as f32 * NAMED_LINK_SCORE, link.url.as_str())
            })
            .filter(|(score, _)| *score > 0.0)
            .collect();
        found.sort_by(|one, other| other.0.total_cmp(&one.0));
        found
    }
}

/// A word of the prompt that may name a thing.
#[derive(Debug)]
struct AskedName {
    /// In lower case.
    word: String,
    /// Whether it is written like a name: with digits, underscores or capitals within.
    identifier: bool,
}

/// The words of a prompt that may name a thing, as they are written.
fn asked_names(prompt: &str) -> Vec<AskedName> {
    let mut found: Vec<AskedName> = Vec::new();
    for written in prompt.split_whitespace().take(MAX_NAMES) {
        let written = written.trim_matches(|c: char| !c.is_alphanumeric());
        let word = written.to_lowercase();
        if word.chars().count() >= MIN_NAME_CHARACTERS
            && !REQUESTS.contains(&word)
            && !GENERIC_WORDS.contains(&word.as_str())
            && !KINDS_OF_THINGS.contains(&word.as_str())
            && !found.iter().any(|known| known.word == word)
        {
            let identifier = written.chars().skip(1).any(|c| c.is_numeric() || c == '_' || c.is_uppercase());
            found.push(AskedName { word, identifier });
        }
    }
    found
}

/// Words for kinds of things, which name none of them.
const KINDS_OF_THINGS: [&str; 20] = [
    "page", "pages", "class", "module", "function", "method", "version", "release", "package", "file",
    "program", "command", "site", "website", "product", "company", "event", "contact", "about", "index",
];

/// What the text and the address of a link call its page.
struct LinkNames {
    /// The name of the file.
    file: String,
    /// The whole text, and its words.
    text: String,
    words: HashSet<String>,
}

impl LinkNames {
    fn new(url: &str, text: &str) -> Self {
        let path = Url::parse(url).map(|url| url.path().to_lowercase()).unwrap_or_default();
        let file = path.trim_end_matches('/').rsplit('/').next().unwrap_or_default();
        let file =
            file.strip_suffix(".html").or_else(|| file.strip_suffix(".htm")).unwrap_or(file).to_owned();
        let text: String = text.chars().take(MAX_TEXT_CHARACTERS).collect::<String>().to_lowercase();
        let words = text
            .split_whitespace()
            .map(|word| word.trim_matches(|c: char| !c.is_alphanumeric()).to_owned())
            .collect();
        Self { file, text: text.trim().to_owned(), words }
    }

    /// A plain word is a name only where it is the whole one.
    fn has(&self, name: &AskedName) -> bool {
        self.file == name.word
            || self.text == name.word
            || (name.identifier && self.words.contains(&name.word))
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

    #[test]
    fn the_link_that_names_what_is_asked_about_comes_first() {
        let links: Vec<(String, String)> =
            ["mod_alias", "mod_dir", "mod_expires", "mod_status", "core", "prefork", "worker", "event"]
                .iter()
                .map(|name| (format!("https://a.example/mod/{name}.html"), (*name).to_owned()))
                .collect();
        let links: Vec<(&str, &str)> =
            links.iter().map(|(url, text)| (url.as_str(), text.as_str())).collect();
        let page = parsed("https://a.example/mod/", &links);
        let scorer = LinkScorer::new("Status and source file of mod_expires", ["status"].into_iter());
        let found = scorer.links(&page);
        assert_eq!(found[0].1, "https://a.example/mod/mod_expires.html");
        assert!(found[0].0 >= NAMED_LINK_SCORE && found[1].0 < NAMED_LINK_SCORE, "{found:?}");
    }
}
