//! Several lists become one: by reciprocal rank, each page once, what a team found valuable a little higher.

use crate::hit::Hit;
use crate::question::{Kind, Question, lies_within};
use sites::{Address, Sameness};
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use url::Url;

/// The usual constant of reciprocal rank fusion: how little the difference between neighbours counts.
const EVENNESS: f32 = 60.0;
/// The most that being valued adds, as a part of the score.
const VALUE: f32 = 0.5;

/// Merges lists, each best first, given in the order of how much they are trusted.
pub fn fuse(question: &Question, lists: Vec<Vec<Hit>>) -> Vec<Hit> {
    let valued = Valued::of(question);
    let mut places: HashMap<String, usize> = HashMap::new();
    let mut merged: Vec<(f32, Hit)> = Vec::new();
    for list in lists {
        for (rank, hit) in list.into_iter().enumerate() {
            let score = (1.0 + VALUE * valued.value(&hit.url)) / (EVENNESS + rank as f32 + 1.0);
            match places.entry(key(question.kind, &hit)) {
                Entry::Vacant(place) => {
                    place.insert(merged.len());
                    merged.push((score, hit));
                }
                Entry::Occupied(place) => {
                    let (known_score, known) = &mut merged[*place.get()];
                    *known_score += score;
                    complete(known, hit);
                }
            }
        }
    }
    // Stable: of equals, the one that was met first.
    merged.sort_by(|(left, _), (right, _)| right.total_cmp(left));
    if question.window.newest_first {
        merged.sort_by_key(|(_, hit)| std::cmp::Reverse(hit.published.unwrap_or(i64::MIN)));
    }
    merged.into_iter().map(|(_, hit)| hit).take(question.limit).collect()
}

/// What makes two hits one: the page, or the picture where pictures are looked for.
fn key(kind: Kind, hit: &Hit) -> String {
    if let (Kind::Images, Some(image)) = (kind, &hit.image) {
        return image.url.clone();
    }
    page_key(&hit.url)
}

fn page_key(url: &Url) -> String {
    let sameness = Sameness { ignore_query: false, similar: true };
    let address = Address::of(url.clone(), sameness);
    address.map_or_else(|_| url.to_string(), |address| address.key().to_owned())
}

/// Takes over what the better placed hit lacks.
fn complete(known: &mut Hit, other: Hit) {
    if known.title.is_empty() {
        known.title = other.title;
    }
    if known.text.is_empty() || (other.highlighted && !known.highlighted) {
        (known.text, known.highlighted) = (other.text, other.highlighted);
    }
    known.date = known.date.take().or(other.date);
    known.published = known.published.or(other.published);
    known.image = known.image.take().or(other.image);
    known.category = known.category.or(other.category);
}

/// What a team found valuable, made ready to be looked up for every hit.
struct Valued<'a> {
    pages: HashMap<String, f32>,
    hosts: Vec<(&'a str, f32)>,
}

impl<'a> Valued<'a> {
    fn of(question: &'a Question) -> Self {
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

    /// How valuable its address or its host was found, 0 to 1.
    fn value(&self, url: &Url) -> f32 {
        let page = if self.pages.is_empty() { None } else { self.pages.get(&page_key(url)).copied() };
        let hosts = self.hosts.iter().filter(|(host, _)| lies_within(url, host)).map(|(_, value)| *value);
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
    fn what_a_team_values_rises_and_limits_hold() {
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
    fn pictures_of_one_page_are_many() {
        let mut asked = question(10);
        asked.kind = Kind::Images;
        let picture =
            |url: &str| Hit::new("http://a.example/", "", "").unwrap().pictured(Some(url), None, None);
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
        asked.window.newest_first = true;
        let mut list = hits(&["http://a.example/", "http://b.example/", "http://c.example/"]);
        list[1].published = Some(2);
        list[2].published = Some(3);
        assert_eq!(
            urls(&fuse(&asked, vec![list])),
            ["http://c.example/", "http://b.example/", "http://a.example/"]
        );
    }
}
