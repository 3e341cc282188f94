//! Generated corpora of any size with realistic degrees: half of the references go to neighbours, half follow
//! a power law, so that of ten million works the most famous is cited about half a million times. Lines have
//! the shape of OpenAlex works.

use std::fmt::Write as _;
use std::io::Write;

use anyhow::Result;

/// Size of the vocabulary; word frequencies follow a power law too.
const VOCABULARY_WORDS: u64 = 400_000;
/// Works within which a reference is local.
const NEIGHBOURHOOD: u64 = 4_000;

/// A small, fast, repeatable generator (`SplitMix64`).
#[derive(Debug, Clone)]
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    fn below(&mut self, end: u64) -> u64 {
        ((u128::from(self.next()) * u128::from(end)) >> 64) as u64
    }

    /// Between 0 and `end`, low numbers far more often.
    fn skewed(&mut self, end: u64) -> u64 {
        let share = self.next() as f64 / u64::MAX as f64;
        (share.powi(3) * end as f64) as u64 % end.max(1)
    }
}

/// The work at this rank of fame.
pub fn famous(place: u64, works: u64) -> u64 {
    // A step without a common factor with the number of works visits each once.
    place.wrapping_mul(7_368_787) % works
}

/// Shape of the corpus.
#[derive(Debug, Clone, Copy)]
pub struct Shape {
    pub works: u64,
    pub references: u64,
    /// Words of an abstract.
    pub words: u64,
    /// Bytes that an importer must skip (authorships, venues, concepts), as real records have.
    pub ballast: usize,
}

/// Writes the corpus, one work per line.
pub fn write(shape: Shape, out: &mut dyn Write) -> Result<()> {
    let mut random = Random::new(42);
    let ballast = ballast(shape.ballast);
    let mut line = String::new();
    for work in 0..shape.works {
        line.clear();
        write!(
            line,
            r#"{{"id":"https://openalex.org/W{}","doi":"https://doi.org/10.5555/s.{work}","display_name":""#,
            work + 1
        )?;
        for place in 0..8 {
            write!(line, "{}{}", if place == 0 { "" } else { " " }, word(&mut random, work))?;
        }
        write!(
            line,
            r#"","publication_date":"{}-0{}-1{}","is_retracted":false,"#,
            1980 + work * 45 / shape.works,
            1 + work % 9,
            work % 10
        )?;
        line.push_str(&ballast);
        line.push_str(r#""abstract_inverted_index":{"#);
        for place in 0..shape.words {
            write!(
                line,
                r#"{}"{}.{place}":[{place}]"#,
                if place == 0 { "" } else { "," },
                word(&mut random, work)
            )?;
        }
        line.push_str(r#"},"referenced_works":["#);
        for place in 0..shape.references {
            let cited = if place % 2 == 0 {
                (work + shape.works - random.below(NEIGHBOURHOOD.min(shape.works))) % shape.works
            } else {
                famous(random.skewed(shape.works), shape.works)
            };
            write!(line, r#"{}"https://openalex.org/W{}""#, if place == 0 { "" } else { "," }, cited + 1)?;
        }
        line.push_str("]}\n");
        out.write_all(line.as_bytes())?;
    }
    Ok(())
}

/// A word that neighbours share half of the time.
fn word(random: &mut Random, work: u64) -> String {
    let rank = if random.next().is_multiple_of(2) {
        random.skewed(VOCABULARY_WORDS)
    } else {
        let topic = work / NEIGHBOURHOOD;
        (topic * 977 + random.skewed(300) * 31) % VOCABULARY_WORDS
    };
    let mut out = String::from("w");
    let mut rest = rank;
    loop {
        out.push(char::from(b'a' + (rest % 26) as u8));
        rest /= 26;
        if rest == 0 {
            return out;
        }
    }
}

/// What an importer hardly needs: half authorships, half concepts.
fn ballast(bytes: usize) -> String {
    let list = |name: &str, one: &str| {
        let items = vec![one; (bytes / 2 / one.len()).max(1)];
        format!(r#""{name}":[{}],"#, items.join(","))
    };
    if bytes == 0 {
        return String::new();
    }
    list(
        "authorships",
        r#"{"author_position":"middle","author":{"id":"https://openalex.org/A5023888391","display_name":"Jason Example","orcid":null},"institutions":[{"id":"https://openalex.org/I4200000001","display_name":"Our Research","country_code":"CA","type":"nonprofit"}],"is_corresponding":false}"#,
    ) + &list(
        "concepts",
        r#"{"id":"https://openalex.org/C2778805511","wikidata":"https://www.wikidata.org/wiki/Q1713","display_name":"Citation","level":2,"score":0.7265}"#,
    )
}
