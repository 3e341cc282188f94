//! Lines that are noise as a whole: adverts and cookie banners.

use crate::pattern::compile;
use regex::Regex;
use std::sync::LazyLock;

/// A banner is short; legal texts about cookies are long.
const MAX_BANNER_BYTES: usize = 500;
const MAX_ADVERT_BYTES: usize = 1_000;

static ADVERT_LABEL: LazyLock<Regex> = LazyLock::new(|| {
    compile(
        r"(?i)^[\W_]*(?:ads?|adverts?|advertisements?|advertorial|sponsored(?: (?:content|post|links?))?|promoted|promotion|paid (?:content|partnership)|partner content|anzeige|werbung|publicité|publicidad)[\W_]*$",
    )
});
static ADVERT: LazyLock<Regex> = LazyLock::new(|| {
    compile(
        r"(?i)^[\W_]*(?:ad|advert|advertisement|sponsored(?: by)?|promoted(?: by)?|anzeige|werbung)\s*[:·|•–—-]\s|(?:doubleclick\.net|googlesyndication\.|googleadservices\.|adservice\.|amazon-adsystem\.|taboola\.com|outbrain\.com|//ads?\.|//adserver|/adclick|/ads/click|[?&]utm_medium=(?:cpc|banner|display))",
    )
});
static COOKIE_BANNER: LazyLock<Regex> = LazyLock::new(|| {
    compile(
        r"(?i)\bcookies?\b.*\b(?:accept|consent|agree|preferences|settings|experience|policy|continu|zustimm|akzeptier|einstellung|accepter|aceptar)|\b(?:accept|agree|reject|allow|manage)\b.{0,30}\bcookies?\b|\bwir verwenden cookies\b|\bwe (?:use|value)\b.{0,20}\b(?:cookies|your privacy)\b",
    )
});
static BANNER_BUTTON: LazyLock<Regex> = LazyLock::new(|| {
    compile(
        r"(?i)^[\W_]*(?:(?:accept|reject|allow|deny|decline)(?: all)?(?: cookies)?|cookie (?:settings|preferences)|manage (?:preferences|cookies|options)|only (?:necessary|essential)(?: cookies)?|alle akzeptieren|alle ablehnen|nur notwendige|tout accepter|aceptar todo)[\W_]*$",
    )
});

/// A line that only says that what follows is an advert.
pub fn is_advert_label(line: &str) -> bool {
    line.len() < 80 && ADVERT_LABEL.is_match(line)
}

pub fn is_advert(line: &str) -> bool {
    line.len() < MAX_ADVERT_BYTES && (is_advert_label(line) || ADVERT.is_match(line))
}

pub fn is_cookie_banner(line: &str) -> bool {
    line.len() < MAX_BANNER_BYTES && (BANNER_BUTTON.is_match(line) || COOKIE_BANNER.is_match(line))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn adverts_and_banners_are_told_from_content() {
        for line in
            ["Advertisement", "**Sponsored**", "Ad · Buy a sofa today", "[x](https://ads.example.org/c?1)"]
        {
            assert!(is_advert(line), "{line}");
        }
        for line in ["Adding a page", "Admission: free", "The ad industry grew", "Price: 20"] {
            assert!(!is_advert(line), "{line}");
        }
        for line in ["We use cookies to improve your experience.", "[Accept all](#)", "Cookie settings"] {
            assert!(is_cookie_banner(line), "{line}");
        }
        for line in ["Chocolate cookies with nuts", "Accept the terms", "All settings"] {
            assert!(!is_cookie_banner(line), "{line}");
        }
    }
}
