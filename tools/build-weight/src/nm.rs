//! The functions in an object file or an archive of them, as `nm` lists them. Knows the form of its output
//! and of demangled Rust names; never decides what a function's weight means.

use std::path::Path;
use std::process::Command;

/// A function in an object.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Symbol {
    /// As the linker knows it, with the hash that tells one instance of a generic function from another.
    pub mangled: String,
    /// As people write it, without that hash.
    pub name: String,
    pub bytes: u64,
}

/// All functions of a file.
pub fn read_symbols(file: &Path) -> Result<Vec<Symbol>, String> {
    if !file.exists() {
        return Err(format!("there is no {}; has the build finished?", file.display()));
    }
    Ok(pair(&list(file, &[])?, &list(file, &["--demangle"])?))
}

fn list(file: &Path, more: &[&str]) -> Result<String, String> {
    let output = Command::new("nm")
        .args(["--print-size", "--no-sort", "--defined-only"])
        .args(more)
        .arg(file)
        .output()
        .map_err(|error| format!("could not start `nm`, a program of the package binutils: {error}"))?;
    if !output.status.success() {
        let text = String::from_utf8_lossy(&output.stderr);
        return Err(format!("nm: {}", text.lines().next().unwrap_or("failed")));
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// The two lists have the same lines in the same order.
fn pair(mangled: &str, demangled: &str) -> Vec<Symbol> {
    let both = mangled.lines().zip(demangled.lines());
    both.filter_map(|(mangled, demangled)| {
        let (mangled, bytes) = parse_line(mangled)?;
        let (name, _) = parse_line(demangled)?;
        Some(Symbol { mangled: mangled.to_owned(), name: without_hash(name).to_owned(), bytes })
    })
    .collect()
}

/// The name and the size of a function; `None` for data, and for what has no size.
fn parse_line(line: &str) -> Option<(&str, u64)> {
    let mut fields = line.splitn(4, ' ');
    let (_address, size, kind, name) = (fields.next()?, fields.next()?, fields.next()?, fields.next()?);
    let bytes = u64::from_str_radix(size, 16).ok()?;
    matches!(kind, "t" | "T" | "w" | "W").then_some((name, bytes))
}

/// Some versions of `nm` keep the hash of a legacy name as its last part: `::h` with 16 hexadecimal digits.
fn without_hash(name: &str) -> &str {
    let Some((path, hash)) = name.rsplit_once("::h") else { return name };
    if hash.len() == 16 && hash.bytes().all(|byte| byte.is_ascii_hexdigit()) { path } else { name }
}

/// Whether a function is written in this crate: its path, the type it belongs to or the trait it implements
/// begins with the crate's name.
pub fn belongs_to(name: &str, crate_name: &str) -> bool {
    let begins = |path: &str| path.strip_prefix(crate_name).is_some_and(|rest| rest.starts_with("::"));
    let mut path = name.trim_start_matches(['<', '&', '*', '[', '(']);
    while let Some(rest) = ["mut ", "const ", "dyn "].iter().find_map(|word| path.strip_prefix(word)) {
        path = rest.trim_start_matches(['<', '&', '*', '[', '(']);
    }
    // `drop_in_place<…>` and the like name our types only as arguments.
    let implements = name.starts_with('<') && name.split(" as ").skip(1).any(begins);
    begins(path) || implements
}

pub fn total_bytes(symbols: &[Symbol]) -> u64 {
    symbols.iter().map(|symbol| symbol.bytes).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_are_read_with_both_names() {
        let list = |locale: &str, bar: &str| {
            format!(
                "\nlib.rmeta:\n\nnet.o:\n\
                0000000000000510 r .LCPI103_0\n\
                0000000000000000 00000000000010ca T {locale}\n\
                0000000000000000 0000000000000007 r .Lanon.6\n\
                0000000000000000 0000000000000020 t {bar}\n"
            )
        };
        let mangled = list("_ZN10gannet_net6Locale5parse17h0123456789abcdefE", "_RNvCs1_3foo3bar");
        let demangled = list("gannet_net::Locale::parse::h0123456789abcdef", "foo::bar<a, b>");
        let symbols = pair(&mangled, &demangled);
        let names: Vec<_> = symbols.iter().map(|symbol| (symbol.name.as_str(), symbol.bytes)).collect();
        assert_eq!(names, [("gannet_net::Locale::parse", 0x10ca), ("foo::bar<a, b>", 0x20)]);
        assert!(symbols[0].mangled.ends_with("17h0123456789abcdefE"));
        assert_eq!(total_bytes(&symbols), 0x10ea);
    }

    #[test]
    fn the_hash_of_a_legacy_name_is_no_part_of_it() {
        assert_eq!(without_hash("a::b::h0123456789abcdef"), "a::b");
        assert_eq!(without_hash("a::b::hash"), "a::b::hash");
    }

    #[test]
    fn a_function_belongs_to_the_crate_that_wrote_it() {
        for own in [
            "gannet_net::tls::parse",
            "gannet_net::fetch::FetchRun::run::{{closure}}",
            "<gannet_net::resolve::cache::CachingResolver<R> as gannet_net::resolve::Resolve>::resolve",
            "<&mut gannet_net::Sink as std::io::Write>::write",
            "<alloc::vec::Vec<u8> as gannet_net::fetch::BodySink>::write",
        ] {
            assert!(belongs_to(own, "gannet_net"), "{own}");
        }
        for foreign in [
            "gannet_network::tls::parse",
            "core::ptr::drop_in_place<gannet_net::tls::Tls>",
            "<alloc::vec::Vec<T> as core::ops::drop::Drop>::drop",
            "hyper::client::conn::http1::Builder::handshake::{{closure}}",
        ] {
            assert!(!belongs_to(foreign, "gannet_net"), "{foreign}");
        }
    }
}
