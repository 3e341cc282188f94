//! The talk with a model: what was said so far, within the model's context. What the web wrote stands in it as data only; the oldest of
//! it is forgotten first, and can be read again.

use super::action::{Toolbox, action_schema, in_words};
use super::think::Brief;
use crate::worker::cut;
use model::chat::{Abilities, Ask, Message, Reply, ToolCall};

/// Characters a token holds, carefully.
const CHARACTERS_A_TOKEN: usize = 3;
/// Bounds of the whole talk and of one piece of data, in characters.
const LARGEST_TALK: usize = 240_000;
const SMALLEST_TALK: usize = 3_000;
const LARGEST_DATA: usize = 24_000;
const SMALLEST_DATA: usize = 800;
/// Longest answer of a tool in our own words.
const LONGEST_RESULT: usize = 2_000;
/// What one answer of the model may take.
const ANSWER_TOKENS: u32 = 4_096;
const FORGOTTEN: &str = "(no longer shown; read_passages brings parts of it back)";

/// One exchange: what the model said, what the tools answered, what was brought.
#[derive(Debug, Default)]
struct Exchange(Vec<Message>);

/// A talk.
#[derive(Debug)]
pub(super) struct Talk {
    opening: Vec<Message>,
    exchanges: Vec<Exchange>,
    with_tools: bool,
    room: usize,
    answer_tokens: u32,
}

/// What a tool answered: our words, and what the web wrote.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct Answer {
    pub text: String,
    pub data: Vec<(String, String)>,
    /// Whether the model is any further now.
    pub useful: bool,
}

impl Answer {
    pub fn useful(text: impl Into<String>) -> Self {
        Self { text: text.into(), data: Vec::new(), useful: true }
    }

    pub fn vain(text: impl Into<String>) -> Self {
        Self { text: text.into(), data: Vec::new(), useful: false }
    }

    pub fn with(mut self, source: &str, text: String) -> Self {
        self.data.push((source.to_owned(), text));
        self
    }
}

impl Talk {
    pub fn new(brief: &Brief, abilities: Abilities) -> Self {
        let characters = (abilities.context_tokens as usize).saturating_mul(CHARACTERS_A_TOKEN);
        // Two thirds for what is said to it, the rest for what it answers.
        let room = (characters / 3 * 2).clamp(SMALLEST_TALK, LARGEST_TALK);
        let answer_tokens = (abilities.context_tokens / 4).clamp(256, ANSWER_TOKENS);
        let mut opening = vec![Message::System(brief.system.clone())];
        let data = |(source, text): (String, String)| Message::Data { source, text: cut(&text, room / 8) };
        opening.extend(brief.background.iter().cloned().map(data));
        opening.push(Message::User(brief.user.clone()));
        Self { opening, exchanges: Vec::new(), with_tools: abilities.tools, room, answer_tokens }
    }

    /// Characters that one piece of data may take.
    pub fn data_room(&self) -> usize {
        (self.room / 4).clamp(SMALLEST_DATA, LARGEST_DATA)
    }

    pub fn ask(&mut self, toolbox: Toolbox) -> Ask {
        self.shrink();
        let mut messages = self.opening.clone();
        let mut ask = Ask { max_tokens: Some(self.answer_tokens), ..Ask::default() };
        if self.with_tools {
            ask.tools = toolbox.tools();
        } else {
            if let Some(Message::System(system)) = messages.first_mut() {
                system.push_str("\n\n");
                system.push_str(&in_words(toolbox));
            }
            ask.schema = Some(action_schema(toolbox));
        }
        messages.extend(self.exchanges.iter().flat_map(|exchange| exchange.0.iter().cloned()));
        ask.messages = messages;
        ask
    }

    /// Notes what the model said and what came of each of its calls.
    pub fn exchange(&mut self, reply: &Reply, answers: Vec<(ToolCall, Answer)>) {
        let mut said = Vec::new();
        let native = !reply.calls.is_empty();
        let calls: Vec<ToolCall> =
            if native { answers.iter().map(|(call, _)| call.clone()).collect() } else { Vec::new() };
        said.push(Message::Assistant { text: cut(&reply.text, LONGEST_RESULT), calls });
        let room = self.data_room();
        let mut brought = Vec::new();
        for (call, answer) in answers {
            let text = cut(&answer.text, LONGEST_RESULT);
            said.push(if native {
                Message::ToolResult { call: call.id, text }
            } else {
                Message::User(format!("The tool answered: {text}"))
            });
            for (source, text) in answer.data {
                brought.push(Message::Data { source, text: cut(&text, room) });
            }
        }
        said.extend(brought);
        self.exchanges.push(Exchange(said));
    }

    /// Notes what the model said and tells it something.
    pub fn remark(&mut self, reply: &Reply, remark: &str) {
        let mut said = Vec::new();
        if !reply.text.trim().is_empty() {
            said.push(Message::Assistant { text: cut(&reply.text, LONGEST_RESULT), calls: Vec::new() });
        }
        said.push(Message::User(remark.to_owned()));
        self.exchanges.push(Exchange(said));
    }

    fn size(&self) -> usize {
        let all = self.opening.iter().chain(self.exchanges.iter().flat_map(|exchange| &exchange.0));
        all.map(size).sum()
    }

    /// Forgets the oldest data, then the oldest exchanges; the last one stays.
    fn shrink(&mut self) {
        let mut size = self.size();
        let last = self.exchanges.len().saturating_sub(1);
        for exchange in &mut self.exchanges[..last] {
            for message in &mut exchange.0 {
                if size <= self.room {
                    return;
                }
                if let Message::Data { text, .. } = message
                    && text.len() > FORGOTTEN.len()
                {
                    size -= text.len() - FORGOTTEN.len();
                    FORGOTTEN.clone_into(text);
                }
            }
        }
        while size > self.room && self.exchanges.len() > 1 {
            let gone = self.exchanges.remove(0);
            size -= gone.0.iter().map(self::size).sum::<usize>();
        }
    }
}

fn size(message: &Message) -> usize {
    match message {
        Message::System(text) | Message::User(text) => text.len(),
        Message::Data { source, text } => source.len() + text.len(),
        Message::Assistant { text, calls } => {
            text.len() + calls.iter().map(|call| call.name.len() + call.arguments.len()).sum::<usize>()
        }
        Message::ToolResult { call, text } => call.len() + text.len(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TOOLS: Toolbox = Toolbox { explore: true, delegate: false, read: true };

    fn talk(context_tokens: u32, tools: bool) -> Talk {
        let abilities = Abilities { tools, json_schema: true, context_tokens };
        let (system, user) = ("rules".to_owned(), "task".to_owned());
        Talk::new(&Brief { system, background: Vec::new(), user, steps: 9, leads: true }, abilities)
    }

    fn scraped(talk: &mut Talk, number: usize) {
        let call =
            ToolCall { id: format!("c{number}"), name: "scrape".to_owned(), arguments: "{}".to_owned() };
        let reply = Reply { calls: vec![call.clone()], ..Reply::default() };
        let answer = Answer::useful("read").with("https://a.example", "word ".repeat(2_000));
        talk.exchange(&reply, vec![(call, answer)]);
    }

    #[test]
    fn old_data_is_forgotten_first_and_the_rules_never() {
        let mut talk = talk(8_000, true);
        for number in 0..30 {
            scraped(&mut talk, number);
        }
        let ask = talk.ask(TOOLS);
        let size: usize = ask.messages.iter().map(size).sum();
        assert!(size <= 16_000, "{size}");
        assert_eq!(ask.messages[0], Message::System("rules".to_owned()));
        assert!(ask.messages.iter().any(|m| matches!(m, Message::Data { text, .. } if text == FORGOTTEN)));
        assert!(matches!(ask.messages.last(), Some(Message::Data { text, .. }) if text.starts_with("word")));
    }

    #[test]
    fn without_tools_a_model_is_told_of_them_in_words() {
        let ask = talk(8_000, false).ask(TOOLS);
        assert!(ask.tools.is_empty() && ask.schema.is_some());
        assert!(matches!(&ask.messages[0], Message::System(text) if text.contains("- scrape:")));
        assert!(talk(8_000, true).ask(TOOLS).schema.is_none());
    }
}
