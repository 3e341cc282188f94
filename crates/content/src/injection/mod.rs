//! Text on a page that is meant for a machine reader's obedience rather than for people.
//!
//! Owns the judgement whether a page tries to instruct the model that reads it. It rests on what is said ([`phrases`],
//! many languages), on where it is said ([`looks`], [`passages`]: hidden text weighs more), and on whether it is said or
//! talked about: quoted, shown as code, or on a page about such attacks, the same words weigh little. By rules alone:
//! a clever enough sentence in plain sight passes, and what is found is reported as evidence, never removed.

mod fold;
mod lexicon;
mod looks;
mod markers;
mod passages;
mod phrases;
mod sequences;
mod sheet;

use crate::budget;
use crate::page::Page;
use fold::Text;
use passages::Passage;
use serde::Serialize;

/// Bytes of text that are looked at on one page.
const MOST_TEXT: usize = 8_000_000;
/// Signs reported for one page.
const MOST_SIGNS: usize = 50;
/// Longest evidence of one sign.
const LONGEST_EVIDENCE: usize = 200;
/// From this sum of weights on, a passage is an attempt.
const ENOUGH: f32 = 1.0;

/// What a passage does to its reader.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum SignKind {
    /// Tells the reader to drop its instructions.
    Override,
    /// Addresses a model or an assistant.
    Address,
    /// Tells the reader what to say or do.
    Command,
    /// Gives the reader another self without limits.
    Persona,
    /// Looks like the markup between the turns of a chat.
    RoleMarker,
    /// Looks like a call of a tool.
    ToolCall,
    /// Wants prompts, conversations or secrets told or sent.
    Exfiltration,
    /// Wants something kept from the user.
    Concealment,
    /// Is written in characters that people do not see.
    InvisibleText,
    /// Is encoded.
    EncodedText,
}

/// Where on the page a sign stands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum Place {
    /// In plain sight.
    #[default]
    Visible,
    /// Where people do not see it: not displayed, without size, off the screen, in the colour of its ground.
    Hidden,
    /// In an attribute that is read out or shown beside: `alt`, `title`, labels.
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
    /// Where they stand.
    pub place: Place,
    /// How much it counts; a passage whose signs add up to 1 is an attempt.
    pub weight: f32,
}

/// What was found on a page.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Inspection {
    /// The signs, in the order of the page.
    pub found: Vec<Sign>,
    /// Whether they amount to an attempt.
    pub suspicious: bool,
    /// The largest sum of weights in one place.
    pub score: f32,
    /// Whether all text was looked at.
    pub complete: bool,
}

/// Looks for attempts to instruct the page's reader.
pub fn inspect(page: &Page) -> Inspection {
    let passages = passages::of(page, MOST_TEXT);
    judge(&passages.list, passages.complete, lexicon::is_about_attacks(&passages.topic))
}

/// Looks at text that is no page: a document's markdown, the text of a file.
pub fn inspect_text(text: &str) -> Inspection {
    let kept = &text[..text.floor_char_boundary(MOST_TEXT)];
    let passages = passages::of_text(kept);
    judge(&passages, kept.len() == text.len(), false)
}

/// Looks at the comments of a page's markup, which are no part of its tree and reach only readers of the raw page.
pub fn inspect_comments(html: &str) -> Inspection {
    let kept = &html[..html.floor_char_boundary(MOST_TEXT)];
    judge(&passages::of_comments(kept), kept.len() == html.len(), false)
}

/// Searching a passage for signs takes so many times as long as reading it.
const TIMES_TEXT: usize = 8;

fn judge(passages: &[Passage], complete: bool, about: bool) -> Inspection {
    let words = lexicon::Lexicon::new();
    let mut inspection = Inspection { complete, ..Inspection::default() };
    // What is hidden in many pieces is added up over the page.
    let mut unseen: Vec<Sign> = Vec::new();
    for passage in passages {
        budget::spend_on_text(TIMES_TEXT * passage.text.len());
        let signs = weigh(passage, &words, about);
        inspection.score = inspection.score.max(sum(&signs));
        if passage.place != Place::Visible {
            unseen.extend(signs.iter().take(MOST_SIGNS.saturating_sub(unseen.len())).cloned());
        }
        let room = MOST_SIGNS - inspection.found.len().min(MOST_SIGNS);
        inspection.found.extend(signs.into_iter().take(room));
    }
    inspection.score = inspection.score.max(sum(&unseen));
    inspection.suspicious = inspection.score >= ENOUGH;
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

/// A sign before its surroundings are weighed.
#[derive(Clone, Copy, Debug)]
struct Hit {
    kind: SignKind,
    weight: f32,
    /// Bytes of the text that was searched.
    start: usize,
    end: usize,
    /// Whether the words are quoted or shown as code.
    quoted: bool,
}

fn weigh(passage: &Passage, words: &lexicon::Lexicon, about: bool) -> Vec<Sign> {
    let mut signs = Vec::new();
    let text = Text::of(&passage.text, &passage.quoted);
    let talk = lexicon::is_talk(&text.folded);
    for hit in hits(&text, words) {
        let factor = match passage.place {
            Place::Visible => {
                (if hit.quoted { 0.25 } else { 1.0 })
                    * (if talk { 0.4 } else { 1.0 })
                    * (if about { 0.6 } else { 1.0 })
            }
            Place::Attribute | Place::Metadata => 1.2 * if hit.quoted || talk { 0.4 } else { 1.0 },
            Place::Hidden | Place::Comment => 1.6 * if hit.quoted { 0.65 } else { 1.0 },
        };
        signs.push(sign(hit.kind, hit.weight * factor, &text.folded[hit.start..hit.end], passage.place));
    }
    // Text people cannot see at all is meant for no one else, whatever stands around it.
    for hidden in fold::smuggled(&passage.text) {
        let inner = Text::of(&hidden, &[]);
        let said = hits(&inner, words).iter().map(|hit| hit.weight).fold(0.0, f32::max);
        let weight = if hidden.is_ascii() { (said * 2.0).max(1.0) } else { said * 2.0 };
        signs.push(sign(SignKind::InvisibleText, weight, &hidden, passage.place));
    }
    for decoded in fold::encoded(&passage.text) {
        let inner = Text::of(&decoded, &[]);
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

fn hits(text: &Text, words: &lexicon::Lexicon) -> Vec<Hit> {
    let mut hits = phrases::find(text, words);
    hits.extend(sequences::find(text));
    hits.extend(markers::find(text));
    hits
}

fn sign(kind: SignKind, weight: f32, evidence: &str, place: Place) -> Sign {
    let weight = (weight * 100.0).round() / 100.0;
    Sign { kind, evidence: crate::facts::text::line(evidence, LONGEST_EVIDENCE), place, weight }
}
