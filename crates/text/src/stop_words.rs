//! Stop words: words that say nothing about what a text, a question or a name is about. What says nothing
//! differs, so there are four lists.

/// Length of the longest stop word.
pub const MAX_BYTES: usize = 16;

/// Function words of English, and words that occur in every abstract. The research index leaves them out.
pub static ABSTRACTS: StopWords<512> = StopWords::new(
    "a about above after al all also an and any are as at be because been being below between both \
    but by can cannot could did do does due during each et find findings for found from get give \
    given gives had has have he her here his how however i if in into is it its many may might more \
    most must no not of on only or other our previous previously recent recently report reported \
    result results s several she should show showed shown shows so some studies study such suggest \
    suggested suggesting suggests t than that the their them then there these they this those \
    through thus to under up upon us use used uses using via was we well were what when where \
    whether which while who why will with within without would you your",
);

/// Words of questions in English, German, French, Spanish, Italian and Portuguese.
pub static QUESTIONS: StopWords<512> = StopWords::new(
    "a about above after again all also am an and any are as at be because been before being below \
    between both but by can could did do does doing down during each few for from further had has \
    have having he her here hers him his how i if in into is it its just me more most much must my \
    no nor not now of off on once only or other our out over own please same she should so some such \
    tell than that the their them then there these they this those through to too under until up us \
    very was we were what when where which while who whom whose why will with would you your der die \
    das ein eine einer einen und oder ist sind war wie wer wann wo warum welche welcher welches für \
    mit von zu im den dem des auf nicht es sich kann können bei aus nach le la les un une et ou est \
    sont que qui quoi quand où comment pourquoi quel quelle pour avec de du dans sur pas ne ce se en \
    au aux el los las una unos y o son qué quién cuándo dónde cómo cuál para con del por su al il lo \
    gli che chi come quando dove perché per di da os um uma e é são quem onde como com dos em na",
);

/// Words without meaning in the name of a field.
pub static NAMES: StopWords<128> = StopWords::new(
    "of the a an and or for to is de la le les du des del el los las der die das und et y en di da do \
    on with per its this that their our von im am zu s",
);

/// Words of a request, not of its subject.
pub static REQUESTS: StopWords<256> = StopWords::new(
    "the an and or of for in on at to from with by as is are was were be do does did it its this that \
    these those what which who whose when where how why me my you your we our us their them they \
    please find get give list extract show tell collect return fetch search look up all each every \
    any some also about page pages website site web http https information data including there",
);

/// A set of words as numbers in a hash table with linear probing; zero is an empty slot. `SLOTS` is a power
/// of two and at least twice the words, so that most lookups end at once: with binary search this was the
/// most expensive part of an import of papers.
#[derive(Debug)]
pub struct StopWords<const SLOTS: usize> {
    table: [u128; SLOTS],
}

impl<const SLOTS: usize> StopWords<SLOTS> {
    /// A set of the words of a list, which single spaces separate. A word may stand there twice.
    const fn new(words: &str) -> Self {
        let words = words.as_bytes();
        let mut table = [0; SLOTS];
        let mut at = 0;
        while at < words.len() {
            let mut padded = [0; MAX_BYTES];
            let mut letter = 0;
            while at < words.len() && words[at] != b' ' {
                padded[letter] = words[at];
                letter += 1;
                at += 1;
            }
            at += 1;
            let key = u128::from_le_bytes(padded);
            let mut place = Self::slot(key);
            while table[place] != 0 && table[place] != key {
                place = (place + 1) % SLOTS;
            }
            table[place] = key;
        }
        Self { table }
    }

    #[allow(clippy::cast_possible_truncation, reason = "only the low bits are wanted")]
    const fn slot(key: u128) -> usize {
        let mixed = ((key as u64) ^ ((key >> 64) as u64)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        (mixed >> (u64::BITS - SLOTS.ilog2())) as usize
    }

    /// Whether a word in lower case is a stop word.
    pub fn contains(&self, word: &str) -> bool {
        let mut padded = [0; MAX_BYTES];
        let Some(start) = padded.get_mut(..word.len()) else { return false };
        start.copy_from_slice(word.as_bytes());
        self.contains_padded(padded)
    }

    /// The same for a word that is already padded with zeros.
    #[inline]
    pub fn contains_padded(&self, padded: [u8; MAX_BYTES]) -> bool {
        let key = u128::from_le_bytes(padded);
        let mut place = Self::slot(key);
        while self.table[place] != 0 {
            if self.table[place] == key {
                return true;
            }
            place = (place + 1) % SLOTS;
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn recognizes_stop_words_only() {
        for word in ["a", "the", "previously", "suggesting", "your"] {
            assert!(ABSTRACTS.contains(word), "{word}");
        }
        for word in ["", "th", "thee", "cell", "studying", "suggestingsomeon", "suggestingsomeone"] {
            assert!(!ABSTRACTS.contains(word), "{word}");
        }
        let filled = |table: &[u128]| table.iter().filter(|key| **key != 0).count();
        assert_eq!(filled(&ABSTRACTS.table), 139);
        assert_eq!(filled(&QUESTIONS.table), 234);
        assert_eq!(filled(&NAMES.table), 42);
        assert_eq!(filled(&REQUESTS.table), 78);
    }

    #[test]
    fn words_of_other_languages() {
        assert!(QUESTIONS.contains("für") && QUESTIONS.contains("perché") && !QUESTIONS.contains("über"));
        assert!(NAMES.contains("von") && REQUESTS.contains("https"));
    }
}
