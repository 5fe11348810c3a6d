//! What a task takes at most, said before it is run. The number of requests is certain; that of tokens is as good as
//! its assumptions, which are beside it.

use speclens_schema::{
    dialect::cli_bench::config::HelpMode,
    suite::{AgentAction, Subject},
};

use super::{conversation, help};

/// The tokens that an answer is assumed to have.
const ANSWER_TOKENS: u64 = 1_000;

/// The characters that a token is assumed to have.
const CHARACTERS_PER_TOKEN: u64 = 3;

/// Characters around what a command printed, in the result that a model is sent.
const AROUND_RESULT: usize = 200;

/// What an attempt takes at most.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Bound {
    /// Requests to the model; retries apart.
    pub requests: u64,
    /// Tokens sent, as far as [`assumptions`] hold.
    pub input_tokens: u64,
    /// Tokens received, as far as [`assumptions`] hold.
    pub output_tokens: u64,
}

impl Bound {
    /// Returns what an attempt of a task takes at most.
    pub fn of(action: &AgentAction, subject: &Subject) -> Bound {
        let mode = match subject {
            Subject::Model { mode, .. } => *mode,
            Subject::Command | Subject::Gateway { .. } | Subject::Nobody => None,
        };
        let help = match mode {
            Some(HelpMode::Injected) => help::MAX_CHARACTERS,
            Some(HelpMode::Discoverable | HelpMode::None) | None => 0,
        };
        let first = tokens(conversation::characters_of_first_request(action, mode) + help);
        let more = tokens(2 * conversation::SHOWN + AROUND_RESULT) + ANSWER_TOKENS;
        let requests = u64::from(action.max_turns.max(1));
        // Each request holds all answers and results before it.
        Bound {
            requests,
            input_tokens: requests * first + more * (requests * (requests - 1) / 2),
            output_tokens: requests * ANSWER_TOKENS,
        }
    }

    /// Returns the same for so many attempts.
    pub fn times(self, attempts: u64) -> Bound {
        Bound {
            requests: self.requests * attempts,
            input_tokens: self.input_tokens * attempts,
            output_tokens: self.output_tokens * attempts,
        }
    }

    /// Returns the sum of both.
    pub fn plus(self, other: Bound) -> Bound {
        Bound {
            requests: self.requests + other.requests,
            input_tokens: self.input_tokens + other.input_tokens,
            output_tokens: self.output_tokens + other.output_tokens,
        }
    }
}

fn tokens(characters: usize) -> u64 {
    (characters as u64).div_ceil(CHARACTERS_PER_TOKEN)
}

/// Says under which assumptions the numbers of tokens hold.
pub fn assumptions() -> String {
    format!(
        "one command per turn with {} characters of output; {} tokens per answer; \
         {CHARACTERS_PER_TOKEN} characters per token",
        grouped(2 * conversation::SHOWN as u64),
        grouped(ANSWER_TOKENS)
    )
}

/// Returns a number with commas between its thousands.
pub fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::grouped;

    #[test]
    fn thousands_are_grouped() {
        assert_eq!([0, 999, 1000, 1_234_567].map(grouped), ["0", "999", "1,000", "1,234,567"]);
    }
}
