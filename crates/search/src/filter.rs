//! What a provider could not do with a question is done to its results.

use crate::category::ends_in;
use crate::hit::Hit;
use crate::provider::Abilities;
use crate::question::{Question, WEB, lies_within};

/// Whether a hit answers the question, as far as it shows. Marks its category.
pub fn keep(question: &Question, able: Abilities, hit: &mut Hit) -> bool {
    let terms = &question.terms;
    // Sites are exact and cheap; nobody is trusted with them.
    if !question.wants(&hit.url) {
        return false;
    }
    let of_sites = terms.sites.is_empty() || terms.sites.iter().any(|site| lies_within(&hit.url, site));
    let alternative = terms.either && able.words;
    if !of_sites && !alternative {
        return false;
    }
    if !able.file_type
        && !terms.file_types.is_empty()
        && !hit.of_file_type
        && !terms.file_types.iter().any(|kind| ends_in(&hit.url, kind))
    {
        return false;
    }
    if !able.words && !says_what_it_must(question, hit) {
        return false;
    }
    // Addresses show all there is to know of them; not everybody who knows words knows addresses.
    let url = hit.url.as_str().to_lowercase();
    if !terms.either && !terms.in_url.iter().all(|part| url.contains(&part.to_lowercase())) {
        return false;
    }
    if let (Some((width, height)), Some(image)) = (terms.image_size, &hit.image)
        && (image.width.is_some_and(|own| own != width) || image.height.is_some_and(|own| own != height))
    {
        return false;
    }
    if !able.window
        && let Some(published) = hit.published
        && (question.window.since(question.now).is_some_and(|since| published < since)
            || question.window.until().is_some_and(|until| published > until))
    {
        return false;
    }
    categorise(question, able, hit)
}

/// Words that must not be there, phrases that must, and words of titles and addresses.
fn says_what_it_must(question: &Question, hit: &Hit) -> bool {
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

/// Whether a word stands in a text by itself. Both in lower case.
fn has_word(text: &str, word: &str) -> bool {
    let inside = |character: Option<char>| character.is_some_and(char::is_alphanumeric);
    text.match_indices(word).any(|(at, found)| {
        !inside(text[..at].chars().next_back()) && !inside(text[at + found.len()..].chars().next())
    })
}

/// Finds the category a hit belongs to; false when one was asked for and it belongs to none.
fn categorise(question: &Question, able: Abilities, hit: &mut Hit) -> bool {
    if question.collection != WEB {
        // Only the local index has it, and all of its hits are of it.
        hit.category = Some(question.collection);
        return true;
    }
    let mut asked = question.categories.iter();
    if asked.len() == 0 {
        return true;
    }
    let held = asked.clone().find(|category| category.holds(&hit.url));
    // A provider that filters by kind of file knows it from the file, which may have any address.
    let by_file =
        || asked.find(|category| category.file_type().is_some() && (able.file_type || hit.of_file_type));
    hit.category = held.or_else(by_file).map(|category| category.name());
    hit.category.is_some()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::category::Category;
    use crate::window::Window;
    use uuid::Uuid;

    fn asked(query: &str) -> Question {
        Question::new(query, 10, Uuid::nil())
    }

    fn hit(url: &str, title: &str, text: &str) -> Hit {
        Hit::new(url, title, text).unwrap()
    }

    fn kept(question: &Question, able: Abilities, url: &str, title: &str, text: &str) -> bool {
        keep(question, able, &mut hit(url, title, text))
    }

    #[test]
    fn operators_hold_where_the_provider_has_none() {
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
    fn sites_hold_whoever_answers() {
        let all = Abilities { words: true, file_type: true, window: true };
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
        assert!(keep(&question, none, &mut file));
        assert_eq!(file.category, Some("pdf"));
        let mut code = hit("https://github.com/a/b", "", "");
        assert!(keep(&question, none, &mut code) && code.category == Some("github"));
        assert!(!kept(&question, none, "https://a.example/x", "", ""));
        assert!(kept(&question, Abilities { file_type: true, ..none }, "https://arxiv.org/pdf/1", "", ""));

        let mut question = asked("x");
        question.window = Window::read("qdr:d").unwrap();
        let dated = |date: &str| hit("http://x.example/", "", "").dated(Some(date), question.now);
        assert!(keep(&question, none, &mut dated("3 hours ago")));
        assert!(!keep(&question, none, &mut dated("3 days ago")));
        assert!(keep(&question, none, &mut hit("http://x.example/", "", "")), "what has no date is not old");
    }
}
