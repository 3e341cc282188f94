//! Changes to the content of pages before the parser reads them.

use lopdf::{Dictionary, Document, Object, ObjectId, Stream};

use super::content_tokens::{ContentTokens, Token};

const MAX_CONTENT_BYTES: usize = 32 << 20;

/// Keeps so many pieces of text of a page and drops the content behind them. `None` where the page cannot be cut,
/// because the text is not in its own content.
pub(super) fn cut_text(document: &mut Document, page: ObjectId, kept: usize) -> Option<()> {
    let content = document.get_page_content_with_limit(page, MAX_CONTENT_BYTES).unwrap_or_default();
    let mut tokens = ContentTokens::new(content);
    let mut texts = 0;
    while let Some(token) = tokens.next_token() {
        match token {
            Token::Text(_) => texts += 1,
            Token::Operator(operator) if &*operator == b"BI" => tokens.skip_inline_image(),
            // The operator that shows the last piece comes after it.
            Token::Operator(_) if texts >= kept => {
                let first = add_stream(document, tokens.into_read());
                return set_contents(document, page, vec![first]);
            }
            Token::Number(_) | Token::Name(_) | Token::Operator(_) => {}
        }
    }
    None
}

/// Puts other content in the place of a page's own, between marks that keep the state, and more content behind it.
pub(super) fn replace_content(
    document: &mut Document,
    page: ObjectId,
    content: Vec<u8>,
    more: &str,
) -> Option<()> {
    let parts = [b"q\n".to_vec(), content, format!("\nQ\n{more}").into_bytes()];
    let parts = parts.into_iter().map(|part| add_stream(document, part)).collect();
    set_contents(document, page, parts)
}

fn add_stream(document: &mut Document, content: Vec<u8>) -> Object {
    Object::Reference(document.add_object(Stream::new(Dictionary::new(), content)))
}

fn set_contents(document: &mut Document, page: ObjectId, parts: Vec<Object>) -> Option<()> {
    let Ok(Object::Dictionary(page)) = document.get_object_mut(page) else { return None };
    page.set("Contents", Object::Array(parts));
    Some(())
}
