//! Which functions stand in a program more than once. Knows nothing of files.

use crate::nm::Symbol;
use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};

/// A function that several objects have brought into the program.
#[derive(Debug, PartialEq, Eq)]
pub struct Repeated {
    pub name: String,
    pub bytes: u64,
    /// How often it is there beside the first time.
    pub extra_copies: u64,
}

impl Repeated {
    /// What the program would lose with one copy only.
    pub fn extra_bytes(&self) -> u64 {
        self.bytes * self.extra_copies
    }
}

/// Functions with the same name and size that came from different objects, the heaviest first. Those of one
/// object are different instances of a generic function whose name does not show its types, so the object
/// with the most of them has one of each. A symbol without an object was compiled with the program itself.
pub fn find(symbols: &[Symbol], objects: &HashMap<String, usize>) -> Vec<Repeated> {
    let mut counts: HashMap<(&str, u64), HashMap<Option<usize>, u64>> = HashMap::new();
    for symbol in symbols {
        let object = objects.get(&symbol.mangled).copied();
        *counts.entry((&symbol.name, symbol.bytes)).or_default().entry(object).or_default() += 1;
    }
    let mut repeated = Vec::new();
    for ((name, bytes), by_object) in counts {
        let most = by_object.values().max().copied().unwrap_or_default();
        let extra_copies = by_object.values().sum::<u64>() - most;
        if extra_copies > 0 {
            repeated.push(Repeated { name: name.to_owned(), bytes, extra_copies });
        }
    }
    repeated.sort_by(|a, b| (Reverse(a.extra_bytes()), &a.name).cmp(&(Reverse(b.extra_bytes()), &b.name)));
    repeated
}

/// The code of all functions but the first of each name and size: more than is repeated, because names do not
/// show all types.
pub fn same_name_bytes(symbols: &[Symbol]) -> u64 {
    let mut names = HashSet::new();
    symbols
        .iter()
        .filter(|symbol| !names.insert((&symbol.name, symbol.bytes)))
        .map(|symbol| symbol.bytes)
        .sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn symbol(mangled: &str, name: &str, bytes: u64) -> Symbol {
        Symbol { mangled: mangled.to_owned(), name: name.to_owned(), bytes }
    }

    #[test]
    fn only_the_same_function_of_different_objects_is_repeated() {
        let symbols = [
            symbol("handshake1", "http::handshake", 20),
            symbol("handshake2", "http::handshake", 20),
            symbol("handshake3", "http::handshake", 20),
            symbol("vec1", "<Vec<T> as Drop>::drop", 8),
            symbol("vec2", "<Vec<T> as Drop>::drop", 8),
            symbol("vec3", "<Vec<T> as Drop>::drop", 8),
            symbol("poll1", "poll", 5),
            symbol("poll2", "poll", 6),
        ];
        // The third handshake is of no library: it was compiled with the program.
        let objects =
            [("handshake1", 1), ("handshake2", 2), ("vec1", 1), ("vec2", 1), ("vec3", 2), ("poll1", 1)];
        let objects = objects.map(|(mangled, object)| (mangled.to_owned(), object)).into();
        let expected = [("http::handshake", 20, 2), ("<Vec<T> as Drop>::drop", 8, 1)];
        let expected = expected.map(|(name, bytes, extra_copies)| Repeated {
            name: name.to_owned(),
            bytes,
            extra_copies,
        });
        let repeated = find(&symbols, &objects);
        assert_eq!(repeated, expected);
        assert_eq!(repeated[0].extra_bytes(), 40);
        assert_eq!(same_name_bytes(&symbols), 40 + 16);
    }
}
