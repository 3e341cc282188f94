//! Recognizes a postal address by its form.

use super::contact;

/// Words of streets.
const STREETS: &str = "street st str road rd avenue ave av lane ln drive dr boulevard blvd way square sq court ct place pl \
    terrace row quay parade crescent highway hwy straße strasse weg platz gasse allee ring damm ufer markt rue quai chemin \
    cours impasse via viale piazza corso largo calle carrer plaza paseo avenida avda rua praça straat laan plein gracht \
    kade gade vej vænget gata gatan vägen vei veien ulica ul aleja utca katu улица ул проспект شارع רחוב";
/// Ends of compounds: "Hauptstraße", "Keizersgracht".
const STREET_ENDS: &str = "straße strasse str weg platz gasse allee damm ufer straat laan plein gracht gade vej gatan vägen \
    veien katu utca";

/// A street with a number or a town with a postal code, in one line. A title with a number ("Top 20 Recipes") has
/// neither.
pub(super) fn is_address(text: &str) -> bool {
    let words: Vec<&str> = text.split_whitespace().take(21).collect();
    let numbers = words.iter().filter(|word| word.starts_with(|c: char| c.is_ascii_digit())).count();
    let capitals = words.iter().filter(|word| word.starts_with(char::is_uppercase)).count();
    (3..=20).contains(&words.len())
        && (1..=3).contains(&numbers)
        && capitals * 2 >= words.len()
        && words.iter().any(|word| is_street_word(word) || is_postal_code(word))
        && contact::find_phone(text).is_none_or(|number| is_postal_code(number.trim()))
}

fn is_street_word(word: &str) -> bool {
    let word = word.trim_matches(|c: char| !c.is_alphanumeric()).to_lowercase();
    let is_compound = |end: &str| word.len() > end.len() + 2 && word.ends_with(end);
    STREETS.split_whitespace().any(|street| street == word) || STREET_ENDS.split_whitespace().any(is_compound)
}

/// Four digits that are no year, five to nine digits, perhaps in two groups ("134-0091"), or letters and digits in
/// one word ("CH-8001", "EC1A").
fn is_postal_code(word: &str) -> bool {
    let word = word.trim_matches(|c: char| !c.is_alphanumeric());
    let digits = word.bytes().filter(u8::is_ascii_digit).count();
    let letters = word.bytes().filter(u8::is_ascii_uppercase).count();
    let is_year = digits == 4 && (word.starts_with("19") || word.starts_with("20"));
    let is_plain = word.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
    match letters {
        0 => is_plain && digits + 1 >= word.len() && (4..=9).contains(&digits) && !is_year,
        1..=4 => {
            is_plain && digits > 0 && (3..=8).contains(&word.len()) && digits + letters + 1 >= word.len()
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_has_a_street_or_a_postal_code() {
        for text in [
            "12 Harbour Lane, Hull",
            "Münzgasse 1a, 79098 Freiburg im Breisgau",
            "Hauptstr. 7, Graz",
            "4-1-1 Funabori, Edogawa-ku, Tokyo 134-0091 Japan",
            "Riverside House 3, London EC1A 1BB",
            "400 Convention Way, Redwood City",
        ] {
            assert!(is_address(text), "{text}");
        }
        for text in [
            "Top 20 Stichwörter",
            "Copyright 2014 RubyKaigi Team",
            "The 100 Best Films",
            "Season 3 Episode 12",
            "Call 510-642-0668 Main Street",
        ] {
            assert!(!is_address(text), "{text}");
        }
    }
}
