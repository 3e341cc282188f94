//! Detects prompt injection: text on a page that tries to instruct the model that reads it.
//!
//! Signs are phrases ([`phrases`], many languages) and their position ([`hidden_elements`], [`passages`]:
//! hidden text counts more). The same words count little when they are quoted, shown as code, or on a page
//! about such attacks. By rules alone: a clever enough visible sentence passes, and what is found is reported
//! as evidence, never removed.

mod fold;
mod hidden_elements;
mod lexicon;
mod markers;
mod passages;
mod phrases;
mod sequences;
mod stylesheet;

use content::page::Page;
use fold::FoldedText;
use passages::PagePassage;
use serde::Serialize;

/// Bytes of text searched on one page.
const MAX_TEXT_BYTES: usize = 8_000_000;
/// Signs reported for one page.
const MAX_SIGNS: usize = 50;
/// Longest evidence of one sign.
const MAX_EVIDENCE_BYTES: usize = 200;
/// From this sum of weights on, a passage is an attempt.
const MIN_SUSPICIOUS_SCORE: f32 = 1.0;

/// What a passage tries to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum SignKind {
    /// Tells the model to ignore its instructions.
    Override,
    /// Addresses a model or an assistant.
    Address,
    /// Tells the model what to say or do.
    Command,
    /// Gives the model another persona without limits.
    Persona,
    /// Looks like the markup between the turns of a chat.
    RoleMarker,
    /// Looks like a call of a tool.
    ToolCall,
    /// Asks for prompts, conversations or secrets.
    Exfiltration,
    /// Asks to hide something from the user.
    Concealment,
    /// Is written in invisible characters.
    InvisibleText,
    /// Is encoded.
    EncodedText,
}

/// Where on the page a sign is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum SignPlace {
    /// In visible text.
    #[default]
    Visible,
    /// In hidden text: not displayed, without size, off the screen, in the colour of its background.
    Hidden,
    /// In an attribute that is read aloud or shown: `alt`, `title`, labels.
    Attribute,
    /// In the page's own description of itself.
    Metadata,
    /// In a comment of the markup.
    Comment,
}

/// One reason for suspicion.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Sign {
    /// What it does.
    pub kind: SignKind,
    /// The words, clipped.
    pub evidence: String,
    /// Where they are.
    pub place: SignPlace,
    /// Its weight; a passage whose signs add up to 1 is an injection attempt.
    pub weight: f32,
}

/// The result of an inspection.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Inspection {
    /// The signs, in the order of the page.
    pub found: Vec<Sign>,
    /// Whether they amount to an attempt.
    pub suspicious: bool,
    /// The largest sum of weights in one place.
    pub score: f32,
    /// Whether all text was searched.
    pub complete: bool,
}

/// Searches a page for prompt injection.
pub fn inspect(page: &Page) -> Inspection {
    let passages = passages::from_page(page, MAX_TEXT_BYTES);
    assess(&passages.list, passages.complete, lexicon::is_about_attacks(&passages.topic))
}

/// Searches text other than pages: a document's markdown, the text of a file.
pub fn inspect_text(text: &str) -> Inspection {
    let kept = &text[..text.floor_char_boundary(MAX_TEXT_BYTES)];
    let passages = passages::from_text(kept);
    assess(&passages, kept.len() == text.len(), false)
}

/// Searches the comments of a page's markup, which are not part of its tree and reach only readers of the raw
/// page.
pub fn inspect_comments(html: &str) -> Inspection {
    let kept = &html[..html.floor_char_boundary(MAX_TEXT_BYTES)];
    assess(&passages::from_comments(kept), kept.len() == html.len(), false)
}

/// Budget steps of searching a passage, as a multiple of reading it.
const STEPS_TIMES_TEXT: usize = 8;

fn assess(passages: &[PagePassage], complete: bool, about: bool) -> Inspection {
    let words = lexicon::RoleLexicon::new();
    let mut inspection = Inspection { complete, ..Inspection::default() };
    // Signs in hidden text are added up over the page, so that they cannot be split.
    let mut unseen: Vec<Sign> = Vec::new();
    for passage in passages {
        budget::spend_on_text(STEPS_TIMES_TEXT * passage.text.len());
        let signs = weigh(passage, &words, about);
        inspection.score = inspection.score.max(sum(&signs));
        if passage.place != SignPlace::Visible {
            unseen.extend(signs.iter().take(MAX_SIGNS.saturating_sub(unseen.len())).cloned());
        }
        let room = MAX_SIGNS - inspection.found.len().min(MAX_SIGNS);
        inspection.found.extend(signs.into_iter().take(room));
    }
    inspection.score = inspection.score.max(sum(&unseen));
    inspection.suspicious = inspection.score >= MIN_SUSPICIOUS_SCORE;
    inspection
}

/// The weights of the signs, each kind counted once.
fn sum(signs: &[Sign]) -> f32 {
    let mut most: [f32; 10] = [0.0; 10];
    for sign in signs {
        let slot = &mut most[sign.kind as usize];
        *slot = slot.max(sign.weight);
    }
    most.iter().sum()
}

/// A sign before its context is considered.
#[derive(Clone, Copy, Debug)]
struct SignHit {
    kind: SignKind,
    weight: f32,
    /// Bytes of the text that was searched.
    start: usize,
    end: usize,
    /// Whether the words are quoted or shown as code.
    quoted: bool,
}

fn weigh(passage: &PagePassage, words: &lexicon::RoleLexicon, about: bool) -> Vec<Sign> {
    let mut signs = Vec::new();
    let text = FoldedText::fold(&passage.text, &passage.quoted);
    let talk = lexicon::is_talk(&text.folded);
    for hit in hits(&text, words) {
        let factor = match passage.place {
            SignPlace::Visible => {
                (if hit.quoted { 0.25 } else { 1.0 })
                    * (if talk { 0.4 } else { 1.0 })
                    * (if about { 0.6 } else { 1.0 })
            }
            SignPlace::Attribute | SignPlace::Metadata => 1.2 * if hit.quoted || talk { 0.4 } else { 1.0 },
            SignPlace::Hidden | SignPlace::Comment => 1.6 * if hit.quoted { 0.65 } else { 1.0 },
        };
        signs.push(sign(hit.kind, hit.weight * factor, &text.folded[hit.start..hit.end], passage.place));
    }
    // Text in invisible characters can only be meant for a model, whatever its context.
    for hidden in fold::find_invisible_text(&passage.text) {
        let inner = FoldedText::fold(&hidden, &[]);
        let said = hits(&inner, words).iter().map(|hit| hit.weight).fold(0.0, f32::max);
        let weight = if hidden.is_ascii() { (said * 2.0).max(1.0) } else { said * 2.0 };
        signs.push(sign(SignKind::InvisibleText, weight, &hidden, passage.place));
    }
    for decoded in fold::decode_words(&passage.text) {
        let inner = FoldedText::fold(&decoded, &[]);
        let said: f32 = hits(&inner, words).iter().map(|hit| hit.weight).sum();
        if said >= 0.5 {
            signs.push(sign(
                SignKind::EncodedText,
                said * if talk { 0.6 } else { 1.5 },
                &decoded,
                passage.place,
            ));
        }
    }
    signs.retain(|sign| sign.weight >= 0.05);
    signs
}

fn hits(text: &FoldedText, words: &lexicon::RoleLexicon) -> Vec<SignHit> {
    let mut hits = phrases::find(text, words);
    hits.extend(sequences::find(text));
    hits.extend(markers::find(text));
    hits
}

fn sign(kind: SignKind, weight: f32, evidence: &str, place: SignPlace) -> Sign {
    let weight = (weight * 100.0).round() / 100.0;
    Sign { kind, evidence: crate::facts::text::line(evidence, MAX_EVIDENCE_BYTES), place, weight }
}
