//! Classifies a page as content or as something that blocks it: a captcha, a login, a consent wall.
//!
//! Walls are recognised by their phrases ([`phrases`], many languages) and their structure (challenge
//! scripts, password fields, empty app roots), and only when the page has little else: an article about
//! captchas is content. Every verdict names its evidence. The host of the page does not matter.

mod phrases;
mod signs;

use crate::sniff::ContentKind;
use html::dom::Dom;
use serde::Serialize;
use signs::Signs;

/// What a page is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum VerdictKind {
    /// The requested content.
    Content,
    /// Access was denied: a firewall, a rate limit, a region.
    Blocked,
    /// The visitor must prove to be human.
    Captcha,
    /// The content is behind an account.
    LoginWall,
    /// The content is behind agreeing to something.
    ConsentWall,
    /// A domain that is for sale or has no site yet.
    Parked,
    /// "Not found" in words, whatever the status.
    SoftNotFound,
    /// An empty shell whose scripts would fetch the content.
    AppShell,
    /// Not a page: binary data with the content type of a page.
    Binary,
    /// Nothing to read.
    Empty,
}

/// The class of a page and the evidence for it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PageVerdict {
    /// What the page is.
    pub kind: VerdictKind,
    /// Why, strongest first; empty for content.
    pub evidence: Vec<VerdictEvidence>,
}

/// One reason for a verdict.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct VerdictEvidence {
    /// The name of the sign.
    pub sign: &'static str,
    /// The matching text or element.
    pub detail: String,
}

impl PageVerdict {
    /// Whether the page is content.
    pub fn is_content(&self) -> bool {
        self.kind == VerdictKind::Content
    }
}

/// A page with more words is content: phrases in it are its subject, not addressed to the visitor.
const MIN_CONTENT_WORDS: usize = 350;
/// A page with fewer words is little more than a wall.
const MAX_WALL_WORDS: usize = 140;

/// In a page with fewer words one phrase is enough.
const MAX_PHRASE_ONLY_WORDS: usize = 40;

/// The kinds of walls, by signs.
const WALLS: [VerdictKind; 6] = [
    VerdictKind::Captcha,
    VerdictKind::Blocked,
    VerdictKind::ConsentWall,
    VerdictKind::LoginWall,
    VerdictKind::Parked,
    VerdictKind::SoftNotFound,
];

/// Classifies a page. `text` is the body where it is not HTML.
pub fn classify_page(dom: &Dom, kind: ContentKind, text: Option<&str>, status: Option<u16>) -> PageVerdict {
    let content = PageVerdict { kind: VerdictKind::Content, evidence: Vec::new() };
    let verdict =
        |kind, sign, detail: String| PageVerdict { kind, evidence: vec![VerdictEvidence { sign, detail }] };
    if let ContentKind::Binary(format) = kind {
        return verdict(VerdictKind::Binary, "signature", format.to_owned());
    }
    if let Some(text) = text {
        let empty = text.trim().is_empty();
        return if empty { verdict(VerdictKind::Empty, "text", "no text".to_owned()) } else { content };
    }
    // A page with this many words is content, so no further signs are needed.
    let Some(signs) = Signs::collect(dom, MIN_CONTENT_WORDS) else { return content };
    let mut best: Option<(f32, PageVerdict)> = None;
    for kind in WALLS {
        let (score, evidence) = weigh(kind, &signs, status);
        if score >= 1.0 && best.as_ref().is_none_or(|(most, _)| score > *most) {
            best = Some((score, PageVerdict { kind, evidence }));
        }
    }
    if let Some((_, verdict)) = best {
        return verdict;
    }
    if let Some(evidence) = signs.app_shell() {
        return PageVerdict { kind: VerdictKind::AppShell, evidence: vec![evidence] };
    }
    if signs.words == 0 && signs.images == 0 && signs.noscript_words == 0 {
        return verdict(VerdictKind::Empty, "text", "no text".to_owned());
    }
    content
}

/// The total weight of the signs for one kind; 1 is enough.
fn weigh(kind: VerdictKind, signs: &Signs, status: Option<u16>) -> (f32, Vec<VerdictEvidence>) {
    let mut evidence = Vec::new();
    let mut score = 0.0_f32;
    let mut add = |weight: f32, sign: &'static str, detail: &str| {
        score += weight;
        evidence.push(VerdictEvidence { sign, detail: detail.to_owned() });
    };
    if let Some(phrase) = phrases::find(kind, &signs.title) {
        add(1.0, "title", phrase);
    }
    if let Some(phrase) = phrases::find(kind, &signs.headings) {
        add(1.0, "heading", phrase);
    }
    if let Some(phrase) = phrases::find(kind, &signs.text) {
        // On a page with hardly any other words, a phrase is certain.
        add(if signs.words <= MAX_PHRASE_ONLY_WORDS { 1.0 } else { 0.7 }, "phrase", phrase);
    }
    for (sign, detail) in signs.marks(kind) {
        add(0.7, sign, &detail);
    }
    let fitting = match kind {
        VerdictKind::Captcha => matches!(status, Some(403 | 429 | 503)),
        VerdictKind::Blocked => matches!(status, Some(401 | 403 | 406 | 418 | 429 | 451 | 503)),
        VerdictKind::LoginWall => matches!(status, Some(401 | 403)),
        VerdictKind::SoftNotFound => matches!(status, Some(404 | 410)),
        _ => false,
    };
    if fitting && score > 0.0 {
        score += 0.4;
        evidence.push(VerdictEvidence { sign: "status", detail: status.unwrap_or_default().to_string() });
    }
    // The more words a page has, the less a phrase counts.
    let share = match signs.words {
        0..=MAX_WALL_WORDS => 1.0,
        words => {
            let over = u16::try_from(words - MAX_WALL_WORDS).unwrap_or(u16::MAX);
            let span = u16::try_from(MIN_CONTENT_WORDS - MAX_WALL_WORDS).unwrap_or(1);
            1.0 - f32::from(over) / f32::from(span)
        }
    };
    let prose = if signs.longest_paragraph > 60 { 0.5 } else { 1.0 };
    (score * share * prose, evidence)
}

#[cfg(test)]
mod tests;
