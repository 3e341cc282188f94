//! Word forms of several languages.

use crate::{Fixture, page, query};
use index::{Document, Query};

fn in_language(language: Option<&str>, title: &str, body: &str) -> Document {
    Document {
        language: language.map(str::to_owned),
        ..page(&format!("https://{}.example/", language.unwrap_or("none")), title, body)
    }
}

fn fixture() -> Fixture {
    Fixture::with_pages([
        in_language(Some("en"), "english", "The cats were running through libraries."),
        in_language(Some("de-AT"), "german", "Die alten Häuser der Städte haben große Türen und Straßen."),
        in_language(Some("fr"), "french", "Les élèves étudient les mathématiques à l'école."),
        in_language(Some("ja"), "japanese", "東京タワーは高さ三百三十三メートルの電波塔です。猫がいます。"),
        in_language(Some("ru"), "russian", "В библиотеках хранятся старинные книги и ёлки."),
        in_language(Some("ar"), "arabic", "توجد المكتبات الكبيرة في المدن القديمة مع مُحَمَّد."),
    ])
}

#[test]
fn forms_of_a_word_are_found_in_each_language() {
    let fixture = fixture();
    for (text, title) in [
        ("run library cat", "english"),
        ("Haus mit Tür", "german"),
        ("haeuser hauser turen", "german"),
        ("strasse", "german"),
        ("étudier la mathématique", "french"),
        ("ecole", "french"),
        ("東京タワー", "japanese"),
        ("電波塔", "japanese"),
        ("猫", "japanese"),
        ("книга", "russian"),
        ("елки", "russian"),
        ("مكتبة", "arabic"),
        ("محمد", "arabic"),
    ] {
        assert_eq!(fixture.ask(text).first().map(String::as_str), Some(title), "{text}");
    }
}

#[test]
fn the_word_itself_comes_before_its_forms() {
    let body = |word: &str| format!("Something about {word} and nothing else at all.");
    let fixture = Fixture::with_pages([
        page("https://a.example/", "forms", &body("connected")),
        page("https://b.example/", "itself", &body("connection")),
        page("https://c.example/", "others", &body("connects")),
    ]);
    let titles = fixture.ask("connection");
    assert_eq!((titles[0].as_str(), titles.len()), ("itself", 3));
}

#[test]
fn the_language_of_a_page_is_detected() {
    let body =
        "Die alten Häuser der Städte haben große Türen, und die Menschen gehen durch die Straßen nach Hause.";
    let fixture = Fixture::with_pages([in_language(None, "german", body)]);
    assert_eq!(fixture.titles(&Query { language: Some("de".into()), ..query("Mensch") }), ["german"]);
}

#[test]
fn pages_in_the_language_asked_for_come_forward() {
    let text = "Internet Computer Video Radio";
    let fixture = Fixture::with_pages([
        in_language(Some("en"), "english", text),
        in_language(Some("de"), "german", text),
    ]);
    for (language, title) in [("en", "english"), ("de", "german")] {
        let titles = fixture.titles(&Query { language: Some(language.into()), ..query("radio video") });
        assert_eq!((titles[0].as_str(), titles.len()), (title, 2));
    }
}
