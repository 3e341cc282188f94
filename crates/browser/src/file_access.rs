//! The files and ports that the kernel leaves to a browser whose files are restricted: the system's programs, libraries, fonts
//! and certificates to read, its own folder to write, the port of its proxy. Nothing of the server.
//!
//! `/proc` is open as a whole: the kernel cannot be told in advance of the folders that processes yet to come have there,
//! and each process of Chromium's sandbox writes the maps of its name spaces to its own. Landlock still keeps memory,
//! environment, descriptors and links of processes outside from it, as it does from a debugger.

use sandbox::{HARMLESS_DEVICES, ProgramAccess, SYSTEM_FILES};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};

/// What Chromium reads besides the files that every program needs: itself, where it is installed elsewhere, and settings of
/// the system.
const MORE_READABLE: [&str; 12] = [
    "/opt",
    "/headless-shell",
    "/nix/store",
    "/gnu/store",
    "/etc/chromium",
    "/etc/chromium.d",
    "/etc/ld.so.conf",
    "/etc/ld.so.conf.d",
    "/etc/pki",
    "/etc/timezone",
    "/sys",
    "/var/cache/fontconfig",
];
/// Variables that name more files and folders to read, by settings of the operator.
const PATH_VARIABLES: [&str; 3] = ["LD_LIBRARY_PATH", "FONTCONFIG_PATH", "FONTCONFIG_FILE"];
/// Fonts and trusted certificates in the home folder of the account.
const READABLE_AT_HOME: [&str; 5] =
    [".pki", ".fonts", ".local/share/fonts", ".config/fontconfig", ".cache/fontconfig"];

/// What a browser may use whose folders are `outer` and, inside of it, `writable`. It names folders of the home folder only
/// when it has the account of the server.
pub(crate) fn file_access(
    program: &Path,
    outer: &Path,
    writable: &[&Path],
    proxy: SocketAddr,
    is_same_account: bool,
) -> ProgramAccess {
    let mut readable: Vec<PathBuf> = SYSTEM_FILES.iter().chain(&MORE_READABLE).map(PathBuf::from).collect();
    // Chromium's own files lie beside its program.
    readable.extend(program.canonicalize().ok().and_then(|path| path.parent().map(Path::to_owned)));
    readable.push(outer.to_owned());
    let named = PATH_VARIABLES.iter().filter_map(std::env::var_os);
    readable.extend(named.flat_map(|paths| std::env::split_paths(&paths).collect::<Vec<_>>()));
    if let Some(home) = std::env::home_dir().filter(|_| is_same_account) {
        readable.extend(READABLE_AT_HOME.map(|name| home.join(name)));
    }
    ProgramAccess {
        readable: readable.into_iter().filter(|path| path.is_absolute()).collect(),
        writable: writable.iter().map(|path| (*path).to_owned()).collect(),
        existing: vec!["/proc".into()],
        devices: HARMLESS_DEVICES.map(PathBuf::from).into(),
        connect_ports: vec![proxy.port()],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_folder_of_the_program_and_the_own_folder_are_open_and_the_home_folder_is_not() {
        let proxy: SocketAddr = "127.0.0.1:4711".parse().unwrap();
        let (outer, inner) = (Path::new("/tmp/own"), Path::new("/tmp/own/home"));
        let access = file_access(Path::new("/proc/self/exe"), outer, &[inner], proxy, false);
        let own = std::env::current_exe().unwrap();
        assert!(access.readable.iter().any(|path| Some(path.as_path()) == own.parent()), "{access:?}");
        assert!(access.readable.contains(&outer.to_owned()) && access.writable.contains(&inner.to_owned()));
        assert_eq!(access.connect_ports, [4711]);
        assert_eq!((access.writable.len(), &*access.existing), (1, &[PathBuf::from("/proc")][..]));
        let home = std::env::home_dir().unwrap();
        assert!(!access.readable.iter().any(|path| home.starts_with(path)), "{access:?}");
    }
}
