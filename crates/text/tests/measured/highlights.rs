//! Passages that answer a query.

use text::highlights::{fit_within, highlights};

const PAGE: &str = "# Lighthouse of Cape Sorrow\n\nThe lighthouse stands on a cliff. It was built in 1874 by the engineer Amelia Hartwell. Visitors come for the view.\n\n## Visiting\n\nOpening hours change with the season.\n\n- Adults pay 12 euros.\n- Children under ten enter free.\n- Dogs are not allowed in the tower.\n\n| Month | Opens | Closes |\n| --- | --- | --- |\n| May | 9:00 | 18:00 |\n| December | 10:00 | 15:00 |\n\n## Light\n\nThe lamp flashes every eight seconds. Its range is 24 nautical miles.\n\n## Software\n\nInstall the tide client:\n\n```sh\ncargo install tides\n```\n\nThen restart the machine.\n";

#[test]
fn the_passage_that_answers() {
    for (query, answer) in [
        ("When was the lighthouse built?", "built in 1874"),
        ("who built the lighthouse", "Amelia Hartwell"),
        ("how much do adults pay", "- Adults pay 12 euros."),
        ("are dogs allowed", "- Dogs are not allowed"),
        ("opening times in December", "| December | 10:00 | 15:00 |"),
        ("how far is the range of the lamp", "24 nautical miles"),
        ("command to install the tide client", "cargo install tides"),
    ] {
        let found = highlights(PAGE, query);
        assert!(found.contains(answer), "{query}: {found:?}");
        assert!(found.len() < PAGE.len() / 2, "{query}: {found:?}");
        for line in found.lines().filter(|line| !line.is_empty()) {
            assert!(line.split(". ").all(|part| PAGE.contains(part)), "{query}: not in the text: {line:?}");
        }
    }
}

#[test]
fn headings_and_columns_come_along() {
    let found = highlights(PAGE, "opening hours in May");
    assert!(found.starts_with("## Visiting\n\n"), "{found:?}");
    assert!(
        found.contains("| Month | Opens | Closes |\n| --- | --- | --- |\n| May | 9:00 | 18:00 |"),
        "{found:?}"
    );
}

#[test]
fn nothing_when_nothing_fits() {
    for query in ["quarterly revenue of the shipping company", "", "   ", "???", "zebra"] {
        assert_eq!(highlights(PAGE, query), "", "{query}");
    }
    assert_eq!(highlights("", "lighthouse"), "");
}

/// Queries of question words alone keep those words, each once however often it is asked.
#[test]
fn repeated_question_words() {
    let text = "How to row. What a day it was.\n";
    for query in ["how how how", "what what", "how to how to", "who what who what who"] {
        assert!(highlights(text, query).len() <= text.len(), "{query}");
    }
}

#[test]
fn other_languages() {
    let german = "# Museum\n\nDas Museum wurde 1921 gegründet. Der Eintritt kostet acht Euro. Montags ist geschlossen.\n";
    assert!(highlights(german, "Was kostet der Eintritt?").contains("Der Eintritt kostet acht Euro."));
    assert!(!highlights(german, "Was kostet der Eintritt?").contains("Montags"));
    let japanese = "この店は1990年に開店しました。営業時間は九時から五時までです。駐車場はありません。\n";
    assert_eq!(highlights(japanese, "営業時間は？"), "営業時間は九時から五時までです。");
}

#[test]
fn the_answer_is_bounded() {
    let long = "The tide rises fast here today. ".repeat(20_000);
    assert!(highlights(&long, "tide rises").len() <= 4_000);
    let varied: Vec<String> = (0..50_000).map(|number| format!("- tide number {number} rises")).collect();
    let varied = varied.join("\n");
    let found = highlights(&varied, "tide rises");
    assert!(!found.is_empty() && found.len() <= 4_200 && found.lines().count() <= 10);
}

#[test]
fn what_fits_into_a_room_is_what_answers_first() {
    let filler = "Nothing of note happened at the harbour on that day. ".repeat(400);
    let text = format!(
        "# Diary\n\nIt begins here.\n\n{filler}\n\n## Prices\n\nThe entry fee is 12 euros.\n\n{filler}"
    );
    let room = 600;
    let found = fit_within(&text, "entry fee price", room);
    assert!(found.len() <= room && found.len() > room / 2, "{}", found.len());
    assert!(found.contains("## Prices") && found.contains("The entry fee is 12 euros."), "{found}");
    let begun = fit_within(&text, "", room);
    assert!(begun.starts_with("# Diary") && begun.contains("It begins here."), "{begun}");
    assert!(!begun.contains("12 euros"), "{begun}");
    assert_eq!(fit_within(&text, "fee", 0), "");
    assert_eq!(fit_within("", "fee", 100), "");
}
