//! Pages in the shape of common sites: shop, listing, news, article, changelog, prices, jobs, events, status,
//! forum, chart, notice.

use super::model::{Card, Noise, PageModel, Part};
use super::random::Random;

pub fn pages(seed: u64) -> Vec<PageModel> {
    (0..60)
        .map(|number| page(number % 12, &mut Random::new(seed * 1_000 + u64::try_from(number).unwrap())))
        .collect()
}

fn sentences(random: &mut Random, count: usize) -> Vec<Part> {
    (0..count).map(|_| Part::Line([random.sentence(11), random.sentence(13)].join(" "))).collect()
}

fn cards(random: &mut Random, count: usize) -> Vec<Card> {
    (0..count)
        .map(|_| Card { name: random.name(), price: random.between(500, 90_000), stock: "In stock" })
        .collect()
}

fn noise(kinds: &[Noise]) -> Vec<Part> {
    kinds.iter().map(|kind| Part::Noise(*kind)).collect()
}

fn entries(random: &mut Random, count: usize) -> Vec<String> {
    (0..count).map(|_| random.sentence(7)).collect()
}

#[expect(clippy::too_many_lines, reason = "one arm for each kind of page")]
fn page(kind: usize, random: &mut Random) -> PageModel {
    use Noise::*;
    let line = |text: &str| Part::Line(text.to_owned());
    let (title, parts): (&str, Vec<Vec<Part>>) = match kind {
        0 => (
            "Product",
            vec![
                noise(&[CookieBanner, SignedPicture]),
                vec![
                    Part::Line(format!("Price: €{}.99", random.between(10, 900))),
                    line("In stock"),
                    Part::Noise(Viewing),
                ],
                sentences(random, 4),
                vec![Part::List { entries: entries(random, 5), shuffled: false }],
                noise(&[Quote, Related, TrackedLink, Copyright]),
            ],
        ),
        1 => (
            "Listing",
            vec![
                noise(&[CookieBanner, Countdown]),
                vec![Part::Cards { cards: cards(random, 9), shuffled: true }],
                noise(&[Advert]),
                sentences(random, 2),
                noise(&[RequestId, Copyright]),
            ],
        ),
        2 => (
            "News",
            vec![
                noise(&[Today, Clock]),
                vec![Part::List { entries: entries(random, 10), shuffled: true }],
                noise(&[LabelledAdvert]),
                vec![line("## Opinion"), Part::List { entries: entries(random, 6), shuffled: false }],
                noise(&[Views, Related, TrackedLink]),
            ],
        ),
        3 => (
            "Article",
            vec![
                noise(&[Ago, Views, Comments]),
                sentences(random, 9),
                noise(&[Advert]),
                sentences(random, 4),
                vec![Part::Late(vec![
                    "## More from the author".to_owned(),
                    random.sentence(9),
                    random.sentence(9),
                ])],
                noise(&[Related, CookieBanner, Copyright]),
            ],
        ),
        4 => (
            "Changelog",
            vec![
                noise(&[Updated]),
                vec![
                    line("## 4.2.1 (12 March 2026)"),
                    Part::List { entries: entries(random, 5), shuffled: false },
                ],
                vec![
                    line("## 4.2.0 (1 February 2026)"),
                    Part::List { entries: entries(random, 6), shuffled: false },
                ],
                noise(&[Views, RenderedIn]),
            ],
        ),
        5 => (
            "Prices",
            vec![
                noise(&[CookieBanner]),
                vec![Part::Table {
                    head: "| Plan | Price | Support |".to_owned(),
                    rows: (0..5)
                        .map(|_| vec![random.name(), random.between(5, 400).to_string(), "yes".to_owned()])
                        .collect(),
                }],
                sentences(random, 3),
                noise(&[Quote, Viewing, Updated, Copyright]),
            ],
        ),
        6 => (
            "Jobs",
            vec![
                noise(&[Updated, Advert]),
                vec![Part::List {
                    entries: (0..9)
                        .map(|_| {
                            format!("{}, Berlin, {} EUR", random.sentence(3), random.between(30_000, 99_000))
                        })
                        .collect(),
                    shuffled: true,
                }],
                noise(&[RequestId, CookieBanner]),
            ],
        ),
        7 => (
            "Events",
            vec![
                noise(&[Today]),
                vec![Part::Table {
                    head: "| Event | Day | Tickets |".to_owned(),
                    rows: (0..7)
                        .map(|_| {
                            vec![
                                random.name(),
                                format!("{} December 2026", random.between(1, 28)),
                                "available".to_owned(),
                            ]
                        })
                        .collect(),
                }],
                sentences(random, 3),
                vec![Part::Late(vec![random.sentence(12), random.sentence(10)])],
                noise(&[Copyright, Views]),
            ],
        ),
        8 => (
            "Status",
            vec![
                noise(&[Clock, RequestId]),
                vec![Part::List {
                    entries: [
                        "API: operational",
                        "Web: operational",
                        "Mail: degraded",
                        "Search: operational",
                    ]
                    .map(str::to_owned)
                    .to_vec(),
                    shuffled: false,
                }],
                sentences(random, 2),
                noise(&[Updated, RenderedIn]),
            ],
        ),
        9 => (
            "Forum",
            vec![
                noise(&[Views, Ago]),
                sentences(random, 7),
                noise(&[LabelledAdvert, Comments, Viewing]),
                sentences(random, 2),
                noise(&[Related]),
            ],
        ),
        10 => (
            "Chart",
            vec![
                noise(&[Today, Ago]),
                vec![Part::Ranking(entries(random, 12))],
                noise(&[Advert, Views, Copyright]),
            ],
        ),
        _ => (
            "Notice",
            vec![
                vec![line("Deadline: 14 January 2027, 17:00"), line("Fee: 120 EUR")],
                sentences(random, 8),
                noise(&[CookieBanner, TrackedLink, Updated, RequestId]),
            ],
        ),
    };
    PageModel { title: title.to_owned(), parts: parts.into_iter().flatten().collect() }
}
