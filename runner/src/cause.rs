//! Causes of errors, for messages.

use std::error::Error;

/// Returns the innermost cause of an error: the outer ones only say where it happened.
pub(crate) fn innermost(error: &dyn Error) -> String {
    let mut cause = error;
    while let Some(source) = cause.source() {
        cause = source;
    }
    cause.to_string()
}
