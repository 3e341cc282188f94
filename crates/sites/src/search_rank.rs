//! Ranks pages by a search text, for maps: words in the path, the title, the description and the host.
//!
//! Nothing is dropped. Matching pages come first, best first; equally good pages keep their order.

use std::cmp::Ordering;
use text::names;
use url::Url;

/// Words of a search that are used.
const MAX_WORDS: usize = 16;
/// Bytes of one field that are used.
const MAX_FIELD_BYTES: usize = 1000;

/// What is known about a page.
#[derive(Clone, Copy, Debug)]
pub struct PageInfo<'a> {
    /// Its URL.
    pub url: &'a str,
    /// Its title, or nothing.
    pub title: &'a str,
    /// Its description, or nothing.
    pub description: &'a str,
}

/// The indexes of all pages, best first.
pub fn rank(pages: &[PageInfo<'_>], search: &str) -> Vec<usize> {
    let mut words = split_words(search);
    words.sort_unstable();
    words.dedup();
    words.truncate(MAX_WORDS);
    let mut order: Vec<usize> = (0..pages.len()).collect();
    if words.is_empty() {
        return order;
    }
    let fits: Vec<Vec<f32>> = pages.iter().map(|page| word_scores(page, &words)).collect();
    let weights: Vec<f32> = (0..words.len()).map(|word| weight(&fits, word)).collect();
    let scores: Vec<f32> = fits.iter().map(|fit| score(fit, &weights)).collect();
    // At equal scores the page closer to the root: an overview before its parts.
    let depths: Vec<usize> = pages.iter().map(|page| page.url.matches('/').count()).collect();
    order.sort_by(|&left, &right| {
        scores[right]
            .partial_cmp(&scores[left])
            .unwrap_or(Ordering::Equal)
            .then_with(|| if scores[left] > 0.0 { depths[left].cmp(&depths[right]) } else { Ordering::Equal })
    });
    order
}

/// Rare words distinguish pages; a word on every page does not.
fn weight(fits: &[Vec<f32>], word: usize) -> f32 {
    let with = fits.iter().filter(|fit| fit[word] > 0.0).count();
    (1.0 + fits.len() as f32 / (1.0 + with as f32)).ln()
}

/// The sum over all words, more for pages that match all of them.
fn score(fit: &[f32], weights: &[f32]) -> f32 {
    let sum: f32 = fit.iter().zip(weights).map(|(fit, weight)| fit * weight).sum();
    let found: f32 = fit.iter().zip(weights).filter(|(fit, _)| **fit > 0.0).map(|(_, weight)| weight).sum();
    let all: f32 = weights.iter().sum();
    sum * (found / all)
}

/// How well each word matches a page: the best of its fields, plus a little for every other one.
fn word_scores(page: &PageInfo<'_>, words: &[String]) -> Vec<f32> {
    let (host, path) = host_and_path(page.url);
    let path = path.trim_end_matches('/');
    let (folders, name) = path.rsplit_once('/').unwrap_or(("", path));
    let fields =
        [(3.0, name), (2.0, folders), (3.0, page.title), (1.0, page.description), (0.5, host.as_str())];
    let fields = fields.map(|(value, text)| (value, split_words(text)));
    let one = |word: &String| {
        let values = fields.iter().map(|(value, found)| value * word_similarity(found, word));
        let (best, sum) = values.fold((0.0_f32, 0.0), |(best, sum), value| (best.max(value), sum + value));
        best + (sum - best) * 0.3
    };
    words.iter().map(one).collect()
}

/// 1 for the same word, less for another form of it, least for a part of a longer word.
fn word_similarity(found: &[String], word: &str) -> f32 {
    let one = |other: &String| {
        if other == word {
            1.0
        } else if stem(other) == stem(word) {
            0.8
        } else if word.chars().count() >= 2 && other.contains(word) {
            0.4
        } else {
            0.0
        }
    };
    found.iter().map(one).fold(0.0, f32::max)
}

/// A word without its English endings, so that `install`, `installs` and `installation` match.
fn stem(word: &str) -> &[u8] {
    text::stem::english(word.as_bytes())
}

/// The host without its port, and the path with its query, percent-decoded.
fn host_and_path(url: &str) -> (String, String) {
    let Ok(url) = Url::parse(url) else { return (String::new(), url.to_owned()) };
    let host = url.host_str().unwrap_or_default().to_owned();
    let written = &url[url::Position::BeforePath..url::Position::AfterQuery];
    (host, String::from_utf8_lossy(&crate::page_url::percent_decode(written)).into_owned())
}

fn split_words(text: &str) -> Vec<String> {
    names::words(text[..text.floor_char_boundary(MAX_FIELD_BYTES)].chars()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ranked<'a>(urls: &[&'a str], search: &str) -> Vec<&'a str> {
        let pages: Vec<PageInfo<'_>> =
            urls.iter().map(|url| PageInfo { url, title: "", description: "" }).collect();
        rank(&pages, search).into_iter().map(|index| urls[index]).collect()
    }

    #[test]
    fn what_fits_comes_first_and_nothing_is_lost() {
        let urls = [
            "https://docs.example.com/",
            "https://docs.example.com/docs/pricing/history",
            "https://docs.example.com/docs/install",
            "https://docs.example.com/pricing",
            "https://docs.example.com/docs/api/getStarted?x=1",
        ];
        assert_eq!(ranked(&urls, "Pricing")[..2], [urls[3], urls[1]]);
        assert_eq!(ranked(&urls, "how to get started")[0], urls[4]);
        assert_eq!(ranked(&urls, "installation docs")[0], urls[2]);
        assert_eq!(ranked(&urls, "nothing like it"), urls);
        assert_eq!(ranked(&urls, " ?! "), urls);
        assert_eq!(ranked(&urls, "docs").len(), urls.len());
    }

    #[test]
    fn titles_count_and_rare_words_count_more() {
        let page = |url, title, description| PageInfo { url, title, description };
        let pages = [
            page("https://e.com/a1", "Web guide", "The web and its guide"),
            page("https://e.com/a2", "Web guide to gannets", ""),
            page("https://e.com/a3", "Other", "Seen on the web: gannets"),
            page("https://e.com/a4", "Web news", ""),
        ];
        assert_eq!(rank(&pages, "web gannet")[..2], [1, 2]);
    }

    #[test]
    fn other_scripts_and_escapes() {
        let urls = ["https://e.com/%E4%BB%B7%E6%A0%BC", "https://e.com/x", "https://e.com/产品价格表"];
        assert_eq!(ranked(&urls, "价格"), [urls[0], urls[2], urls[1]]);
        assert_eq!(ranked(&["/broken", "https://e.com/grüße"], "GRÜSSE grüße")[0], "https://e.com/grüße");
    }
}
