//! Whether this process can read the stored secrets of its database.

use super::{Finding, Verdict};
use crate::settings::Settings;
use crate::{home, secret_keys};

pub async fn find(settings: &Settings) -> Finding {
    let part = "secrets";
    let (verdict, text) =
        look(settings).await.unwrap_or_else(|error| (Verdict::Broken, format!("{error:#}")));
    Finding { part, verdict, text }
}

async fn look(settings: &Settings) -> anyhow::Result<(Verdict, String)> {
    let keys = secret_keys::find(settings)?;
    // A database that cannot be opened is told of elsewhere.
    let known = store::secret_key_ids(&home::store_options(settings)).await.unwrap_or_default();
    let Some(keys) = keys else {
        return Ok(if known.is_empty() {
            (Verdict::Ok, format!("the first start makes {}", secret_keys::key_file(settings).display()))
        } else {
            (Verdict::Broken, secret_keys::missing(settings, &known))
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
            Verdict::Broken,
            format!(
                "encrypted with the key {missing}, which this process does not have (it has {own} from {from}): set secret_key or \
                 previous_secret_keys, or run `gannet secrets reset`"
            ),
        ));
    }
    if settings.secret_key.is_none() && secret_keys::is_open_to_others(settings) {
        return Ok((Verdict::Warning, format!("{from} can be read by other users of this machine")));
    }
    let older = known.iter().filter(|id| **id != own).count();
    let older = if older > 0 { "; older keys are in use until `gannet secrets rekey`" } else { "" };
    Ok((Verdict::Ok, format!("encrypted with the key {own} from {from}{older}")))
}
