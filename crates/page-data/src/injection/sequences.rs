//! Orders in languages that are not searched word by word: pieces of text that follow each other closely.

use super::fold::FoldedText;
use super::{SignHit, SignKind};
use memchr::memmem;

/// Pieces of one order, each in its variants, and how much the whole weighs.
struct Sequence {
    pieces: &'static [&'static [&'static str]],
    kind: SignKind,
    weight: f32,
}

const fn order(pieces: &'static [&'static [&'static str]], kind: SignKind, weight: f32) -> Sequence {
    Sequence { pieces, kind, weight }
}

/// Bytes between one piece and the next.
const MAX_BYTE_DISTANCE: usize = 60;
const MAX_HITS: usize = 20;

const SEQUENCES: &[Sequence] = &[
    // Chinese
    order(
        &[
            &["忽略", "无视", "無視", "忘记", "忘記", "忘掉"],
            &["所有", "全部", "一切"],
            &["指令", "指示", "提示", "规则", "規則", "说明"],
        ],
        SignKind::Override,
        1.0,
    ),
    order(
        &[
            &["忽略", "无视", "無視", "忘记", "忘記", "忘掉"],
            &["之前", "以上", "先前", "上述", "前面", "此前", "你的"],
            &["指令", "指示", "提示", "规则", "規則"],
        ],
        SignKind::Override,
        0.75,
    ),
    order(
        &[
            &["输出", "输出你的", "显示", "透露", "打印", "泄露", "告诉我", "輸出", "顯示"],
            &["系统提示", "系統提示", "提示词", "系统指令"],
        ],
        SignKind::Exfiltration,
        0.85,
    ),
    order(
        &[&["告诉用户", "只推荐", "告訴用戶", "只能推荐"], &["本", "我们", "我們", "该"]],
        SignKind::Command,
        0.5,
    ),
    order(&[&["不要告诉用户", "不要告訴用戶", "不要向用户"]], SignKind::Concealment, 0.65),
    // Japanese
    order(
        &[
            &["以前", "これまで", "上記", "前の", "すべて", "全て", "過去"],
            &["指示", "命令", "ルール", "プロンプト", "指令"],
            &["無視", "忘れ", "破棄"],
        ],
        SignKind::Override,
        0.75,
    ),
    order(
        &[&["指示", "命令", "ルール", "プロンプト"], &["すべて", "全て"], &["無視", "忘れ"]],
        SignKind::Override,
        1.0,
    ),
    order(
        &[&["システムプロンプト", "初期指示", "内部の指示"], &["表示", "出力", "教えて", "明かして"]],
        SignKind::Exfiltration,
        0.85,
    ),
    order(&[&["ユーザーに"], &["伝えないで", "知らせないで", "言わないで"]], SignKind::Concealment, 0.65),
    // Korean
    order(
        &[&["이전", "위의", "앞의", "기존", "모든"], &["지시", "명령", "지침", "규칙"], &["무시", "잊"]],
        SignKind::Override,
        0.75,
    ),
    order(
        &[&["시스템 프롬프트", "시스템프롬프트"], &["출력", "보여", "알려", "공개"]],
        SignKind::Exfiltration,
        0.85,
    ),
    // Arabic, Persian, Hebrew
    order(
        &[&["تجاهل", "انس ", "انسى"], &["التعليمات", "تعليمات", "الأوامر", "القواعد"]],
        SignKind::Override,
        0.75,
    ),
    order(&[&["دستورالعمل", "دستورات"], &["قبلی", "پیشین"], &["نادیده", "فراموش"]], SignKind::Override, 0.75),
    order(&[&["התעלם", "התעלמו", "שכח"], &["ההוראות", "הוראות"]], SignKind::Override, 0.75),
    // Hindi, Turkish, Vietnamese, Thai
    order(
        &[&["पिछले", "पूर्व", "सभी", "ऊपर"], &["निर्देश"], &["अनदेखा", "नज़रअंदाज़", "भूल"]],
        SignKind::Override,
        0.9,
    ),
    order(
        &[
            &["önceki", "tüm ", "yukarıdaki"],
            &["talimat", "komut", "yönerge"],
            &["yok say", "unut", "dikkate alma", "görmezden gel"],
        ],
        SignKind::Override,
        0.9,
    ),
    order(
        &[&["bỏ qua", "hãy quên"], &["hướng dẫn", "chỉ dẫn", "mệnh lệnh"], &["trước", "trên"]],
        SignKind::Override,
        0.9,
    ),
    order(
        &[&["ไม่ต้องสนใจ", "ละเว้น", "เพิกเฉย"], &["คำสั่ง", "คำแนะนำ"], &["ก่อนหน้า", "ข้างต้น"]],
        SignKind::Override,
        0.9,
    ),
];

pub(super) fn find(text: &FoldedText) -> Vec<SignHit> {
    let folded = text.folded.as_str();
    if folded.is_ascii() {
        return Vec::new();
    }
    let mut hits = Vec::new();
    for sequence in SEQUENCES {
        for first in sequence.pieces[0] {
            for start in memmem::find_iter(folded.as_bytes(), first).take(MAX_HITS) {
                if let Some(end) = rest_from(folded, start + first.len(), &sequence.pieces[1..]) {
                    hits.push(SignHit {
                        kind: sequence.kind,
                        weight: sequence.weight,
                        start,
                        end,
                        quoted: text.is_quoted(start),
                    });
                }
            }
        }
    }
    hits
}

/// Where the remaining pieces end, if they follow closely in the same sentence.
fn rest_from(text: &str, from: usize, pieces: &[&[&str]]) -> Option<usize> {
    let mut at = from;
    for variants in pieces {
        let window = &text[at..text.floor_char_boundary(at + MAX_BYTE_DISTANCE)];
        let window = window.split(['。', '！', '？', '\n', '।']).next().unwrap_or_default();
        let window = window.split(". ").next().unwrap_or_default();
        at += variants
            .iter()
            .filter_map(|variant| window.find(variant).map(|place| place + variant.len()))
            .min()?;
    }
    Some(at)
}
