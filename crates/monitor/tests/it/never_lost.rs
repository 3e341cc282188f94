//! What a monitor may not lose in silence: changes after extraction took another part of the page, pages that became
//! short to stay, and differences that do not fit into the list of what was ignored.

use jiff::Timestamp;
use monitor::noise::{Focus, NoiseKind};
use monitor::page::{
    CheckStep, CheckedPage, MAX_READS, PageChange, PageHistory, PageRead, Unreadable, first_step, next_step,
};

/// A page that is checked again and again, with all that it shows beside its text.
struct Watched {
    text: String,
    whole: String,
    history: PageHistory,
}

impl Watched {
    fn begin(text: &str, whole: &str) -> Self {
        let first = read(text, whole);
        let CheckStep::Done(checked) = first_step(&[first, first], &Focus::default()) else {
            panic!("two reads are enough")
        };
        Self { text: text.to_owned(), whole: whole.to_owned(), history: checked.history }
    }

    fn check(&mut self, text: &str, whole: &str) -> CheckedPage {
        let reads = [read(text, whole); MAX_READS];
        let before = read(&self.text, &self.whole);
        let step = |count| match next_step(before, &reads[..count], &self.history, &Focus::default()) {
            CheckStep::Done(checked) => Some(*checked),
            CheckStep::ReadAgain => None,
        };
        let checked = (1..=MAX_READS).find_map(step).expect("so many reads are enough");
        if checked.new_version.is_some() {
            self.text = checked.new_text.clone().unwrap_or_else(|| text.to_owned());
            whole.clone_into(&mut self.whole);
        }
        self.history = checked.history.clone();
        checked
    }
}

fn read<'a>(text: &'a str, whole: &'a str) -> PageRead<'a> {
    let at: Timestamp = "2026-11-17T14:03:00Z".parse().unwrap();
    PageRead { at, text, whole: Some(whole) }
}

fn diff(checked: &CheckedPage) -> &str {
    match &checked.change {
        PageChange::Changed(changed) => &changed.diff().text,
        other => panic!("{other:?}, {:?}", checked.ignored),
    }
}

/// An article and what stands beside it.
fn article(fee: &str, more: &str) -> String {
    let clauses: Vec<String> = (1..9)
        .map(|number| {
            format!("Clause {number}: whoever rents a chair brings it back in the state it was in.")
        })
        .collect();
    format!(
        "# Terms\n\n{}\n\nThe fee for a day is {fee}.\n{more}\n{}",
        clauses[..4].join("\n\n"),
        clauses[4..].join("\n\n")
    )
}

fn beside() -> String {
    let lines: Vec<String> = (1..9)
        .map(|number| format!("- Offer {number}: a bench of oak with a back, cheap for this week only"))
        .collect();
    format!("## Offers\n\n{}\n", lines.join("\n"))
}

#[test]
fn what_changes_after_extraction_took_another_part_is_told() {
    let side = beside();
    let page = |fee, more| format!("{}\n\n{side}", article(fee, more));
    let mut watched = Watched::begin(&article("5 EUR", ""), &page("5 EUR", ""));
    let flip = watched.check(&side, &page("5 EUR", ""));
    assert_eq!(flip.change, PageChange::Same, "the page shows the same");
    assert!(flip.ignored.iter().any(|ignored| ignored.kind == NoiseKind::Moved), "it is named");
    // The text as it is read now has nothing of the article.
    let fee = watched.check(&side, &page("9 EUR", ""));
    assert!(
        diff(&fee).contains("-The fee for a day is 5 EUR.\n+The fee for a day is 9 EUR."),
        "{}",
        diff(&fee)
    );
    assert_eq!(watched.check(&side, &page("9 EUR", "")).change, PageChange::Same, "it was told");
    let added = watched.check(&side, &page("9 EUR", "\nA chair that burns is paid for in full.\n"));
    assert!(diff(&added).contains("+A chair that burns"), "the article is still watched: {}", diff(&added));
    // Extraction takes the article again.
    let more = "\nA chair that burns is paid for in full.\n";
    assert_eq!(watched.check(&article("9 EUR", more), &page("9 EUR", more)).change, PageChange::Same);
    assert!(
        diff(&watched.check(&article("7 EUR", more), &page("7 EUR", more)))
            .contains("+The fee for a day is 7 EUR.")
    );
}

#[test]
fn a_list_that_loses_its_entries_is_told_when_it_stays_empty() {
    let list = |entries: usize| {
        let entries: Vec<String> = (0..entries)
            .map(|number| format!("- Carpenter for chairs, place {number}, from spring on"))
            .collect();
        format!("# Open positions\n\n{}\n", entries.join("\n"))
    };
    let empty = "# Open positions\n\nNone.\n";
    let mut watched = Watched::begin(&list(20), &list(20));
    for _ in 0..2 {
        assert_eq!(watched.check(empty, empty).change, PageChange::Unreadable(Unreadable::FarTooShort));
    }
    assert!(diff(&watched.check(empty, empty)).contains("+None."));
    assert_eq!(watched.check(empty, empty).change, PageChange::Same, "it is as long as it is now");
    assert!(diff(&watched.check(&list(1), &list(1))).contains("+- Carpenter"));
}

#[test]
fn a_wall_that_stays_is_never_the_page() {
    let page = article("5 EUR", "");
    for wall in [
        "# Terms\n\nPlease sign in to continue. Try again later.\n",
        "# Before you continue\n\nWe use cookies. Accept all or reject all.\n",
        "# Access denied\n\nToo many requests.\n",
        "",
    ] {
        let mut watched = Watched::begin(&page, &page);
        for _ in 0..6 {
            let change = watched.check(wall, wall).change;
            assert!(matches!(change, PageChange::Unreadable(_)), "{wall}: {change:?}");
        }
        assert_eq!(watched.check(&page, &page).change, PageChange::Same);
    }
}

#[test]
fn a_last_section_that_goes_while_the_footer_changes_is_told() {
    let whole = |text: &str, footer: &str| format!("Chairs\n\n{text}\n\n{footer}\n");
    let (long, short) =
        (article("5 EUR", "") + "\n\n## Comments\n\nWrite to us.\n", article("5 EUR", "") + "\n");
    let mut watched = Watched::begin(&long, &whole(&long, "© 1999-yyyy Chairs of ash"));
    let checked = watched.check(&short, &whole(&short, "© 1999-2026 Chairs of ash"));
    assert!(diff(&checked).contains("-Write to us."), "{}", diff(&checked));
}

#[test]
fn what_was_ignored_beyond_the_list_is_counted() {
    let page = |target: &str| {
        let entry = |number: u32| format!("- [Entry {number}](https://e.org/{target}/{number})");
        (0..40).map(entry).collect::<Vec<_>>().join("\n")
    };
    let mut watched = Watched::begin(&page("a"), &page("a"));
    let checked = watched.check(&page("b"), &page("b"));
    assert_eq!(checked.change, PageChange::Same);
    assert_eq!(checked.ignored.len() + checked.ignored_unlisted, 40);
    assert!(checked.ignored_unlisted > 0);
}

#[test]
fn a_clause_about_cookies_is_told_and_a_banner_is_not() {
    let page = |line: &str| format!("{}\n\n{line}\n", article("5 EUR", ""));
    let clause = "By using the yard you agree to our use of cookies as the cookie policy says.";
    let other =
        clause.replace("you agree to our use of cookies", "you agree to our sale of cookies and names");
    let told = |before: &str, after: &str| {
        let (before, after) = (page(before), page(after));
        matches!(Watched::begin(&before, &before).check(&after, &after).change, PageChange::Changed(_))
    };
    assert!(told(clause, &other));
    assert!(!told("", "We use cookies to improve your experience. Accept all"));
    assert!(!told(
        "We use cookies to improve your experience.",
        "Manage your cookie preferences and settings here."
    ));
}
