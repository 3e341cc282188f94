//! Words by their role in an instruction, in languages with spaces between words.

use super::fold::{FoldedText, latin_twin};
use std::borrow::Cow;
use std::collections::HashMap;

/// Roles of words; a word may have several.
pub(super) mod role {
    /// Orders to drop something.
    pub(in crate::injection) const DROP: u64 = 1 << 0;
    /// Says what came before.
    pub(in crate::injection) const PRIOR: u64 = 1 << 1;
    pub(in crate::injection) const ALL: u64 = 1 << 2;
    pub(in crate::injection) const YOUR: u64 = 1 << 3;
    /// Instructions, rules, prompts.
    pub(in crate::injection) const RULES: u64 = 1 << 4;
    /// Names a model.
    pub(in crate::injection) const MODEL: u64 = 1 << 5;
    /// May name a model or a person: assistants, agents.
    pub(in crate::injection) const AGENT: u64 = 1 << 6;
    pub(in crate::injection) const YOU: u64 = 1 << 7;
    pub(in crate::injection) const MUST: u64 = 1 << 8;
    pub(in crate::injection) const ONLY: u64 = 1 << 9;
    pub(in crate::injection) const NOT: u64 = 1 << 10;
    /// Tells or mentions.
    pub(in crate::injection) const TELL: u64 = 1 << 11;
    pub(in crate::injection) const USER: u64 = 1 << 12;
    /// Sends or shows.
    pub(in crate::injection) const SEND: u64 = 1 << 13;
    /// What is worth stealing.
    pub(in crate::injection) const LOOT: u64 = 1 << 14;
    pub(in crate::injection) const PROMPT: u64 = 1 << 15;
    /// Before a prompt: system, hidden, initial.
    pub(in crate::injection) const SYSTEM: u64 = 1 << 16;
    /// Praises, ranks, chooses, buys.
    pub(in crate::injection) const STEER: u64 = 1 << 17;
    /// Answers.
    pub(in crate::injection) const ANSWER: u64 = 1 << 18;
    /// May precede an instruction.
    pub(in crate::injection) const LEAD: u64 = 1 << 19;
    pub(in crate::injection) const NOW: u64 = 1 << 20;
    pub(in crate::injection) const MODE: u64 = 1 << 21;
    /// Limits of a model.
    pub(in crate::injection) const LIMITS: u64 = 1 << 22;
    pub(in crate::injection) const SUM_UP: u64 = 1 << 23;
    pub(in crate::injection) const NEW: u64 = 1 << 24;
    pub(in crate::injection) const ARE: u64 = 1 << 25;
    /// Calls for attention: dear, attention, note, to.
    pub(in crate::injection) const CALL: u64 = 1 << 26;
    pub(in crate::injection) const IF: u64 = 1 << 27;
    /// Makes an agent a machine: AI, browser, coding, shopping.
    pub(in crate::injection) const KIND: u64 = 1 << 28;
    pub(in crate::injection) const THIS: u64 = 1 << 29;
    pub(in crate::injection) const REVIEW: u64 = 1 << 30;
    pub(in crate::injection) const GOOD: u64 = 1 << 31;
    /// Drops only with a second word: set aside.
    pub(in crate::injection) const ASIDE: u64 = 1 << 32;
    pub(in crate::injection) const MEMORY: u64 = 1 << 33;
    pub(in crate::injection) const TOLD: u64 = 1 << 34;
}
use role::{
    AGENT, ALL, ANSWER, ARE, ASIDE, CALL, DROP, GOOD, IF, KIND, LEAD, LIMITS, LOOT, MEMORY, MODE, MODEL,
    MUST, NEW, NOT, NOW, ONLY, PRIOR, PROMPT, REVIEW, RULES, SEND, STEER, SUM_UP, SYSTEM, TELL, THIS, TOLD,
    USER, YOU, YOUR,
};

/// Words by role; a star matches any ending.
const WORDS: &[(u64, &str)] = &[
    (
        DROP,
        "ignore disregard forget override bypass discard neglect ignoriere ignoriert ignorier ignorieren vergiss vergessen missachte missachten verwirf ignore ignorez oublie \
            oubliez ignora ignoren olvida olvide olviden dimentica dimenticate ignorate esqueça esqueca esqueçam negeer vergeet zignoruj ignoruj zapomnij игнорируй игнорируйте \
            проигнорируй забудь забудьте ігноруй ігноруйте забудь ignorera glöm ignorer glem ignoroi ignorați uita ignoruj zapomeň abaikan lupakan",
    ),
    (ASIDE, "aside"),
    (
        PRIOR,
        "previous prior above earlier preceding before former existing original initial past vorherig* bisherig* früher* obig* vorig* précédent* antérieur* anterior* previas \
             previos precedent* eerdere vorige bovenstaande poprzedni* wcześniejsz* предыдущ* прежн* вышеуказанн* попередн* tidigare ovanstående tidligere sebelumnya předchozí",
    ),
    (
        ALL,
        "all any every everything alle alles alle sämtliche tout toute toutes tous todas todos todo tutte tutti alle wszystkie wszelkie все всё усі всі alla alt semua všechny",
    ),
    (
        YOUR,
        "your deine deinen dein ihre tes ton vos votre tus tu sus tue tuo suas seu seus je jouw swoje twoje свои твои ваши свій свої dina din",
    ),
    (
        RULES,
        "instruction instructions prompt prompts directions directive directives guideline guidelines rule rules command commands programming constraints rubric anweisung* \
             vorgaben regeln instruktion* richtlinien consigne* règles regles instrucc* reglas istruzion* regole instruções instrucoes regras instructies regels instrukcj* polecenia zasady \
             инструкци* указани* правила інструкці* вказівки instruktion* regler ohjeet instrucțiuni* pokyny instruksi perintah",
    ),
    (
        MODEL,
        "ai ais llm llms chatgpt gpt chatbot chatbots claude gemini copilot ki ki-assistent* ki-assistenten ki-modell* ia ias ии нейросеть",
    ),
    (KIND, "ai llm browser browsing coding shopping language autonomous sprach"),
    (
        AGENT,
        "assistant assistants agent agents model models bot bots crawler summarizer summariser screener reviewers reviewer modell* assistent* modèle modelo asistente assistente модель ассистент",
    ),
    (YOU, "you du sie tu vous usted tú você ты вы"),
    (ARE, "are bist sind es êtes eres é sei"),
    (MUST, "must shall should always have need musst müssen doit devez debes deve devi moet musisz должен"),
    (
        ONLY,
        "only exclusively instead nothing exactly verbatim nur ausschließlich stattdessen seulement uniquement solo sólo solamente únicamente apenas somente soltanto alleen tylko только лише bara",
    ),
    (
        NOT,
        "not never don't dont cannot without no nicht nie niemals kein keine ohne ne pas jamais sans nunca jamás sin non mai senza não nunca sem niet nooit nie не никогда inte aldrig",
    ),
    (
        TELL,
        "tell telling mention mentioning inform informing notify notifying alert alerting reveal revealing disclose disclosing highlight show erwähne informiere sage mentionne dis digas menciones",
    ),
    (
        USER,
        "user users user's users' reader readers human humans nutzer* benutzer* utilisateur* usuario* utente utenti usuário* gebruiker* użytkownik* пользовател*",
    ),
    (
        SEND,
        "append attach embed encode send post email forward transmit upload leak print reveal output paste exfiltrate expose repeat disclose include dump read show give display gib sende schicke zeige verrate envoie \
            envoyez révèle révélez affiche affichez donne envía envia muestra revela imprime mostre revele envie invia rivela mostra stampa toon stuur pokaż wyślij ujawnij выведи покажи отправь раскрой \
            сообщи visa skicka",
    ),
    (
        LOOT,
        "data conversation history messages credentials credential cookies cookie passwords password secrets secret keys key token tokens contacts environment id_rsa historique konversation \
            gesprächsverlauf passwörter passwort conversación historial contraseñas cronologia conversa senhas rozmow* переписк* парол* card",
    ),
    (
        PROMPT,
        "prompt prompts systemprompt systemprompts systeemprompt invite configuration instructions промпт промт подсказк*",
    ),
    (SYSTEM, "system hidden initial secret original système sistema systemowy системн* системный"),
    (
        STEER,
        "recommend recommends rate rank score praise describe hire assign approve buy purchase navigate download complete add assign open claim empfiehl empfehle bewerte recommande consigliare \
             consiglia recomienda recomiende recomende raad polecaj рекомендуй rekommendera",
    ),
    (
        ANSWER,
        "answer reply respond say state write output antworte antworten réponds répondez responde responda rispondi rispondete antwoord odpowiedz отвечай ответь svara",
    ),
    (
        LEAD,
        "please and must now then should instead just also immediately kindly or bitte und jetzt veuillez et maintenant por favor y ahora e ora adesso en nu i oraz и теперь och nu sofort to:",
    ),
    (NOW, "now nun jetzt désormais ahora adesso agora теперь"),
    (MODE, "mode modus modo dan"),
    (
        LIMITS,
        "restrictions restriction restricted unrestricted guardrails filters safety limitations einschränkungen",
    ),
    (SUM_UP, "summarise summarize summarising summarizing summary"),
    (NEW, "new neue nouvelles nuevas nuove novas новые"),
    (
        CALL,
        "dear attention note hinweis hey hello warning important notice l'attention atención attenzione for to any all message reminder",
    ),
    (IF, "if when as wenn si se als если"),
    (THIS, "this dies ceci esto step"),
    (REVIEW, "review reviews rating score feedback stars match candidate applicant"),
    (GOOD, "positive maximum highest perfect five best exceptionally first favorable favourable"),
    (MEMORY, "memory memories"),
    (TOLD, "told said learned learnt know gesagt dit dicho detto"),
];

/// Words of texts that talk about such instructions rather than give them.
const ABOUT_INSTRUCTIONS_WORDS: &[&str] = &[
    "attack",
    "example",
    "e.g.",
    "such as",
    "payload",
    "injection",
    "jailbreak",
    "researcher",
    "reads '",
    "reads \"",
    "replied \"",
    "phrase",
    "for instance",
    "malicious",
    "tweet",
    "screenshot",
    "zum beispiel",
    "angreifer",
    "sätze wie",
    "par exemple",
    "attaquant",
    "por ejemplo",
    "atacante",
    "ad esempio",
    "per esempio",
    "por exemplo",
    "например",
    "злоумышленник",
    "例如",
    "攻击",
    "攻撃",
    "例えば",
    "예를 들어",
    "공격",
    "students",
    "we tried",
    "a page says",
    "the prompt \"",
    "asked the model",
    "a typical",
    "called \"",
    "known as",
    "it made me laugh",
    "no longer follow",
    "we study",
    "bijvoorbeeld",
    "aanvaller",
];

/// Titles of pages about such attacks.
const ATTACK_TOPICS: &[&str] = &[
    "prompt injection",
    "jailbreak",
    "prompt-injection",
    "system prompt",
    "injection de prompt",
    "prompt engineering",
    "llm",
    "language model",
    "chatbot",
    "提示词",
    "プロンプト",
    "프롬프트",
    "промпт",
    "adversarial prompt",
    "ai safety",
    "ai security",
];

/// Whether a text talks about instructions.
pub(super) fn is_talk(folded: &str) -> bool {
    ABOUT_INSTRUCTIONS_WORDS.iter().any(|word| folded.contains(word))
}

/// Whether a page's headings are about models and attacks on them.
pub(super) fn is_about_attacks(topic: &str) -> bool {
    ATTACK_TOPICS.iter().any(|word| topic.contains(word))
}

/// The words by role.
#[derive(Debug)]
pub(super) struct RoleLexicon {
    whole: HashMap<&'static str, u64>,
    starts: HashMap<&'static str, u64>,
}

impl RoleLexicon {
    pub(super) fn new() -> Self {
        let mut lexicon = Self { whole: HashMap::new(), starts: HashMap::new() };
        for &(roles, words) in WORDS {
            for word in words.split_whitespace() {
                match word.strip_suffix('*') {
                    Some(start) => *lexicon.starts.entry(start).or_default() |= roles,
                    None => *lexicon.whole.entry(word).or_default() |= roles,
                }
            }
        }
        lexicon
    }

    fn roles(&self, word: &str) -> u64 {
        let mut roles = self.whole.get(word).copied().unwrap_or(0);
        for (at, _) in word.char_indices().skip(4).take(14) {
            roles |= self.starts.get(&word[..at]).copied().unwrap_or(0);
        }
        roles | self.starts.get(word).copied().unwrap_or(0)
    }
}

/// A word in a passage.
#[derive(Clone, Copy, Debug)]
pub(super) struct PhraseToken {
    pub(super) roles: u64,
    pub(super) start: usize,
    pub(super) end: usize,
    /// The sentence of the passage it is in.
    pub(super) sentence: u32,
    /// Whether it opens a sentence or a part of one.
    pub(super) fresh: bool,
    /// Whether a colon or a comma follows at once.
    pub(super) called: bool,
}

impl PhraseToken {
    pub(super) fn is(&self, roles: u64) -> bool {
        self.roles & roles != 0
    }
}

/// The words of a passage.
pub(super) fn tokens(text: &FoldedText, lexicon: &RoleLexicon) -> Vec<PhraseToken> {
    let folded = text.folded.as_str();
    let mut tokens: Vec<PhraseToken> = Vec::new();
    let (mut sentence, mut fresh) = (0, true);
    let mut start: Option<usize> = None;
    let is_word = |c: char| c.is_alphanumeric() || matches!(c, '\'' | '_' | '-');
    for (at, c) in folded.char_indices().chain(std::iter::once((folded.len(), '\n'))) {
        if is_word(c) {
            start.get_or_insert(at);
            continue;
        }
        if let Some(from) = start.take() {
            budget::spend(2);
            let word = folded[from..at].trim_matches(['\'', '-']);
            let from = from + folded[from..at].find(word).unwrap_or(0);
            let called =
                matches!(c, ':' | ',') || (c == ')' || c == ']') && folded[at + 1..].starts_with(':');
            tokens.push(PhraseToken {
                roles: lexicon.roles(&one_script(word)),
                start: from,
                end: from + word.len(),
                sentence,
                fresh,
                called,
            });
            fresh = false;
        }
        match c {
            // A dot inside an address or a number ends nothing.
            '.' | '!' | '?' | ';'
                if folded[at + 1..]
                    .starts_with(|next: char| next.is_whitespace() || matches!(next, '"' | '\'' | ')'))
                    || at + 1 == folded.len() =>
            {
                sentence += 1;
                fresh = true;
            }
            '\n' => {
                sentence += u32::from(
                    !folded[..at].trim_end_matches(' ').ends_with(|last: char| is_word(last) || last == ','),
                );
                fresh = true;
            }
            ',' | ':' | '(' | ')' | '"' | '[' | ']' | '>' | '–' | '—' | '*' => fresh = true,
            _ => {}
        }
    }
    tokens
}

/// A word in one script: letters of others that look Latin are read as Latin where Latin letters stand beside
/// them.
fn one_script(word: &str) -> Cow<'_, str> {
    if word.is_ascii()
        || !word.chars().any(|c| c.is_ascii_alphabetic())
        || !word.chars().any(|c| latin_twin(c).is_some())
    {
        return Cow::Borrowed(word);
    }
    Cow::Owned(word.chars().map(|c| latin_twin(c).unwrap_or(c)).collect())
}
