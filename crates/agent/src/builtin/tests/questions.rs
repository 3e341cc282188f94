//! Questions: which page is about what is asked, and which part of a page answers.

use super::*;

fn courses(astronomy: &str) -> FakeWeb {
    let design = "<title>College of Environmental Design</title><h1>College of Environmental Design</h1>\
        <p>Courses of the college, a guide for students.</p><dl><dt>Units</dt><dd>1</dd></dl>";
    let mut web =
        FakeWeb::new(&[("https://a.example/design", design), ("https://a.example/astron", astronomy)]);
    web.hits = vec!["https://a.example/design", "https://a.example/astron"];
    web
}

#[tokio::test]
async fn a_value_of_a_page_about_another_thing_is_no_answer() {
    let schema = json!({ "type": "object", "properties": { "title": { "type": "string" }, "units": { "type": "integer" } } });
    let question = Task { schema: Some(schema), ..task("Title and units of ASTRON 7A", &[]) };
    let right = "<title>ASTRON 7A</title><h1>ASTRON 7A</h1><p>Introduction to astrophysics, for majors.</p>\
        <dl><dt>Units</dt><dd>4</dd></dl>";
    let (ended, _) = play(&question, &courses(right)).await;
    assert_eq!(*data(&ended), json!({ "title": "ASTRON 7A", "units": 4 }), "{ended:?}");
    assert!(matches!(ended, BrainOutcome::Answered { note: None, .. }), "{ended:?}");
    // No page is about it, or the one that is does not say: what other pages say is not sold as the answer.
    let (ended, _) = play(&question, &courses("<h1>Stars</h1><p>They shine.</p>")).await;
    let BrainOutcome::Answered { note: Some(note), .. } = ended else { panic!("{ended:?}") };
    assert!(note.contains("do not mention: ASTRON, 7A."), "{note}");
    let (ended, _) = play(&question, &courses("<h1>ASTRON 7A</h1><p>Stars and how they shine.</p>")).await;
    let BrainOutcome::Answered { note: Some(note), .. } = ended else { panic!("{ended:?}") };
    assert!(note.contains("Doubtful: units."), "{note}");
}

#[tokio::test]
async fn a_question_about_a_table_is_answered_by_its_rows() {
    let table = |head: &str| {
        format!(
            "<title>Feeders</title><h1>Feeders</h1><p>All are made by hand.</p><table>{head}\
             <tr><td>Oak feeder</td><td>12 EUR</td><td>Leeds</td></tr>\
             <tr><td>Larch feeder</td><td>30 EUR</td><td>Hull</td></tr></table>"
        )
    };
    for head in [
        "<tr><th>Feeder</th><th>Price</th><th>Workshop</th></tr>",
        "<tr><td><b>Feeder</b></td><td><strong>Price</strong></td><td><b>Workshop</b></td></tr>",
    ] {
        let page = table(head);
        let web = FakeWeb::new(&[(HOME, &page)]);
        let (ended, _) = play(&task("What is the price of the larch feeder?", &[HOME]), &web).await;
        let answer = data(&ended);
        // Bold cells are no header cells for more than this.
        assert!(!head.contains("<th>") || answer["price"] == "30 EUR", "{head}: {answer}");
        let passages = answer["answer"].as_str().unwrap();
        assert!(
            passages.starts_with("Feeder: Larch feeder, Price: 30 EUR, Workshop: Hull"),
            "{head}: {passages}"
        );
        assert!(!passages.contains("Price | Workshop"), "{head}: {passages}");
        // Nothing says which row is meant: all of them answer, and none is the price.
        let (ended, _) = play(&task("Which feeders are there, at what price?", &[HOME]), &web).await;
        let answer = data(&ended);
        assert!(answer.get("price").is_none(), "{head}: {answer}");
        let passages = answer["answer"].as_str().unwrap();
        assert!(passages.contains("12 EUR") && passages.contains("30 EUR"), "{head}: {passages}");
    }
}
