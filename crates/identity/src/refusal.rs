//! Why an assertion is refused, in the codes that OAuth and the registration of agents use.

/// The text says what to mend; it never repeats content of the assertion.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refusal {
    InvalidAssertion(&'static str),
    InvalidSignature(&'static str),
    AudienceMismatch,
    IssuerNotEnabled,
    InvalidClientId(&'static str),
    MissingVerifiedEmail,
    Expired,
    /// The public keys of the issuer could not be read. A later attempt may succeed.
    KeysUnavailable(&'static str),
}

impl Refusal {
    /// The code in the response.
    pub fn code(self) -> &'static str {
        match self {
            Self::InvalidAssertion(_) => "invalid_assertion",
            Self::InvalidSignature(_) => "invalid_signature",
            Self::AudienceMismatch => "audience_mismatch",
            Self::IssuerNotEnabled => "issuer_not_enabled",
            Self::InvalidClientId(_) => "invalid_client_id",
            Self::MissingVerifiedEmail => "missing_verified_email",
            Self::Expired => "credential_expired",
            Self::KeysUnavailable(_) => "server_error",
        }
    }

    pub fn description(self) -> &'static str {
        match self {
            Self::InvalidAssertion(why)
            | Self::InvalidSignature(why)
            | Self::InvalidClientId(why)
            | Self::KeysUnavailable(why) => why,
            Self::AudienceMismatch => "the assertion is meant for another server (`aud`)",
            Self::IssuerNotEnabled => "the operator of this server does not trust this issuer",
            Self::MissingVerifiedEmail => "the assertion has no verified e-mail address",
            Self::Expired => "the assertion has expired; ask its issuer for a new one",
        }
    }
}
