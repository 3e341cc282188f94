//! The pages that the data of a run was taken from.

use agent::Citation;
use std::collections::BTreeMap;

/// The pages of each field, each once.
pub(crate) fn sources(citations: &[Citation]) -> BTreeMap<String, Vec<String>> {
    let mut sources: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for citation in citations {
        let pages = sources.entry(citation.field.trim_start_matches('/').to_owned()).or_default();
        if !pages.contains(&citation.url) {
            pages.push(citation.url.clone());
        }
    }
    sources
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_page_of_a_field_is_named_once() {
        let cite =
            |field: &str, url: &str| Citation { field: field.into(), url: url.into(), quote: String::new() };
        let found = sources(&[cite("/a/0", "u"), cite("/a/0", "u"), cite("/a/0", "v"), cite("/b", "u")]);
        assert_eq!(found["a/0"], ["u", "v"]);
        assert_eq!(found["b"], ["u"]);
    }
}
