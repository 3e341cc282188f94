//! Browser commands as a line of their own: clients send `snapshot` or `click @e1` to bash as well as shell lines.
//! A word that is no program is found by the shell itself (see `drivers/bash.sh`). Here are the words that mean
//! something to a shell too.

/// Words of the shell or of common programs that are browser commands with these first arguments. An empty list is any
/// reference or selector.
const AMBIGUOUS: [(&str, &[&str]); 5] = [
    ("find", &["role", "text", "label", "placeholder", "alt", "title", "testid", "first", "last", "nth"]),
    ("set", &["viewport", "device", "geo", "offline", "headers", "credentials", "media"]),
    ("wait", &["--load", "--text", "--url", "--fn"]),
    ("type", &[]),
    ("select", &[]),
];

/// The line as the shell has to be given it: with `agent-browser` in front if it is a browser command.
pub(crate) fn to_shell_line(code: &str, browser_commands: &[String]) -> String {
    let line = code.trim();
    let is_command = |word: &str| browser_commands.iter().any(|command| command == word);
    let mut words = line.split_ascii_whitespace();
    let (first, second) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
    if !line.contains('\n') && is_command(first) && means_browser(first, second) {
        return format!("agent-browser {line}");
    }
    code.to_owned()
}

fn means_browser(first: &str, second: &str) -> bool {
    let second = second.trim_matches(['"', '\'']);
    let is_reference = second.starts_with(['@', '#', '.', '[']);
    let is_number = !second.is_empty() && second.bytes().all(|byte| byte.is_ascii_digit());
    AMBIGUOUS.iter().any(|(word, arguments)| {
        *word == first && (arguments.contains(&second) || (*word != "find" && is_reference))
    }) || (first == "wait" && is_number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_the_shell_are_browser_commands_only_with_arguments_of_one() {
        let commands: Vec<String> =
            ["click", "find", "wait", "type", "select", "set"].map(str::to_owned).into();
        let prefixed = |code: &str| to_shell_line(code, &commands).starts_with("agent-browser ");
        for line in [
            "find role button click",
            "wait 500",
            "wait @e3",
            "wait --load networkidle",
            "type @e1 \"some text\"",
            "select '#size' large",
            " set viewport 800 600 ",
        ] {
            assert!(prefixed(line), "{line}");
        }
        for line in [
            "find . -name x",
            "wait",
            "wait $!",
            "type ls",
            "set -e",
            "select x in a b; do break; done",
            "wait 500\necho done",
            "click @e1",
            "",
        ] {
            assert!(!prefixed(line), "{line}");
        }
        assert_eq!(to_shell_line("wait 500", &[]), "wait 500");
    }
}
