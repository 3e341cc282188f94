//! Which rights a sandboxed process gives up ("layers"), and which of them this machine cannot take away.

use serde::{Deserialize, Serialize};

/// One kind of right that a process gives up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Layer {
    /// Capabilities, and getting new ones by running a program.
    Privileges,
    /// Opening, creating and listing files.
    Files,
    /// TCP connections and listeners.
    Tcp,
    /// Signals to other processes, and abstract Unix sockets.
    Signals,
    /// All system calls but the few that work on memory and on descriptors that are open already.
    SystemCalls,
    /// Memory, open files and core dumps without bound.
    Resources,
}

impl Layer {
    pub const ALL: [Self; 6] =
        [Self::Privileges, Self::Files, Self::Tcp, Self::Signals, Self::SystemCalls, Self::Resources];

    /// Its name in sentences.
    pub fn name(self) -> &'static str {
        match self {
            Self::Privileges => "privileges",
            Self::Files => "files",
            Self::Tcp => "TCP",
            Self::Signals => "signals",
            Self::SystemCalls => "system calls",
            Self::Resources => "memory",
        }
    }
}

/// A right that a process still has, and why.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MissingLayer {
    pub layer: Layer,
    pub reason: String,
}

/// What a process could give up.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Layers {
    /// The version of the kernel's Landlock, 0 without it.
    pub landlock_abi: u32,
    pub missing: Vec<MissingLayer>,
}

impl Layers {
    pub fn hold_all(&self) -> bool {
        self.missing.is_empty()
    }

    pub fn holds(&self, layer: Layer) -> bool {
        self.missing.iter().all(|missing| missing.layer != layer)
    }

    pub(crate) fn add_missing(&mut self, layer: Layer, reason: impl Into<String>) {
        // The first reason is the cause of the later ones.
        if self.holds(layer) {
            self.missing.push(MissingLayer { layer, reason: reason.into() });
        }
    }

    /// A sentence for operators about the processes that parse files. Their seccomp allows no path, socket or signal.
    pub fn describe(&self) -> String {
        let process = "untrusted files are parsed in a process";
        self.describe_process(process, &[Layer::Files, Layer::Tcp, Layer::Signals])
    }

    /// A sentence for operators about the processes that run users' code. Their seccomp allows no socket, and no
    /// signal where Landlock does not keep signals among them.
    pub fn describe_program(&self) -> String {
        self.describe_process("users' code runs in a process", &[Layer::Tcp, Layer::Signals])
    }

    /// What is taken away, then what is not and why. Seccomp alone also refuses what the covered layers would.
    fn describe_process(&self, process: &str, covered: &[Layer]) -> String {
        let held: Vec<_> =
            Layer::ALL.into_iter().filter(|layer| self.holds(*layer)).map(Layer::name).collect();
        let held = if held.is_empty() { "nothing".to_owned() } else { held.join(", ") };
        let by = if self.hold_all() {
            format!(" (Landlock ABI {}, seccomp)", self.landlock_abi)
        } else {
            String::new()
        };
        let is_covered = |layer: Layer| covered.contains(&layer) && self.holds(Layer::SystemCalls);
        let mut text = format!("{process} that has given up: {held}{by}");
        for (covered, words) in [(true, "; by seccomp alone: "), (false, "; it has NOT given up: ")] {
            let missing = self.missing.iter().filter(|missing| is_covered(missing.layer) == covered);
            let missing: Vec<_> = missing
                .map(|MissingLayer { layer, reason }| format!("{} ({reason})", layer.name()))
                .collect();
            if !missing.is_empty() {
                text.push_str(words);
                text.push_str(&missing.join(", "));
            }
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_missing_is_said_with_its_reason() {
        let mut layers = Layers { landlock_abi: 7, missing: Vec::new() };
        assert!(layers.describe().ends_with(
            "given up: privileges, files, TCP, signals, system calls, memory (Landlock ABI 7, seccomp)"
        ));
        layers.add_missing(Layer::Signals, "too old");
        layers.add_missing(Layer::Signals, "another reason");
        assert!(!layers.hold_all() && !layers.holds(Layer::Signals) && layers.holds(Layer::Files));
        let text = layers.describe();
        let held = "given up: privileges, files, TCP, system calls, memory;";
        assert!(text.ends_with(&format!("{held} by seccomp alone: signals (too old)")), "{text}");
        layers.add_missing(Layer::SystemCalls, "no seccomp");
        let text = layers.describe();
        assert!(
            text.ends_with("it has NOT given up: signals (too old), system calls (no seccomp)"),
            "{text}"
        );
        let files = MissingLayer { layer: Layer::Files, reason: "too old".to_owned() };
        let files = Layers { landlock_abi: 0, missing: vec![files] };
        assert!(files.describe().ends_with("by seccomp alone: files (too old)"));
        assert!(files.describe_program().ends_with("it has NOT given up: files (too old)"));
        let none = Layer::ALL.map(|layer| MissingLayer { layer, reason: "no".to_owned() });
        let none = Layers { landlock_abi: 0, missing: none.to_vec() };
        assert!(none.describe().contains("given up: nothing; it has NOT given up: privileges"));
    }
}
