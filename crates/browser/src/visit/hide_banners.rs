//! Hides advertisements and consent banners that remain in the current document.

use super::actions::js_string;
use super::script;
use crate::ads::Ads;
use crate::error::VisitError;
use crate::tab::Tab;

/// Hides them, once per document. The style sheet is not visible to the page's own scripts.
pub(crate) async fn hide_banners(tab: &Tab) -> Result<(), VisitError> {
    let (document, host) = {
        let state = tab.page.state();
        if state.banners_hidden_in.is_some() && state.banners_hidden_in == state.document {
            return Ok(());
        }
        let host = state.shown.as_ref().and_then(|url| url.host_str().map(str::to_owned));
        (state.document.clone(), host.unwrap_or_default())
    };
    let ads = Ads::bundled();
    let expression = format!(
        "(() => {{ const sheet = new CSSStyleSheet(); sheet.replaceSync({}); \
         document.adoptedStyleSheets = [...document.adoptedStyleSheets, sheet]; return true; }})()",
        js_string(&ads.hiding_css(&host))
    );
    // A page that navigates right now is handled next time.
    let _: bool = script::evaluate(tab, &expression).await?;
    tab.page.state().banners_hidden_in = document;
    Ok(())
}
