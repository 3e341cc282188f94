//! The W3C trace context: which trace a span belongs to, as it travels in `traceparent` and `tracestate`.

use std::fmt::Write as _;
use std::sync::Arc;

/// The longest `tracestate` that is passed on, as the specification asks for.
const MAX_STATE_BYTES: usize = 512;
const SAMPLED: u8 = 1;

/// The place of a span among all traces.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TraceContext {
    /// Never 0.
    pub trace_id: u128,
    /// Never 0.
    pub span_id: u64,
    /// Whether the spans of this trace are collected.
    pub is_sampled: bool,
    /// What other vendors passed on, unread.
    pub(crate) state: Option<Arc<str>>,
}

impl TraceContext {
    /// From the header `traceparent`. A later version than ours may say more after the part that we know.
    pub fn parse(traceparent: &str) -> Option<Self> {
        let mut parts = traceparent.trim().splitn(5, '-');
        let (version, trace_id, span_id, flags) =
            (parts.next()?, parts.next()?, parts.next()?, parts.next()?);
        let version = digits(version, 2)?;
        if version == 0xff || (version == 0 && parts.next().is_some()) {
            return None;
        }
        let trace_id = digits(trace_id, 32).filter(|id| *id != 0)?;
        let span_id = u64::try_from(digits(span_id, 16)?).ok().filter(|id| *id != 0)?;
        let flags = u8::try_from(digits(flags, 2)?).ok()?;
        Some(Self { trace_id, span_id, is_sampled: flags & SAMPLED != 0, state: None })
    }

    /// The same with the header `tracestate`, where it is one.
    #[must_use]
    pub fn with_state(mut self, tracestate: Option<&str>) -> Self {
        let legal = |state: &&str| {
            (1..=MAX_STATE_BYTES).contains(&state.len())
                && state.contains('=')
                && state.bytes().all(|byte| (0x20..0x7f).contains(&byte))
        };
        self.state = tracestate.map(str::trim).filter(legal).map(Arc::from);
        self
    }

    /// As the header `traceparent` says it.
    pub fn to_traceparent(&self) -> String {
        let flags = if self.is_sampled { SAMPLED } else { 0 };
        format!("00-{:032x}-{:016x}-{flags:02x}", self.trace_id, self.span_id)
    }

    /// The header `tracestate`, if there is any.
    pub fn tracestate(&self) -> Option<&str> {
        self.state.as_deref()
    }

    /// As collectors and people write it.
    pub fn trace_id_text(&self) -> String {
        let mut text = String::with_capacity(32);
        let _ = write!(text, "{:032x}", self.trace_id);
        text
    }
}

/// A number of exactly so many digits in lower case, as the specification asks for.
fn digits(text: &str, count: usize) -> Option<u128> {
    let legal = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
    (text.len() == count && text.bytes().all(legal)).then(|| u128::from_str_radix(text, 16).ok()).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    const PARENT: &str = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

    #[test]
    fn a_context_travels_as_it_came() {
        let context = TraceContext::parse(PARENT).unwrap().with_state(Some(" a=1,b@c=2 "));
        assert!(context.is_sampled);
        assert_eq!(context.to_traceparent(), PARENT);
        assert_eq!(context.tracestate(), Some("a=1,b@c=2"));
        let later = format!("cc{}-what-the-future-says", &PARENT[2..]);
        assert_eq!(TraceContext::parse(&later).unwrap().to_traceparent(), PARENT);
        assert!(!TraceContext::parse(&PARENT.replace("-01", "-00")).unwrap().is_sampled);
    }

    #[test]
    fn what_is_no_context_is_not_taken() {
        for wrong in [
            "",
            "00",
            "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7",
            "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-more",
            "ff-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
            "00-4BF92F3577B34DA6A3CE929D0E0E4736-00f067aa0ba902b7-01",
            "00-00000000000000000000000000000000-00f067aa0ba902b7-01",
            "00-4bf92f3577b34da6a3ce929d0e0e4736-0000000000000000-01",
            "00-4bf92f3577b34da6a3ce929d0e0e473-000f067aa0ba902b7-01",
            "00-+bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
        ] {
            assert_eq!(TraceContext::parse(wrong), None, "{wrong}");
        }
        let context = TraceContext::parse(PARENT).unwrap();
        for wrong in ["", "no pairs", "a=\u{7f}", &"a=1,".repeat(200)] {
            assert_eq!(context.clone().with_state(Some(wrong)).tracestate(), None, "{wrong}");
        }
    }
}
