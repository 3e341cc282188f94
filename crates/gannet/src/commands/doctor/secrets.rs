//! Whether this process can decrypt the stored secrets of its database.

use super::{CheckResult, CheckStatus};
use crate::secret_keys;
use crate::settings::Settings;

pub async fn check(settings: &Settings) -> CheckResult {
    let part = "secrets";
    let (verdict, text) =
        check_keys(settings).await.unwrap_or_else(|error| (CheckStatus::Broken, format!("{error:#}")));
    CheckResult { part, verdict, text }
}

async fn check_keys(settings: &Settings) -> anyhow::Result<(CheckStatus, String)> {
    let keys = secret_keys::find(settings)?;
    // Another check reports a database that cannot be opened.
    let known = store::secret_key_ids(&settings.store_options()).await.unwrap_or_default();
    let Some(keys) = keys else {
        return Ok(if known.is_empty() {
            (
                CheckStatus::Ok,
                format!("the first start creates {}", secret_keys::key_file(settings).display()),
            )
        } else {
            (CheckStatus::Broken, secret_keys::missing_key_error(settings, &known))
        });
    };
    let own = keys.current.id();
    let from = if settings.secret_key.is_some() {
        "the setting secret_key".to_owned()
    } else {
        secret_keys::key_file(settings).display().to_string()
    };
    if let Some(missing) = known.iter().find(|id| !keys.has(**id)) {
        return Ok((
            CheckStatus::Broken,
            format!(
                "encrypted with the key {missing}, which this process does not have (it has {own} from {from}): set secret_key or \
                 previous_secret_keys, or run `gannet secrets reset`"
            ),
        ));
    }
    if settings.secret_key.is_none() && secret_keys::is_open_to_others(settings) {
        return Ok((CheckStatus::Warning, format!("{from} is readable by other users of this machine")));
    }
    let older = known.iter().filter(|id| **id != own).count();
    let older = if older > 0 { "; older keys are in use until `gannet secrets rekey`" } else { "" };
    Ok((CheckStatus::Ok, format!("encrypted with the key {own} from {from}{older}")))
}
