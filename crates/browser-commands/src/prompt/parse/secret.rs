//! Whether a name is that of a secret.

const SECRETS: &[&str] = &[
    "password",
    "passwort",
    "passphrase",
    "passcode",
    "secret",
    "api key",
    "token",
    "pin",
    "otp",
    "cvv",
    "cvc",
    "card number",
];

/// Whether a field holds a secret.
pub(in super::super) fn is_secret_name(name: &str) -> bool {
    let lower = name.to_lowercase();
    SECRETS.iter().any(|word| {
        lower
            .split(|c: char| !c.is_alphanumeric() && c != ' ')
            .any(|part| part == *word || format!(" {part} ").contains(&format!(" {word} ")))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_recognized_by_whole_words() {
        assert!(is_secret_name("Your password") && is_secret_name("PIN") && !is_secret_name("shipping"));
    }
}
