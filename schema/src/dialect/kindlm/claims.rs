//! Evaluation of the claims in `expect`. Each file contains one family; the rows, their labels, codes and order are
//! KindLM's.

pub(crate) mod bounds;
pub(crate) mod conversation;
mod detectors;
pub(crate) mod drift;
pub(crate) mod guardrails;
pub(crate) mod judge;
pub(crate) mod output;
pub(crate) mod tool_calls;
mod trajectory;

use std::sync::{Arc, LazyLock, OnceLock};

use crate::{
    act::Act,
    check::{
        memo::Memo,
        schema_file::{RulePlaces, SchemaError, SchemaMismatch, UserSchema},
        text::shortened,
    },
    seen::{Seen, Why},
    text::Text,
    verdict::{FailureCode, Judged, Mismatch, Outcome, Part, Related, Row, Verdict},
};

/// A schema file of a claim, read when the claim was lowered.
#[derive(Clone, Debug)]
pub(crate) struct SchemaFile {
    pub path: String,
    content: Result<Arc<SchemaContent>, String>,
}

/// Content of a schema file, compiled on first use.
#[derive(Debug)]
struct SchemaContent {
    bytes: Arc<[u8]>,
    schema: OnceLock<Result<UserSchema, SchemaError>>,
    places: OnceLock<RulePlaces>,
}

impl SchemaFile {
    /// Creates a file with this content, or with the reason why it could not be read.
    pub(crate) fn new(path: &str, bytes: Result<Arc<[u8]>, String>) -> SchemaFile {
        static KNOWN: LazyLock<Memo<Arc<[u8]>, SchemaContent>> = LazyLock::new(Memo::new);
        let content = bytes.map(|bytes| {
            KNOWN.get(bytes, |bytes| SchemaContent {
                bytes: bytes.clone(),
                schema: OnceLock::new(),
                places: OnceLock::new(),
            })
        });
        SchemaFile { path: path.to_owned(), content }
    }

    /// Returns the compiled schema, or the row if there is none. KindLM aborts the run for a file that is not valid
    /// JSON, and fails the claim for one that is not a valid schema.
    fn schema(&self) -> Result<&UserSchema, Row> {
        let compile_error = |reason: &str| format!("Schema compilation failed: {}: {reason}", self.path);
        let content = self.content.as_ref().map_err(|reason| Why::Error(compile_error(reason)))?;
        match content.schema.get_or_init(|| UserSchema::read(&content.bytes)) {
            Ok(schema) => Ok(schema),
            Err(error) if error.is_json => Err(Row::refused(
                "",
                Mismatch::new(
                    compile_error(&error.message),
                    format!("a JSON Schema in {}", self.path),
                    "a file that cannot be used",
                )
                .help(error.help.iter().copied()),
            )),
            Err(error) => Err(Why::Error(compile_error(&error.message)).into()),
        }
    }

    /// Returns the rules that a value violates, as locations in the file.
    fn related<'f>(&'f self, found: &'f [SchemaMismatch]) -> impl Iterator<Item = Related> + 'f {
        self.content.iter().flat_map(move |content| {
            let places = content.places.get_or_init(|| RulePlaces::of(&content.bytes));
            found.iter().map(move |mismatch| {
                let message = format!("`data{}` breaks this rule", mismatch.at);
                Related::in_file(message, places.of_rule(&self.path, &mismatch.rule))
            })
        })
    }
}

/// Maximum number of characters of the observed output in a mismatch.
const ACTUAL_LENGTH: usize = 200_000;

fn verdict(
    (kind, code): (&'static str, FailureCode),
    part: impl Into<Part>,
    label: impl Into<String>,
    judged: Judged,
) -> Verdict {
    let (Ok(row) | Err(row)) = judged;
    let verdict = row.within(part).named(kind, label);
    match verdict.outcome {
        Outcome::Pass => verdict.rated(None, Some(1.0)),
        Outcome::Fail(_) | Outcome::Error(_) => verdict.rated(Some(code), Some(0.0)),
        Outcome::Warn(_) | Outcome::Skip(_) | Outcome::Unknown(_) => verdict,
    }
}

fn without(lower: &Seen<Text<'_>>, output: &str, phrase: &str, message: String) -> Judged {
    let found = lower.as_ref().map_err(Why::clone)?.occurs(&phrase.to_lowercase())?;
    let lines = output.lines().enumerate();
    // A phrase of several lines is in none of them.
    let mut lines = lines.filter(|(_, line)| line.to_lowercase().contains(&phrase.to_lowercase()));
    Ok(Row::absent("", found, |_| {
        let line = lines.next().map(|(index, line)| format!("line {}: {}", index + 1, shortened(line, 400)));
        Mismatch::new(message, format!("no \"{phrase}\""), actual(output)).notes(line)
    }))
}

fn text_of(act: Act<'_>) -> Seen<Text<'_>> {
    Ok(Text::new(act.output()?.map(|output| output.text.as_str().into())))
}

/// Returns the output as a mismatch shows it.
fn actual(text: &str) -> String {
    shortened(text, ACTUAL_LENGTH)
}

#[cfg(test)]
mod tests;
