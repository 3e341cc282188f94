//! The Landlock layer: a process that can open no file, use no TCP and signal no process outside.

use crate::layers::{Layer, Layers};
use landlock::{
    ABI, Access as _, AccessFs, AccessNet, LandlockStatus, RestrictionStatus, Ruleset, RulesetAttr as _,
    RulesetError, Scope,
};

/// The newest version that is asked for. An older kernel refuses what it knows.
pub(crate) const NEWEST_ABI: ABI = ABI::V9;
/// The first versions that know of TCP, and of signals and abstract Unix sockets.
const FIRST_ABI_WITH_TCP: u32 = 4;
const FIRST_ABI_WITH_SIGNALS: u32 = 6;

/// Takes files, TCP and signals away from the calling thread and from all threads that it starts.
pub(crate) fn deny_files_tcp_and_signals(layers: &mut Layers) {
    report_status(restrict(), layers);
}

/// Adds to the layers what Landlock could not take away.
pub(crate) fn report_status(status: Result<RestrictionStatus, RulesetError>, layers: &mut Layers) {
    let reason = match status {
        Ok(status) => match status.landlock {
            LandlockStatus::Available { effective_abi, .. } => {
                layers.landlock_abi = effective_abi as u32;
                add_missing_by_version(layers);
                return;
            }
            LandlockStatus::NotEnabled => {
                "Landlock is not enabled: add landlock to the kernel parameter lsm=".to_owned()
            }
            LandlockStatus::NotImplemented => {
                "the kernel has no Landlock: needs Linux 5.13 or newer, built with it".to_owned()
            }
        },
        Err(error) => format!("Landlock: {error}"),
    };
    for layer in [Layer::Files, Layer::Tcp, Layer::Signals] {
        layers.add_missing(layer, reason.clone());
    }
}

fn restrict() -> Result<RestrictionStatus, RulesetError> {
    Ruleset::default()
        .handle_access(AccessFs::from_all(NEWEST_ABI))?
        .handle_access(AccessNet::from_all(NEWEST_ABI))?
        .scope(Scope::from_all(NEWEST_ABI))?
        .create()?
        .restrict_self()
}

fn add_missing_by_version(layers: &mut Layers) {
    let abi = layers.landlock_abi;
    if abi < FIRST_ABI_WITH_TCP {
        let reason = format!("Landlock ABI {abi}; ABI {FIRST_ABI_WITH_TCP} is needed: Linux 6.7");
        layers.add_missing(Layer::Tcp, reason);
    }
    if abi < FIRST_ABI_WITH_SIGNALS {
        let reason = format!("Landlock ABI {abi}; ABI {FIRST_ABI_WITH_SIGNALS} is needed: Linux 6.12");
        layers.add_missing(Layer::Signals, reason);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_old_version_says_what_it_cannot_restrict() {
        let missing = |landlock_abi| {
            let mut layers = Layers { landlock_abi, missing: Vec::new() };
            add_missing_by_version(&mut layers);
            layers.missing.into_iter().map(|missing| missing.layer).collect::<Vec<_>>()
        };
        assert_eq!(missing(7), []);
        assert_eq!(missing(5), [Layer::Signals]);
        assert_eq!(missing(3), [Layer::Tcp, Layer::Signals]);
    }

    /// Alone, without the other layers. Landlock holds for a thread, so the test process stays free.
    #[test]
    fn files_tcp_and_signals_are_refused_by_landlock_alone() {
        let confined = std::thread::spawn(|| {
            let mut layers = Layers::default();
            deny_files_tcp_and_signals(&mut layers);
            if layers.hold_all() {
                crate::restrict::verify_landlock(&mut layers);
            }
            layers
        });
        let layers = confined.join().expect("the thread");
        assert!(layers.hold_all(), "{layers:?}");
        assert!(std::fs::read_dir("/").is_ok(), "the rest of the process is free");
    }
}
