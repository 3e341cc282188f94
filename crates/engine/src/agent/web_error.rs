//! Why a run does not get what it asks of the web, in the words of its trace.

use crate::Error;
use agent::WebError;

pub fn forbidden(why: &str) -> WebError {
    WebError { message: why.to_owned(), retryable: false }
}

pub fn web_error(error: &Error) -> WebError {
    WebError { message: error.text(), retryable: error.is_transient() }
}
