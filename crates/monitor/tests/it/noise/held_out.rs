//! Pages of other kinds than those that rules were written on: documentation, wiki, league, recipe, course,
//! property, weather station, library, minutes of a council, classified adverts.

use super::model::{Card, Noise, PageModel, Part};
use super::random::Random;
use jiff::Zoned;

pub fn pages(seed: u64) -> Vec<PageModel> {
    (0..60)
        .map(|number| page(number % 10, &mut Random::new(seed * 7_777 + u64::try_from(number).unwrap())))
        .collect()
}

/// Noise in other words than the rules were written on.
pub fn noise_lines(kind: usize, now: &Zoned, random: &mut Random) -> Vec<String> {
    let line = match kind {
        0 => format!("Aktualisiert: {} Uhr", now.strftime("%d.%m.%Y, %H:%M")),
        1 => format!("Zuletzt bearbeitet vor {} Stunden", random.between(2, 20)),
        2 => format!(
            "{}.{}K downloads · {} forks",
            random.between(1, 90),
            random.below(10),
            random.between(3, 800)
        ),
        3 => format!("Users online: {}", random.between(20, 4_000)),
        4 => format!("Sponsored by {}", random.name()),
        5 => format!("**Promoted** {} from {} EUR", random.name(), random.between(9, 99)),
        6 => format!("Your session: {}-{}", random.hex(8), random.hex(12)),
        7 => format!("Next draw: {} days {} hours remaining", random.between(1, 6), random.between(1, 23)),
        8 => {
            let mut lines = vec!["### Trending".to_owned()];
            lines.extend((0..2).map(|_| format!("[{}](/t/{})", random.name(), random.below(1_000))));
            return lines;
        }
        9 => format!("Tip: {}", random.sentence(8)),
        10 => format!("![Map](/tiles/{}.png?token={})", 12, random.hex(18)),
        _ => format!("Data as of {}", now.strftime("%b %-d, %Y %-I:%M %p")),
    };
    vec![line]
}

#[expect(clippy::too_many_lines, reason = "one arm for each kind of page")]
fn page(kind: usize, random: &mut Random) -> PageModel {
    use Noise::{
        Advert, Ago, Clock, Comments, CookieBanner, Copyright, Countdown, LabelledAdvert, Quote, Related,
        RenderedIn, RequestId, SignedPicture, Today, TrackedLink, Updated, Viewing, Views,
    };
    let mut parts = Vec::new();
    let mut line = |text: String| parts.push(Part::Line(text));
    let title = match kind {
        0 => {
            for chapter in 1..=4 {
                line(format!("## {chapter}. {}", random.name()));
                line(random.sentence(16));
                line(format!("Set the limit to {} and restart.", random.between(10, 5_000)));
            }
            parts.extend([Part::Noise(Updated), Part::Noise(Views), Part::Noise(CookieBanner)]);
            "Documentation"
        }
        1 => {
            for _ in 0..5 {
                line(format!("## {}", random.name()));
                line(random.sentence(20));
                line(random.sentence(14));
            }
            parts.extend([Part::Noise(Ago), Part::Noise(RenderedIn), Part::Noise(TrackedLink)]);
            "Wiki"
        }
        2 => {
            let rows = (0..8).map(|place| {
                vec![
                    format!("{}. {}", place + 1, random.name()),
                    random.between(10, 70).to_string(),
                    random.between(0, 30).to_string(),
                ]
            });
            let rows = rows.collect();
            parts.push(Part::Noise(Clock));
            parts.push(Part::Table { head: "| Team | Points | Goals |".to_owned(), rows });
            parts.extend([Part::Noise(Advert), Part::Noise(Comments), Part::Line(random.sentence(15))]);
            "League"
        }
        3 => {
            line(format!("Serves {} · {} minutes", random.between(2, 8), random.between(15, 90)));
            let entries =
                (0..8).map(|_| format!("{} g of {}", random.between(5, 900), random.sentence(2))).collect();
            parts.push(Part::List { entries, shuffled: false });
            parts.push(Part::Noise(LabelledAdvert));
            parts.push(Part::Ranking((0..5).map(|_| random.sentence(10)).collect()));
            parts.extend([
                Part::Noise(Views),
                Part::Noise(Quote),
                Part::Noise(Related),
                Part::Noise(Copyright),
            ]);
            "Recipe"
        }
        4 => {
            line(format!(
                "Starts on {} February 2027, room {}",
                random.between(1, 28),
                random.between(100, 400)
            ));
            line(format!("Seats left: {}", random.between(1, 40)));
            parts.extend((0..5).map(|_| Part::Line(random.sentence(18))));
            parts.extend([Part::Noise(Viewing), Part::Noise(RequestId), Part::Noise(Updated)]);
            "Course"
        }
        5 => {
            line(format!("Rent: {} EUR, {} m²", random.between(400, 3_000), random.between(20, 160)));
            parts.push(Part::Noise(SignedPicture));
            parts.extend((0..4).map(|_| Part::Line(random.sentence(15))));
            parts.push(Part::Late(vec!["## Nearby".to_owned(), random.sentence(9), random.sentence(8)]));
            parts.extend([Part::Noise(Views), Part::Noise(CookieBanner), Part::Noise(Advert)]);
            "Property"
        }
        6 => {
            let rows = (0..6)
                .map(|_| vec![random.name(), random.between(1, 40).to_string(), "dry".to_owned()])
                .collect();
            parts.extend([
                Part::Noise(Today),
                Part::Noise(Updated),
                Part::Table { head: "| Station | Degrees | Rain |".to_owned(), rows },
            ]);
            parts.push(Part::Noise(RenderedIn));
            "Weather stations"
        }
        7 => {
            let cards = (0..7)
                .map(|_| Card { name: random.name(), price: random.between(100, 4_000), stock: "In stock" })
                .collect();
            parts.push(Part::Cards { cards, shuffled: random.chance(50) });
            parts.extend([Part::Noise(Related), Part::Noise(Countdown), Part::Noise(Copyright)]);
            "Library"
        }
        8 => {
            for item in 1..=6 {
                line(format!("Item {item}: {}", random.sentence(14)));
                line(format!("Decided by {} votes to {}.", random.between(5, 30), random.between(0, 5)));
            }
            parts.extend([Part::Noise(Updated), Part::Noise(TrackedLink), Part::Noise(CookieBanner)]);
            "Minutes"
        }
        _ => {
            let entries =
                (0..12).map(|_| format!("{} for {} EUR", random.name(), random.between(5, 2_000))).collect();
            parts.push(Part::List { entries, shuffled: true });
            parts.extend([
                Part::Noise(Advert),
                Part::Noise(Ago),
                Part::Noise(Viewing),
                Part::Noise(RequestId),
            ]);
            "Classifieds"
        }
    };
    // Three kinds of noise of their own on every page, anywhere but inside of something.
    for _ in 0..3 {
        let at = random.between(1, parts.len());
        parts.insert(at, Part::Noise(Noise::HeldOut(random.below(12))));
    }
    PageModel { title: title.to_owned(), parts }
}
