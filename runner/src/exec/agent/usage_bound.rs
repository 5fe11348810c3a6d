//! Upper bounds of a task before it runs. The number of requests is certain; that of tokens is as good as its
//! assumptions, which are stated with it.

use speclens_schema::suite::{AgentAction, HelpMode, Subject};

use super::{conversation, help};

/// Assumed number of tokens of an answer.
const ANSWER_TOKENS: u64 = 1_000;

/// Assumed number of characters per token.
const CHARACTERS_PER_TOKEN: u64 = 3;

/// Number of characters around the output of a command in the result that is sent to a model.
const AROUND_RESULT: usize = 200;

/// Upper bounds of an attempt.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct UsageBound {
    /// Requests to the model, without retries.
    pub requests: u64,
    /// Tokens sent, under the [`assumptions`].
    pub input_tokens: u64,
    /// Tokens received, under the [`assumptions`].
    pub output_tokens: u64,
}

impl UsageBound {
    /// Returns the upper bounds of an attempt of a task.
    pub fn of(action: &AgentAction, subject: &Subject) -> UsageBound {
        let mode = match subject {
            Subject::Model { mode, .. } => *mode,
            Subject::Command | Subject::Gateway { .. } | Subject::Nobody => None,
        };
        let help = match mode {
            Some(HelpMode::Injected) => help::MAX_CHARACTERS,
            Some(HelpMode::Discoverable | HelpMode::None) | None => 0,
        };
        let first = tokens(conversation::characters_of_first_request(action, mode) + help);
        let more = tokens(2 * conversation::MAX_SHOWN_CHARACTERS + AROUND_RESULT) + ANSWER_TOKENS;
        let requests = u64::from(action.max_turns.max(1));
        // Each request contains all previous answers and results.
        UsageBound {
            requests,
            input_tokens: requests * first + more * (requests * (requests - 1) / 2),
            output_tokens: requests * ANSWER_TOKENS,
        }
    }

    /// Returns the bounds of this many attempts.
    pub fn times(self, attempts: u64) -> UsageBound {
        UsageBound {
            requests: self.requests * attempts,
            input_tokens: self.input_tokens * attempts,
            output_tokens: self.output_tokens * attempts,
        }
    }

    /// Returns the sum of both.
    pub fn plus(self, other: UsageBound) -> UsageBound {
        UsageBound {
            requests: self.requests + other.requests,
            input_tokens: self.input_tokens + other.input_tokens,
            output_tokens: self.output_tokens + other.output_tokens,
        }
    }
}

fn tokens(characters: usize) -> u64 {
    (characters as u64).div_ceil(CHARACTERS_PER_TOKEN)
}

/// Returns the assumptions behind the numbers of tokens.
pub fn assumptions() -> String {
    format!(
        "one command per turn with {} characters of output; {} tokens per answer; \
         {CHARACTERS_PER_TOKEN} characters per token",
        grouped(2 * conversation::MAX_SHOWN_CHARACTERS as u64),
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
