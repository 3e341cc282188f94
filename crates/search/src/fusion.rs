//! Fuses several result lists by reciprocal rank: each page once, and pages that a team rated as valuable
//! rank higher.

use crate::category::is_within_site;
use crate::hit::Hit;
use crate::question::{Question, SourceKind};
use sites::{PageUrl, UrlEquivalence};
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use url::Url;

/// The usual constant of reciprocal rank fusion; a larger one makes neighbouring ranks more alike.
const RANK_CONSTANT: f32 = 60.0;
/// The most that a team's rating adds, relative to the score.
const MAX_RATING_BOOST: f32 = 0.5;

/// Merges lists, each best first; earlier lists win ties.
pub fn fuse(question: &Question, lists: Vec<Vec<Hit>>) -> Vec<Hit> {
    let valued = Ratings::from_question(question);
    let mut positions: HashMap<String, usize> = HashMap::new();
    let mut merged: Vec<(f32, Hit)> = Vec::new();
    for list in lists {
        for (rank, mut hit) in list.into_iter().enumerate() {
            hit.rating = valued.value(&hit.url);
            let score = (1.0 + MAX_RATING_BOOST * hit.rating) / (RANK_CONSTANT + rank as f32 + 1.0);
            match positions.entry(identity(question.kind, &hit)) {
                Entry::Vacant(position) => {
                    position.insert(merged.len());
                    merged.push((score, hit));
                }
                Entry::Occupied(position) => {
                    let (known_score, known) = &mut merged[*position.get()];
                    *known_score += score;
                    fill_missing_fields(known, hit);
                }
            }
        }
    }
    // The sort is stable: of equal scores, the first one met comes first.
    merged.sort_by(|(left, _), (right, _)| right.total_cmp(left));
    if question.time_range.newest_first {
        merged.sort_by_key(|(_, hit)| std::cmp::Reverse(hit.published.unwrap_or(i64::MIN)));
    }
    merged.into_iter().map(|(_, hit)| hit).take(question.limit).collect()
}

/// The identity of a hit: the page, or the image in an image search.
fn identity(kind: SourceKind, hit: &Hit) -> String {
    if let (SourceKind::Images, Some(image)) = (kind, &hit.image) {
        return image.url.clone();
    }
    page_key(&hit.url)
}

fn page_key(url: &Url) -> String {
    let sameness = UrlEquivalence { ignore_query: false, similar: true };
    let address = PageUrl::from_url_with_hash_route(url.clone(), sameness);
    address.map_or_else(|_| url.to_string(), |address| address.key().to_owned())
}

/// Copies fields that the higher ranked hit lacks.
fn fill_missing_fields(known: &mut Hit, other: Hit) {
    if known.title.is_empty() {
        known.title = other.title;
    }
    if known.text.is_empty() || (other.highlighted && !known.highlighted) {
        (known.text, known.highlighted) = (other.text, other.highlighted);
    }
    known.places.extend(other.places);
    known.date = known.date.take().or(other.date);
    known.published = known.published.or(other.published);
    known.image = known.image.take().or(other.image);
    known.category = known.category.or(other.category);
}

/// A team's ratings, prepared for lookup.
struct Ratings<'a> {
    pages: HashMap<String, f32>,
    hosts: Vec<(&'a str, f32)>,
}

impl<'a> Ratings<'a> {
    fn from_question(question: &'a Question) -> Self {
        let mut valued = Self { pages: HashMap::new(), hosts: Vec::new() };
        for (source, value) in &question.valued {
            if source.contains("://") {
                valued.pages.extend(Url::parse(source).ok().map(|url| (page_key(&url), *value)));
            } else {
                valued.hosts.push((source, *value));
            }
        }
        valued
    }

    /// The rating of a URL or its host, from 0 to 1.
    fn value(&self, url: &Url) -> f32 {
        let page = if self.pages.is_empty() { None } else { self.pages.get(&page_key(url)).copied() };
        let hosts = self.hosts.iter().filter(|(host, _)| is_within_site(url, host)).map(|(_, value)| *value);
        hosts.chain(page).fold(0.0, f32::max).clamp(0.0, 1.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use uuid::Uuid;

    fn question(limit: usize) -> Question {
        Question::new("x", limit, Uuid::nil())
    }

    fn hits(urls: &[&str]) -> Vec<Hit> {
        urls.iter().map(|url| Hit::new(url, url, "").unwrap()).collect()
    }

    fn urls(hits: &[Hit]) -> Vec<&str> {
        hits.iter().map(|hit| hit.url.as_str()).collect()
    }

    #[test]
    fn what_two_lists_agree_on_comes_first_and_once() {
        let one = hits(&["http://a.example/", "http://b.example/x", "http://c.example/"]);
        let two =
            hits(&["http://d.example/", "https://www.b.example/x/?utm_source=feed#top", "http://e.example/"]);
        let fused = fuse(&question(10), vec![one, two]);
        assert_eq!(
            urls(&fused),
            [
                "http://b.example/x",
                "http://a.example/",
                "http://d.example/",
                "http://c.example/",
                "http://e.example/"
            ]
        );
    }

    #[test]
    fn valued_pages_rank_higher_and_limits_hold() {
        let mut asked = question(3);
        asked.valued = vec![("good.example".to_owned(), 1.0)];
        let list = hits(&[
            "http://a.example/",
            "http://b.example/",
            "http://c.example/",
            "http://www.good.example/y",
        ]);
        assert_eq!(
            urls(&fuse(&asked, vec![list.clone()])),
            ["http://www.good.example/y", "http://a.example/", "http://b.example/"]
        );
        asked.valued = vec![("http://c.example/".to_owned(), 0.5)];
        assert_eq!(urls(&fuse(&asked, vec![list]))[0], "http://c.example/");
    }

    #[test]
    fn several_images_of_one_page_are_kept() {
        let mut asked = question(10);
        asked.kind = SourceKind::Images;
        let picture =
            |url: &str| Hit::new("http://a.example/", "", "").unwrap().with_image(Some(url), None, None);
        let fused = fuse(
            &asked,
            vec![
                vec![picture("http://a.example/1.png"), picture("http://a.example/2.png")],
                vec![picture("http://a.example/1.png")],
            ],
        );
        assert_eq!(fused.len(), 2);
    }

    #[test]
    fn the_newest_come_first_when_asked() {
        let mut asked = question(10);
        asked.time_range.newest_first = true;
        let mut list = hits(&["http://a.example/", "http://b.example/", "http://c.example/"]);
        list[1].published = Some(2);
        list[2].published = Some(3);
        assert_eq!(
            urls(&fuse(&asked, vec![list])),
            ["http://c.example/", "http://b.example/", "http://a.example/"]
        );
    }
}
