//! Applies the filters that a provider does not support to its results.

use crate::category::{has_extension, is_within_site};
use crate::hit::Hit;
use crate::provider::Abilities;
use crate::question::{Question, WEB_COLLECTION};

/// Whether a hit matches the question, as far as can be seen. Sets its category.
pub fn matches(question: &Question, able: Abilities, hit: &mut Hit) -> bool {
    let terms = &question.terms;
    // Checking sites is exact and cheap, so it is done for every provider.
    if !question.accepts_site(&hit.url) {
        return false;
    }
    let of_sites = terms.sites.is_empty() || terms.sites.iter().any(|site| is_within_site(&hit.url, site));
    let alternative = terms.either && able.words;
    if !of_sites && !alternative {
        return false;
    }
    if !able.file_type
        && !terms.file_types.is_empty()
        && !hit.has_file_type
        && !terms.file_types.iter().any(|kind| has_extension(&hit.url, kind))
    {
        return false;
    }
    if !able.words && !matches_words(question, hit) {
        return false;
    }
    // A URL is known in full, and some providers that support words do not support `inurl:`.
    let url = hit.url.as_str().to_lowercase();
    if !terms.either && !terms.in_url.iter().all(|part| url.contains(&part.to_lowercase())) {
        return false;
    }
    if let (Some((width, height)), Some(image)) = (terms.image_size, &hit.image)
        && (image.width.is_some_and(|own| own != width) || image.height.is_some_and(|own| own != height))
    {
        return false;
    }
    if !able.time_range
        && let Some(published) = hit.published
        && (question.time_range.since(question.now).is_some_and(|since| published < since)
            || question.time_range.until().is_some_and(|until| published > until))
    {
        return false;
    }
    categorise(question, able, hit)
}

/// Checks excluded words, required phrases, and words required in the title or the URL.
fn matches_words(question: &Question, hit: &Hit) -> bool {
    let terms = &question.terms;
    let title = hit.title.to_lowercase();
    let text = format!("{title} {}", hit.text.to_lowercase());
    let url = hit.url.as_str().to_lowercase();
    if terms.without.iter().any(|word| has_word(&text, &word.to_lowercase())) {
        return false;
    }
    let needed = [(&terms.phrases, &text), (&terms.in_title, &title), (&terms.in_url, &url)];
    let mut needed = needed
        .iter()
        .flat_map(|(wanted, place)| wanted.iter().map(move |one| place.contains(&one.to_lowercase())));
    if terms.either {
        needed.clone().count() == 0 || needed.any(|found| found)
    } else {
        needed.all(|found| found)
    }
}

/// Whether a text contains a word as a whole word. Both in lower case.
fn has_word(text: &str, word: &str) -> bool {
    let inside = |character: Option<char>| character.is_some_and(char::is_alphanumeric);
    text.match_indices(word).any(|(at, found)| {
        !inside(text[..at].chars().next_back()) && !inside(text[at + found.len()..].chars().next())
    })
}

/// Sets the category of a hit; false if categories were asked for and it belongs to none of them.
fn categorise(question: &Question, able: Abilities, hit: &mut Hit) -> bool {
    if question.collection != WEB_COLLECTION {
        // Only the local index serves such a collection, and all of its hits belong to it.
        hit.category = Some(question.collection);
        return true;
    }
    let mut asked = question.categories.iter();
    if asked.len() == 0 {
        return true;
    }
    let held = asked.clone().find(|category| category.contains_url(&hit.url));
    // A provider that filters by file type knows it from the file, whatever its URL.
    let by_file =
        || asked.find(|category| category.file_type().is_some() && (able.file_type || hit.has_file_type));
    hit.category = held.or_else(by_file).map(|category| category.name());
    hit.category.is_some()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::category::Category;
    use crate::time_range::TimeRange;
    use uuid::Uuid;

    fn asked(query: &str) -> Question {
        Question::new(query, 10, Uuid::nil())
    }

    fn hit(url: &str, title: &str, text: &str) -> Hit {
        Hit::new(url, title, text).unwrap()
    }

    fn kept(question: &Question, able: Abilities, url: &str, title: &str, text: &str) -> bool {
        matches(question, able, &mut hit(url, title, text))
    }

    #[test]
    fn operators_are_applied_where_the_provider_has_none() {
        let none = Abilities::default();
        let question = asked("cats -dog \"big cats\" intitle:guide inurl:wild");
        assert!(kept(&question, none, "http://x.example/wild", "A guide", "about Big Cats and dogma"));
        assert!(!kept(&question, none, "http://x.example/wild", "A guide", "big cats and a dog."));
        assert!(!kept(&question, none, "http://x.example/wild", "A guide", "cats that are big"));
        assert!(!kept(&question, none, "http://x.example/wild", "A book", "big cats"));
        assert!(!kept(&question, none, "http://x.example/tame", "A guide", "big cats"));
        assert!(kept(&question, Abilities { words: true, ..none }, "http://x.example/wild", "x", "a dog"));
    }

    #[test]
    fn sites_are_checked_for_every_provider() {
        let all = Abilities { words: true, file_type: true, time_range: true };
        let mut question = asked("x -site:bad.a.example");
        question.sites = vec!["a.example".into()];
        question.without_sites = vec!["a.example/private".into()];
        assert!(kept(&question, all, "http://www.a.example/x", "", ""));
        for wrong in ["http://b.example/", "http://bad.a.example/", "http://a.example/private/x"] {
            assert!(!kept(&question, all, wrong, "", ""), "{wrong}");
        }
    }

    #[test]
    fn categories_are_marked_and_old_pages_left_out() {
        let none = Abilities::default();
        let mut question = asked("x");
        question.categories = vec![Category::Github, Category::Pdf];
        let mut file = hit("https://a.example/x.PDF?v=1", "", "");
        assert!(matches(&question, none, &mut file));
        assert_eq!(file.category, Some("pdf"));
        let mut code = hit("https://github.com/a/b", "", "");
        assert!(matches(&question, none, &mut code) && code.category == Some("github"));
        assert!(!kept(&question, none, "https://a.example/x", "", ""));
        assert!(kept(&question, Abilities { file_type: true, ..none }, "https://arxiv.org/pdf/1", "", ""));

        let mut question = asked("x");
        question.time_range = TimeRange::parse("qdr:d").unwrap();
        let with_date = |date: &str| hit("http://x.example/", "", "").with_date(Some(date), question.now);
        assert!(matches(&question, none, &mut with_date("3 hours ago")));
        assert!(!matches(&question, none, &mut with_date("3 days ago")));
        assert!(
            matches(&question, none, &mut hit("http://x.example/", "", "")),
            "a page without a date is kept"
        );
    }
}
