//! Exponential and logarithm from plain arithmetic.
//!
//! The ones of the system's library may differ in the last bit from one machine to the next, and with them the model file.

const LN_2: f64 = std::f64::consts::LN_2;

/// `e` to the power of `value`, for values a forest can add up to.
#[allow(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "at most a thousand, and not below zero"
)]
pub fn exp(value: f64) -> f64 {
    let value = value.clamp(-700.0, 700.0);
    let steps = (value / LN_2).round();
    let rest = value - steps * LN_2;
    // The rest is at most 0.35, where 14 terms of the series are exact to the last places.
    let mut sum = 1.0;
    for term in (1..=14).rev() {
        sum = 1.0 + sum * rest / f64::from(term);
    }
    let mut power = 1.0f64;
    let factor = if steps < 0.0 { 0.5 } else { 2.0 };
    for _ in 0..steps.abs() as u32 {
        power *= factor;
    }
    sum * power
}

/// The natural logarithm of a positive value, by Newton's steps on [`exp`].
pub fn ln(value: f64) -> f64 {
    let (mut rest, mut halvings) = (value.max(1e-300), 0.0);
    while rest > 1.5 {
        rest /= 2.0;
        halvings += 1.0;
    }
    while rest < 0.75 {
        rest *= 2.0;
        halvings -= 1.0;
    }
    let mut guess = rest - 1.0;
    for _ in 0..6 {
        let power = exp(guess);
        guess += 2.0 * (rest - power) / (rest + power);
    }
    guess + halvings * LN_2
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn agree_with_the_library() {
        for step in -400..400 {
            let value = f64::from(step) / 20.0;
            assert!((exp(value) / value.exp() - 1.0).abs() < 1e-12, "{value}");
            assert!((ln(value.exp()) - value).abs() < 1e-9, "{value}");
        }
    }
}
