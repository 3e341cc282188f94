//! Names of people, best effort: after titles and cues, and from lists of first names.

use super::regions::Regions;
use super::scan::{LineWord, lines, words};
use super::words::{AMBIGUOUS, CUES, FIRST, GREETINGS, NO_SURNAME, PARTICLES, SURNAMES, TITLES, set};
use super::{Entity, RedactMode, STEPS_PER_WORD, Span};
use memchr::memmem;
use std::collections::HashSet;

/// Words of one name.
const MAX_NAME_WORDS: usize = 4;

struct NameLists {
    first: HashSet<&'static str>,
    ambiguous: HashSet<&'static str>,
    surnames: HashSet<&'static str>,
    no_surname: HashSet<&'static str>,
    titles: HashSet<&'static str>,
}

pub(super) fn find(text: &str, mode: RedactMode, regions: &Regions, found: &mut Vec<Span>) {
    let lists = NameLists {
        first: set(FIRST),
        ambiguous: set(AMBIGUOUS),
        surnames: set(SURNAMES),
        no_surname: set(NO_SURNAME),
        titles: set(TITLES),
    };
    for (start, line) in lines(text) {
        if !line.contains(char::is_uppercase) {
            continue;
        }
        let words = words(line, start);
        let mut at = 0;
        while at < words.len() {
            budget::spend(STEPS_PER_WORD);
            let word = words[at];
            if regions.in_code(word.start) || regions.in_address(word.start) {
                at += 1;
                continue;
            }
            let last = name(text, &words, at, mode, &lists);
            match last {
                Some((from, last)) => {
                    found.push(Span {
                        start: words[from].start,
                        end: words[last].end,
                        entity: Entity::Person,
                    });
                    at = last + 1;
                }
                None => at += 1,
            }
        }
    }
    if mode != RedactMode::Fast {
        honorifics(text, found);
    }
}

/// The name that starts at a word or right after it: its first and last word.
fn name(
    text: &str,
    words: &[LineWord],
    at: usize,
    mode: RedactMode,
    lists: &NameLists,
) -> Option<(usize, usize)> {
    let word = words[at];
    let bare = word.text.trim_end_matches('.');
    let letter_alone = word.text == "M" && !text[word.end..].starts_with('.');
    if lists.titles.contains(bare) && !letter_alone {
        let from = at + 1;
        if next_to(text, words, at, true)
            && words.get(from).is_some_and(|word| word.is_name() && !lists.no_surname.contains(word.text))
        {
            // "Dr. med. Anna": titles may follow titles.
            if !lists.titles.contains(words[from].text) {
                return Some((from, extend(text, words, from, lists, 3)));
            }
        }
        return None;
    }
    if mode == RedactMode::Fast {
        return None;
    }
    if let Some(from) = after_cue(text, words, at) {
        let last = extend(text, words, from, lists, MAX_NAME_WORDS);
        let known = lists.first.contains(words[from].text) || lists.ambiguous.contains(words[from].text);
        let greeted = GREETINGS.contains(&word.text.to_lowercase().as_str());
        let whole = (from..=last).all(|index| !lists.no_surname.contains(words[index].text));
        if whole && if greeted { known } else { last > from } {
            return Some((from, last));
        }
    }
    let ambiguous = lists.ambiguous.contains(word.text);
    if lists.first.contains(word.text) || ambiguous {
        let last = extend(text, words, at, lists, MAX_NAME_WORDS);
        let sure = !ambiguous || lists.surnames.contains(words[last].text);
        if last > at && sure {
            return Some((at, last));
        }
        return (mode == RedactMode::Aggressive && !ambiguous && word.text.len() > 3).then_some((at, at));
    }
    if word.is_initial() && !text[..word.start].ends_with(['\'', '’', '-', '/']) {
        return initials(text, words, at, mode, lists);
    }
    let unknown = mode == RedactMode::Aggressive && word.is_name() && !lists.no_surname.contains(word.text);
    if unknown && next_to(text, words, at, false) && lists.surnames.contains(words[at + 1].text) {
        return Some((at, at + 1));
    }
    None
}

/// The last word of a name that starts here.
fn extend(text: &str, words: &[LineWord], from: usize, lists: &NameLists, most: usize) -> usize {
    let mut last = from;
    let mut at = from;
    while at + 1 < words.len() && at - from + 1 < most && next_to(text, words, at, words[at].is_initial()) {
        let next = words[at + 1];
        if next.is_name() && !lists.no_surname.contains(next.text) {
            last = at + 1;
        } else {
            let initial = next.is_initial() && text[next.end..].starts_with('.');
            if !initial && !PARTICLES.contains(&next.text) {
                break;
            }
        }
        at += 1;
    }
    last
}

/// Whether the next word follows after one space, or after a dot and a space where that is allowed.
fn next_to(text: &str, words: &[LineWord], at: usize, dotted: bool) -> bool {
    let Some(next) = words.get(at + 1) else { return false };
    let gap = &text[words[at].end..next.start];
    gap == " " || gap == "\u{a0}" || (dotted && matches!(gap, ". " | "." | ".\u{a0}"))
}

/// "J. K. Rowling": two initials, or one before a known surname.
fn initials(
    text: &str,
    words: &[LineWord],
    at: usize,
    mode: RedactMode,
    lists: &NameLists,
) -> Option<(usize, usize)> {
    let mut last = at;
    while last - at < 3 && text[words[last].end..].starts_with('.') && next_to(text, words, last, true) {
        last += 1;
        if !words[last].is_initial() {
            break;
        }
    }
    let surname = words[last];
    let sound =
        last > at && surname.is_name() && surname.text.len() > 2 && !lists.no_surname.contains(surname.text);
    let sure = last - at > 1 || lists.surnames.contains(surname.text) || mode == RedactMode::Aggressive;
    (sound && sure).then_some((at, last))
}

/// The word after a cue such as `by` or `Name:`, if a name could start there.
fn after_cue(text: &str, words: &[LineWord], at: usize) -> Option<usize> {
    let next = words.get(at + 1)?;
    if !next.is_name() {
        return None;
    }
    let lower = words[at].text.to_lowercase();
    let gap = &text[words[at].end..next.start];
    let labelled = CUES.contains(&lower.as_str()) && matches!(gap, ": " | ":" | ":** " | "** " | ":\u{a0}");
    let greeted = GREETINGS.contains(&lower.as_str()) && gap == " ";
    let line_start = at == 0
        || at
            .checked_sub(1)
            .is_some_and(|before| WRITTEN.contains(&words[before].text.to_lowercase().as_str()));
    let written = matches!(lower.as_str(), "by" | "von" | "par" | "por") && gap == " " && line_start;
    (labelled || greeted || written).then_some(at + 1)
}

const WRITTEN: &[&str] = &[
    "written",
    "posted",
    "reviewed",
    "edited",
    "photo",
    "founded",
    "directed",
    "authored",
    "signed",
    "published",
    "led",
    "geschrieben",
    "foto",
];

/// Names before the words of respect of Chinese, Japanese and Korean.
fn honorifics(text: &str, found: &mut Vec<Span>) {
    const SURNAMES: &str = "王李张張刘劉陈陳杨楊赵趙黄黃周吴吳徐孙孫胡朱高林何郭马馬罗羅梁宋郑鄭谢謝韩韓唐冯馮于董萧蕭程曹袁邓鄧许許傅沈曾彭吕呂苏蘇卢盧蒋蔣蔡贾賈丁魏薛叶葉阎余潘杜戴夏";
    for (word, han) in [
        ("先生", true),
        ("女士", true),
        ("小姐", true),
        ("教授", true),
        ("さん", false),
        ("様", false),
        ("씨", false),
        ("님", false),
    ] {
        for at in memmem::find_iter(text.as_bytes(), word) {
            budget::spend(1);
            let mut start = at;
            let mut count = 0;
            for (place, c) in text[..at].char_indices().rev().take(if han { 3 } else { 4 }) {
                let fits = if word == "씨" || word == "님" {
                    ('가'..='힣').contains(&c)
                } else {
                    ('\u{4e00}'..='\u{9fff}').contains(&c)
                };
                if !fits {
                    break;
                }
                count += 1;
                start = place;
                if han && SURNAMES.contains(c) {
                    break;
                }
            }
            let surnamed = !han || text[start..at].chars().next().is_some_and(|c| SURNAMES.contains(c));
            if count > 0 && surnamed {
                found.push(Span { start, end: at, entity: Entity::Person });
            }
        }
    }
}
