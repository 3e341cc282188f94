use super::*;
use crate::page_url::UrlEquivalence;

fn address(path: &str) -> PageUrl {
    PageUrl::parse(
        &format!("https://a.com{path}"),
        UrlEquivalence { similar: true, ..UrlEquivalence::default() },
    )
    .unwrap()
}

fn shape_of(path: &str) -> Option<Trap> {
    trap_by_shape(&address(path))
}

/// How many of these are followed.
fn passing(paths: impl IntoIterator<Item = String>) -> usize {
    let mut state = TrapState::new(2026);
    paths.into_iter().filter(|path| state.admit(&address(path)).is_none()).count()
}

#[test]
fn shapes_of_endless_paths() {
    for path in ["/a/b/a/b/a/b", "/en/en/en", "/x/a/b/a/b/a/b/y", "/a/1/a/1/a/1", "/a/x/a/y/a/z/a/w/a"] {
        assert_eq!(shape_of(path), Some(Trap::RepeatedSegments), "{path}");
    }
    assert_eq!(shape_of(&"/a1/b2/c3".replace('/', "/x").repeat(12)), Some(Trap::DeepPath));
}

#[test]
fn ordinary_paths_are_no_traps() {
    for path in [
        "/",
        "/docs/v1/api/v1/users",
        "/2011/11/11/eleven",
        "/1/1/1/1/1/1",
        "/tiles/0/0/0",
        "/org/repo/blob/main/src/main/java/com/example/product/module/main/impl/Main.java",
        "/de/de",
        "/a/b/a/b/c/a/b",
    ] {
        assert_eq!(shape_of(path), None, "{path}");
    }
}

#[test]
fn calendars_end() {
    let months = |from: u32, to: u32| (from..to).flat_map(|year| (1..=12).map(move |month| (year, month)));
    // Back to 1926 and ahead to 2028, then two years of months in either direction.
    assert_eq!(passing(months(2026, 2400).map(|(y, m)| format!("/events/{y}/{m:02}/"))), 36 + 24);
    assert_eq!(passing(months(2026, 2400).map(|(y, m)| format!("/events?month={y}-{m}"))), 36 + 24);
    assert_eq!(
        passing(months(2026, 2400).map(|(y, m)| format!("/cal.php?view=m&year={y}&month={m}"))),
        36 + 24
    );
    assert_eq!(passing(months(2026, 2400).map(|(y, m)| format!("/week/{y}-{m:02}-01"))), 36 + 24);
    assert_eq!(
        passing(months(1000, 2027).collect::<Vec<_>>().into_iter().rev().map(|(y, m)| format!("/{y}/{m}"))),
        101 * 12 + 24
    );
}

#[test]
fn archives_and_articles_do_not_end() {
    let days = (1996..2026).flat_map(|year| (1..=12).map(move |month| format!("/{year}/{month:02}")));
    assert_eq!(passing(days), 30 * 12);
    assert_eq!(passing((0..9000).map(|n| format!("/2024/05/17/article-{n}"))), 9000);
    assert_eq!(passing((1000..9000).map(|n| format!("/item/{n}"))), 8000);
    assert_eq!(passing((1000..9000).map(|n| format!("/item/{n}?page=3"))), 8000);
    assert_eq!(passing((2000..2999).map(|n| format!("/reports?year={n}"))), 999);
    assert_eq!(passing((0..5000).map(|n| format!("/release/{}.{}", n / 100, n % 100))), 5000);
}

#[test]
fn filters_end() {
    let all = (0..8 * 8 * 8 * 8).map(|n: u32| {
        format!("/shop?colour={}&size={}&brand={}&sort={}", n % 8, n / 8 % 8, n / 64 % 8, n / 512)
    });
    let passed = passing(all);
    assert!((200..400).contains(&passed), "{passed}");
    let lists = (0..4096_u32).map(|n| {
        let tags: Vec<String> =
            (0..12).filter(|bit| n >> bit & 1 == 1).map(|bit| format!("tag{bit}")).collect();
        format!("/search?tags={}", tags.join(","))
    });
    assert!(passing(lists) < 400);
    let wide: Vec<String> = (0..60).map(|n| format!("f{n}=1")).collect();
    assert_eq!(passing([format!("/s?{}", wide.join("&"))]), 0);
}

#[test]
fn ids_and_lists_do_not_end() {
    assert_eq!(passing((0..9000).map(|n| format!("/product.php?id={n}"))), 9000);
    assert_eq!(passing((0..9000).map(|n| format!("/list?page={n}"))), 9000);
    let topics = (0..9000).map(|n| format!("/viewtopic.php?f={}&t={}&start={}", n / 900, n / 9, n % 9 * 15));
    assert_eq!(passing(topics), 9000);
    assert_eq!(passing((0..9000).map(|n| format!("/w/index.php?title=Page_{n}&action=view"))), 9000);
}

#[test]
fn memory_is_bounded_and_can_be_stored() {
    let mut state = TrapState::new(2026);
    for n in 0..2 * MAX_COUNTERS {
        state.admit(&address(&format!("/p{n}?a={n}&b={n}")));
        state.admit(&address(&format!("/c{n}/2024/05")));
    }
    let pieces = |n: usize| (0..30).map(move |letter| format!("p{letter}={n}")).collect::<Vec<_>>().join("&");
    for n in 0..MAX_REMEMBERED_PIECES / 25 {
        state.admit(&address(&format!("/p1?{}", pieces(n))));
    }
    assert!(state.calendars.len() <= MAX_COUNTERS && state.filtered.len() <= MAX_COUNTERS);
    let remembered: usize = state.filtered.values().map(Facets::remembered).sum();
    assert!(remembered <= MAX_REMEMBERED_PIECES, "{remembered}");
    let stored = serde_json::to_string(&state).unwrap();
    assert_eq!(serde_json::from_str::<TrapState>(&stored).unwrap(), state);
}
