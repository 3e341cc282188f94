//! The words that class names, ids, roles and item properties are made of, as hashes.
//!
//! `postBody`, `post-body` and `post_body` all mean `post` and `body`. Owns that splitting and the name
//! spaces that keep a class `main` apart from the role `main`; what a token means is learnt, never decided
//! here.

use super::words::hash_word;
use html::dom::{Attr, Dom, NodeId};

/// Tokens kept for one element; utility-class pages have hundreds and the first ones carry the meaning.
const MAX_TOKENS: usize = 20;
/// Longer parts are generated names, not words.
const MAX_TOKEN_BYTES: usize = 20;

const HASH_START: u32 = 0x811c_9dc5;
const HASH_STEP: u32 = 0x0100_0193;

/// Mixed into a token's hash so that the same word in another kind of attribute is another token.
#[derive(Clone, Copy)]
enum Space {
    Name = 0,
    Role = 0x5bd1_e995,
    Property = 0x2545_f491,
    Whole = 0x6c07_8965,
}

/// Appends the tokens of one element to `tokens`, each once, and returns a hash of its class attribute.
pub fn of_element(dom: &Dom, node: NodeId, tokens: &mut Vec<u32>) -> u32 {
    let start = tokens.len();
    let class = dom.attr(node, Attr::Class).unwrap_or("");
    split(class, Space::Name, start, tokens);
    if let Some(id) = dom.attr(node, Attr::Id) {
        split(id, Space::Name, start, tokens);
    }
    if let Some(role) = dom.attr(node, Attr::Role) {
        split(role, Space::Role, start, tokens);
    }
    if let Some(property) = dom.attr(node, Attr::Itemprop) {
        split(property, Space::Property, start, tokens);
    }
    if let Some(kind) = dom.attr(node, Attr::Itemtype) {
        let name = kind.rsplit('/').next().unwrap_or(kind);
        push(hash_word(&name.to_ascii_lowercase()) ^ Space::Property as u32, start, tokens);
    }
    hash_word(class)
}

/// Splits at marks, at digits and where lower case turns into upper case.
fn split(text: &str, space: Space, start: usize, tokens: &mut Vec<u32>) {
    let (mut hash, mut length, mut parts) = (HASH_START, 0usize, 0usize);
    let (mut whole, mut whole_length) = (HASH_START, 0usize);
    let mut after_lower = false;
    for byte in text.bytes().chain(std::iter::once(b' ')) {
        let letter = byte.is_ascii_alphabetic();
        let edge = !letter || (byte.is_ascii_uppercase() && after_lower);
        if edge {
            if (2..=MAX_TOKEN_BYTES).contains(&length) {
                push(hash ^ space as u32, start, tokens);
                parts += 1;
            }
            (hash, length) = (HASH_START, 0);
        }
        if byte == b' ' {
            // `post-body` is also a token of its own: the pair says more than its parts.
            if parts > 1 && whole_length <= 2 * MAX_TOKEN_BYTES {
                push(whole ^ Space::Whole as u32, start, tokens);
            }
            (whole, whole_length, parts) = (HASH_START, 0, 0);
        } else if letter {
            let lower = u32::from(byte.to_ascii_lowercase());
            hash = (hash ^ lower).wrapping_mul(HASH_STEP);
            whole = (whole ^ lower).wrapping_mul(HASH_STEP);
            length += 1;
            whole_length += 1;
        }
        after_lower = byte.is_ascii_lowercase();
        if tokens.len() - start >= MAX_TOKENS {
            return;
        }
    }
}

fn push(token: u32, start: usize, tokens: &mut Vec<u32>) {
    if tokens.len() - start < MAX_TOKENS && !tokens[start..].contains(&token) {
        tokens.push(token);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tokens(text: &str) -> Vec<u32> {
        let mut found = Vec::new();
        split(text, Space::Name, 0, &mut found);
        found
    }

    #[test]
    fn spellings_agree() {
        let parts = [hash_word("post"), hash_word("body"), hash_word("postbody") ^ Space::Whole as u32];
        assert_eq!(tokens("post-body"), parts);
        assert_eq!(tokens("postBody"), parts);
        assert_eq!(tokens("post__body"), parts);
    }

    #[test]
    fn numbers_and_single_letters_are_no_tokens() {
        assert_eq!(tokens("p-4 x 12 col9"), [hash_word("col")]);
        assert!(tokens("").is_empty());
    }

    #[test]
    fn never_more_than_the_limit() {
        let many = (0..500).map(|i| "wab ".repeat(i % 9 + 1) + &"x".repeat(i)).collect::<Vec<_>>().join(" ");
        assert!(tokens(&many).len() <= MAX_TOKENS);
    }
}
