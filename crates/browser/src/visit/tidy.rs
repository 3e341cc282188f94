//! Hiding what is left of advertisements and consent banners on the document that is shown.

use super::world;
use crate::actions::quoted;
use crate::ads::Ads;
use crate::error::VisitError;
use crate::tab::Tab;

/// Hides it, once for each document. The style sheet belongs to us, so the page's own scripts do not find it.
pub(crate) async fn tidy(tab: &Tab) -> Result<(), VisitError> {
    let (document, host) = {
        let book = tab.page.book();
        if book.tidied.is_some() && book.tidied == book.document {
            return Ok(());
        }
        let host = book.shown.as_ref().and_then(|url| url.host_str().map(str::to_owned));
        (book.document.clone(), host.unwrap_or_default())
    };
    let ads = Ads::bundled();
    let expression = format!(
        "(() => {{ const sheet = new CSSStyleSheet(); sheet.replaceSync({}); \
         document.adoptedStyleSheets = [...document.adoptedStyleSheets, sheet]; return true; }})()",
        quoted(&ads.hiding_css(&host))
    );
    // A page that moves on just now is tidied next time.
    let _: bool = world::evaluate(tab, &expression).await?;
    tab.page.book().tidied = document;
    Ok(())
}
