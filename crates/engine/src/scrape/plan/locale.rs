//! `location`: which language is asked for, and which time zone the browser claims.

use wire::Issues;
use wire::scrape::LocationInput;

/// The country and languages that a page is requested with. Without a location the fetcher's defaults apply.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PageLocale {
    /// ISO 3166-1 alpha-2, upper case.
    pub country: Option<String>,
    pub languages: Vec<String>,
}

pub fn resolve(asked: Option<&LocationInput>, issues: &mut Issues) -> PageLocale {
    let Some(asked) = asked else { return PageLocale::default() };
    let country = asked.country.as_ref().map(|country| match country.to_ascii_uppercase() {
        country if UNITED_STATES.contains(&country.as_str()) => "US".to_owned(),
        country => country,
    });
    if let Some(country) = &country
        && (country.len() != 2 || !COUNTRIES.split(' ').any(|known| known == country))
    {
        let why = "Invalid country code. Use a valid ISO 3166-1 alpha-2 country code.";
        issues.add("location.country", why, "invalid_value");
    }
    let languages = asked.languages.clone().unwrap_or_default();
    if let Err(error) = net::Locale::from_languages(languages.iter().map(String::as_str)) {
        issues.add("location.languages", &error.to_string(), "invalid_value");
    }
    PageLocale { country, languages }
}

impl PageLocale {
    /// What `Accept-Language` asks for.
    pub fn accept_language(&self) -> net::Locale {
        if !self.languages.is_empty() {
            return net::Locale::from_languages(self.languages.iter().map(String::as_str))
                .unwrap_or_default();
        }
        self.country.as_deref().map_or_else(net::Locale::default, net::Locale::from_country)
    }

    /// The languages the browser claims, best first.
    pub fn tags(&self) -> Vec<String> {
        let header = self.accept_language();
        let text = header.as_header().to_str().unwrap_or_default();
        text.split(',').filter_map(|part| part.split(';').next()).map(|tag| tag.trim().to_owned()).collect()
    }

    /// The time zone of most people there; countries of many zones get that of their largest city.
    pub fn timezone(&self) -> Option<&'static str> {
        let country = self.country.as_deref()?;
        let (_, zone) =
            ZONES.iter().find(|(countries, _)| countries.split(' ').any(|known| known == country))?;
        Some(zone)
    }
}

/// Names of pools of addresses in the United States on the hosted service, which callers send as a country.
const UNITED_STATES: [&str; 2] = ["US-GENERIC", "US-WHITELIST"];
const COUNTRIES: &str = "AD AE AF AG AI AL AM AO AQ AR AS AT AU AW AX AZ BA BB BD BE BF BG BH BI BJ BL BM BN BO BQ BR BS BT BV BW BY BZ CA CC CD CF CG CH CI CK CL CM CN CO CR CU CV CW CX CY CZ DE DJ DK DM DO DZ EC EE EG EH ER ES ET FI FJ FK FM FO FR GA GB GD GE GF GG GH GI GL GM GN GP GQ GR GS GT GU GW GY HK HM HN HR HT HU ID IE IL IM IN IO IQ IR IS IT JE JM JO JP KE KG KH KI KM KN KP KR KW KY KZ LA LB LC LI LK LR LS LT LU LV LY MA MC MD ME MF MG MH MK ML MM MN MO MP MQ MR MS MT MU MV MW MX MY MZ NA NC NE NF NG NI NL NO NP NR NU NZ OM PA PE PF PG PH PK PL PM PN PR PS PT PW PY QA RE RO RS RU RW SA SB SC SD SE SG SH SI SJ SK SL SM SN SO SR SS ST SV SX SY SZ TC TD TF TG TH TJ TK TL TM TN TO TR TT TV TW TZ UA UG UM US UY UZ VA VC VE VG VI VN VU WF WS YE YT ZA ZM ZW";

const ZONES: &[(&str, &str)] = &[
    ("US", "America/New_York"),
    ("CA", "America/Toronto"),
    ("MX", "America/Mexico_City"),
    ("BR", "America/Sao_Paulo"),
    ("AR", "America/Argentina/Buenos_Aires"),
    ("CL", "America/Santiago"),
    ("CO", "America/Bogota"),
    ("PE", "America/Lima"),
    ("GB IM JE GG", "Europe/London"),
    ("IE", "Europe/Dublin"),
    ("PT", "Europe/Lisbon"),
    ("ES", "Europe/Madrid"),
    ("FR MC", "Europe/Paris"),
    ("BE", "Europe/Brussels"),
    ("NL", "Europe/Amsterdam"),
    ("LU", "Europe/Luxembourg"),
    ("DE", "Europe/Berlin"),
    ("CH LI", "Europe/Zurich"),
    ("AT", "Europe/Vienna"),
    ("IT SM VA", "Europe/Rome"),
    ("DK", "Europe/Copenhagen"),
    ("NO", "Europe/Oslo"),
    ("SE", "Europe/Stockholm"),
    ("FI", "Europe/Helsinki"),
    ("EE", "Europe/Tallinn"),
    ("LV", "Europe/Riga"),
    ("LT", "Europe/Vilnius"),
    ("PL", "Europe/Warsaw"),
    ("CZ", "Europe/Prague"),
    ("SK", "Europe/Bratislava"),
    ("HU", "Europe/Budapest"),
    ("RO", "Europe/Bucharest"),
    ("BG", "Europe/Sofia"),
    ("GR", "Europe/Athens"),
    ("RS", "Europe/Belgrade"),
    ("HR", "Europe/Zagreb"),
    ("SI", "Europe/Ljubljana"),
    ("UA", "Europe/Kyiv"),
    ("RU", "Europe/Moscow"),
    ("TR", "Europe/Istanbul"),
    ("IL", "Asia/Jerusalem"),
    ("AE", "Asia/Dubai"),
    ("SA", "Asia/Riyadh"),
    ("IN", "Asia/Kolkata"),
    ("PK", "Asia/Karachi"),
    ("BD", "Asia/Dhaka"),
    ("TH", "Asia/Bangkok"),
    ("VN", "Asia/Ho_Chi_Minh"),
    ("ID", "Asia/Jakarta"),
    ("MY", "Asia/Kuala_Lumpur"),
    ("SG", "Asia/Singapore"),
    ("PH", "Asia/Manila"),
    ("CN", "Asia/Shanghai"),
    ("HK", "Asia/Hong_Kong"),
    ("TW", "Asia/Taipei"),
    ("JP", "Asia/Tokyo"),
    ("KR", "Asia/Seoul"),
    ("AU", "Australia/Sydney"),
    ("NZ", "Pacific/Auckland"),
    ("ZA", "Africa/Johannesburg"),
    ("EG", "Africa/Cairo"),
    ("NG", "Africa/Lagos"),
    ("KE", "Africa/Nairobi"),
    ("MA", "Africa/Casablanca"),
];
