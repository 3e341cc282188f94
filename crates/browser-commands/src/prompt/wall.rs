//! Pages that only a person can get past: logins and captchas.

use crate::page::CommandPage;

/// What is in the way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Wall {
    Login,
    Captcha,
}

const SCRIPT: &str = r#"(() => {
  const shown = (e) => e.checkVisibility({ visibilityProperty: true }) && e.getClientRects().length > 0;
  const captcha = "iframe[src*=recaptcha],iframe[src*=hcaptcha],iframe[src*='challenges.cloudflare'],iframe[src*=captcha]," +
    ".g-recaptcha,.h-captcha,.cf-turnstile,[id*=captcha i],[class*=captcha i]";
  if ([...document.querySelectorAll(captcha)].slice(0, 50).some(shown)) return "captcha";
  const text = (document.body?.innerText ?? "").slice(0, 3000).toLowerCase();
  if (/verify (that )?you are (a )?human|are you a robot|complete the captcha/.test(text)) return "captcha";
  if ([...document.querySelectorAll("input[type=password]")].slice(0, 50).some(shown)) return "login";
  return "";
})()"#;

pub(super) async fn find(page: &CommandPage) -> Option<Wall> {
    let world = page.world(&page.target).await.ok()?;
    match page.evaluate(&world, SCRIPT).await.ok()?.as_str()? {
        "captcha" => Some(Wall::Captcha),
        "login" => Some(Wall::Login),
        _ => None,
    }
}

impl Wall {
    pub(super) fn message(self) -> &'static str {
        match self {
            Self::Login => {
                "This page asks for a login. A person has to sign in: use the interactive live view, then go on"
            }
            Self::Captcha => {
                "This page shows a captcha. A person has to solve it: use the interactive live view, then go on"
            }
        }
    }
}
