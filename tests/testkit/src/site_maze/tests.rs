use super::*;
use std::collections::VecDeque;

const BASE: &str = "http://127.0.0.1:4000";

/// Addresses in a page or a list, as a reader with no knowledge of HTML finds them.
fn addresses(answer: &Answer) -> Vec<String> {
    let body = answer.body.replace("<loc>", "<loc href=\"").replace("</loc>", "\">");
    let body =
        body.replace("<link>", "<link href=\"").replace("</link>", "\">").replace("href=/", "href=\"/");
    // What nothing ends was cut.
    let marked = body.split("href=\"").skip(1).filter_map(|rest| Some(rest.split_once(['"', ' ', '>'])?.0));
    let location = answer.headers.iter().filter(|(name, _)| *name == "location").map(|(_, to)| to.as_str());
    let listed = answer.body.lines().filter(|line| line.starts_with(BASE));
    marked.chain(location).chain(listed).map(|address| address.replace("&amp;", "&")).collect()
}

/// A path as a browser resolves it, or none for other sites.
fn resolved(address: &str, page: &str) -> Option<String> {
    let path = address.strip_prefix(BASE).unwrap_or(address);
    if path.contains(':') {
        return None;
    }
    let path = if path.starts_with('/') { path.to_owned() } else { format!("{page}/{path}") };
    Some(path.replace("/x/./y/../..", ""))
}

/// Every page the site has, found from its front door, its lists and its scripts.
fn walk(maze: &Maze) -> BTreeMap<String, Answer> {
    let scripted = (0..10).map(|n| format!("/made/{n}"));
    let mut open: VecDeque<String> = ["/", "/maps/index.xml", "/feed.xml"].map(str::to_owned).into();
    open.extend(scripted);
    let mut seen = BTreeMap::new();
    while let Some(path) = open.pop_front() {
        let page = Maze::page_of(&path);
        if seen.contains_key(&page) || Maze::endless(&path).is_some() {
            continue;
        }
        let answer = maze.answer(&path, BASE, u64::try_from(seen.len()).unwrap());
        open.extend(addresses(&answer).iter().filter_map(|address| resolved(address, &page)));
        seen.insert(page, answer);
    }
    seen
}

#[test]
fn everything_that_is_true_can_be_found_and_nothing_else() {
    let maze = Maze::new(7, 300);
    let seen = walk(&maze);
    for (path, known) in maze.truth().iter().filter(|(path, _)| path.starts_with('/')) {
        let answer = seen.get(path).unwrap_or_else(|| panic!("nothing leads to {path}"));
        let expected = match known.fate {
            Fate::Error(status) => status,
            Fate::Redirects | Fate::RedirectsAway | Fate::RedirectLoop => 301,
            Fate::NoText => 404,
            _ => 200,
        };
        assert_eq!(answer.status, expected, "{path}");
    }
    let lists = |path: &&String| path.starts_with("/maps/") || *path == "/feed.xml";
    let hops = ["/hop/2", "/hop/3", "/round/2"];
    for path in seen.keys().filter(|path| !lists(path) && !hops.contains(&path.as_str())) {
        assert!(maze.truth().contains_key(path), "{path} is not in the truth");
    }
    assert!(maze.pages(&[Way::Link]).len() > 300);
}

#[test]
fn one_seed_one_site() {
    let (one, same, other) = (Maze::new(1, 50), Maze::new(1, 50), Maze::new(2, 50));
    assert_eq!(one.answers, same.answers);
    assert_ne!(one.answers, other.answers);
    assert_eq!(one.truth().len(), other.truth().len());
}

#[test]
fn endless_places_have_no_end() {
    let maze = Maze::new(1, 5);
    for (place, start) in ENDLESS.iter().zip(["/calendar/", "/deeper/", "/shop?brand=1"]) {
        let mut page = start.to_owned();
        for _ in 0..40 {
            let answer = maze.answer(&page, BASE, 0);
            assert_eq!(answer.status, 200);
            page = resolved(addresses(&answer).last().unwrap(), &Maze::page_of(&page)).unwrap();
            assert_eq!(Maze::endless(&page), Some(place));
        }
    }
}

#[test]
fn sessions_change_the_address_but_not_the_page() {
    let maze = Maze::new(1, 5);
    let [first, second] = [1, 2].map(|turn| addresses(&maze.answer("/topic?t=3", BASE, turn)));
    assert_ne!(first, second);
    assert_eq!(Maze::page_of(&first[0]), Maze::page_of(&second[0]));
}
