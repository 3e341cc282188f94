//! Counts the words, sentences and marks of a text, and hashes each word.
//!
//! Owns the meaning of "word" for content selection. It never keeps the text itself, and it reads each byte
//! once: pages are hundreds of kilobytes and this is the inner loop of selection.

/// Counts of one block of text.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct TextTally {
    /// Words; in scripts written without spaces, two characters count as one word.
    pub words: u32,
    /// Words inside links.
    pub link_words: u32,
    pub digit_words: u32,
    /// Words of sentences at least `LONG_SENTENCE` words long.
    pub long_sentence_words: u32,
    pub commas: u32,
    pub currency: u32,
    /// Marks that separate menu entries: bars, bullets, arrows.
    pub separators: u32,
    pub questions: u32,
    pub last: Closing,
    /// Order-sensitive hash of all words; equal texts have equal hashes.
    pub text_hash: u32,
}

/// What a block ends with.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Closing {
    #[default]
    Nothing,
    Word,
    SentenceEnd,
    Colon,
    Comma,
    Mark,
}

const LONG_SENTENCE: u32 = 10;
const HASH_START: u32 = 0x811c_9dc5;
const HASH_STEP: u32 = 0x0100_0193;

/// The hash of every number, so that years and prices are not different words.
pub const NUMBER: u32 = 0x23;

/// Hash of one lower-case word, as the scanner computes it.
pub fn hash_word(word: &str) -> u32 {
    word.bytes().fold(HASH_START, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(HASH_STEP))
}

/// Appends the hashes of the words of a text.
pub fn hash_words(text: &str, hashes: &mut Vec<u32>) {
    let mut scanner = Scanner::default();
    scanner.scan(text, false, hashes);
    scanner.finish(false, hashes);
}

/// What each ASCII byte is within a word: itself in lower case, or 0 where it ends one.
static IN_WORD: [u8; 256] = {
    let mut table = [0; 256];
    let mut byte = 0u8;
    while byte < 128 {
        if byte.is_ascii_alphanumeric() || byte == b'_' {
            table[byte as usize] = byte.to_ascii_lowercase();
        }
        byte += 1;
    }
    table
};

/// Reads the text of one block, chunk by chunk.
#[derive(Debug)]
pub struct Scanner {
    tally: TextTally,
    hash: u32,
    length: u32,
    digits: u32,
    unspaced: u32,
    sentence: u32,
}

impl Default for Scanner {
    fn default() -> Self {
        Self { tally: TextTally::default(), hash: HASH_START, length: 0, digits: 0, unspaced: 0, sentence: 0 }
    }
}

impl Scanner {
    /// Reads one chunk. Words may run on from one chunk into the next, as inline markup splits them.
    pub fn scan(&mut self, text: &str, linked: bool, hashes: &mut Vec<u32>) {
        let bytes = text.as_bytes();
        let mut at = 0;
        while at < bytes.len() {
            let byte = bytes[at];
            if IN_WORD[usize::from(byte)] != 0 {
                at += self.ascii_run(&bytes[at..]);
                continue;
            }
            if byte < 0x80 {
                at += 1;
                self.end_word(linked, hashes);
                if !matches!(byte, b' ' | b'\t' | b'\n' | b'\r' | 0x0c) {
                    self.mark(char::from(byte));
                }
                continue;
            }
            let Some(found) = text[at..].chars().next() else { break };
            at += found.len_utf8();
            if found.is_alphanumeric() {
                if is_unspaced(found) {
                    self.unspaced += 1;
                    self.letter(u32::from(found));
                } else if found.is_uppercase() {
                    self.letter(found.to_lowercase().next().map_or(0, u32::from));
                } else {
                    self.letter(u32::from(found));
                }
            } else if found.is_whitespace() {
                self.end_word(linked, hashes);
            } else if !is_joiner(found) {
                self.end_word(linked, hashes);
                self.mark(found);
            }
        }
    }

    /// Reads the ASCII letters and digits that `bytes` begins with; says how many.
    fn ascii_run(&mut self, bytes: &[u8]) -> usize {
        let (mut hash, mut digits, mut length) = (self.hash, 0, 0);
        for &byte in bytes {
            let letter = IN_WORD[usize::from(byte)];
            if letter == 0 {
                break;
            }
            hash = (hash ^ u32::from(letter)).wrapping_mul(HASH_STEP);
            digits += u32::from(byte.is_ascii_digit());
            length += 1;
        }
        self.hash = hash;
        self.digits += digits;
        self.length += u32::try_from(length).unwrap_or(u32::MAX);
        length
    }

    /// Ends the word under way, as a line break or a block edge does.
    pub fn end_word(&mut self, linked: bool, hashes: &mut Vec<u32>) {
        if self.length == 0 {
            return;
        }
        let tally = &mut self.tally;
        let numeric = self.digits * 2 >= self.length;
        let words = 1 + self.unspaced / 2;
        let hash = if self.digits == self.length { NUMBER } else { self.hash };
        tally.words += words;
        tally.link_words += if linked { words } else { 0 };
        tally.digit_words += u32::from(numeric);
        tally.last = Closing::Word;
        tally.text_hash = tally.text_hash.rotate_left(5).wrapping_mul(HASH_STEP) ^ self.hash;
        hashes.push(hash);
        self.sentence += words;
        self.hash = HASH_START;
        self.length = 0;
        self.digits = 0;
        self.unspaced = 0;
    }

    /// Ends the block and starts afresh.
    pub fn finish(&mut self, linked: bool, hashes: &mut Vec<u32>) -> TextTally {
        self.end_word(linked, hashes);
        self.end_sentence();
        let tally = self.tally;
        *self = Self::default();
        tally
    }

    #[inline]
    fn letter(&mut self, code: u32) {
        self.hash = (self.hash ^ code).wrapping_mul(HASH_STEP);
        self.length += 1;
    }

    fn end_sentence(&mut self) {
        if self.sentence >= LONG_SENTENCE {
            self.tally.long_sentence_words += self.sentence;
        }
        self.sentence = 0;
    }

    fn mark(&mut self, mark: char) {
        let tally = &mut self.tally;
        match mark {
            '.' | '!' | '?' | '。' | '！' | '？' | '…' | '।' | '؟' | '۔' | '։' => {
                tally.questions += u32::from(matches!(mark, '?' | '？' | '؟'));
                tally.last = Closing::SentenceEnd;
                self.end_sentence();
            }
            ',' | '，' | '、' | '،' | ';' | '；' => {
                tally.commas += 1;
                tally.last = Closing::Comma;
            }
            ':' | '：' => tally.last = Closing::Colon,
            '$' | '€' | '£' | '¥' | '₹' | '₽' | '₩' | '₺' => tally.currency += 1,
            '|' | '•' | '·' | '›' | '»' | '→' | '>' | '/' => {
                tally.separators += 1;
                tally.last = Closing::Mark;
            }
            // A closing quote or bracket after a full stop leaves the sentence ended.
            '©' | '®' | '™' | '"' | '\'' | ')' | ']' | '’' | '”' | '」' => {}
            _ => tally.last = Closing::Mark,
        }
    }
}

/// Scripts written without spaces between words.
fn is_unspaced(found: char) -> bool {
    matches!(u32::from(found), 0x0e00..=0x0eff | 0x1000..=0x109f | 0x1780..=0x17ff | 0x3040..=0x30ff
        | 0x3400..=0x4dbf | 0x4e00..=0x9fff | 0xf900..=0xfaff | 0x2_0000..=0x3_ffff)
}

/// Characters within a word: soft hyphen, zero-width characters, combining marks.
fn is_joiner(found: char) -> bool {
    matches!(u32::from(found), 0x00ad | 0x0300..=0x036f | 0x0591..=0x05c7 | 0x064b..=0x065f | 0x0900..=0x0dff
        | 0x0e31..=0x0e4e | 0x200b..=0x200f | 0x2060..=0x2064 | 0xfe00..=0xfe0f | 0xfeff)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tally(text: &str) -> (TextTally, Vec<u32>) {
        let mut hashes = Vec::new();
        let mut scanner = Scanner::default();
        scanner.scan(text, false, &mut hashes);
        (scanner.finish(false, &mut hashes), hashes)
    }

    #[test]
    fn counts_words_and_sentences() {
        let (found, hashes) = tally("The cat, aged 9, sat. It PURRED (loudly).");
        assert_eq!(found.words, 8);
        assert_eq!(hashes.len(), 8);
        assert_eq!(found.digit_words, 1);
        assert_eq!(found.last, Closing::SentenceEnd);
        assert_eq!(hashes[0], hash_word("the"));
        assert_eq!(hashes[3], NUMBER);
    }

    #[test]
    fn words_run_on_across_chunks() {
        let mut hashes = Vec::new();
        let mut scanner = Scanner::default();
        scanner.scan("Gan", true, &mut hashes);
        scanner.scan("net flies", true, &mut hashes);
        let found = scanner.finish(true, &mut hashes);
        assert_eq!((found.words, found.link_words), (2, 2));
        assert_eq!(hashes[0], hash_word("gannet"));
    }

    #[test]
    fn unspaced_scripts_count_by_characters() {
        let (found, _) = tally("東京は日本の首都です。");
        assert_eq!(found.words, 6);
        assert_eq!(found.last, Closing::SentenceEnd);
    }

    #[test]
    fn equal_texts_have_equal_hashes_and_order_matters() {
        assert_eq!(tally("Read more").0.text_hash, tally(" read  MORE").0.text_hash);
        assert_ne!(tally("read more").0.text_hash, tally("more read").0.text_hash);
    }

    #[test]
    fn nothing_and_marks_only() {
        assert_eq!(tally("").0, TextTally::default());
        assert_eq!(tally(" — ").0.words, 0);
    }
}
