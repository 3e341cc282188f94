//! Which parameters of a query say something about the page.

/// What a parameter is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// It may choose the page.
    Content,
    /// It tells the site where the reader came from.
    Tracking,
    /// It carries a visit.
    Session,
}

/// Names that only campaigns and advertisers use. Words that may also be content (`ref`, `source`, `id`) are not here.
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
const TRACKING_FAMILIES: [&str; 6] = ["utm_", "mtm_", "matomo_", "piwik_", "hsa_", "trk_"];

/// Names that mean a session wherever they stand.
const SESSION: [&str; 5] = ["phpsessid", "phpsessionid", "jsessionid", "cfid", "cftoken"];
/// Names that mean a session when their value looks like one.
const PERHAPS_SESSION: [&str; 6] = ["sid", "sess", "session", "sessionid", "session_id", "zenid"];

/// What `name=value` is for. A doubtful session id that is `alone` in its query may be all that names the page: it is kept.
pub fn role(pair: &str, alone: bool) -> Role {
    let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
    if name.len() > 32 {
        return Role::Content;
    }
    let name = name.to_ascii_lowercase();
    let name = name.as_str();
    if TRACKING.binary_search(&name).is_ok()
        || TRACKING_FAMILIES.iter().any(|family| name.starts_with(family))
    {
        Role::Tracking
    } else if SESSION.contains(&name)
        || name.starts_with("aspsessionid")
        || !alone && PERHAPS_SESSION.contains(&name) && looks_like_token(value)
    {
        Role::Session
    } else {
        Role::Content
    }
}

/// Long, of letters and digits mixed: nobody names a page so.
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
