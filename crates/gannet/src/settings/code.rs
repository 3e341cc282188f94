//! The settings of users' code in browser sessions.

use super::values::{Values, optional};
use anyhow::{Result, bail};
use code_runner::{CodeUser, LockIn, RuntimeSettings};
use std::path::{Path, PathBuf};

/// Whether and how users' code is run.
#[derive(Debug, Clone)]
pub struct CodeSettings {
    /// `None`: code is never run.
    pub lock_in: Option<LockIn>,
    pub user: CodeUser,
    pub runtimes: RuntimeSettings,
}

pub fn parse_settings(values: &Values<'_>, data_dir: &Path) -> Result<CodeSettings> {
    let path = |setting: &str| values.parse(setting, |text| Ok(optional(text).map(PathBuf::from)));
    Ok(CodeSettings {
        lock_in: values.parse("interact_code", |text| match text {
            "locked" => Ok(Some(LockIn::Required)),
            "unlocked" => Ok(Some(LockIn::Unlocked)),
            "off" => Ok(None),
            _ => bail!("must be locked, unlocked or off"),
        })?,
        user: values.parse("interact_user", |text| match text {
            "auto" => Ok(CodeUser::Auto),
            "same" => Ok(CodeUser::Same),
            _ => bail!("must be auto or same"),
        })?,
        runtimes: RuntimeSettings {
            node_modules: path("interact_node_modules")?,
            data_dir: Some(data_dir.to_owned()),
            node: path("interact_node")?,
            python: path("interact_python")?,
        },
    })
}
