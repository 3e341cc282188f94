//! Markup that models read between the turns of a chat, and calls of tools.

use super::fold::FoldedText;
use super::{SignHit, SignKind};
use memchr::memmem;

/// Marks in small letters, what they are, and what they weigh.
const MARKS: &[(&str, SignKind, f32)] = &[
    ("<|im_start|>", SignKind::RoleMarker, 0.65),
    ("<|im_end|>", SignKind::RoleMarker, 0.65),
    ("<|system|>", SignKind::RoleMarker, 0.65),
    ("<|user|>", SignKind::RoleMarker, 0.65),
    ("<|assistant|>", SignKind::RoleMarker, 0.65),
    ("<|endoftext|>", SignKind::RoleMarker, 0.65),
    ("<|eot_id|>", SignKind::RoleMarker, 0.65),
    ("<|start_header_id|>", SignKind::RoleMarker, 0.65),
    ("<start_of_turn>", SignKind::RoleMarker, 0.65),
    ("<<sys>>", SignKind::RoleMarker, 0.65),
    ("[inst]", SignKind::RoleMarker, 0.6),
    ("[/inst]", SignKind::RoleMarker, 0.6),
    ("### system:", SignKind::RoleMarker, 0.5),
    ("### instruction:", SignKind::RoleMarker, 0.5),
    ("### instructions:", SignKind::RoleMarker, 0.4),
    ("[system override]", SignKind::RoleMarker, 0.6),
    ("[system message]", SignKind::RoleMarker, 0.5),
    ("</system>", SignKind::RoleMarker, 0.5),
    ("<system_prompt>", SignKind::RoleMarker, 0.5),
    ("<tool_call>", SignKind::ToolCall, 0.65),
    ("<function_calls>", SignKind::ToolCall, 0.65),
    ("<invoke name=", SignKind::ToolCall, 0.65),
    ("\"tool_calls\"", SignKind::ToolCall, 0.65),
    ("\"function_call\"", SignKind::ToolCall, 0.6),
];

const MAX_HITS: usize = 20;

pub(super) fn find(text: &FoldedText) -> Vec<SignHit> {
    let folded = text.folded.as_bytes();
    let mut hits = Vec::new();
    let mut add = |kind, weight, start: usize, len: usize| {
        // A little of what follows makes the evidence worth reading.
        let end = text.folded.floor_char_boundary((start + len + 80).min(text.folded.len()));
        hits.push(SignHit { kind, weight, start, end, quoted: text.is_quoted(start) });
    };
    if memchr::memchr3(b'<', b'[', b'{', folded).is_some() || memmem::find(folded, b"###").is_some() {
        for &(mark, kind, weight) in MARKS {
            for start in memmem::find_iter(folded, mark).take(MAX_HITS) {
                add(kind, weight, start, mark.len());
            }
        }
        // An object with a name and arguments is how most models call tools.
        if let Some(start) = memmem::find(folded, b"\"arguments\"")
            && memmem::find(&folded[..start], b"\"name\"").is_some()
        {
            let from = memmem::rfind(&folded[..start], b"{").unwrap_or(start);
            add(SignKind::ToolCall, 0.65, from, start - from);
        }
    }
    // Turns written out: "System: you are …", "Human: … Assistant: …".
    for role in ["system:", "assistant:", "human:", "user:"] {
        for start in memmem::find_iter(folded, role).take(MAX_HITS) {
            let opens = text.folded[..start].trim_end_matches([' ', '\n', '#', '*', '[']).is_empty();
            let rest = text.folded[start + role.len()..].trim_start();
            let orders =
                ["you are", "you have", "new ", "ignore", "override", "disregard", "before answering"]
                    .iter()
                    .any(|word| rest.starts_with(word));
            if opens && orders {
                add(SignKind::RoleMarker, 0.45, start, role.len());
            }
            if role == "human:" && opens && rest.contains("assistant:") {
                add(SignKind::RoleMarker, 0.45, start, role.len());
            }
        }
    }
    hits
}
