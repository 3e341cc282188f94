//! Forms and keys.

use crate::fixture::Fixture;

#[tokio::test(flavor = "multi_thread")]
async fn a_form_is_filled_and_sent() {
    let fixture = Fixture::at("/form.html").await;
    fixture.ok("fill '[name=name]' 'Ann Lee'").await;
    fixture.ok("fill #notes 'two\nlines'").await;
    fixture.ok("fill #day 2026-11-17").await;
    fixture.ok("fill #number 42").await;
    fixture.ok("select #color Green").await;
    fixture.ok("check #agree").await;
    fixture.ok("check #large").await;
    fixture.ok("find role button click --name 'Send order'").await;
    let sent = fixture.ok("get text #sent").await;
    for part in [
        "name=Ann+Lee",
        "notes=two%0D%0Alines",
        "day=2026-11-17",
        "number=42",
        "color=g",
        "agree=on",
        "size=l",
    ] {
        assert!(sent.contains(part), "{part} in {sent}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn fields_of_all_kinds_are_filled_or_refused() {
    let fixture = Fixture::at("/form.html").await;
    fixture.ok("fill '[name=name]' first").await;
    fixture.ok("fill '[name=name]' second").await;
    assert_eq!(fixture.ok("get value '[name=name]'").await, "second", "what was there is replaced");
    fixture.ok("type '[name=name]' ' and more é'").await;
    assert_eq!(fixture.ok("get value '[name=name]'").await, "second and more é");
    fixture.ok("fill '[name=name]' ''").await;
    assert_eq!(fixture.ok("get value '[name=name]'").await, "");
    fixture.ok("fill #editor 'new text'").await;
    assert_eq!(fixture.ok("get text #editor").await, "new text");
    fixture.ok("fill #volume 7").await;
    assert_eq!(fixture.ok("get value #volume").await, "7");
    assert!(fixture.err("fill #day tomorrow").await.contains("not a valid value"));
    assert!(fixture.err("fill #number many").await.contains("not a valid value"));
    assert!(fixture.err("fill #locked x").await.contains("is read-only"));
    assert!(fixture.err("fill #agree x").await.contains("no text field but a checkbox"));
    assert!(fixture.err("fill h1 x").await.contains("no text field but a h1"));
}

#[tokio::test(flavor = "multi_thread")]
async fn boxes_and_lists() {
    let fixture = Fixture::at("/form.html").await;
    fixture.ok("check #agree").await;
    fixture.ok("check #agree").await;
    assert_eq!(fixture.ok("is checked #agree").await, "true", "a second time changes nothing");
    fixture.ok("uncheck #agree").await;
    assert_eq!(fixture.ok("is checked #agree").await, "false");
    fixture.ok("check #styled").await;
    assert_eq!(fixture.ok("is checked #styled").await, "true", "a hidden box is clicked by its label");
    fixture.ok("check #dark").await;
    assert_eq!(fixture.json("is checked #dark").await["checked"], true);
    assert!(fixture.err("check h1").await.contains("is no checkbox"));
    assert_eq!(fixture.json("select #color g").await["selected"][0], "g");
    assert!(fixture.err("select #color Purple").await.contains("Options: Red, Green, Blue"));
    assert!(fixture.err("select #color Blue").await.contains("disabled"));
    assert!(fixture.err("select #color Red Green").await.contains("only one"));
    assert!(fixture.err("select h1 x").await.contains("is no select list"));
    assert_eq!(fixture.json("select #many One Three").await["selected"].as_array().unwrap().len(), 2);
    let option = fixture.ref_of("option \"Red\"").await;
    fixture.ok(&format!("click {option}")).await;
    assert_eq!(fixture.ok("get value #color").await, "r");
}

#[tokio::test(flavor = "multi_thread")]
async fn keys_reach_the_page() {
    let fixture = Fixture::at("/form.html").await;
    fixture.ok("focus '[name=name]'").await;
    fixture.ok("keyboard type 'ab'").await;
    fixture.ok("press Control+a").await;
    fixture.ok("keyboard inserttext 'ß zusammen'").await;
    assert_eq!(fixture.ok("get value '[name=name]'").await, "ß zusammen");
    fixture.ok("press Backspace").await;
    assert_eq!(fixture.ok("get value '[name=name]'").await, "ß zusamme");
    let keys = fixture.ok("get text #keys").await;
    assert!(keys.starts_with("a b C-Control C-a"), "{keys}");
    fixture.ok("key Tab").await;
    assert_eq!(fixture.ok("eval document.activeElement.name").await, "\"password\"");
    fixture.ok("focus '[name=name]'").await;
    fixture.ok("press Enter").await;
    assert_eq!(
        fixture.ok("get title").await,
        "Echo",
        "Enter sends the form, and the next command sees the new page"
    );
    assert!(fixture.err("press Hyper").await.contains("Unknown key: Hyper"));
    assert!(fixture.err("focus h1").await.contains("cannot have the focus"));
}

#[tokio::test(flavor = "multi_thread")]
async fn files_are_uploaded_from_the_folder_only() {
    let fixture = Fixture::at("/form.html").await;
    std::fs::write(fixture.folder().join("a.txt"), "hello").unwrap();
    std::fs::write(fixture.folder().join("b.txt"), "b").unwrap();
    std::os::unix::fs::symlink("/etc/hostname", fixture.folder().join("link")).unwrap();
    fixture.ok("upload #file a.txt").await;
    assert_eq!(fixture.ok("get title").await, "File a.txt 5");
    fixture.ok("upload #files a.txt b.txt").await;
    assert_eq!(fixture.ok("eval 'files.files.length'").await, "2");
    for path in ["/etc/hostname", "../../etc/hostname", "link", "missing.txt"] {
        fixture.err(&format!("upload #file {path}")).await;
    }
    assert_eq!(fixture.ok("eval 'file.files[0].name'").await, "\"a.txt\"");
    assert!(fixture.err("upload #file a.txt b.txt").await.contains("only one file"));
    assert!(fixture.err("upload h1 a.txt").await.contains("is no file input"));
}
