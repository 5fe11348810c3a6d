//! Answers to questions about evidence that may be incomplete.

/// Reason for an answer that depends on text that was cut off.
pub const TRUNCATED: &str = "the output was cut off, and the missing part could change the result";

/// Reason for an answer that depends on a masked secret.
pub const MASKED: &str = "a secret is masked in the output, and the result depends on it";

/// Whether something is in the evidence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Presence {
    /// It is, whatever is missing.
    Yes,
    /// It is not, whatever is missing.
    No,
    /// It depends on what is missing, for this reason.
    Unclear(&'static str),
}

impl Presence {
    /// Returns whether one of several things is in the evidence.
    pub fn any(answers: impl IntoIterator<Item = Presence>) -> Presence {
        let mut found = Presence::No;
        for answer in answers {
            match answer {
                Presence::Yes => return Presence::Yes,
                Presence::Unclear(_) => found = answer,
                Presence::No => {}
            }
        }
        found
    }

    /// Returns the reason why it is not certain.
    pub fn uncertainty(self) -> Option<&'static str> {
        match self {
            Presence::Yes | Presence::No => None,
            Presence::Unclear(reason) => Some(reason),
        }
    }
}
