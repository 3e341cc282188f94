//! The conversation with a model, kept within its context window. Text from the web appears in it as data
//! only; the oldest data is dropped first and can be read again.

use super::action::{Toolbox, action_schema, describe_tools};
use super::steps::Brief;
use crate::agent::cut;
use model::chat::{Abilities, ChatRequest, ChatResponse, Message, ToolCall};

/// A cautious estimate.
const CHARACTERS_PER_TOKEN: usize = 3;
/// Bounds of the whole conversation and of one piece of data.
const MAX_CONVERSATION_CHARACTERS: usize = 240_000;
const MIN_CONVERSATION_CHARACTERS: usize = 3_000;
const MAX_DATA_CHARACTERS: usize = 24_000;
const MIN_DATA_CHARACTERS: usize = 800;
/// Limit of a tool result in our own words.
const MAX_RESULT_CHARACTERS: usize = 2_000;
/// Upper limit of one model reply.
const MAX_REPLY_TOKENS: u32 = 4_096;
const DROPPED_DATA: &str = "(no longer shown; read_passages brings parts of it back)";

/// One exchange: the model's message, the tool results, and the data they brought.
#[derive(Debug, Default)]
struct Exchange(Vec<Message>);

/// The messages so far, and how many characters they may take.
#[derive(Debug)]
pub(super) struct Conversation {
    opening: Vec<Message>,
    exchanges: Vec<Exchange>,
    with_tools: bool,
    max_characters: usize,
    reply_tokens: u32,
}

/// The result of a tool call: our own words in `text`, text from the web in `data`.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct ToolOutput {
    pub text: String,
    pub data: Vec<(String, String)>,
    /// Whether the call made progress.
    pub useful: bool,
}

impl ToolOutput {
    pub fn useful(text: impl Into<String>) -> Self {
        Self { text: text.into(), data: Vec::new(), useful: true }
    }

    pub fn not_useful(text: impl Into<String>) -> Self {
        Self { text: text.into(), data: Vec::new(), useful: false }
    }

    pub fn with(mut self, source: &str, text: String) -> Self {
        self.data.push((source.to_owned(), text));
        self
    }
}

impl Conversation {
    pub fn new(brief: &Brief, abilities: Abilities) -> Self {
        let characters = (abilities.context_tokens as usize).saturating_mul(CHARACTERS_PER_TOKEN);
        // Two thirds for the prompt, the rest for the reply.
        let max_characters =
            (characters / 3 * 2).clamp(MIN_CONVERSATION_CHARACTERS, MAX_CONVERSATION_CHARACTERS);
        let reply_tokens = (abilities.context_tokens / 4).clamp(256, MAX_REPLY_TOKENS);
        let mut opening = vec![Message::System(brief.system.clone())];
        let data =
            |(source, text): (String, String)| Message::Data { source, text: cut(&text, max_characters / 8) };
        opening.extend(brief.background.iter().cloned().map(data));
        opening.push(Message::User(brief.user.clone()));
        Self { opening, exchanges: Vec::new(), with_tools: abilities.tools, max_characters, reply_tokens }
    }

    /// How long one piece of data may be.
    pub fn max_data_characters(&self) -> usize {
        (self.max_characters / 4).clamp(MIN_DATA_CHARACTERS, MAX_DATA_CHARACTERS)
    }

    pub fn build_request(&mut self, toolbox: Toolbox) -> ChatRequest {
        self.drop_oldest();
        let mut messages = self.opening.clone();
        let mut ask = ChatRequest { max_tokens: Some(self.reply_tokens), ..ChatRequest::default() };
        if self.with_tools {
            ask.tools = toolbox.tools();
        } else {
            if let Some(Message::System(system)) = messages.first_mut() {
                system.push_str("\n\n");
                system.push_str(&describe_tools(toolbox));
            }
            ask.schema = Some(action_schema(toolbox));
        }
        messages.extend(self.exchanges.iter().flat_map(|exchange| exchange.0.iter().cloned()));
        ask.messages = messages;
        ask
    }

    /// Adds the model's message and the result of each of its calls.
    pub fn add_exchange(&mut self, reply: &ChatResponse, outputs: Vec<(ToolCall, ToolOutput)>) {
        let mut messages = Vec::new();
        let native = !reply.calls.is_empty();
        let calls: Vec<ToolCall> =
            if native { outputs.iter().map(|(call, _)| call.clone()).collect() } else { Vec::new() };
        messages.push(Message::Assistant { text: cut(&reply.text, MAX_RESULT_CHARACTERS), calls });
        let max_characters = self.max_data_characters();
        let mut data_messages = Vec::new();
        for (call, output) in outputs {
            let text = cut(&output.text, MAX_RESULT_CHARACTERS);
            messages.push(if native {
                Message::ToolResult { call: call.id, text }
            } else {
                Message::User(format!("The tool answered: {text}"))
            });
            for (source, text) in output.data {
                data_messages.push(Message::Data { source, text: cut(&text, max_characters) });
            }
        }
        messages.extend(data_messages);
        self.exchanges.push(Exchange(messages));
    }

    /// Adds the model's message and a remark from us.
    pub fn add_remark(&mut self, reply: &ChatResponse, remark: &str) {
        let mut messages = Vec::new();
        if !reply.text.trim().is_empty() {
            messages.push(Message::Assistant {
                text: cut(&reply.text, MAX_RESULT_CHARACTERS),
                calls: Vec::new(),
            });
        }
        messages.push(Message::User(remark.to_owned()));
        self.exchanges.push(Exchange(messages));
    }

    fn size(&self) -> usize {
        let all = self.opening.iter().chain(self.exchanges.iter().flat_map(|exchange| &exchange.0));
        all.map(size).sum()
    }

    /// Drops the oldest data, then the oldest exchanges; the last exchange always stays.
    fn drop_oldest(&mut self) {
        let mut size = self.size();
        let last = self.exchanges.len().saturating_sub(1);
        for exchange in &mut self.exchanges[..last] {
            for message in &mut exchange.0 {
                if size <= self.max_characters {
                    return;
                }
                if let Message::Data { text, .. } = message
                    && text.len() > DROPPED_DATA.len()
                {
                    size -= text.len() - DROPPED_DATA.len();
                    DROPPED_DATA.clone_into(text);
                }
            }
        }
        while size > self.max_characters && self.exchanges.len() > 1 {
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

    const TOOLS: Toolbox = Toolbox { explore: true, delegate: false, read: true, browser: false };

    fn conversation(context_tokens: u32, tools: bool) -> Conversation {
        let abilities = Abilities { tools, json_schema: true, context_tokens };
        let (system, user) = ("rules".to_owned(), "task".to_owned());
        Conversation::new(&Brief { system, background: Vec::new(), user, steps: 9, leads: true }, abilities)
    }

    fn scraped(conversation: &mut Conversation, number: usize) {
        let call =
            ToolCall { id: format!("c{number}"), name: "scrape".to_owned(), arguments: "{}".to_owned() };
        let reply = ChatResponse { calls: vec![call.clone()], ..ChatResponse::default() };
        let output = ToolOutput::useful("read").with("https://a.example", "word ".repeat(2_000));
        conversation.add_exchange(&reply, vec![(call, output)]);
    }

    #[test]
    fn old_data_is_forgotten_first_and_the_rules_never() {
        let mut conversation = conversation(8_000, true);
        for number in 0..30 {
            scraped(&mut conversation, number);
        }
        let ask = conversation.build_request(TOOLS);
        let size: usize = ask.messages.iter().map(size).sum();
        assert!(size <= 16_000, "{size}");
        assert_eq!(ask.messages[0], Message::System("rules".to_owned()));
        assert!(ask.messages.iter().any(|m| matches!(m, Message::Data { text, .. } if text == DROPPED_DATA)));
        assert!(matches!(ask.messages.last(), Some(Message::Data { text, .. }) if text.starts_with("word")));
    }

    #[test]
    fn without_tools_a_model_is_told_of_them_in_words() {
        let ask = conversation(8_000, false).build_request(TOOLS);
        assert!(ask.tools.is_empty() && ask.schema.is_some());
        assert!(matches!(&ask.messages[0], Message::System(text) if text.contains("- scrape:")));
        assert!(conversation(8_000, true).build_request(TOOLS).schema.is_none());
    }
}
