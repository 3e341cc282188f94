//! A calculator for models: evaluates one bounded arithmetic expression with the shunting-yard algorithm. No
//! recursion, no names but a few functions, and only finite results.

const MAX_BYTES: usize = 1_000;
const MAX_TOKENS: usize = 400;

/// Why an expression has no result.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum CalculateError {
    #[error("the expression is longer than {MAX_BYTES} characters")]
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

    /// Whether `before`, which is on the stack, is applied before `self`.
    fn yields_to(self, before: Self) -> bool {
        match self {
            Self::Power => before.rank() > self.rank(),
            Self::Negate => false,
            _ => before.rank() >= self.rank(),
        }
    }
}

/// The value of an expression.
pub(crate) fn calculate(expression: &str) -> Result<f64, CalculateError> {
    if expression.len() > MAX_BYTES {
        return Err(CalculateError::TooLong);
    }
    let tokens = tokenize(expression)?;
    let mut calculator = Calculator::default();
    for token in tokens {
        calculator.push_token(token)?;
    }
    calculator.end()
}

fn tokenize(expression: &str) -> Result<Vec<Token>, CalculateError> {
    let mut tokens: Vec<Token> = Vec::new();
    let mut rest = expression.trim_start();
    while let Some(first) = rest.chars().next() {
        if tokens.len() == MAX_TOKENS {
            return Err(CalculateError::TooLong);
        }
        let width = if first.is_ascii_digit() || first == '.' {
            let width = number_width(rest);
            let number =
                rest[..width].parse().map_err(|_| CalculateError::Unknown(rest[..width].to_owned()))?;
            tokens.push(Token::Number(number));
            width
        } else if first.is_alphabetic() {
            let width = rest.find(|c: char| !c.is_alphanumeric()).unwrap_or(rest.len());
            tokens.push(Token::Function(parse_function(&rest[..width])?));
            width
        } else {
            let after_value = matches!(tokens.last(), Some(Token::Number(_) | Token::Close));
            tokens.extend(match first {
                '+' if after_value => Some(Token::Operator(Operator::Add)),
                // A unary plus changes nothing.
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
                other => return Err(CalculateError::Unknown(other.to_string())),
            });
            first.len_utf8()
        };
        rest = rest[width..].trim_start();
    }
    Ok(tokens)
}

/// The width of a number: digits, a point, and an exponent where it is complete.
fn number_width(text: &str) -> usize {
    let digits = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let Some(exponent) = text[digits..].strip_prefix(['e', 'E']) else { return digits };
    let sign = usize::from(exponent.starts_with(['+', '-']));
    let power = exponent[sign..].bytes().take_while(u8::is_ascii_digit).count();
    if power == 0 { digits } else { digits + 1 + sign + power }
}

fn parse_function(name: &str) -> Result<Function, CalculateError> {
    Ok(match name.to_ascii_lowercase().as_str() {
        "min" => Function::Min,
        "max" => Function::Max,
        "sum" => Function::Sum,
        "avg" | "average" | "mean" => Function::Average,
        "abs" => Function::Absolute,
        "sqrt" => Function::Root,
        "round" => Function::Round,
        _ => return Err(CalculateError::Unknown(name.chars().take(40).collect())),
    })
}

#[derive(Debug, Clone, Copy)]
enum StackEntry {
    Operator(Operator),
    Function(Function),
    /// With the number of values at that time.
    Open(usize),
}

#[derive(Debug, Default)]
struct Calculator {
    values: Vec<f64>,
    stack: Vec<StackEntry>,
    /// The last token ended a value.
    complete: bool,
}

impl Calculator {
    fn push_token(&mut self, token: Token) -> Result<(), CalculateError> {
        match token {
            Token::Number(number) => self.value(number),
            Token::Function(function) => {
                if self.complete {
                    return Err(CalculateError::Incomplete);
                }
                self.stack.push(StackEntry::Function(function));
                Ok(())
            }
            Token::Open => {
                if self.complete {
                    return Err(CalculateError::Incomplete);
                }
                self.stack.push(StackEntry::Open(self.values.len()));
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

    fn value(&mut self, number: f64) -> Result<(), CalculateError> {
        if self.complete || matches!(self.stack.last(), Some(StackEntry::Function(_))) {
            return Err(CalculateError::Incomplete);
        }
        self.values.push(number);
        self.complete = true;
        Ok(())
    }

    fn operator(&mut self, operator: Operator) -> Result<(), CalculateError> {
        if (operator == Operator::Negate) == self.complete {
            return Err(CalculateError::Incomplete);
        }
        while let Some(StackEntry::Operator(before)) = self.stack.last().copied() {
            if !operator.yields_to(before) {
                break;
            }
            self.stack.pop();
            self.apply(before)?;
        }
        self.stack.push(StackEntry::Operator(operator));
        self.complete = false;
        Ok(())
    }

    /// Applies the operators since the last open bracket.
    fn unwind(&mut self) -> Result<usize, CalculateError> {
        if !self.complete {
            return Err(CalculateError::Incomplete);
        }
        loop {
            match self.stack.last().copied() {
                Some(StackEntry::Operator(operator)) => {
                    self.stack.pop();
                    self.apply(operator)?;
                }
                Some(StackEntry::Open(since)) => return Ok(since),
                Some(StackEntry::Function(_)) | None => return Err(CalculateError::Incomplete),
            }
        }
    }

    fn close(&mut self) -> Result<(), CalculateError> {
        let since = self.unwind()?;
        self.stack.pop();
        if let Some(StackEntry::Function(function)) = self.stack.last().copied() {
            self.stack.pop();
            let given = self.values.split_off(since);
            self.values.push(apply_function(function, &given)?);
        } else if self.values.len() != since + 1 {
            return Err(CalculateError::Incomplete);
        }
        Ok(())
    }

    fn apply(&mut self, operator: Operator) -> Result<(), CalculateError> {
        let right = self.values.pop().ok_or(CalculateError::Incomplete)?;
        if operator == Operator::Negate {
            self.values.push(-right);
            return Ok(());
        }
        let left = self.values.pop().ok_or(CalculateError::Incomplete)?;
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

    fn end(mut self) -> Result<f64, CalculateError> {
        while let Some(stack) = self.stack.pop() {
            match stack {
                StackEntry::Operator(operator) if self.complete => self.apply(operator)?,
                _ => return Err(CalculateError::Incomplete),
            }
        }
        match self.values[..] {
            [value] if value.is_finite() => Ok(value),
            [_] => Err(CalculateError::NotFinite),
            _ => Err(CalculateError::Incomplete),
        }
    }
}

fn apply_function(function: Function, given: &[f64]) -> Result<f64, CalculateError> {
    let (&first, rest) = given.split_first().ok_or(CalculateError::Incomplete)?;
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
        _ => return Err(CalculateError::Incomplete),
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
    fn invalid_expressions_are_errors() {
        for unclear in
            ["", "1 +", "(1", "1)", "1 2", "sum()", "sum 1", "1, 2", "(1, 2)", "abs(1, 2)", "1 (2)"]
        {
            assert_eq!(calculate(unclear), Err(CalculateError::Incomplete), "{unclear}");
        }
        assert_eq!(calculate("1 / 0"), Err(CalculateError::NotFinite));
        assert_eq!(calculate("10 ^ 999"), Err(CalculateError::NotFinite));
        assert!(matches!(calculate("system(1)"), Err(CalculateError::Unknown(name)) if name == "system"));
        assert!(matches!(calculate("1.2.3"), Err(CalculateError::Unknown(_))));
        assert_eq!(calculate(&"(".repeat(2_000)), Err(CalculateError::TooLong));
        assert_eq!(calculate(&"1+".repeat(450)), Err(CalculateError::TooLong));
        assert_eq!(calculate(&format!("{}1{}", "(".repeat(150), ")".repeat(150))), Ok(1.0));
    }
}
