//! Is this page content, or something that stands in its way?
//!
//! Owns the one judgement that the scraper acts on. Walls are recognised by what they say ([`phrases`], many languages)
//! and how they are built (challenge scripts, password fields, empty app roots), and only when the page holds little
//! else: an article about captchas is content. Every verdict names its evidence. Never looks at who serves the page.

mod phrases;
mod signs;

use crate::dom::Dom;
use crate::sniff::Kind;
use serde::Serialize;
use signs::Signs;

/// What a page is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum VerdictKind {
    /// What was asked for.
    Content,
    /// The visitor was refused: a firewall, a rate limit, a region.
    Blocked,
    /// The visitor must prove to be human.
    Captcha,
    /// The content is behind an account.
    LoginWall,
    /// The content is behind agreeing to something.
    ConsentWall,
    /// A domain that is for sale or has no site yet.
    Parked,
    /// "Not found" in words, whatever the status said.
    SoftNotFound,
    /// An empty shell whose scripts would fetch the content.
    AppShell,
    /// No page at all: binary data under a page's label.
    Binary,
    /// Nothing to read.
    Empty,
}

/// A judgement and what it rests on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Verdict {
    /// What the page is.
    pub kind: VerdictKind,
    /// Why, strongest first; empty for content.
    pub evidence: Vec<Evidence>,
}

/// One reason for a verdict.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Evidence {
    /// Which sign it is, a fixed word.
    pub sign: &'static str,
    /// What was seen.
    pub detail: String,
}

impl Verdict {
    /// Whether the page is what was asked for.
    pub fn is_content(&self) -> bool {
        self.kind == VerdictKind::Content
    }
}

/// Words beyond which a page has enough of its own that phrases in it are about something, not addressed to the visitor.
const MANY_WORDS: usize = 350;
/// Words below which a page says little more than its wall.
const FEW_WORDS: usize = 140;

/// Words below which one phrase is all there is.
const HARDLY_ANY_WORDS: usize = 40;

/// What signs can speak for.
const WALLS: [VerdictKind; 6] = [
    VerdictKind::Captcha,
    VerdictKind::Blocked,
    VerdictKind::ConsentWall,
    VerdictKind::LoginWall,
    VerdictKind::Parked,
    VerdictKind::SoftNotFound,
];

/// Judges a page. `text` is the body where it is no HTML.
pub fn judge(dom: &Dom, kind: Kind, text: Option<&str>, status: Option<u16>) -> Verdict {
    let content = Verdict { kind: VerdictKind::Content, evidence: Vec::new() };
    let verdict = |kind, sign, detail: String| Verdict { kind, evidence: vec![Evidence { sign, detail }] };
    if let Kind::Binary(format) = kind {
        return verdict(VerdictKind::Binary, "signature", format.to_owned());
    }
    if let Some(text) = text {
        let empty = text.trim().is_empty();
        return if empty { verdict(VerdictKind::Empty, "text", "no text".to_owned()) } else { content };
    }
    // Nothing weighs anything on a page with this much of its own, so nothing more need be looked for.
    let Some(signs) = Signs::of(dom, MANY_WORDS) else { return content };
    let mut best: Option<(f32, Verdict)> = None;
    for kind in WALLS {
        let (score, evidence) = weigh(kind, &signs, status);
        if score >= 1.0 && best.as_ref().is_none_or(|(most, _)| score > *most) {
            best = Some((score, Verdict { kind, evidence }));
        }
    }
    if let Some((_, verdict)) = best {
        return verdict;
    }
    if let Some(evidence) = signs.app_shell() {
        return Verdict { kind: VerdictKind::AppShell, evidence: vec![evidence] };
    }
    if signs.words == 0 && signs.images == 0 && signs.noscript_words == 0 {
        return verdict(VerdictKind::Empty, "text", "no text".to_owned());
    }
    content
}

/// How strongly the signs speak for one kind; one or more is enough.
fn weigh(kind: VerdictKind, signs: &Signs, status: Option<u16>) -> (f32, Vec<Evidence>) {
    let mut evidence = Vec::new();
    let mut score = 0.0_f32;
    let mut add = |weight: f32, sign: &'static str, detail: &str| {
        score += weight;
        evidence.push(Evidence { sign, detail: detail.to_owned() });
    };
    if let Some(phrase) = phrases::find(kind, &signs.title) {
        add(1.0, "title", phrase);
    }
    if let Some(phrase) = phrases::find(kind, &signs.headings) {
        add(1.0, "heading", phrase);
    }
    if let Some(phrase) = phrases::find(kind, &signs.text) {
        // A page that says hardly anything else is about what it says.
        add(if signs.words <= HARDLY_ANY_WORDS { 1.0 } else { 0.7 }, "phrase", phrase);
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
        evidence.push(Evidence { sign: "status", detail: status.unwrap_or_default().to_string() });
    }
    // The more a page says of its own, the less a phrase in it is about this visit.
    let share = match signs.words {
        0..=FEW_WORDS => 1.0,
        words => {
            let over = u16::try_from(words - FEW_WORDS).unwrap_or(u16::MAX);
            let span = u16::try_from(MANY_WORDS - FEW_WORDS).unwrap_or(1);
            1.0 - f32::from(over) / f32::from(span)
        }
    };
    let prose = if signs.longest_paragraph > 60 { 0.5 } else { 1.0 };
    (score * share * prose, evidence)
}

#[cfg(test)]
mod tests;
