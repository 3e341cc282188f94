//! Finds instructions to a model as words of certain roles near each other in one sentence.

use super::fold::FoldedText;
use super::lexicon::{PhraseToken, RoleLexicon, role, tokens};
use super::{SignHit, SignKind};

/// How many words apart the words of one instruction may be.
const MAX_WORD_DISTANCE: usize = 7;
/// Signs taken from one passage.
const MAX_HITS: usize = 40;

pub(super) fn find(text: &FoldedText, lexicon: &RoleLexicon) -> Vec<SignHit> {
    let tokens = tokens(text, lexicon);
    let matcher = PhraseMatcher { text, tokens: &tokens };
    let mut hits = Vec::new();
    for at in 0..tokens.len() {
        if hits.len() >= MAX_HITS {
            break;
        }
        hits.extend(matcher.override_at(at));
        hits.extend(matcher.telling_at(at));
        hits.extend(matcher.sending_at(at));
        hits.extend(matcher.persona_at(at));
        hits.extend(matcher.address_at(at));
        hits.extend(matcher.command_at(at));
    }
    // Commands count fully only when a model is addressed: otherwise the same verbs are everyday prose.
    let addressed =
        hits.iter().filter(|hit| hit.kind == SignKind::Address).map(|hit| hit.weight).fold(0.0, f32::max);
    for hit in hits.iter_mut().filter(|hit| hit.kind == SignKind::Command) {
        // An instruction about summarising is addressed to a summariser.
        let summarising = text.folded[hit.start..].starts_with("summar");
        hit.weight *= if addressed >= 0.3 || summarising { 1.0 } else { 0.5 };
    }
    hits
}

struct PhraseMatcher<'a> {
    text: &'a FoldedText,
    tokens: &'a [PhraseToken],
}

impl PhraseMatcher<'_> {
    /// The words after one in its sentence, as far as they count.
    fn after(&self, at: usize, reach: usize) -> &[PhraseToken] {
        let rest = &self.tokens[at + 1..self.tokens.len().min(at + 1 + reach)];
        let same = rest.iter().take_while(|token| token.sentence == self.tokens[at].sentence).count();
        &rest[..same]
    }

    /// The words before one in its sentence.
    fn before(&self, at: usize, reach: usize) -> &[PhraseToken] {
        let from = at.saturating_sub(reach);
        let rest = &self.tokens[from..at];
        let same = rest.iter().rev().take_while(|token| token.sentence == self.tokens[at].sentence).count();
        &rest[rest.len() - same..]
    }

    /// The words before one in its part of the sentence.
    fn part_before(&self, at: usize, reach: usize) -> &[PhraseToken] {
        let before = self.before(at, reach);
        let from = if self.tokens[at].fresh {
            before.len()
        } else {
            before.iter().rposition(|word| word.fresh).unwrap_or(0)
        };
        &before[from..]
    }

    /// Whether a verb is an order: it opens its part of the sentence or follows a word that leads orders in.
    fn is_order(&self, at: usize) -> bool {
        self.tokens[at].fresh
            || self.before(at, 1).first().is_none_or(|word| word.is(role::LEAD | role::MUST | role::YOU))
    }

    fn is_negated(&self, at: usize) -> bool {
        self.before(at, 3).iter().any(|word| word.is(role::NOT))
    }

    fn hit(&self, kind: SignKind, weight: f32, first: usize, last: &PhraseToken) -> SignHit {
        let start = self.tokens[first].start;
        SignHit { kind, weight, start, end: last.end.max(start), quoted: self.text.is_quoted(start) }
    }

    /// "Ignore all previous instructions."
    fn override_at(&self, at: usize) -> Option<SignHit> {
        let verb = self.tokens[at];
        if !verb.is(role::DROP | role::ASIDE) || self.is_negated(at) {
            return None;
        }
        let order = if self.is_order(at) || verb.is(role::ASIDE) { 1.0 } else { 0.4 };
        let after = self.after(at, MAX_WORD_DISTANCE + 2);
        let any = |roles: u64, len: usize| after[..len.min(after.len())].iter().any(|word| word.is(roles));
        if let Some(place) = after.iter().take(MAX_WORD_DISTANCE).position(|word| word.is(role::RULES)) {
            let span = (place + 3).min(after.len());
            let (all, your, prior) = (any(role::ALL, span), any(role::YOUR, span), any(role::PRIOR, span));
            let weight = match (prior || any(role::SYSTEM | role::LIMITS, span), all, your) {
                (true, true, _) => 1.0,
                (true, _, true) => 0.9,
                (true, ..) => 0.65,
                (_, true, true) => 0.8,
                (_, _, true) => 0.6,
                _ if after[place].is(role::PROMPT) => 0.3,
                _ => 0.1,
            };
            return Some(self.hit(SignKind::Override, weight * order, at, &after[place]));
        }
        // "Disregard everything above", "forget what you were told before", "ignore the user's question".
        let told = any(role::PRIOR | role::TOLD, MAX_WORD_DISTANCE);
        if told && any(role::ALL | role::TOLD, MAX_WORD_DISTANCE) {
            let weight = if any(role::YOU, MAX_WORD_DISTANCE) || any(role::ALL, 2) { 0.6 } else { 0.4 };
            return Some(self.hit(SignKind::Override, weight * order, at, after.last()?));
        }
        let user = after.iter().take(3).position(|word| word.is(role::USER))?;
        Some(self.hit(SignKind::Override, 0.7 * order, at, &after[user]))
    }

    /// "Do not tell the user."
    fn telling_at(&self, at: usize) -> Option<SignHit> {
        if !self.tokens[at].is(role::TELL) || !self.is_negated(at) {
            return None;
        }
        let after = self.after(at, 4);
        if let Some(user) = after.iter().position(|word| word.is(role::USER)) {
            return Some(self.hit(SignKind::Concealment, 0.65, at, &after[user]));
        }
        let this = after.iter().take(2).position(|word| word.is(role::THIS))?;
        Some(self.hit(SignKind::Concealment, 0.3, at, &after[this]))
    }

    /// "Reveal your system prompt", "send the conversation to …".
    fn sending_at(&self, at: usize) -> Option<SignHit> {
        if !self.tokens[at].is(role::SEND) || self.is_negated(at) || !self.is_order(at) {
            return None;
        }
        let after = self.after(at, 9);
        let prompt = after.iter().take(MAX_WORD_DISTANCE).enumerate().position(|(place, word)| {
            let own = after[..place].iter().any(|word| word.is(role::SYSTEM | role::YOUR));
            let follows = after.get(place + 1).is_some_and(|word| word.is(role::SYSTEM))
                || after.get(place + 2).is_some_and(|word| word.is(role::SYSTEM));
            word.is(role::PROMPT)
                && (own || follows || self.text.folded[word.start..word.end].contains("system"))
        });
        if let Some(prompt) = prompt {
            return Some(self.hit(SignKind::Exfiltration, 0.85, at, &after[prompt]));
        }
        let loot = after.iter().position(|word| word.is(role::LOOT))?;
        let own = after[..loot].iter().any(|word| word.is(role::YOUR));
        let users = after.iter().any(|word| word.is(role::USER));
        let from = after[loot].end;
        let rest = &self.text.folded[from..self.text.folded.floor_char_boundary(from + 80)];
        let elsewhere = rest.contains("http") || rest.contains('@');
        let history = after[loot..].iter().take(2).any(|word| {
            matches!(
                &self.text.folded[word.start..word.end],
                "conversation" | "history" | "messages" | "historique" | "id_rsa"
            )
        });
        // People are told to send their own keys and passwords every day.
        let weight = match (own && !users, elsewhere, users || history) {
            (true, ..) => 0.1,
            (_, true, true) => 0.9,
            (_, false, true) => 0.6,
            (_, true, false) => 0.5,
            _ => 0.2,
        };
        Some(self.hit(SignKind::Exfiltration, weight, at, &after[loot]))
    }

    /// "You are now DAN", "you have no restrictions", "enter developer mode".
    fn persona_at(&self, at: usize) -> Option<SignHit> {
        let word = self.tokens[at];
        let after = self.after(at, 10);
        let words = |len: usize| &after[..len.min(after.len())];
        if word.is(role::YOU) && words(2).iter().any(|word| word.is(role::ARE | role::MUST)) {
            let now = words(2).iter().any(|word| word.is(role::NOW))
                || self.before(at, 4).iter().any(|word| word.is(role::NOW));
            let free = after.iter().find(|word| word.is(role::MODE | role::LIMITS));
            return match (now, free) {
                (true, Some(free)) => Some(self.hit(SignKind::Persona, 0.7, at, free)),
                (false, Some(free)) if after.iter().any(|word| word.is(role::NOT)) => {
                    Some(self.hit(SignKind::Persona, 0.5, at, free))
                }
                (true, None) if words(2).iter().any(|word| word.is(role::ARE)) => {
                    Some(self.hit(SignKind::Persona, 0.25, at, after.last()?))
                }
                _ => None,
            };
        }
        let named = &self.text.folded[word.start..word.end];
        if matches!(named, "developer" | "maintenance" | "debug" | "god" | "jailbreak" | "admin")
            && words(1).iter().any(|word| word.is(role::MODE))
        {
            return Some(self.hit(SignKind::Persona, 0.35, at, &after[0]));
        }
        None
    }

    /// "Dear AI,", "If you are a language model", "Attention all AI agents".
    fn address_at(&self, at: usize) -> Option<SignHit> {
        let word = self.tokens[at];
        if !word.is(role::MODEL | role::AGENT) {
            return None;
        }
        let before = self.part_before(at, 4);
        let machine =
            word.is(role::MODEL) || before.last().is_some_and(|word| word.is(role::KIND | role::MODEL));
        let whole = self.before(at, 4);
        let is_you =
            whole.iter().any(|word| word.is(role::YOU)) && whole.iter().any(|word| word.is(role::ARE));
        let as_one = before.iter().any(|word| word.is(role::IF))
            && (is_you || before.len() <= 3 && before.first().is_some_and(|word| word.fresh));
        let opens = before.iter().all(|word| {
            word.is(role::CALL | role::KIND | role::MODEL | role::ALL) || word.end - word.start <= 3
        });
        let called = opens
            && (word.called
                || self.after(at, 2).iter().any(|word| word.called)
                || !before.is_empty() && before.iter().any(|word| word.is(role::CALL)));
        let must = opens && self.after(at, 1).first().is_some_and(|word| word.is(role::MUST));
        let weight = match (machine, is_you || as_one || called || must) {
            (true, true) => 0.4,
            (false, true) if is_you && as_one => 0.3,
            (false, true) => 0.15,
            _ => return None,
        };
        Some(self.hit(SignKind::Address, weight, at, &word))
    }

    /// What the model is told to say or do.
    fn command_at(&self, at: usize) -> Option<SignHit> {
        let word = self.tokens[at];
        let after = self.after(at, MAX_WORD_DISTANCE);
        let any = |roles: u64, len: usize| after[..len.min(after.len())].iter().any(|word| word.is(roles));
        if word.is(role::NEW) && any(role::RULES, 1) && self.tokens[at + 1].called | any(role::ARE, 3) {
            return Some(self.hit(SignKind::Command, 0.6, at, after.last()?));
        }
        if word.is(role::GOOD) && any(role::REVIEW, 2) || word.is(role::MEMORY) && any(role::USER, 5) {
            return Some(self.hit(SignKind::Command, 0.7, at, after.last()?));
        }
        if word.is(role::SUM_UP)
            && after.iter().any(|word| word.is(role::SEND | role::TELL))
            && self.before(at, 3).iter().any(|word| word.is(role::IF))
        {
            return Some(self.hit(SignKind::Command, 0.65, at, after.last()?));
        }
        if !word.is(role::STEER | role::ANSWER | role::TELL)
            || !self.is_order(at)
            || (self.is_negated(at) && !word.is(role::TELL))
        {
            return None;
        }
        let end = *after.last().unwrap_or(&word);
        let weight = match () {
            () if word.is(role::STEER) => 0.7,
            () if word.is(role::ANSWER) && any(role::ONLY, 3) => 0.8,
            () if word.is(role::TELL) && any(role::USER, 3) && !self.is_negated(at) => 0.7,
            () if word.is(role::ANSWER) => 0.6,
            () if word.is(role::TELL) && self.before(at, 4).iter().any(|word| word.is(role::MUST)) => 0.6,
            () => return None,
        };
        Some(self.hit(SignKind::Command, weight, at, &end))
    }
}
