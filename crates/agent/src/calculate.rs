//! Sums for a model that cannot do them: one line of arithmetic, within bounds, by the shunting-yard rule. No recursion, no names
//! but a few functions, no result that is not a finite number.

/// Longest line that is read.
const LONGEST: usize = 1_000;
const MOST_TOKENS: usize = 400;

/// Why there is no result.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Unclear {
    #[error("the expression is longer than {LONGEST} characters")]
    TooLong,
    #[error("`{0}` is not known: numbers, + - * / % ^ ( ), and min, max, sum, avg, abs, sqrt, round")]
    Unknown(String),
    #[error("the expression is not complete")]
    Incomplete,
    #[error("the result is not a number")]
    NotFinite,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Token {
    Number(f64),
    Operator(Operator),
    Function(Function),
    Open,
    Close,
    Comma,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Operator {
    Add,
    Subtract,
    Multiply,
    Divide,
    Remainder,
    Power,
    Negate,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Function {
    Min,
    Max,
    Sum,
    Average,
    Absolute,
    Root,
    Round,
}

impl Operator {
    fn rank(self) -> u8 {
        match self {
            Self::Add | Self::Subtract => 1,
            Self::Multiply | Self::Divide | Self::Remainder => 2,
            Self::Negate => 3,
            Self::Power => 4,
        }
    }

    /// Whether `self`, read later, lets `before` be applied first.
    fn yields_to(self, before: Self) -> bool {
        match self {
            Self::Power => before.rank() > self.rank(),
            Self::Negate => false,
            _ => before.rank() >= self.rank(),
        }
    }
}

/// The value of an expression.
pub(crate) fn calculate(expression: &str) -> Result<f64, Unclear> {
    if expression.len() > LONGEST {
        return Err(Unclear::TooLong);
    }
    let tokens = tokens(expression)?;
    let mut machine = Machine::default();
    for token in tokens {
        machine.take(token)?;
    }
    machine.end()
}

fn tokens(expression: &str) -> Result<Vec<Token>, Unclear> {
    let mut tokens: Vec<Token> = Vec::new();
    let mut rest = expression.trim_start();
    while let Some(first) = rest.chars().next() {
        if tokens.len() == MOST_TOKENS {
            return Err(Unclear::TooLong);
        }
        let width = if first.is_ascii_digit() || first == '.' {
            let width = number_width(rest);
            let number = rest[..width].parse().map_err(|_| Unclear::Unknown(rest[..width].to_owned()))?;
            tokens.push(Token::Number(number));
            width
        } else if first.is_alphabetic() {
            let width = rest.find(|c: char| !c.is_alphanumeric()).unwrap_or(rest.len());
            tokens.push(Token::Function(function(&rest[..width])?));
            width
        } else {
            let after_value = matches!(tokens.last(), Some(Token::Number(_) | Token::Close));
            tokens.extend(match first {
                '+' if after_value => Some(Token::Operator(Operator::Add)),
                // A sign that changes nothing.
                '+' => None,
                '-' | '−' if after_value => Some(Token::Operator(Operator::Subtract)),
                '-' | '−' => Some(Token::Operator(Operator::Negate)),
                '*' | '×' | '·' => Some(Token::Operator(Operator::Multiply)),
                '/' | '÷' => Some(Token::Operator(Operator::Divide)),
                '%' => Some(Token::Operator(Operator::Remainder)),
                '^' => Some(Token::Operator(Operator::Power)),
                '(' => Some(Token::Open),
                ')' => Some(Token::Close),
                ',' => Some(Token::Comma),
                other => return Err(Unclear::Unknown(other.to_string())),
            });
            first.len_utf8()
        };
        rest = rest[width..].trim_start();
    }
    Ok(tokens)
}

/// Digits, a point, and an exponent where one stands whole.
fn number_width(text: &str) -> usize {
    let digits = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let Some(exponent) = text[digits..].strip_prefix(['e', 'E']) else { return digits };
    let sign = usize::from(exponent.starts_with(['+', '-']));
    let power = exponent[sign..].bytes().take_while(u8::is_ascii_digit).count();
    if power == 0 { digits } else { digits + 1 + sign + power }
}

fn function(name: &str) -> Result<Function, Unclear> {
    Ok(match name.to_ascii_lowercase().as_str() {
        "min" => Function::Min,
        "max" => Function::Max,
        "sum" => Function::Sum,
        "avg" | "average" | "mean" => Function::Average,
        "abs" => Function::Absolute,
        "sqrt" => Function::Root,
        "round" => Function::Round,
        _ => return Err(Unclear::Unknown(name.chars().take(40).collect())),
    })
}

#[derive(Debug, Clone, Copy)]
enum Held {
    Operator(Operator),
    Function(Function),
    /// With the number of values that lay there when it opened.
    Open(usize),
}

#[derive(Debug, Default)]
struct Machine {
    values: Vec<f64>,
    held: Vec<Held>,
    /// The last token ended a value.
    complete: bool,
}

impl Machine {
    fn take(&mut self, token: Token) -> Result<(), Unclear> {
        match token {
            Token::Number(number) => self.value(number),
            Token::Function(function) => {
                if self.complete {
                    return Err(Unclear::Incomplete);
                }
                self.held.push(Held::Function(function));
                Ok(())
            }
            Token::Open => {
                if self.complete {
                    return Err(Unclear::Incomplete);
                }
                self.held.push(Held::Open(self.values.len()));
                Ok(())
            }
            Token::Operator(operator) => self.operator(operator),
            Token::Comma => {
                self.unwind()?;
                self.complete = false;
                Ok(())
            }
            Token::Close => self.close(),
        }
    }

    fn value(&mut self, number: f64) -> Result<(), Unclear> {
        if self.complete || matches!(self.held.last(), Some(Held::Function(_))) {
            return Err(Unclear::Incomplete);
        }
        self.values.push(number);
        self.complete = true;
        Ok(())
    }

    fn operator(&mut self, operator: Operator) -> Result<(), Unclear> {
        if (operator == Operator::Negate) == self.complete {
            return Err(Unclear::Incomplete);
        }
        while let Some(Held::Operator(before)) = self.held.last().copied() {
            if !operator.yields_to(before) {
                break;
            }
            self.held.pop();
            self.apply(before)?;
        }
        self.held.push(Held::Operator(operator));
        self.complete = false;
        Ok(())
    }

    /// Applies what is held since the last open bracket.
    fn unwind(&mut self) -> Result<usize, Unclear> {
        if !self.complete {
            return Err(Unclear::Incomplete);
        }
        loop {
            match self.held.last().copied() {
                Some(Held::Operator(operator)) => {
                    self.held.pop();
                    self.apply(operator)?;
                }
                Some(Held::Open(since)) => return Ok(since),
                Some(Held::Function(_)) | None => return Err(Unclear::Incomplete),
            }
        }
    }

    fn close(&mut self) -> Result<(), Unclear> {
        let since = self.unwind()?;
        self.held.pop();
        if let Some(Held::Function(function)) = self.held.last().copied() {
            self.held.pop();
            let given = self.values.split_off(since);
            self.values.push(applied(function, &given)?);
        } else if self.values.len() != since + 1 {
            return Err(Unclear::Incomplete);
        }
        Ok(())
    }

    fn apply(&mut self, operator: Operator) -> Result<(), Unclear> {
        let right = self.values.pop().ok_or(Unclear::Incomplete)?;
        if operator == Operator::Negate {
            self.values.push(-right);
            return Ok(());
        }
        let left = self.values.pop().ok_or(Unclear::Incomplete)?;
        self.values.push(match operator {
            Operator::Add => left + right,
            Operator::Subtract => left - right,
            Operator::Multiply => left * right,
            Operator::Divide => left / right,
            Operator::Remainder => left % right,
            Operator::Power | Operator::Negate => left.powf(right),
        });
        Ok(())
    }

    fn end(mut self) -> Result<f64, Unclear> {
        while let Some(held) = self.held.pop() {
            match held {
                Held::Operator(operator) if self.complete => self.apply(operator)?,
                _ => return Err(Unclear::Incomplete),
            }
        }
        match self.values[..] {
            [value] if value.is_finite() => Ok(value),
            [_] => Err(Unclear::NotFinite),
            _ => Err(Unclear::Incomplete),
        }
    }
}

fn applied(function: Function, given: &[f64]) -> Result<f64, Unclear> {
    let (&first, rest) = given.split_first().ok_or(Unclear::Incomplete)?;
    let all = || given.iter().sum::<f64>();
    Ok(match (function, rest) {
        (Function::Min, _) => given.iter().copied().fold(first, f64::min),
        (Function::Max, _) => given.iter().copied().fold(first, f64::max),
        (Function::Sum, _) => all(),
        (Function::Average, _) => all() / given.len() as f64,
        (Function::Absolute, []) => first.abs(),
        (Function::Root, []) => first.sqrt(),
        (Function::Round, []) => first.round(),
        (Function::Round, [places]) => {
            let scale = 10f64.powf(places.clamp(0.0, 12.0).floor());
            (first * scale).round() / scale
        }
        _ => return Err(Unclear::Incomplete),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn is(expression: &str, value: f64) {
        let found = calculate(expression).unwrap();
        assert!((found - value).abs() < 1e-9, "{expression} = {found}");
    }

    #[test]
    fn arithmetic_as_at_school() {
        is("1 + 2 * 3", 7.0);
        is("(1 + 2) * 3", 9.0);
        is("2 ^ 3 ^ 2", 512.0);
        is("-2 ^ 2", -4.0);
        is("2 * -3 - -4", -2.0);
        is("10 % 4 / 2", 1.0);
        is("7 × 6 ÷ 2 − 1", 20.0);
        is("1.5e3 + .5", 1500.5);
        is("8 - 3 - 2", 3.0);
        is("+1 + +2", 3.0);
    }

    #[test]
    fn functions_over_lists() {
        is("sum(1, 2, 3) / 2", 3.0);
        is("avg(4, max(1, 8), min(3, 6))", 5.0);
        is("round(10 / 3, 2) + abs(-1) + sqrt(16)", 8.33);
        is("max((1 + 2), 2)", 3.0);
    }

    #[test]
    fn what_is_no_sum_is_said_to_be_none() {
        for unclear in
            ["", "1 +", "(1", "1)", "1 2", "sum()", "sum 1", "1, 2", "(1, 2)", "abs(1, 2)", "1 (2)"]
        {
            assert_eq!(calculate(unclear), Err(Unclear::Incomplete), "{unclear}");
        }
        assert_eq!(calculate("1 / 0"), Err(Unclear::NotFinite));
        assert_eq!(calculate("10 ^ 999"), Err(Unclear::NotFinite));
        assert!(matches!(calculate("system(1)"), Err(Unclear::Unknown(name)) if name == "system"));
        assert!(matches!(calculate("1.2.3"), Err(Unclear::Unknown(_))));
        assert_eq!(calculate(&"(".repeat(2_000)), Err(Unclear::TooLong));
        assert_eq!(calculate(&"1+".repeat(450)), Err(Unclear::TooLong));
        assert_eq!(calculate(&format!("{}1{}", "(".repeat(150), ")".repeat(150))), Ok(1.0));
    }
}
