//! Words of names as programs and addresses write them.

/// The words of a name in lower case: `getStarted`, `get-started` and `Get started` have the same two.
pub fn words(name: impl IntoIterator<Item = char>) -> impl Iterator<Item = String> {
    let mut letters = name.into_iter();
    let mut word = String::new();
    let mut after_lower_case = false;
    std::iter::from_fn(move || {
        for letter in letters.by_ref() {
            let new_word = !letter.is_alphanumeric() || (letter.is_uppercase() && after_lower_case);
            after_lower_case = letter.is_lowercase();
            let ended = if new_word { std::mem::take(&mut word) } else { String::new() };
            if letter.is_alphanumeric() {
                word.extend(letter.to_lowercase());
            }
            if !ended.is_empty() {
                return Some(ended);
            }
        }
        Some(std::mem::take(&mut word)).filter(|last| !last.is_empty())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_has_the_same_words_however_it_is_written() {
        for name in ["getStarted2", "get-started2", "  Get started2!", "GET_STARTED2", "get__started2"] {
            assert_eq!(words(name.chars()).collect::<Vec<_>>(), ["get", "started2"], "{name}");
        }
        assert_eq!(words("HTMLPage GRÜSSE".chars()).collect::<Vec<_>>(), ["htmlpage", "grüsse"]);
        assert_eq!(words(" -!".chars()).count(), 0);
    }
}
