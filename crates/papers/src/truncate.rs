//! Texts of sources have any length; what is kept of them has bounds.

/// Shortens text to at most `max` bytes, at a character boundary.
pub fn truncate_text(text: &mut String, max: usize) {
    if text.len() > max {
        text.truncate(text.floor_char_boundary(max));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cutting_respects_character_boundaries() {
        let mut text = "aé".repeat(10);
        truncate_text(&mut text, 5);
        assert_eq!(text, "aéa");
    }
}
