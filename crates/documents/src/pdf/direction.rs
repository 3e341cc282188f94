//! Right-to-left text that comes out back to front, and how it is noticed.
//!
//! Some producers store the letters in the order in which they stand on the page. The parser turns most of them; what
//! it misses is seen by letters and prefixes that stand only at one end of a word.

use unicode_bidi::{BidiClass, bidi_class};

use super::runs::Run;

/// Turns the words of all runs when the text as a whole reads backwards.
pub(super) fn turn_reversed_runs<'a>(runs: impl IntoIterator<Item = &'a mut Run>) {
    let mut runs: Vec<&mut Run> = runs.into_iter().filter(|run| has_right_to_left(&run.text)).collect();
    if reads_backwards(runs.iter().map(|run| run.text.as_str())) {
        for run in &mut runs {
            run.text = reverse(&run.text);
        }
    }
    repair_ligatures(&mut runs);
    for run in runs {
        turn_brackets(&mut run.text);
    }
}

/// Brackets that close before they open are mirrored: the glyph was stored and not its meaning.
fn turn_brackets(text: &mut String) {
    for (open, close) in [('(', ')'), ('[', ']'), ('«', '»')] {
        let (mut depth, mut lowest, mut highest) = (0i32, 0i32, 0i32);
        for c in text.chars() {
            depth += i32::from(c == open) - i32::from(c == close);
            lowest = lowest.min(depth);
            highest = highest.max(depth);
        }
        if depth == 0 && lowest < 0 && highest == 0 {
            let turned = text.chars().map(|c| match c {
                c if c == open => close,
                c if c == close => open,
                c => c,
            });
            *text = turned.collect();
        }
    }
}

/// Whether right-to-left words of these texts are spelled from their last letter to their first.
pub(super) fn reads_backwards<'a>(texts: impl IntoIterator<Item = &'a str>) -> bool {
    let (mut forwards, mut backwards) = (0usize, 0usize);
    let texts = texts.into_iter().filter(|text| has_right_to_left(text));
    for word in texts.flat_map(|text| text.split(|c: char| !c.is_alphabetic() && !is_mark(c))) {
        let (ahead, back) = weigh_word(word);
        forwards += ahead;
        backwards += back;
    }
    backwards >= 3 && backwards > forwards * 2
}

/// The article before a vowel is often drawn as one glyph for two letters, which then come out in the wrong order:
/// no Arabic word has an alef, an alef with hamza and a lam in a row.
fn repair_ligatures(runs: &mut [&mut Run]) {
    const WRONG: [(&str, &str); 3] = [
        ("\u{627}\u{623}\u{644}", "\u{627}\u{644}\u{623}"),
        ("\u{627}\u{625}\u{644}", "\u{627}\u{644}\u{625}"),
        ("\u{627}\u{622}\u{644}", "\u{627}\u{644}\u{622}"),
    ];
    for run in runs {
        for (wrong, right) in WRONG {
            if run.text.contains(wrong) {
                run.text = run.text.replace(wrong, right);
            }
        }
    }
}

fn has_right_to_left(text: &str) -> bool {
    text.chars().any(|c| matches!(bidi_class(c), BidiClass::R | BidiClass::AL))
}

/// Signs that a word reads forwards, and that it reads backwards.
fn weigh_word(word: &str) -> (usize, usize) {
    let letters: Vec<char> = word.chars().filter(|c| !is_mark(*c)).collect();
    let [first, .., last] = letters[..] else { return (0, 0) };
    // Final forms of Hebrew, and letters that end Arabic words only.
    let final_only = |c: char| matches!(c, 'ך' | 'ם' | 'ן' | 'ף' | 'ץ' | 'ة' | 'ى');
    let mut signs = (usize::from(final_only(last)), usize::from(final_only(first)));
    if letters.len() >= 4 {
        signs.0 += usize::from(letters.starts_with(&['ا', 'ل']));
        signs.1 += usize::from(letters.ends_with(&['ل', 'ا']));
    }
    signs
}

fn is_mark(c: char) -> bool {
    matches!(c, '\u{0591}'..='\u{05C7}' | '\u{0610}'..='\u{061A}' | '\u{064B}'..='\u{065F}' | '\u{0670}')
}

fn reads_left_to_right(c: char) -> bool {
    matches!(bidi_class(c), BidiClass::L | BidiClass::EN | BidiClass::AN)
}

/// The letters from the last to the first; marks stay behind their letter, numbers and Latin words keep their order.
fn reverse(text: &str) -> String {
    let mut turned: Vec<char> = Vec::with_capacity(text.len());
    let mut marks: Vec<char> = Vec::new();
    for c in text.chars().rev() {
        if is_mark(c) {
            marks.push(c);
        } else {
            turned.push(c);
            turned.extend(marks.drain(..).rev());
        }
    }
    turned.append(&mut marks);
    let mut start = 0;
    while start < turned.len() {
        if !reads_left_to_right(turned[start]) {
            start += 1;
            continue;
        }
        let mut end = start + 1;
        // Separators inside a number or between Latin words belong to them.
        let mut next = end;
        while next < turned.len() && !has_right_to_left(&turned[next].to_string()) {
            if reads_left_to_right(turned[next]) {
                end = next + 1;
            }
            next += 1;
        }
        turned[start..end].reverse();
        start = end;
    }
    turned.into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pdf::runs::tests::run;

    fn backwards(text: &str) -> String {
        text.chars().rev().collect()
    }

    #[test]
    fn hebrew_back_to_front_is_turned() {
        let text = "שלום עולם הספרים טובים";
        let mut runs = [run(&backwards(text), 0.0, 10.0, 90.0)];
        turn_reversed_runs(&mut runs);
        assert_eq!(runs[0].text, text);
    }

    #[test]
    fn arabic_that_reads_forwards_stays() {
        let text = "الحكومة المصرية تضع البرامج";
        let mut runs = [run(text, 0.0, 10.0, 90.0)];
        turn_reversed_runs(&mut runs);
        assert_eq!(runs[0].text, text);
    }

    #[test]
    fn letters_of_a_ligature_are_put_in_order() {
        let mut runs = [run("\u{627}\u{625}\u{644}\u{646}\u{62A}\u{627}\u{62C}", 0.0, 10.0, 40.0)];
        turn_reversed_runs(&mut runs);
        assert_eq!(runs[0].text, "\u{627}\u{644}\u{625}\u{646}\u{62A}\u{627}\u{62C}");
    }

    #[test]
    fn brackets_that_close_before_they_open_are_turned() {
        let mut runs = [run("שלום )2024( עולם", 0.0, 10.0, 90.0), run("שלום (א) 1)", 0.0, 30.0, 90.0)];
        turn_reversed_runs(&mut runs);
        assert_eq!(runs[0].text, "שלום (2024) עולם");
        assert_eq!(runs[1].text, "שלום (א) 1)");
    }

    #[test]
    fn numbers_keep_their_order() {
        assert_eq!(reverse("12.5 םולש"), "שלום 12.5");
        assert_eq!(reverse("(Rust) םולש"), "שלום )Rust(");
    }
}
