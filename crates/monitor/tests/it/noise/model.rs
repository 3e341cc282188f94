//! A page as a model: its content, which is the truth, and the noise that every read shows in another way.

use super::random::Random;
use jiff::tz::TimeZone;
use jiff::{Timestamp, Zoned};

/// One part of the content. Equal parts are the same truth.
#[derive(Debug, Clone, PartialEq)]
pub enum Part {
    Line(String),
    /// Entries whose order means nothing, and whether reads shuffle them.
    List {
        entries: Vec<String>,
        shuffled: bool,
    },
    /// Entries with a name, a price and a stock, as in listings; shuffled by reads or not.
    Cards {
        cards: Vec<Card>,
        shuffled: bool,
    },
    Table {
        head: String,
        rows: Vec<Vec<String>>,
    },
    /// Entries with a number each, whose order is content.
    Ranking(Vec<String>),
    /// A part that a few reads do not have.
    Late(Vec<String>),
    Noise(Noise),
}

#[derive(Debug, Clone, PartialEq)]
pub struct Card {
    pub name: String,
    pub price: usize,
    pub stock: &'static str,
}

/// What differs between reads and means nothing.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Noise {
    Updated,
    Today,
    Clock,
    Ago,
    Views,
    Viewing,
    Comments,
    Countdown,
    Advert,
    LabelledAdvert,
    Quote,
    Related,
    RequestId,
    TrackedLink,
    SignedPicture,
    CookieBanner,
    Copyright,
    RenderedIn,
    /// One of the kinds that only the held-out pages have.
    HeldOut(usize),
}

/// One read of a page.
pub struct ReadContext<'a> {
    pub at: Timestamp,
    pub random: &'a mut Random,
}

impl ReadContext<'_> {
    fn local(&self) -> Zoned {
        self.at.to_zoned(TimeZone::UTC)
    }

    fn noise(&mut self, noise: Noise) -> Vec<String> {
        let now = self.local();
        let random = &mut *self.random;
        let line = match noise {
            Noise::Updated => format!("Last updated: {}", now.strftime("%Y-%m-%d %H:%M")),
            Noise::Today => now.strftime("%A, %-d %B %Y").to_string(),
            Noise::Clock => format!("Local time {}", now.strftime("%H:%M:%S")),
            Noise::Ago => format!(
                "Posted {} {} ago by the desk",
                random.between(2, 50),
                random.pick(&["minutes", "hours", "days"])
            ),
            Noise::Views => format!(
                "{},{:03} views · {} likes",
                random.between(1, 90),
                random.below(1000),
                random.between(2, 900)
            ),
            Noise::Viewing => format!("{} people are viewing this right now", random.between(2, 60)),
            Noise::Comments => format!("[Comments ({})](#comments)", random.between(3, 400)),
            Noise::Countdown => format!(
                "Sale ends in {:02}:{:02}:{:02}",
                random.below(20),
                random.below(60),
                random.below(60)
            ),
            Noise::Advert => {
                let (name, id) = (random.name(), random.hex(12));
                format!("[{name}: now at half price](https://ads.example.net/click?c={id})")
            }
            Noise::LabelledAdvert => {
                return vec!["Advertisement".to_owned(), format!("{} — delivered free", random.name())];
            }
            Noise::Quote => (*random.pick(&[
                "“They answered within the hour.” — Ann, Leeds",
                "“Best purchase of the year for our office.” — Bo, Oslo",
                "“Simple to set up, and it stays up.” — Chi, Hue",
                "“We moved all our teams within a week.” — Dana, Brno",
                "“I would order again without a doubt.” — Eve, Turin",
            ]))
            .to_owned(),
            Noise::Related => {
                let mut lines = vec!["## You may also like".to_owned()];
                for _ in 0..3 {
                    let number = random.between(10, 60);
                    lines.push(format!("- [Reading number {number}](/reading/{number})"));
                }
                return lines;
            }
            Noise::RequestId => format!("Request ID: {}", random.hex(20)),
            Noise::TrackedLink => format!(
                "[Our newsletter](https://example.org/news?id=7&utm_source={}&sid={})",
                random.hex(4),
                random.hex(16)
            ),
            Noise::SignedPicture => format!(
                "![Front view](https://cdn.example.org/front.jpg?expires={}&sig={})",
                random.next() % 100_000,
                random.hex(24)
            ),
            Noise::CookieBanner => {
                if random.chance(60) {
                    return Vec::new();
                }
                return vec![
                    "We use cookies to improve your experience. Accept or change your settings.".to_owned(),
                    "[Accept all](#)".to_owned(),
                ];
            }
            Noise::Copyright => format!("© {} Example Ltd. All rights reserved.", now.year()),
            Noise::HeldOut(kind) => return super::held_out::noise_lines(kind, &now, random),
            Noise::RenderedIn => format!("Page generated in 0.{:03} seconds", random.below(1000)),
        };
        vec![line]
    }
}

/// A page whose truth is known.
#[derive(Debug, Clone, PartialEq)]
pub struct PageModel {
    pub title: String,
    pub parts: Vec<Part>,
}

impl PageModel {
    /// The page as markdown, as one read sees it.
    pub fn render(&self, context: &mut ReadContext) -> String {
        let mut lines = vec![format!("# {}", self.title)];
        for part in &self.parts {
            match part {
                Part::Line(line) => lines.push(line.clone()),
                Part::List { entries, shuffled } => {
                    let mut entries: Vec<String> = entries.iter().map(|entry| format!("- {entry}")).collect();
                    if *shuffled {
                        context.random.shuffle(&mut entries);
                    }
                    // Entries of a list stand on lines of their own, without blank lines.
                    lines.push(entries.join("\n"));
                }
                Part::Cards { cards, shuffled } => {
                    let mut cards = cards.clone();
                    if *shuffled {
                        context.random.shuffle(&mut cards);
                    }
                    for card in cards {
                        lines.push(format!(
                            "### [{}](/item/{})",
                            card.name,
                            card.name.replace(' ', "-").to_lowercase()
                        ));
                        lines.push(format!("€{}.{:02}", card.price / 100, card.price % 100));
                        lines.push(card.stock.to_owned());
                    }
                }
                Part::Table { head, rows } => {
                    let mut table = vec![head.clone(), "| --- | --- | --- |".to_owned()];
                    table.extend(rows.iter().map(|row| format!("| {} |", row.join(" | "))));
                    lines.push(table.join("\n"));
                }
                Part::Ranking(entries) => {
                    let entries =
                        entries.iter().enumerate().map(|(at, entry)| format!("{}. {entry}", at + 1));
                    lines.push(entries.collect::<Vec<_>>().join("\n"));
                }
                Part::Late(late) => {
                    if !context.random.chance(12) {
                        lines.extend(late.iter().cloned());
                    }
                }
                Part::Noise(noise) => lines.extend(context.noise(*noise)),
            }
        }
        lines.join("\n\n")
    }

    /// Changes the content in one way; the model is another one afterwards.
    pub fn change(&mut self, random: &mut Random) {
        let before = self.clone();
        while *self == before {
            let at = random.below(self.parts.len());
            change_part(&mut self.parts[at], random);
            if *self == before && random.chance(4) {
                self.parts.push(Part::Line(random.sentence(12)));
            }
        }
    }
}

fn change_part(part: &mut Part, random: &mut Random) {
    match part {
        Part::Line(line) => change_line(line, random),
        Part::Ranking(entries) if random.chance(50) => {
            let at = random.below(entries.len().saturating_sub(1));
            entries.swap(at, at + 1);
        }
        Part::List { entries, .. } | Part::Ranking(entries) => change_entries(entries, random),
        Part::Cards { cards, .. } => match random.below(4) {
            0 => {
                let at = random.below(cards.len());
                cards[at].price +=
                    random.between(1, 9) * 10_usize.pow(u32::try_from(random.below(3)).unwrap());
            }
            1 => {
                let at = random.below(cards.len());
                cards[at].stock = *random.pick(&["In stock", "Sold out", "Ships in 3 days", "Only 2 left"]);
            }
            2 if cards.len() > 3 => {
                let at = random.below(cards.len());
                cards.remove(at);
            }
            _ => {
                let card =
                    Card { name: random.name(), price: random.between(500, 90_000), stock: "In stock" };
                cards.insert(random.below(cards.len()), card);
            }
        },
        Part::Table { rows, .. } => {
            let at = random.below(rows.len());
            match random.below(4) {
                0 => {
                    rows.insert(at, vec![random.name(), random.between(1, 99).to_string(), "yes".to_owned()]);
                }
                1 if rows.len() > 3 => {
                    rows.remove(at);
                }
                _ => rows[at][1] = random.between(1, 999).to_string(),
            }
        }
        Part::Late(lines) => {
            let at = random.below(lines.len());
            if !lines[at].starts_with('#') {
                change_line(&mut lines[at], random);
            }
        }
        Part::Noise(_) => {}
    }
}

fn change_entries(entries: &mut Vec<String>, random: &mut Random) {
    let at = random.below(entries.len());
    match random.below(3) {
        0 => entries.insert(at, random.sentence(6)),
        1 if entries.len() > 3 => {
            entries.remove(at);
        }
        _ => change_line(&mut entries[at], random),
    }
}

/// From one digit or word to another text.
fn change_line(line: &mut String, random: &mut Random) {
    if line.starts_with('#') {
        return;
    }
    let digits: Vec<usize> =
        line.bytes().enumerate().filter(|(_, b)| b.is_ascii_digit()).map(|(at, _)| at).collect();
    if !digits.is_empty() && random.chance(70) {
        let at = *random.pick(&digits);
        let digit = random.below(10).to_string();
        line.replace_range(at..=at, &digit);
        return;
    }
    let mut words: Vec<&str> = line.split(' ').collect();
    let at = random.below(words.len());
    if words.len() > 4 && random.chance(60) {
        words[at] = *random.pick(&["seldom", "twelve", "amber", "without", "coastal"]);
        *line = words.join(" ");
    } else {
        *line = random.sentence(10);
    }
}
