//! One test for each class of sentence.

use super::*;

fn steps(prompt: &str) -> Vec<ParsedStep> {
    parse_prompt(prompt).unwrap_or_else(|reason| panic!("{prompt}: {reason}"))
}

fn one(prompt: &str) -> ParsedStep {
    let steps = steps(prompt);
    assert_eq!(steps.len(), 1, "{prompt}: {steps:?}");
    steps.into_iter().next().unwrap()
}

/// What is pointed at, how, and how often.
fn pointed(prompt: &str) -> (PointerAction, String, u32) {
    match one(prompt) {
        ParsedStep::Point { how, target, times } => (how, target.phrase, times),
        other => panic!("{prompt}: {other:?}"),
    }
}

fn filled(prompt: &str) -> Vec<(String, String)> {
    let field = |step: ParsedStep| match step {
        ParsedStep::Fill { field, value } => (field.phrase, value),
        other => panic!("{prompt}: {other:?}"),
    };
    steps(prompt).into_iter().map(field).collect()
}

fn pair(field: &str, value: &str) -> (String, String) {
    (field.to_owned(), value.to_owned())
}

#[test]
fn clicks_with_their_counts_and_kinds() {
    let click = |name: &str, times| (PointerAction::Click, name.to_owned(), times);
    assert_eq!(pointed("Click the Buy now button."), click("Buy now button", 1));
    assert_eq!(pointed("please click on \"Sign up and save\""), click("Sign up and save", 1));
    assert_eq!(pointed("click Add twice"), click("Add", 2));
    assert_eq!(pointed("tap the Next button three times"), click("Next button", 3));
    assert_eq!(pointed("press the Buy button"), click("Buy button", 1));
    assert_eq!(pointed("go to the About page"), click("About page", 1));
    assert_eq!(pointed("accept all cookies"), click("accept all cookies", 1));
    assert_eq!(pointed("double-click the file"), (PointerAction::DoubleClick, "file".to_owned(), 1));
    assert_eq!(
        pointed("hover over the Products menu"),
        (PointerAction::Hover, "Products menu".to_owned(), 1)
    );
    assert_eq!(one("press enter"), ParsedStep::Press { key: "enter".to_owned(), times: 1 });
    assert_eq!(one("press Tab 5 times"), ParsedStep::Press { key: "Tab".to_owned(), times: 5 });
    assert_eq!(one("hit submit"), ParsedStep::Submit);
}

#[test]
fn fields_and_values() {
    let name = vec![pair("name field", "Ann Lee")];
    assert_eq!(filled("fill the name field with Ann Lee"), name);
    assert_eq!(filled("enter Ann Lee in the name field"), name);
    assert_eq!(filled("Type 'Ann Lee' into the name field"), name);
    assert_eq!(
        filled("fill First name with Ann, Last name with Lee and Email with a@b.example"),
        [pair("First name", "Ann"), pair("Last name", "Lee"), pair("Email", "a@b.example")]
    );
    assert_eq!(
        filled("Enter the username \"ann\" and the password \"x y\" into the text fields"),
        [pair("username", "ann"), pair("password", "x y")]
    );
    assert_eq!(filled("Type \"Ab\" in all upper case letters in the text input"), [pair("text input", "AB")]);
    assert_eq!(filled("Use the textbox to enter \"gannets\""), [pair("textbox", "gannets")]);
    assert_eq!(filled("Select 7 with the spinner"), [pair("spinner", "7")]);
    assert!(matches!(one("type \"gannets\""), ParsedStep::Type { hint: None, .. }));
    assert!(matches!(one("enter the name \"Ann\""), ParsedStep::Type { hint: Some(_), .. }));
}

#[test]
fn a_value_that_is_only_described_is_not_typed() {
    for (prompt, field) in [
        ("fill in the password", "password"),
        ("enter my password", "password"),
        ("type my password into the password field", "password"),
        ("Type the total number of blocks into the textbox", "textbox"),
        ("Enter an item that starts with \"Ba\"", ""),
        ("fill the form with whatever fits", "form"),
    ] {
        match one(prompt) {
            ParsedStep::FillWithoutValue(named) => assert!(named.contains(field), "{prompt}: {named}"),
            other => panic!("{prompt}: {other:?}"),
        }
    }
}

#[test]
fn choices_and_boxes() {
    match one("select Medium from the size list") {
        ParsedStep::Select { values, list: Some(list) } => {
            assert_eq!((values.whole.phrase.as_str(), list.phrase.as_str()), ("Medium", "size list"));
        }
        other => panic!("{other:?}"),
    }
    match one("Select Red, Green and Blue") {
        ParsedStep::Select { values, list: None } => assert_eq!(values.parts.len(), 3),
        other => panic!("{other:?}"),
    }
    assert_eq!(
        one("Select File > Save as"),
        ParsedStep::SelectPath(vec!["File".to_owned(), "Save as".to_owned()])
    );
    assert!(matches!(one("uncheck the newsletter checkbox"), ParsedStep::Check { wanted: false, .. }));
    match one("upload \"cv.pdf\" to the CV field") {
        ParsedStep::Upload { file, field: Some(field) } => {
            assert_eq!((file.as_str(), field.phrase.as_str()), ("cv.pdf", "CV field"));
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn dialogs_tabs_and_parts_that_open() {
    assert_eq!(steps("click Delete and accept")[1], ParsedStep::Dialog { accepts: true, text: None });
    assert_eq!(one("dismiss the alert"), ParsedStep::Dialog { accepts: false, text: None });
    assert_eq!(
        one("answer the prompt with \"Ann\""),
        ParsedStep::Dialog { accepts: true, text: Some("Ann".to_owned()) }
    );
    let found = steps("Switch between the tabs to find and click on the link \"amet\".");
    assert_eq!(found[0], ParsedStep::Explore(HiddenParts::Tabs));
    assert!(matches!(found[1], ParsedStep::Point { .. }));
    let found = steps("Expand the sections below, to find and click on the link \"amet\".");
    assert_eq!(found[0], ParsedStep::Explore(HiddenParts::Sections));
    assert!(matches!(
        steps("Expand the section below and click submit")[0],
        ParsedStep::Expand { wanted: true, .. }
    ));
    let found = steps("For the user @ann, click on the \"Reply\" button.");
    assert_eq!(found[0], ParsedStep::Scope(Place::BesideText("@ann".to_owned())));
    let found = steps("Close the dialog box by clicking the \"x\".");
    assert!(matches!((&found[0], &found[1]), (ParsedStep::Scope(Place::Role(_)), ParsedStep::Point { .. })));
}

#[test]
fn scrolling_is_what_was_said_or_nothing() {
    let way = |prompt: &str| match one(prompt) {
        ParsedStep::Scroll(ScrollStep { direction, way, .. }) => (direction, way),
        other => panic!("{prompt}: {other:?}"),
    };
    assert_eq!(way("scroll down"), ("down", ScrollWay::Steps(1)));
    assert_eq!(way("scroll up twice"), ("up", ScrollWay::Steps(2)));
    assert_eq!(way("scroll down by 300 pixels"), ("down", ScrollWay::Pixels(300)));
    assert_eq!(way("scroll to the top"), ("up", ScrollWay::ToEnd));
    assert_eq!(way("Scroll to the bottom of the textarea"), ("down", ScrollWay::ToEnd));
    let found = steps("Scroll down until Item 60 shows up and open it");
    assert_eq!(
        found[0],
        ParsedStep::Scroll(ScrollStep {
            what: None,
            direction: "down",
            way: ScrollWay::Until("Item 60".to_owned())
        })
    );
    assert!(matches!(&found[1], ParsedStep::Point { target, .. } if target.is_pronoun));
    for unclear in [
        "scroll down until it is nice",
        "scroll around",
        "scroll down if you like",
        "scroll down to see more",
    ] {
        assert!(
            !matches!(
                parse_prompt(unclear).as_deref(),
                Ok([ParsedStep::Scroll(ScrollStep { way: ScrollWay::Steps(_), .. })])
            ),
            "{unclear}"
        );
    }
}

#[test]
fn waiting_addresses_searches_and_questions() {
    assert_eq!(one("wait 3 seconds"), ParsedStep::Wait(WaitStep::Milliseconds(3_000)));
    assert_eq!(one("wait for half"), one("wait for half to appear"));
    assert!(matches!(
        one("wait until Loading disappears"),
        ParsedStep::Wait(WaitStep::For { is_shown: false, .. })
    ));
    assert_eq!(one("wait for the page to load"), ParsedStep::Wait(WaitStep::Loaded));
    assert_eq!(one("go to example.com/a"), ParsedStep::Open("example.com/a".to_owned()));
    assert_eq!(one("search for red shoes and boots"), ParsedStep::Search("red shoes and boots".to_owned()));
    assert_eq!(one("What is the price?"), ParsedStep::Ask("What is the price".to_owned()));
    let all = steps("fill name with Ann, click Send then scroll down and tell me how much it costs");
    assert_eq!(all.len(), 4, "{all:?}");
    let all = steps("search for gannets, then click the first result");
    assert_eq!(all[0], ParsedStep::Search("gannets".to_owned()));
}

#[test]
fn a_prompt_of_which_a_part_is_not_understood_does_nothing() {
    for prompt in [
        "book me a flight to Oslo",
        "log in",
        "summarize this page",
        "",
        "click x then dance",
        "click Save and delete everything that is old",
        "Buy the ticket with the lowest price.",
        "Find the email by Ann and reply to them with the text \"Hi\".",
        "Solve the math problem and type your answer into the textbox and press submit.",
    ] {
        assert!(parse_prompt(prompt).is_err(), "{prompt}: {:?}", parse_prompt(prompt));
    }
    assert!(parse_prompt(&"click a then ".repeat(500)).is_err());
}
