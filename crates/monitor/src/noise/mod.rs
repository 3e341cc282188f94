//! What changes on pages without meaning anything: the classes of noise, and a line without them.
//!
//! A masked line has a mark in the place of each piece of noise. Two lines with the same masked text differ
//! in nothing but noise. Only lines that differ are masked, so the cost of a check lies in its differences.

mod address;
mod banner;
mod dates;
mod focus;
mod patterns;
mod version;

pub use address::clean_addresses;
pub use banner::{is_advert, is_advert_label, is_cookie_banner};
pub use focus::Focus;
pub use version::mask_title_version;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

/// Longer lines are compared as they are.
const MAX_MASKED_BYTES: usize = 8_000;

/// A class of changes that mean nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum NoiseKind {
    /// "5 minutes ago", "ends in 02:10:44".
    RelativeTime,
    /// A date or time next to "updated", "as of" and the like, or the year of a copyright.
    UpdatedDate,
    /// The day or the time at which the page was read.
    Clock,
    /// The version in the title or the name of a manual.
    TitleVersion,
    /// The version of the program that made the page.
    Generator,
    /// Numbers of views, votes, people online.
    Counter,
    /// Ids of sessions and requests.
    SessionId,
    Advert,
    CookieBanner,
    /// The same entries of a list in another order.
    Order,
    /// Where a link leads or a picture lies, with the same text.
    LinkTarget,
    /// The same words as a heading, bold, as code, as a link, or over other lines.
    Markup,
    /// Lines that the page shows before and after, in the compared text or beside it.
    Moved,
    /// A part that differs between two reads, seconds apart.
    Volatile,
    /// A part that is missing in some reads.
    SometimesMissing,
}

impl NoiseKind {
    /// Why a difference was ignored, for people.
    pub fn reason(self) -> &'static str {
        match self {
            Self::RelativeTime => "a relative time or a countdown",
            Self::UpdatedDate => "a date of the last update",
            Self::Clock => "the date or time at which the page was read",
            Self::TitleVersion => "the version in the title of the page",
            Self::Generator => "the version of the program that made the page",
            Self::Counter => "a counter",
            Self::SessionId => "an id of a session or request",
            Self::Advert => "an advert",
            Self::CookieBanner => "a cookie banner",
            Self::Order => "the same entries in another order",
            Self::LinkTarget => "the same text with another address behind it",
            Self::Markup => "the same words in another form",
            Self::Moved => "is on the page before and after, at another place",
            Self::Volatile => "differs each time the page is read",
            Self::SometimesMissing => "is missing in some reads of the page",
        }
    }
}

/// A line without its noise.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MaskedLine {
    pub text: String,
    /// What was masked, each kind once.
    pub kinds: Vec<NoiseKind>,
}

/// Masks the noise of a line of a page that was read at a certain moment. What the goal of a monitor is about
/// is not masked.
pub fn mask(line: &str, read_at: Timestamp, focus: &Focus) -> MaskedLine {
    let mut masked = MaskedLine { text: line.to_owned(), kinds: Vec::new() };
    if line.len() > MAX_MASKED_BYTES || !may_have_noise(line) {
        return masked;
    }
    budget::spend_on_text(line.len() * 8);
    let mut apply = |kind: NoiseKind, replaced: Option<String>| {
        if let Some(text) = replaced
            && focus.ignores(kind)
        {
            masked.text = text;
            if !masked.kinds.contains(&kind) {
                masked.kinds.push(kind);
            }
        }
        masked.text.clone()
    };
    let text = line.to_owned();
    let text = apply(NoiseKind::RelativeTime, patterns::mask_relative_times(&text));
    let text = apply(NoiseKind::UpdatedDate, dates::mask_updated_dates(&text, read_at));
    let text = apply(NoiseKind::UpdatedDate, patterns::mask_copyright_years(&text));
    let text = apply(NoiseKind::UpdatedDate, dates::mask_version_stamp(&text));
    let text = apply(NoiseKind::Generator, version::mask_generator(&text));
    let text = apply(NoiseKind::TitleVersion, version::mask_manual_name(&text));
    let text = apply(NoiseKind::Clock, dates::mask_clock(&text, read_at));
    let text = apply(NoiseKind::Counter, patterns::mask_counters(&text));
    apply(NoiseKind::SessionId, patterns::mask_session_ids(&text));
    masked
}

/// A quick look before the patterns: noise has a digit, or is one of a few words.
fn may_have_noise(line: &str) -> bool {
    const WORDS: [&str; 8] = [" ago", "now", "esterday", "arlier", "ast ", "oment", "vor ", "hace "];
    line.bytes().any(|b| b.is_ascii_digit()) || WORDS.iter().any(|word| line.contains(word))
}
