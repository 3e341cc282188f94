//! The setting `smtp_url`, checked.

use net::{EgressAllow, Purpose};
use percent_encoding::percent_decode_str;
use std::fmt;
use std::time::Duration;
use url::{Host, Url};
use wire::SecretText;

const STARTTLS_PORT: u16 = 587;
const TLS_PORT: u16 = 465;
const DEFAULT_REPLY_TIMEOUT: Duration = Duration::from_mins(1);

/// How the connection is protected.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SmtpTls {
    /// TLS from the start: `smtps://`.
    FromStart,
    /// STARTTLS, or no mail is sent: `smtp://`.
    StartTls,
    /// STARTTLS where the server offers it: the default for this machine itself.
    StartTlsIfOffered,
    /// None: `smtp://…?tls=none`.
    None,
}

/// The operator's mail server. `Debug` shows no login.
#[derive(Clone, PartialEq, Eq)]
pub struct SmtpSettings {
    pub(super) host: String,
    pub(super) port: u16,
    pub(super) tls: SmtpTls,
    pub(super) login: Option<(String, SecretText)>,
    /// How long one reply may take.
    pub(super) reply_timeout: Duration,
    /// What we call ourselves.
    pub(super) hello_name: String,
}

impl fmt::Debug for SmtpSettings {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("SmtpSettings")
            .field("host", &self.host)
            .field("port", &self.port)
            .field("tls", &self.tls)
            .field("has_login", &self.login.is_some())
            .finish_non_exhaustive()
    }
}

/// What is wrong with `smtp_url`. Never contains any of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum SmtpSettingsError {
    #[error("`smtp_url` must look like smtp://user:password@mail.example.com:587 or smtps://…:465")]
    Form,
    #[error("`smtp_url` takes only `?tls=none`, and only with smtp://")]
    Options,
    #[error("`smtp_url` has a login but no TLS: that is allowed for localhost only")]
    PlainLogin,
    #[error("the login in `smtp_url` must be UTF-8 without control characters, percent-encoded where needed")]
    Login,
}

impl SmtpSettings {
    /// `smtp://` is STARTTLS (port 587), `smtps://` is TLS from the start (port 465).
    pub fn parse(text: &str) -> Result<Self, SmtpSettingsError> {
        let url = Url::parse(text.trim()).map_err(|_| SmtpSettingsError::Form)?;
        // Schemes that `url` does not know leave the host as it was written.
        let host = Host::parse(url.host_str().unwrap_or_default()).map_err(|_| SmtpSettingsError::Form)?;
        let is_loopback = match &host {
            Host::Domain(name) => name == "localhost",
            Host::Ipv4(address) => address.is_loopback(),
            Host::Ipv6(address) => address.is_loopback(),
        };
        let tls = match (url.scheme(), url.query()) {
            ("smtps", None) => SmtpTls::FromStart,
            ("smtp", None) if is_loopback => SmtpTls::StartTlsIfOffered,
            ("smtp", None) => SmtpTls::StartTls,
            ("smtp", Some("tls=none")) => SmtpTls::None,
            ("smtp" | "smtps", Some(_)) => return Err(SmtpSettingsError::Options),
            _ => return Err(SmtpSettingsError::Form),
        };
        if !matches!(url.path(), "" | "/") || url.fragment().is_some() || url.port() == Some(0) {
            return Err(SmtpSettingsError::Form);
        }
        let login = parse_login(&url)?;
        if login.is_some() && tls == SmtpTls::None && !is_loopback {
            return Err(SmtpSettingsError::PlainLogin);
        }
        let default_port = if tls == SmtpTls::FromStart { TLS_PORT } else { STARTTLS_PORT };
        Ok(Self {
            host: host.to_string(),
            port: url.port().unwrap_or(default_port),
            tls,
            login,
            reply_timeout: DEFAULT_REPLY_TIMEOUT,
            hello_name: "localhost".to_owned(),
        })
    }

    /// The name that is sent with EHLO: the public name of this server. Names that are none are not taken.
    #[must_use]
    pub fn with_hello_name(mut self, name: &str) -> Self {
        if let Ok(Host::Domain(name)) = Host::parse(name) {
            self.hello_name = name;
        }
        self
    }

    #[must_use]
    pub fn with_reply_timeout(mut self, timeout: Duration) -> Self {
        self.reply_timeout = timeout;
        self
    }

    /// Adds the server to what may be reached for mail, wherever it is: the operator configured it.
    #[must_use]
    pub fn allow_in(&self, allow: EgressAllow) -> EgressAllow {
        allow.with_host(Purpose::Mail, &self.host)
    }

    /// Host and port, for people.
    pub fn place(&self) -> String {
        format!("{}:{}", self.host, self.port)
    }

    pub fn tls(&self) -> SmtpTls {
        self.tls
    }
}

fn parse_login(url: &Url) -> Result<Option<(String, SecretText)>, SmtpSettingsError> {
    let decode = |text: &str| {
        let text = percent_decode_str(text).decode_utf8().map_err(|_| SmtpSettingsError::Login)?;
        if text.chars().any(char::is_control) {
            return Err(SmtpSettingsError::Login);
        }
        Ok(text.into_owned())
    };
    match (url.username(), url.password()) {
        ("", None) => Ok(None),
        ("", Some(_)) | (_, None) => Err(SmtpSettingsError::Login),
        (user, Some(password)) => Ok(Some((decode(user)?, SecretText(decode(password)?)))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_of_servers() {
        for (text, host, port, tls) in [
            ("smtp://mail.example.com", "mail.example.com", 587, SmtpTls::StartTls),
            ("smtps://mail.example.com", "mail.example.com", 465, SmtpTls::FromStart),
            ("smtp://10.0.0.5:25", "10.0.0.5", 25, SmtpTls::StartTls),
            ("smtp://relay:1025?tls=none", "relay", 1025, SmtpTls::None),
            ("smtp://localhost:25/", "localhost", 25, SmtpTls::StartTlsIfOffered),
            ("smtp://[::1]:25", "[::1]", 25, SmtpTls::StartTlsIfOffered),
        ] {
            let settings = SmtpSettings::parse(text).unwrap();
            assert_eq!((settings.host.as_str(), settings.port, settings.tls), (host, port, tls), "{text}");
        }
    }

    #[test]
    fn a_login_is_decoded_and_never_shown() {
        let settings = SmtpSettings::parse("smtp://me%40a.example:p%3Aw%2Fs3cret@mail.example.com").unwrap();
        let (user, password) = settings.login.clone().unwrap();
        assert_eq!((user.as_str(), password.0.as_str()), ("me@a.example", "p:w/s3cret"));
        assert!(!format!("{settings:?}").contains("s3cret"), "{settings:?}");
    }

    #[test]
    fn wrong_settings_are_refused() {
        for (text, error) in [
            ("", SmtpSettingsError::Form),
            ("mail.example.com:25", SmtpSettingsError::Form),
            ("http://mail.example.com", SmtpSettingsError::Form),
            ("smtp://", SmtpSettingsError::Form),
            ("smtp://mail.example.com/inbox", SmtpSettingsError::Form),
            ("smtp://a b", SmtpSettingsError::Form),
            ("smtp://mail.example.com:0", SmtpSettingsError::Form),
            ("smtp://mail.example.com?tls=maybe", SmtpSettingsError::Options),
            ("smtps://mail.example.com?tls=none", SmtpSettingsError::Options),
            ("smtp://u:s3cret@mail.example.com?tls=none", SmtpSettingsError::PlainLogin),
            ("smtp://u@mail.example.com", SmtpSettingsError::Login),
            ("smtp://u:s3cret%0d%0aRSET@mail.example.com", SmtpSettingsError::Login),
            ("smtp://u:%ff@mail.example.com", SmtpSettingsError::Login),
        ] {
            let found = SmtpSettings::parse(text).unwrap_err();
            assert_eq!(found, error, "{text}");
            assert!(!found.to_string().contains("s3cret"));
        }
        assert!(SmtpSettings::parse("smtp://u:p@localhost?tls=none").is_ok());
    }
}
