//! Numbers as a person would write them.

/// The shortest form with at most 15 significant digits, which is what spreadsheets keep: 0.1 + 0.2 is 0.3.
pub(crate) fn shortest(number: f64) -> String {
    if number == 0.0 || !number.is_finite() {
        return if number == 0.0 { "0".to_owned() } else { number.to_string() };
    }
    let magnitude = number.abs();
    if (1e-7..1e15).contains(&magnitude) {
        let rounded: f64 = format!("{number:.14e}").parse().unwrap_or(number);
        rounded.to_string()
    } else {
        format!("{:e}", format!("{number:.14e}").parse::<f64>().unwrap_or(number)).replace('e', "E")
    }
}

#[cfg(test)]
mod tests {
    use super::shortest;

    #[test]
    fn binary_noise_is_not_shown() {
        assert_eq!(shortest(0.1 + 0.2), "0.3");
        assert_eq!(shortest(1.1 + 2.2), "3.3");
        assert_eq!(shortest(2024.0), "2024");
        assert_eq!(shortest(-1.5e-9), "-1.5E-9");
        assert_eq!(shortest(1e300), "1E300");
    }
}
