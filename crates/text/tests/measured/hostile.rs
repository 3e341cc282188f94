//! Hostile input: time in proportion to its size, bounded results, never a panic.

use proptest::prelude::*;
use testkit::growth::{SLOW_PIECES, assert_linear};
use text::redact::{EntitySet, RedactMode, RedactOptions, RedactStyle};
use text::sentences::{SentenceRules, sentences};
use text::{highlights, redact};

fn redacted(text: &str, style: RedactStyle) -> String {
    redact::redact(text, &RedactOptions { mode: RedactMode::Aggressive, entities: EntitySet::all(), style })
        .text
}

#[test]
fn texts_made_to_be_slow() {
    for piece in SLOW_PIECES {
        let text = |n: usize| piece.repeat(n);
        let n = 30_000 / piece.len();
        let marked = assert_linear(piece, n, text, |text| redacted(text, RedactStyle::Mask));
        assert!(marked.len() <= text(2 * n).len() * 8 + 64, "{piece}");
        assert_linear(piece, n, text, |text| highlights::highlights(text, "ignore all main system"));
    }
}

#[test]
fn megabytes_of_prose() {
    // Five megabytes take a debug build a while; one shows the same growth.
    let size = if std::env::var_os("GANNET_TEST_SOAK").is_some() { 5 << 20 } else { 1 << 20 };
    let sentence =
        "Anna Schmidt of 12 Main Street wrote to a@b.org about the tide, which was 3 metres high in 1999. ";
    let (n, text) = (size / sentence.len() / 2, |n: usize| sentence.repeat(n));
    let tagged = assert_linear("redact", n, text, |text| redacted(text, RedactStyle::Tag));
    assert!(!tagged.contains("a@b.org") && !tagged.contains("Schmidt") && tagged.len() < size);
    let highlights =
        assert_linear("highlights", n, text, |text| highlights::highlights(text, "how high was the tide"));
    assert!(highlights.len() < 5_000);
}

#[test]
fn sentences_of_odd_text() {
    let all = [
        SentenceRules::PLAIN,
        SentenceRules::STATEMENTS,
        SentenceRules::paragraph(1_200),
        SentenceRules::lines(320),
    ];
    for piece in ["a.", ".", ". ", ".)", ". a", "\"", "Dr. ", "。", "\n", "x"] {
        for rules in all {
            assert_linear(piece, 200_000, |n| piece.repeat(n), |text| sentences(text, &rules).count());
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn any_text_is_redacted_and_searched(text in "(\\PC|[@.:/=+0-9 \n`*<>\\[\\]()|#\\\\-]|a@b\\.org|\\+49 30 901820|Dr\\. Anna|4111111111111111){0,60}", query in "\\PC{0,20}") {
        for style in [RedactStyle::Tag, RedactStyle::Mask, RedactStyle::Remove] {
            let out = redacted(&text, style);
            prop_assert!(out.len() <= text.len() * 8 + 64);
        }
        for span in redact::find(&text, RedactMode::Accurate, EntitySet::all()).windows(2) {
            prop_assert!(span[0].end <= span[1].start);
        }
        highlights::highlights(&text, &query);
    }

    #[test]
    fn sentences_keep_all_but_white_space(text in "(\\PC|[.!? \n\"')]|Dr\\. |e\\.g\\. |。){0,60}") {
        for rules in [
            SentenceRules::PLAIN,
            SentenceRules::STATEMENTS,
            SentenceRules::paragraph(40),
            SentenceRules::lines(40),
        ] {
            let joined: String = sentences(&text, &rules).collect();
            let solid = |text: &str| text.split_whitespace().collect::<String>();
            prop_assert_eq!(solid(&joined), solid(&text));
        }
    }
}
