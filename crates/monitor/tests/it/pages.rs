//! What is a change of a page, check by check.

use jiff::Timestamp;
use monitor::noise::{Focus, NoiseKind};
use monitor::page::{
    CheckStep, CheckedPage, PageChange, PageHistory, PageRead, Unreadable, first_step, next_step,
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
    PageRead { at: "2026-11-17T14:03:00Z".parse::<Timestamp>().unwrap(), text }
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
