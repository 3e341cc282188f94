//! What is a change of a page, check by check.

use jiff::Timestamp;
use monitor::noise::{Focus, NoiseKind};
use monitor::page::{
    CheckStep, CheckedPage, PageChange, PageHistory, PageRead, Unreadable, first_step, next_step, watch_again,
};

/// A page that is checked again and again.
struct Watched {
    focus: Focus,
    kept: String,
    history: PageHistory,
}

impl Watched {
    fn begin(focus: Focus, first: &str) -> Self {
        let reads = [read(first), read(first)];
        let CheckStep::Done(checked) = first_step(&reads, &focus) else { panic!("two reads are enough") };
        Self { focus, kept: first.to_owned(), history: checked.history }
    }

    /// A check whose reads are these; the last of them again where more are wanted.
    fn check(&mut self, texts: &[&str]) -> CheckedPage {
        let all: Vec<&str> = (0..3).map(|at| *texts.get(at).or(texts.last()).unwrap()).collect();
        let checked = (1..=3).find_map(|count| {
            let reads: Vec<PageRead> = all[..count].iter().map(|text| read(text)).collect();
            match next_step(read(&self.kept), &reads, &self.history, &self.focus) {
                CheckStep::Done(checked) => Some(*checked),
                CheckStep::ReadAgain => None,
            }
        });
        let checked = checked.expect("three reads are enough");
        if let Some(place) = checked.new_version {
            all[place].clone_into(&mut self.kept);
        }
        self.history = checked.history.clone();
        checked
    }

    fn changed(&mut self, texts: &[&str]) -> bool {
        matches!(self.check(texts).change, PageChange::Changed(_))
    }
}

fn read(text: &str) -> PageRead<'_> {
    PageRead { at: "2026-11-17T14:03:00Z".parse::<Timestamp>().unwrap(), text, whole: None }
}

/// A page with a line of its own.
fn page(line: &str) -> String {
    format!(
        "# Chair\n\n{line}\n\nA chair made of ash, oiled by hand, with a seat of woven paper cord.\n\n\
         It is delivered in one piece and needs no tools.\n"
    )
}

fn kinds(checked: &CheckedPage) -> Vec<NoiseKind> {
    checked.ignored.iter().map(|ignored| ignored.kind).collect()
}

#[test]
fn a_line_that_flipped_once_and_then_changes_to_stay_is_told() {
    let (dear, cheap) = (page("Seats: 80"), page("Seats: 45"));
    let mut watched = Watched::begin(Focus::default(), &dear);
    let flip = watched.check(&[&cheap, &dear, &dear]);
    assert_eq!(flip.change, PageChange::Same, "reads of one moment differ");
    assert!(!flip.ignored.is_empty(), "it is named");
    let stays = watched.check(&[&cheap]);
    let PageChange::Changed(changed) = &stays.change else { panic!("{:?}", stays.ignored) };
    assert!(changed.diff().text.contains("-Seats: 80\n+Seats: 45"), "{}", changed.diff().text);
    assert!(!watched.changed(&[&cheap]), "it was told");
}

#[test]
fn a_place_that_is_watched_again_is_told_at_once() {
    let quotes = ["“Fast.” — Ann", "“Good.” — Bo", "“Cheap.” — Chi"].map(page);
    let [ann, bo, chi] = quotes.each_ref().map(String::as_str);
    let mut watched = Watched::begin(Focus::default(), ann);
    for reads in [[bo, chi, ann], [chi, ann, bo]] {
        assert!(!watched.changed(&reads));
    }
    let ignored = watched.check(&[bo]).ignored;
    let line = ignored[0].before.as_deref().unwrap();
    let mut forget = |line| watch_again(&mut watched.history, read(&watched.kept), line, &watched.focus);
    assert_eq!(forget(Some("A chair made of ash, oiled by hand, with a seat of woven paper cord.")), 0);
    assert_eq!(forget(Some("Nothing of the kind")), 0);
    assert!(forget(Some(line)) > 0, "{line}");
    assert_eq!(forget(Some(line)), 0, "it is forgotten once");
    assert!(watched.changed(&[chi]), "the next difference is told");
    // What was forgotten is learnt again.
    for reads in [[ann, bo, chi], [bo, chi, ann]] {
        assert!(!watched.changed(&reads));
    }
    assert!(!watched.changed(&[ann]));
    assert!(watch_again(&mut watched.history, read(&watched.kept), None, &watched.focus) > 0);
    assert!(watched.changed(&[bo]));
}

#[test]
fn a_place_that_flips_often_is_quiet_until_a_change_stays() {
    let quotes = ["“Fast.” — Ann", "“Good.” — Bo", "“Cheap.” — Chi", "“Solid.” — Dan"].map(page);
    let [ann, bo, chi, dan] = quotes.each_ref().map(String::as_str);
    let mut watched = Watched::begin(Focus::default(), ann);
    for reads in [[bo, chi, ann], [chi, ann, bo]] {
        assert!(!watched.changed(&reads));
    }
    // It is known by now, so that one read is enough, and another one is no news either.
    for quote in [bo, chi, dan, bo] {
        assert!(!watched.changed(&[quote]), "{quote}");
    }
    assert!(watched.changed(&[bo]), "the same in all reads of two checks");
    // What was known is forgotten with it.
    assert!(watched.changed(&[dan]));
}

#[test]
fn what_was_learnt_expires() {
    let (here, gone) = (page("Ask us: 555-0100"), page(""));
    let mut watched = Watched::begin(Focus::default(), &here);
    for _ in 0..3 {
        assert!(!watched.changed(&[&gone, &here, &here]));
    }
    for _ in 0..31 {
        assert!(!watched.changed(&[&here]));
    }
    assert!(watched.changed(&[&gone]), "it has not been missing for a month of checks");
}

#[test]
fn a_line_about_the_goal_is_never_ignored_for_what_was_learnt() {
    let (dear, cheap) = (page("Price: 80 EUR"), page("Price: 45 EUR"));
    let mut watched = Watched::begin(Focus::from_goal("the price drops below 50 EUR"), &dear);
    for _ in 0..3 {
        assert!(!watched.changed(&[&cheap, &dear, &dear]), "it is still there in one read");
    }
    assert!(watched.changed(&[&cheap]));
    // A price that is another one in each read has changed.
    let moving = ["Price: 41 EUR", "Price: 42 EUR", "Price: 43 EUR"].map(page);
    assert!(watched.changed(&moving.each_ref().map(String::as_str)));
}

#[test]
fn people_read_words_and_not_markup_or_addresses() {
    let before =
        page("Mail [Ann](/cdn-cgi/l/email-protection#7f1e) or see [the **terms**](http://e.org/terms).");
    for after in [
        "Mail [Ann](/cdn-cgi/l/email-protection#8a0b) or see [the **terms**](http://e.org/terms).",
        "Mail [Ann](/cdn-cgi/l/email-protection#7f1e) or see [the terms](https://e.org/v2/terms).",
        "Mail Ann or see the `terms`.",
        "**Mail Ann** or see[the terms](/terms) .",
        "Mail Ann\nor see\nthe terms.",
        "```\nMail Ann or see the terms.\n```",
    ] {
        let mut watched = Watched::begin(Focus::default(), &before);
        let checked = watched.check(&[&page(after)]);
        assert_eq!(checked.change, PageChange::Same, "{after}");
        let form = [NoiseKind::LinkTarget, NoiseKind::Markup];
        assert!(kinds(&checked).iter().any(|kind| form.contains(kind)), "{after}: {:?}", checked.ignored);
    }
    let mut watched = Watched::begin(Focus::default(), &before);
    let other = "Mail [Bo](/cdn-cgi/l/email-protection#7f1e) or see [the **terms**](http://e.org/terms).";
    assert!(watched.changed(&[&page(other)]), "other words");
}

#[test]
fn targets_of_links_count_where_the_goal_or_the_settings_ask_for_them() {
    let (before, after) = (page("[Download](/files/1.0.zip)"), page("[Download](/files/1.1.zip)"));
    assert!(!Watched::begin(Focus::default(), &before).changed(&[&after]));
    assert!(Watched::begin(Focus::from_goal("the link leads to a new file"), &before).changed(&[&after]));
    assert!(Watched::begin(Focus::default().with(NoiseKind::LinkTarget), &before).changed(&[&after]));
}

#[test]
fn an_error_in_the_place_of_the_page_is_no_change() {
    let long =
        (1..9).map(|number| format!("Chapter {number} of the long story of chairs.")).collect::<Vec<_>>();
    let whole = page(&long.join("\n\n"));
    for wall in [
        "**Fatal error**: Uncaught Error: Call to undefined function price() in /var/www/html/chair.php:12\n\n\
         Stack trace: #0 {main} thrown in **/var/www/html/chair.php** on line **12**",
        "# This page isn’t available\n\nAn unexpected error has occurred. Come back later.",
        "# Before you continue\n\nWe and our partners store information on your device. Some of it needs your \
         consent, some does not. You can change your choices at any time.\n\n[Accept all](#) [Reject all](#)",
        "",
    ] {
        let mut watched = Watched::begin(Focus::default(), &whole);
        let change = watched.check(&[wall]).change;
        assert!(matches!(change, PageChange::Unreadable(_)), "{wall}: {change:?}");
        assert!(!watched.changed(&[&whole]), "it is back");
    }
    // Half of the page, and what follows it is the error.
    let mut watched = Watched::begin(Focus::default(), &whole);
    let half =
        format!("{}\n\nParse error: unexpected ';' in /srv/chair.php on line 7", &whole[..whole.len() / 2]);
    assert!(matches!(watched.check(&[&half]).change, PageChange::Unreadable(Unreadable::ErrorText)));
    // A page about errors is content.
    let about = page("How to read a message");
    let mut watched = Watched::begin(Focus::default(), &about);
    assert!(watched.changed(&[&page("How to read “Fatal error” and “access denied” on a page of a shop")]));
}

#[test]
fn half_a_page_is_no_change_until_it_stays() {
    let lines: Vec<String> =
        (1..20).map(|number| format!("Chapter {number} of the long story of chairs.")).collect();
    let whole = lines.join("\n\n");
    let half = &whole[..whole.len() / 2];
    let mut watched = Watched::begin(Focus::default(), &whole);
    for _ in 0..2 {
        assert_eq!(watched.check(&[half]).change, PageChange::Unreadable(Unreadable::CutOff));
    }
    assert!(watched.changed(&[half]), "it stays so");
    let mut watched = Watched::begin(Focus::default(), &whole);
    assert!(!watched.changed(&[half, &whole]), "it is whole a few seconds later");
    assert!(watched.changed(&[&lines[..15].join("\n\n")]), "the end of a list goes");
    let ended = format!("{}\n\nThe story has been moved.", lines[..5].join("\n\n"));
    let mut watched = Watched::begin(Focus::default(), &whole);
    assert!(watched.changed(&[&ended]), "another end");
}

#[test]
fn what_an_earlier_version_stored_is_read() {
    let stored = r#"{"lengths":[120],"places":[{"before":1,"after":2,"lines":1}],"passing_lines":[5]}"#;
    let history: PageHistory = serde_json::from_str(stored).unwrap();
    let (before, after) = (page("Price: 80 EUR"), page("Price: 45 EUR"));
    let mut watched = Watched { focus: Focus::default(), kept: before, history };
    assert!(watched.changed(&[&after]));
}

/// What a check makes of a page of which all is known: its text, and the whole page.
fn check_whole(before: [&str; 2], after: [&str; 2]) -> CheckedPage {
    let [before, after] = [before, after].map(|[text, whole]| PageRead { whole: Some(whole), ..read(text) });
    match next_step(before, &[after; 3], &PageHistory::default(), &Focus::default()) {
        CheckStep::Done(checked) => *checked,
        CheckStep::ReadAgain => panic!("three reads are enough"),
    }
}

#[test]
fn what_the_page_shows_both_times_has_not_changed() {
    let (text, related) = (page("## Sizes"), "## Others\n\n- Table\n- Bench\n\nSold out\n");
    let whole = format!("Home\n\n{text}\n{related}");
    for other in [page(""), format!("{text}\n{related}"), "# Chair\n".to_owned()] {
        for (before, after) in [(&text, &other), (&other, &text)] {
            let checked = check_whole([before, &whole], [after, &whole]);
            assert_eq!(checked.change, PageChange::Same, "{other}");
            assert!(kinds(&checked).contains(&NoiseKind::Moved), "{other}: {:?}", checked.ignored);
        }
    }
    // The chair is sold out, and what is beside it is not any more.
    let [here, gone] = ["In stock", "Sold out"].map(page);
    let whole_here = format!("{here}\n## Others\n\n- Bench\n\nSold out\n");
    let whole_gone = format!("{gone}\n## Others\n\n- Bench\n\nIn stock\n");
    let change = check_whole([&here, &whole_here], [&gone, &whole_gone]).change;
    assert!(matches!(change, PageChange::Changed(_)), "{change:?}");
}

#[test]
fn a_page_that_is_torn_in_its_footer_has_lost_its_end() {
    let lines = |count: usize| {
        let entries: Vec<String> =
            (1..=count).map(|number| format!("- Chair number {number} of ash")).collect();
        format!("# Chairs\n\n{}\n", entries.join("\n"))
    };
    let (all, fewer) = (lines(12), lines(10));
    let (whole, torn) = (format!("{all}\n© Chairs of ash, Leeds\n"), fewer.clone());
    let change = check_whole([&all, &whole], [&fewer, &torn]).change;
    assert_eq!(change, PageChange::Unreadable(Unreadable::CutOff));
    let whole_fewer = format!("{fewer}\n© Chairs of ash, Leeds\n");
    let change = check_whole([&all, &whole], [&fewer, &whole_fewer]).change;
    assert!(matches!(change, PageChange::Changed(_)), "two chairs are gone: {change:?}");
}

#[test]
fn numbers_of_another_form_are_markup() {
    let before = page("1. Do not copy the chair\n2. Do not burn the chair");
    let lettered = page("(a) Do not copy the chair\n\n(b) Do not burn the chair");
    let nested = page("4.1.1 Do not copy the chair\n\n4.1.2 Do not burn the chair");
    for after in [&lettered, &nested] {
        assert!(!Watched::begin(Focus::default(), &before).changed(&[after]), "{after}");
    }
    let swapped = page("1. Do not burn the chair\n2. Do not copy the chair");
    assert!(Watched::begin(Focus::default(), &before).changed(&[&swapped]), "another order");
}

#[test]
fn the_version_in_the_title_of_a_manual_is_no_news() {
    let manual = |version: &str, line: &str| {
        let text = "How the mill is set up, run and cleaned, with all that may break and how it is mended. "
            .repeat(8);
        format!("# Mill {version} Manual\n\n{text}\n\n{line}\n")
    };
    let (before, after) = (manual("1.4.2", "Use oil."), manual("1.4.3", "Use oil."));
    assert!(!Watched::begin(Focus::default(), &before).changed(&[&after]));
    assert!(Watched::begin(Focus::from_goal("a new version"), &before).changed(&[&after]));
    assert!(Watched::begin(Focus::default(), &before).changed(&[&manual("1.4.3", "Use no oil.")]));
    let released = |version: &str| page("").replace("# Chair", &format!("# Chair {version} is released"));
    assert!(Watched::begin(Focus::default(), &released("1.4.2")).changed(&[&released("1.4.3")]));
}

#[test]
fn another_text_in_the_place_of_a_page_is_told_when_it_stays() {
    let before = format!("{}\n{}", page("Price: 80 EUR"), page("Made in Leeds by four people since 1988."));
    let notice = "Our workshop moves. Orders go on by telephone, thank you for your patience.";
    let mut watched = Watched::begin(Focus::default(), &before);
    for _ in 0..2 {
        assert_eq!(watched.check(&[notice]).change, PageChange::Unreadable(Unreadable::Replaced));
    }
    assert!(watched.changed(&[notice]), "it is the page now");
    // The heading stays, or the words do.
    for other in [
        "# Chair\n\nSold out for good, we are sorry.",
        "A chair of ash with a seat of paper cord, delivered.",
    ] {
        assert!(Watched::begin(Focus::default(), &before).changed(&[other]), "{other}");
    }
}
