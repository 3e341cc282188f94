//! A small disk for a test: a file system in memory, mounted in namespaces that an ordinary user may create
//! too. A process that is to see it is started through [`SmallDisk::enter`]; the test itself reads it through
//! [`SmallDisk::seen`].

use std::fs::{self, OpenOptions};
use std::io::{BufRead, BufReader, ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

/// Mounts, reports it, and keeps the namespaces until standard input closes, which happens when the parent
/// dies.
const HOLD: &str =
    r#"mount -t tmpfs -o "size=$1,mode=700" tmpfs "$2" && echo mounted && exec cat >/dev/null"#;
const FILLER: &str = "filler";

/// A mounted disk; it is unmounted when this value is dropped, unless a process is still inside.
#[derive(Debug)]
pub struct SmallDisk {
    holder: Child,
    at: PathBuf,
}

impl SmallDisk {
    /// A disk of this size (`14m`), mounted at a folder, which is made.
    ///
    /// # Panics
    /// When the machine allows no user namespaces, or lacks `unshare` and `nsenter` (Debian: util-linux).
    pub fn mount(at: &Path, size: &str) -> Self {
        fs::create_dir_all(at).expect("a folder to mount at");
        let mut holder = Command::new("unshare")
            .args(["--user", "--map-root-user", "--mount", "sh", "-c", HOLD, "hold", size])
            .arg(at)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("unshare; Debian has it in util-linux");
        let mut told = String::new();
        let output = holder.stdout.take().expect("its output");
        let _ = BufReader::new(output).read_line(&mut told);
        if told.trim() != "mounted" {
            let output = holder.wait_with_output().map(|output| output.stderr).unwrap_or_default();
            panic!(
                "no small disk could be mounted; the kernel must allow user namespaces (sysctl user.max_user_namespaces): {}",
                String::from_utf8_lossy(&output)
            );
        }
        Self { holder, at: at.to_owned() }
    }

    /// The command prefix that makes a process see the disk.
    pub fn enter(&self, working_folder: &Path) -> Vec<String> {
        let mut words = ["nsenter", "--user", "--mount", "--preserve-credentials"].map(String::from).to_vec();
        words.push(format!("--target={}", self.holder.id()));
        words.push(format!("--wd={}", working_folder.display()));
        words.push("--".to_owned());
        words
    }

    fn run(&self, program: &str, arguments: &[&str]) {
        let words = self.enter(Path::new("/"));
        let status =
            Command::new(&words[0]).args(&words[1..]).arg(program).args(arguments).arg(&self.at).status();
        assert!(
            status.is_ok_and(|status| status.success()),
            "{program} {arguments:?} inside of a small disk"
        );
    }

    /// Makes it larger or smaller.
    pub fn resize(&self, size: &str) {
        self.run("mount", &["-o", &format!("remount,size={size}")]);
    }

    /// A path on the disk, as this process can see it.
    pub fn seen(&self, inside: &str) -> PathBuf {
        let root = PathBuf::from(format!("/proc/{}/root", self.holder.id()));
        root.join(self.at.strip_prefix("/").unwrap_or(&self.at)).join(inside)
    }

    /// Takes all space that is left.
    ///
    /// # Panics
    /// When writing fails for another reason.
    pub fn fill(&self) {
        let mut filler = OpenOptions::new()
            .create(true)
            .append(true)
            .open(self.seen(FILLER))
            .expect("a file to fill the disk with");
        for block in [1 << 16, 4096, 1] {
            let bytes = vec![b'x'; block];
            loop {
                match filler.write(&bytes) {
                    Ok(_) => {}
                    Err(error) if error.kind() == ErrorKind::StorageFull => break,
                    Err(error) => panic!("the disk cannot be filled: {error}"),
                }
            }
        }
    }

    /// Frees what [`Self::fill`] took.
    pub fn empty(&self) {
        let _ = fs::remove_file(self.seen(FILLER));
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        drop(self.holder.stdin.take());
        let _ = self.holder.wait();
    }
}
