use crate::fixtures::markdown;

#[test]
fn rich_text_keeps_styles_and_tables() {
    let text = br"{\rtf1\ansi {\b bold} text\par\trowd\cellx100\cellx200 a\cell b\cell\row\pard end\par}";
    assert_eq!(markdown(text), "**bold** text\n\n| a | b |\n| --- | --- |\n\nend");
}
