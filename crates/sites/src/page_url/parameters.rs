//! Decides which query parameters affect the page.

/// The purpose of a parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ParameterRole {
    /// It may select the page.
    Content,
    /// It tells the site where the user came from.
    Tracking,
    /// It carries a session.
    Session,
}

/// Names used only by campaigns and advertisers. Words that may also be content (`ref`, `source`, `id`) are
/// not in the list.
const TRACKING: [&str; 64] = [
    "__hsfp",
    "__hssc",
    "__hstc",
    "__s",
    "_branch_match_id",
    "_bta_c",
    "_bta_tid",
    "_ga",
    "_gac",
    "_gl",
    "_hsenc",
    "_hsmi",
    "_ke",
    "_kx",
    "_openstat",
    "dclid",
    "ef_id",
    "epik",
    "fb_action_ids",
    "fb_action_types",
    "fb_ref",
    "fb_source",
    "fbclid",
    "gad_campaignid",
    "gad_source",
    "gbraid",
    "gclid",
    "gclsrc",
    "gdffi",
    "gdfms",
    "hsctatracking",
    "igsh",
    "igshid",
    "irclickid",
    "li_fat_id",
    "mc_cid",
    "mc_eid",
    "mkt_tok",
    "ml_subscriber_hash",
    "msclkid",
    "oly_anon_id",
    "oly_enc_id",
    "pk_campaign",
    "pk_cid",
    "pk_content",
    "pk_keyword",
    "pk_kwd",
    "pk_medium",
    "pk_source",
    "pk_vid",
    "rb_clickid",
    "s_cid",
    "s_kwcid",
    "srsltid",
    "ttclid",
    "twclid",
    "vero_conv",
    "vero_id",
    "wbraid",
    "wickedid",
    "wt_mc",
    "yclid",
    "ysclid",
    "zanpid",
];
const TRACKING_PREFIXES: [&str; 6] = ["utm_", "mtm_", "matomo_", "piwik_", "hsa_", "trk_"];

/// Names that always mean a session.
const SESSION: [&str; 5] = ["phpsessid", "phpsessionid", "jsessionid", "cfid", "cftoken"];
/// Names that mean a session if their value looks like one.
const POSSIBLE_SESSION: [&str; 6] = ["sid", "sess", "session", "sessionid", "session_id", "zenid"];

/// The purpose of `name=value`. A possible session id that is `alone` in its query may be all that identifies
/// the page, so it is kept.
pub fn parameter_role(pair: &str, alone: bool) -> ParameterRole {
    let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
    if name.len() > 32 {
        return ParameterRole::Content;
    }
    let name = name.to_ascii_lowercase();
    let name = name.as_str();
    if TRACKING.binary_search(&name).is_ok()
        || TRACKING_PREFIXES.iter().any(|prefix| name.starts_with(prefix))
    {
        ParameterRole::Tracking
    } else if SESSION.contains(&name)
        || name.starts_with("aspsessionid")
        || !alone && POSSIBLE_SESSION.contains(&name) && looks_like_token(value)
    {
        ParameterRole::Session
    } else {
        ParameterRole::Content
    }
}

/// Long, with letters and digits mixed: no page is named like this.
fn looks_like_token(value: &str) -> bool {
    (20..=256).contains(&value.len())
        && value.bytes().all(|byte| byte.is_ascii_alphanumeric())
        && value.bytes().any(|byte| byte.is_ascii_digit())
        && value.bytes().any(|byte| byte.is_ascii_alphabetic())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_can_be_searched() {
        assert!(TRACKING.is_sorted());
    }
}
