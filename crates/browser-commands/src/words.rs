//! A command line split into words, with quotes as in a shell, and the check whether a line of bash is a bare
//! command of ours.

use crate::arguments::find_spec;

/// The longest line that is split.
const MAX_LINE_BYTES: usize = 1 << 20;
/// Characters that a shell acts on when they are not quoted. Those of selectors and addresses, such as `#` and
/// `*`, are not among them: a bare command may contain them.
const SHELL_CHARACTERS: &str = "|&;<>()$`";

/// A word, and whether a shell would do something with it.
#[derive(Debug, Default)]
struct Word {
    text: String,
    has_shell_syntax: bool,
}

/// Splits a line into words: blanks separate them, single quotes keep everything, double quotes keep all but
/// a backslash before `"`, `\`, `$` or a backtick, a backslash keeps the next character.
pub fn split_line(line: &str) -> Result<Vec<String>, String> {
    Ok(parse_words(line)?.into_iter().map(|word| word.text).collect())
}

/// The words of a line that is one of our commands and nothing else, with or without `agent-browser` in
/// front. `None` for any other line, which is for the shell.
pub fn parse_bare_command(line: &str) -> Option<Vec<String>> {
    let mut words = parse_words(line.trim()).ok()?;
    if words.first().is_some_and(|word| word.text == "agent-browser") {
        words.remove(0);
        if words.is_empty() {
            return Some(vec!["help".to_owned()]);
        }
    }
    find_spec(&words.first()?.text)?;
    if words.iter().any(|word| word.has_shell_syntax) {
        return None;
    }
    let words: Vec<String> = words.into_iter().map(|word| word.text).collect();
    // `set -e`, `find . -name x` and `type ls` are commands of the shell as well.
    crate::arguments::Arguments::parse(&words).ok().map(|_| words)
}

fn parse_words(line: &str) -> Result<Vec<Word>, String> {
    if line.len() > MAX_LINE_BYTES {
        return Err(format!("The command is longer than {MAX_LINE_BYTES} bytes"));
    }
    let mut words: Vec<Word> = Vec::new();
    let mut current: Option<Word> = None;
    let mut characters = line.chars().peekable();
    while let Some(character) = characters.next() {
        if character.is_whitespace() && character != '\n' {
            words.extend(current.take());
            continue;
        }
        let word = current.get_or_insert_default();
        match character {
            '\'' => loop {
                match characters.next() {
                    Some('\'') => break,
                    Some(inner) => word.text.push(inner),
                    None => return Err("A single quote is not closed".to_owned()),
                }
            },
            '"' => loop {
                match characters.next() {
                    Some('"') => break,
                    Some('\\') if characters.peek().is_some_and(|next| "\"\\$`".contains(*next)) => {
                        word.text.extend(characters.next());
                    }
                    Some(inner) => {
                        word.has_shell_syntax |= inner == '$' || inner == '`';
                        word.text.push(inner);
                    }
                    None => return Err("A double quote is not closed".to_owned()),
                }
            },
            '\\' => word.text.extend(characters.next()),
            '\n' => {
                word.has_shell_syntax = true;
                words.extend(current.take());
            }
            other => {
                word.has_shell_syntax |= SHELL_CHARACTERS.contains(other);
                word.text.push(other);
            }
        }
    }
    words.extend(current);
    Ok(words)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_split_as_a_shell_splits_them() {
        let split = |line: &str| split_line(line).unwrap();
        assert_eq!(split("fill @e3 'a b'"), ["fill", "@e3", "a b"]);
        assert_eq!(split(r##"fill "#q" "say \"hi\"""##), ["fill", "#q", "say \"hi\""]);
        assert_eq!(split(r"type a\ b ''"), ["type", "a b", ""]);
        assert_eq!(split("  "), Vec::<String>::new());
        assert!(split_line("fill 'x").is_err());
        assert!(split_line("fill \"x").is_err());
    }

    #[test]
    fn a_bare_command_is_recognized_and_shell_lines_are_not() {
        for ours in [
            "snapshot",
            "agent-browser snapshot -i",
            "click @e1",
            "click #buy",
            "open https://a.example/?q=1",
            "get text '.price'",
            "find role button click --name 'Buy now'",
            "wait 500",
            "agent-browser",
        ] {
            assert!(parse_bare_command(ours).is_some(), "{ours}");
        }
        for shell in [
            "ls -la",
            "snapshot | head",
            "open $URL",
            "snapshot\nclick @e1",
            "snapshot; ls",
            "set -e",
            "find . -name x",
            "click \"$REF\"",
            "echo hi",
            "",
        ] {
            assert!(parse_bare_command(shell).is_none(), "{shell}");
        }
    }
}
