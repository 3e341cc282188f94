//! The pages on which a recipient confirms or ends a subscription. Opening one does nothing, since mail
//! programs and scanners open links by themselves: the button does it, by POST to the same address.

use super::frame::HtmlPage;
use crate::html::Markup;
use crate::text::one_line;

const MAX_NAME_CHARS: usize = 120;

/// Which page is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SubscriptionPage<'a> {
    AskConfirm {
        monitor_name: &'a str,
        email: &'a str,
    },
    Confirmed {
        monitor_name: &'a str,
        email: &'a str,
    },
    AskUnsubscribe {
        monitor_name: &'a str,
        email: &'a str,
    },
    Unsubscribed {
        monitor_name: &'a str,
        email: &'a str,
    },
    /// A token that was not made here, or whose monitor is gone.
    Unknown,
}

pub fn subscription_page(page: SubscriptionPage) -> HtmlPage {
    let mut html = Markup::new();
    html.raw("<main class=\"box\">");
    let title = match page {
        SubscriptionPage::AskConfirm { monitor_name, email } => {
            let title = "Get messages of this monitor?";
            content(&mut html, title, "Messages of ", monitor_name, " will be sent to ", email);
            button(&mut html, "Confirm");
            title
        }
        SubscriptionPage::Confirmed { monitor_name, email } => {
            let title = "Confirmed";
            content(&mut html, title, "Messages of ", monitor_name, " are sent to ", email);
            html.raw("<p class=\"note\">Each of them has a link to unsubscribe.</p>");
            title
        }
        SubscriptionPage::AskUnsubscribe { monitor_name, email } => {
            let title = "Unsubscribe?";
            content(&mut html, title, "Messages of ", monitor_name, " will no longer be sent to ", email);
            button(&mut html, "Unsubscribe");
            title
        }
        SubscriptionPage::Unsubscribed { monitor_name, email } => {
            let title = "Unsubscribed";
            content(&mut html, title, "Messages of ", monitor_name, " are no longer sent to ", email);
            title
        }
        SubscriptionPage::Unknown => {
            html.raw("<h1>This link is not valid</h1><p>The monitor may have been deleted. ");
            html.raw("No messages are sent for it then.</p>");
            "This link is not valid"
        }
    };
    html.raw("</main>");
    HtmlPage::new(title, &html)
}

fn content(
    html: &mut Markup,
    title: &'static str,
    start: &'static str,
    monitor_name: &str,
    middle: &'static str,
    email: &str,
) {
    html.raw("<h1>").raw(title).raw("</h1><p>").raw(start).raw("<strong>");
    html.text(&one_line(monitor_name, MAX_NAME_CHARS)).raw("</strong>").raw(middle).raw("<strong>");
    html.text(&one_line(email, MAX_NAME_CHARS)).raw("</strong>.</p>");
}

/// The form has no address of its own: it goes to the one that was opened, token and all.
fn button(html: &mut Markup, label: &'static str) {
    html.raw("<form method=\"post\"><button type=\"submit\">").raw(label).raw("</button></form>");
}

/// Whether the body of a POST is the one that mail programs send to a `List-Unsubscribe` address (RFC 8058).
pub fn is_one_click(body: &[u8]) -> bool {
    body.trim_ascii() == b"List-Unsubscribe=One-Click"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn opening_a_link_only_asks() {
        let ask =
            subscription_page(SubscriptionPage::AskUnsubscribe { monitor_name: "<b>", email: "a@b.example" });
        assert!(
            ask.html.contains("<form method=\"post\">") && ask.html.contains("&lt;b&gt;"),
            "{}",
            ask.html
        );
        let done =
            subscription_page(SubscriptionPage::Unsubscribed { monitor_name: "m", email: "a@b.example" });
        assert!(!done.html.contains("<form"));
        assert!(is_one_click(b"List-Unsubscribe=One-Click\r\n") && !is_one_click(b"List-Unsubscribe=No"));
    }
}
