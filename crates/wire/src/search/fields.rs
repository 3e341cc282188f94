//! Every field of a search request and its effect, for `docs/search.md`. A test refuses a request field that
//! is not in the table.

use crate::scrape::{Effect, RequestField};

macro_rules! fields {
    ($($name:literal $effect:ident $note:literal;)+) => {
        pub const SEARCH_FIELDS: &[RequestField] = &[$(RequestField { name: $name, effect: Effect::$effect, note: $note }),+];
    };
}

fields! {
    "query" Works "1 to 500 characters, with operators";
    "limit" Works "1 to 100 of each source; default 10";
    "sources" Works "names and objects, mixed; default `web`";
    "sources: web" Works "";
    "sources: news" Works "from the local index: pages that state when they were published";
    "sources: images" Works "from the local index: pictures of the pages that match";
    "sources: alexandria" Works "there is no catalogue here: `data.tools` is empty";
    "sources: tbs, location, lang, country" Works "in a source's object, before those of the request";
    "sources: filter" NoEffect "";
    "categories" Works "names and objects, mixed";
    "categories: github" Works "by site";
    "categories: research" Works "by fourteen known sites, and papers of the research index";
    "categories: pdf" Works "by kind of file";
    "categories: developer" Works "alone; the collection the operator imported. Also as `repo`, `code`, `docs`, `devdex`, `repo_search`, `developer_index`";
    "categories: gov" Works "alone; the collection the operator imported";
    "includeDomains" Works "hosts with what lies below them, at most 100; not together with `excludeDomains`";
    "excludeDomains" Works "hosts with what lies below them, at most 100";
    "tbs" Works "`qdr:`, `cdr:`, `sbd:`, combined by commas; anything else is refused";
    "location" Works "for providers that know places (Serper); others say that they do not";
    "country" Works "ISO 3166-1 alpha-2; the local index knows no countries";
    "safe" Works "SearXNG and Brave; others say that they cannot";
    "timeout" Works "1,000 to 300,000 ms; default 60,000";
    "ignoreInvalidURLs" Works "results that cannot be scraped by their address are left out";
    "highlights" Works "default `true`";
    "explain" Works "ours; each result then has `ranking`: its place in the list of each provider, and what feedback of the team added";
    "scrapeOptions" Works "with `formats` every result is scraped; without, nothing of it has an effect. A search names no page that `headers` could be for: only those that any host may see are taken, others are a 400";
    "enterprise" Works "`zdr`, `anon`: nothing of the search is kept; `default`";
    "zeroDataRetention" Works "nothing of the search, nor of its pages, is kept";
    "asyncScraping" Refused "`true`; results are scraped before the answer";
    "lang" Works "ISO 639-1; every language when missing";
    "filter" NoEffect "";
    "domainTools" Works "there is no catalogue here: `data.tools` is empty";
    "toolDetail" NoEffect "checked; there is no catalogue here";
    "threatProtection" Works "`blacklist`, `whitelist`, `blockedTlds`: what they forbid is not among the results";
    "origin" NoEffect "set by the clients";
    "integration" NoEffect "set by the clients";
}

/// The table as markdown.
pub fn table() -> String {
    crate::scrape::fields_table(SEARCH_FIELDS)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::search::SearchRequest;
    use utoipa::PartialSchema;

    #[test]
    fn every_field_of_the_request_is_in_the_table() {
        let schema = serde_json::to_value(SearchRequest::schema()).unwrap();
        let fields = schema["properties"].as_object().unwrap();
        assert!(fields.len() > 15, "{}", fields.len());
        for name in fields.keys() {
            assert!(SEARCH_FIELDS.iter().any(|field| field.name == name), "{name} is not in the table");
        }
        for field in SEARCH_FIELDS.iter().filter(|field| !field.name.contains(':')) {
            let known = fields.contains_key(field.name) || crate::read::ALWAYS_ACCEPTED.contains(&field.name);
            assert!(known, "{} is in the table but not in the request", field.name);
        }
    }
}
