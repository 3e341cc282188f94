//! The design of a site: colours, fonts, spacing, buttons, logo.
//!
//! Has the script for the browser ([`COLLECT`]: computed styles of visible elements) and the profile built
//! from its result ([`profile`]). The result is controlled by the page and treated as hostile: every colour,
//! size and URL is checked, and invalid values are dropped. What rules cannot determine (voice, personality,
//! audience) is left out.

mod collected;
mod colours;
mod logo;
mod typography;

use crate::facts::text::line;
use crate::facts::things::Things;
use collected::Collected;
use content::metadata::Metadata;
use content::page::Page;
use serde::Serialize;
use serde_json::Value;
use std::collections::BTreeMap;

/// One expression to evaluate in the page; gives plain JSON for [`profile`].
pub const COLLECT: &str = include_str!("collect.js");

/// Colours, sizes and the like by the names of the wire contract.
pub type Named<T> = BTreeMap<&'static str, T>;

/// The design of a site.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Branding {
    /// `light` or `dark`, by the visible background.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub color_scheme: Option<&'static str>,
    /// The name of the site.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub brand_name: Option<String>,
    /// URL of the logo, or an inline SVG as a `data:` URL.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub logo: Option<String>,
    /// Families in use, most used first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub fonts: Vec<Font>,
    /// Colours by role, as `#RRGGBB`.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub colors: Named<String>,
    /// Families, stacks, sizes, line heights, weights.
    #[serde(skip_serializing_if = "Typography::is_empty")]
    pub typography: Typography,
    /// The grid everything sits on.
    #[serde(skip_serializing_if = "Spacing::is_empty")]
    pub spacing: Spacing,
    /// Buttons and fields.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub components: Named<Named<String>>,
    /// Logo, favicon and preview picture.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub images: Named<String>,
    /// How things move.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub animations: Named<String>,
    /// Heights of header and footer, width of the content.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub layout: Named<Value>,
}

/// A font family.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Font {
    /// Its name.
    pub family: String,
    /// Where it is used: `body`, `heading` or `code`.
    pub role: &'static str,
}

/// How text is set.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Typography {
    /// First family by use: `primary`, `heading`, `code`.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub font_families: Named<String>,
    /// All families in order, by use.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub font_stacks: Named<Vec<String>>,
    /// Sizes such as `16px`.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub font_sizes: Named<String>,
    /// Line heights as multiples of the size.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub line_heights: Named<f64>,
    /// Weights such as 400.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub font_weights: Named<u32>,
}

impl Typography {
    fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// The grid a page sits on.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Spacing {
    /// The step that most distances are multiples of, in pixels.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub base_unit: Option<u32>,
    /// The most common gap between columns, in pixels.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub grid_gutter: Option<f64>,
    /// The most common rounding of corners.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub border_radius: Option<String>,
}

impl Spacing {
    fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// The design of a site, from the styles collected in the browser and from the page itself. Without collected
/// styles (`null`) only name, logo and pictures are known.
pub fn profile(facts: &Value, page: &Page) -> Branding {
    let metadata = page.metadata();
    let facts = Collected::new(facts);
    let background = colours::background(facts);
    let logo = logo::of_facts(facts, page).or_else(|| logo::of_page(page));
    let colors = colours::roles(facts, background.as_deref());
    let address = |written: &str| {
        page.base()
            .resolve(written)
            .map(std::borrow::Cow::into_owned)
            .filter(|url| url.starts_with("http") || url.starts_with("data:image/"))
    };
    let favicon =
        facts.list("icons").find_map(|icon| address(icon.text("href"))).or_else(|| metadata.favicon.clone());
    let pictures = [
        ("logo", logo.clone()),
        ("favicon", favicon),
        ("ogImage", metadata.tag("og:image").and_then(address)),
    ];
    let typography = typography::from_collected(facts);
    Branding {
        color_scheme: background
            .as_deref()
            .map(|ground| if colours::is_dark(ground) { "dark" } else { "light" }),
        brand_name: brand_name(&metadata, page, facts),
        logo,
        fonts: typography::fonts(facts),
        components: components(facts),
        spacing: spacing(facts),
        animations: animations(facts),
        layout: layout(facts),
        images: named(pictures),
        colors,
        typography,
    }
}

/// The names that have a value.
fn named<T, const N: usize>(pairs: [(&'static str, Option<T>); N]) -> Named<T> {
    pairs.into_iter().filter_map(|(name, value)| Some((name, value?))).collect()
}

/// The declared name of the site, else the part of the title that is not the page's own title.
fn brand_name(metadata: &Metadata, page: &Page, facts: Collected) -> Option<String> {
    let things = Things::collect(metadata);
    let declared = || {
        ["Organization", "Corporation", "WebSite", "LocalBusiness", "Store", "Restaurant", "Brand"]
            .iter()
            .find_map(|kind| {
                things
                    .all()
                    .find(|(_, thing)| thing.kind() == Some(*kind))
                    .and_then(|(_, thing)| thing.text("name"))
            })
    };
    // An IP address is not a name.
    let host = page.base().url().and_then(url::Url::domain).unwrap_or_default().to_lowercase();
    let title = || {
        let title = metadata.title.as_deref()?;
        let parts: Vec<&str> = title
            .split(['|', '–', '—', '·', '•', ':'])
            .flat_map(|part| part.split(" - "))
            .map(str::trim)
            .filter(|part| !part.is_empty())
            .collect();
        // The part that matches the host name.
        let squeezed =
            |part: &str| part.chars().filter(|c| c.is_alphanumeric()).collect::<String>().to_lowercase();
        parts
            .iter()
            .find(|part| squeezed(part).len() > 2 && host.contains(&squeezed(part)))
            .map(|part| (*part).to_owned())
    };
    let alt = || {
        let alt =
            facts.list("logos").map(|logo| logo.text("alt").trim().to_owned()).find(|alt| !alt.is_empty())?;
        let bare =
            alt.trim_end_matches(" logo").trim_end_matches(" Logo").trim_end_matches(" home").to_owned();
        (!bare.eq_ignore_ascii_case("logo")).then_some(bare)
    };
    let tagged = metadata.tag("og:site_name").or_else(|| metadata.tag("application-name")).map(str::to_owned);
    let own =
        || host.trim_start_matches("www.").split('.').next().filter(|name| name.len() > 1).map(str::to_owned);
    tagged
        .or_else(declared)
        .or_else(title)
        .or_else(alt)
        .or_else(own)
        .map(|name| line(&name, 120))
        .filter(|name| !name.is_empty())
}

fn components(facts: Collected) -> Named<Named<String>> {
    let (primary, secondary) = colours::buttons(facts);
    let button = |button: Collected| {
        named([
            ("background", button.colour("background")),
            ("textColor", button.colour("colour")),
            ("borderColor", button.colour("border")),
            ("borderRadius", button.length("radius")),
        ])
    };
    let input = facts.list("inputs").next().map(|input| {
        named([
            ("background", input.colour("background")),
            ("textColor", input.colour("colour")),
            ("borderColor", input.colour("border")),
            ("borderRadius", input.length("radius")),
        ])
    });
    let mut components = named([
        ("buttonPrimary", primary.map(button)),
        ("buttonSecondary", secondary.map(button)),
        ("input", input),
    ]);
    components.retain(|_, parts| !parts.is_empty());
    components
}

fn spacing(facts: Collected) -> Spacing {
    let samples: Vec<f64> = facts.numbers("spacing").filter(|size| (1.0..=128.0).contains(size)).collect();
    let multiples = |unit: f64| samples.iter().filter(|size| (*size % unit).abs() < 0.01).count();
    let base_unit = [8_u32, 4, 5, 6, 10, 2]
        .into_iter()
        .find(|unit| samples.len() >= 5 && multiples(f64::from(*unit)) * 10 >= samples.len() * 7);
    let gutter = collected::most_common(
        facts.numbers("gaps").filter(|gap| (1.0..=200.0).contains(gap)).map(|gap| format!("{gap}")),
    );
    Spacing {
        base_unit,
        grid_gutter: gutter.and_then(|gap| gap.parse().ok()),
        border_radius: collected::most_common(facts.texts("radii").filter_map(collected::length)),
    }
}

fn animations(facts: Collected) -> Named<String> {
    let time = |text: &str| {
        let number = text.strip_suffix("ms").or_else(|| text.strip_suffix('s'))?;
        number.parse::<f32>().ok().filter(|time| time.is_finite() && *time > 0.0).map(|_| text.to_owned())
    };
    let easing = |text: &str| {
        let sound = text.len() <= 60
            && text
                .chars()
                .all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '(' | ')' | ',' | '.' | ' '));
        (sound && !text.is_empty()).then(|| text.to_owned())
    };
    named([
        ("transitionDuration", collected::most_common(facts.texts("durations").filter_map(time))),
        ("easing", collected::most_common(facts.texts("easings").filter_map(easing))),
    ])
}

fn layout(facts: Collected) -> Named<Value> {
    let layout = facts.field("layout");
    let height = |name: &str| {
        layout
            .number(name)
            .filter(|height| (1.0..=5_000.0).contains(height))
            .map(|height| format!("{height}px").into())
    };
    let grid =
        collected::length(layout.text("maxWidth")).map(|width| serde_json::json!({ "maxWidth": width }));
    named([("headerHeight", height("header")), ("footerHeight", height("footer")), ("grid", grid)])
}
