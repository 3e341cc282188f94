//! Finds the commands in a page of the documentation.

/// A command, as it stands on a page.
pub struct DocCommand {
    pub page: String,
    pub line: usize,
    /// Commands of one block share their variables and their folder.
    pub block: usize,
    pub language: Language,
    pub text: String,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Language {
    Shell,
    Python,
    JavaScript,
}

/// All commands of a page: of a block of shell each command by itself, of other programs the whole block.
pub fn read(page: &str, text: &str) -> Vec<DocCommand> {
    let mut found = Vec::new();
    let mut lines = text.lines().enumerate();
    let mut block = 0;
    while let Some((number, line)) = lines.next() {
        let Some(tag) = line.strip_prefix("```") else { continue };
        let inside = lines.by_ref().map_while(|(_, line)| (!line.starts_with("```")).then_some(line));
        let inside: Vec<&str> = inside.collect();
        block += 1;
        let line = number + 2;
        let mut add = |line: usize, language: Language, text: String| {
            found.push(DocCommand { page: page.to_owned(), line, block, language, text });
        };
        match tag {
            "sh" | "bash" => {
                for (at, text) in shell_commands(&inside) {
                    add(line + at, Language::Shell, text);
                }
            }
            "" if inside.iter().any(|line| line.starts_with("gannet ") || line.starts_with("curl ")) => {
                panic!("{page}:{line}: a block of commands without a language");
            }
            // What is typed, and what it prints.
            "console" | "" => {
                let typed =
                    inside.iter().enumerate().filter_map(|(at, line)| Some((at, line.strip_prefix("$ ")?)));
                typed.for_each(|(at, text)| add(line + at, Language::Shell, text.to_owned()));
            }
            "python" => add(line, Language::Python, inside.join("\n")),
            "js" | "javascript" => add(line, Language::JavaScript, inside.join("\n")),
            _ => {}
        }
    }
    found
}

/// The commands of a block: a line, with those that follow while a quote is open or a backslash ends it.
fn shell_commands<'a>(lines: &'a [&'a str]) -> impl Iterator<Item = (usize, String)> + 'a {
    let mut lines = lines.iter().enumerate();
    std::iter::from_fn(move || {
        let (start, first) =
            lines.by_ref().find(|(_, line)| !line.trim().is_empty() && !line.starts_with('#'))?;
        let mut text = (*first).to_owned();
        while is_open(&text) {
            let (_, next) = lines.next()?;
            text = text + "\n" + next;
        }
        Some((start, text))
    })
}

/// Whether the shell would wait for another line.
fn is_open(text: &str) -> bool {
    let (mut quote, mut last) = (None, ' ');
    let mut letters = text.chars().peekable();
    while let Some(letter) = letters.next() {
        match (quote, letter) {
            (None | Some('"'), '\\') => {
                let Some(_) = letters.next() else { return true };
            }
            (None, '\'' | '"') => quote = Some(letter),
            (Some(open), _) if open == letter => quote = None,
            (None, '#') if last.is_whitespace() => {
                while letters.next_if(|letter| *letter != '\n').is_some() {}
            }
            _ => {}
        }
        last = letter;
    }
    quote.is_some()
}

#[test]
fn a_command_ends_where_the_shell_ends_it() {
    let block = ["a -d '{", "  \"x\": 1 }' # it's one", "", "b \\", "  c", "# a remark", "d \"e", "f\""];
    let found: Vec<_> = shell_commands(&block).collect();
    assert_eq!(found.iter().map(|(line, _)| *line).collect::<Vec<_>>(), [0, 3, 6]);
    assert_eq!(found[1].1, "b \\\n  c");
    let page = "text\n```console\n$ one\nits output\n$ two\n```\n```json\nno\n```\n";
    let found = read("page.md", page);
    assert_eq!(found.iter().map(|command| command.text.as_str()).collect::<Vec<_>>(), ["one", "two"]);
    assert_eq!((found[0].line, found[1].line), (3, 5));
}
