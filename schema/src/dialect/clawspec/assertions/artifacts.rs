//! Assertions about files of the target: existence, sections and fields, forbidden words.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    check::{
        headings,
        python::{NoValue, PythonValue},
        text::{CaseFolded, case_folded},
    },
    dialect::{
        ScalarRules,
        clawspec::claim::{
            AssertionRow, AssertionType, FileText, Fresh, Scope, ScopedEvidence, Stored, Wait, lenient_number, mismatch,
        },
    },
    document::{Document, NodeRef},
    evidence::{Context, FilesNeed, Need},
    faults,
    files::Files,
    verdict::{FilePlace, Provisional},
    words::{Artifact, Name},
};

/// A file exists after the run.
///
/// ```yaml
/// - type: artifact_exists
///   path: memory/drafts/{{today}}-output.md
///   timeout: 60
///   updated_after: "{{run_started_at}}"
/// ```
///
/// Without `updated_after`, a file from an earlier run also passes.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(extend("x-synonyms" = ["artifact_present"]))]
pub struct ArtifactExists {
    /// Path of the file. With wildcards, one match is enough.
    #[schemars(extend("examples" = ["memory/drafts/{{today}}-output.md"]))]
    pub path: Artifact,
    /// Seconds to wait for the file. By default, speclens checks once.
    #[serde(default, skip_serializing_if = "is_zero", deserialize_with = "lenient_number")]
    #[schemars(range(min = 0), extend("type" = ["number", "string"], "x-unit" = "seconds", "examples" = [60]))]
    pub timeout: f64,
    /// Earliest time at which the file may have been written: ISO 8601, in quotes.
    #[schemars(extend("x-template" = "clawspec", "examples" = ["{{run_started_at}}"]))]
    pub updated_after: Option<String>,
}

/// Whether a number is 0.
pub(super) fn is_zero(number: &f64) -> bool {
    *number == 0.0
}

/// Returns the expanded path and its matches, or the failure that none appeared in time.
pub(super) fn appeared<'e>(
    seen: &ScopedEvidence<'e>,
    path: &str,
    wait: &Wait<'_>,
    content: bool,
    what: &str,
) -> Result<(String, Fresh<'e>), AssertionRow> {
    let (pattern, fresh) = seen.fresh(path, wait, content)?;
    if !fresh.files.is_empty() {
        return Ok((pattern, fresh));
    }
    let before = if wait.wait_ms() > 0 { " before timeout" } else { "" };
    let mut mismatch =
        mismatch(format!("{what} not found{before}: {pattern}"), format!("{pattern} exists"), "no match".to_owned());
    mismatch.notes = seen.notes_on_missing(&pattern);
    Err(AssertionRow::fail("path", mismatch))
}

impl ArtifactExists {
    fn wait(&self) -> Wait<'_> {
        Wait { timeout: self.timeout, updated_after: self.updated_after.as_deref() }
    }
}

impl AssertionType for ArtifactExists {
    const NAME: &'static str = "artifact_exists";
    const WAITS: bool = true;

    fn subject(&self) -> String {
        self.path.to_string()
    }

    fn needs(&self, scope: &Scope, context: &Context) -> Vec<Need> {
        self.wait().need(&self.path, false, scope, context)
    }

    fn judge(&self, seen: &ScopedEvidence<'_>) -> Result<AssertionRow, AssertionRow> {
        appeared(seen, &self.path, &self.wait(), false, "Artifact")?;
        Ok(AssertionRow::pass("path"))
    }
}

/// A file has certain headings or keys.
///
/// ```yaml
/// - type: artifact_contains
///   path: memory/drafts/{{today}}-output.md
///   sections: [hook, body, cta]
/// ```
///
/// Set `sections`, `fields` or both. If several files match, `sections` checks the most recently written one, and
/// `fields` the first one by name. ClawSpec considers a section present if `# name` or `name:` occurs anywhere in the
/// text.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ArtifactContains {
    /// Path of the file. Wildcards are allowed.
    #[schemars(extend("examples" = ["memory/drafts/{{today}}-output.md"]))]
    pub path: Artifact,
    /// Headings that a Markdown file must have, at any level, ignoring case.
    ///
    /// Headings in code and in comments do not count. In a YAML file, the keys count as headings.
    #[schemars(extend("examples" = [["hook", "body", "cta"]]))]
    pub sections: Option<Vec<Name>>,
    /// Keys that a YAML or JSON file must have, with a value other than null. `a.b` is `b` inside `a`.
    #[schemars(extend("examples" = [["status", "meta.author"]]))]
    pub fields: Option<Vec<Name>>,
    /// Seconds to wait for the file. By default, speclens checks once.
    #[serde(default, skip_serializing_if = "is_zero", deserialize_with = "lenient_number")]
    #[schemars(range(min = 0), extend("type" = ["number", "string"], "x-unit" = "seconds", "examples" = [60]))]
    pub timeout: f64,
    /// Earliest time at which the file may have been written: ISO 8601, in quotes.
    #[schemars(extend("x-template" = "clawspec", "examples" = ["{{run_started_at}}"]))]
    pub updated_after: Option<String>,
}

impl ArtifactContains {
    fn wait(&self) -> Wait<'_> {
        Wait { timeout: self.timeout, updated_after: self.updated_after.as_deref() }
    }
}

impl AssertionType for ArtifactContains {
    const NAME: &'static str = "artifact_contains";
    const WAITS: bool = true;

    fn subject(&self) -> String {
        self.path.to_string()
    }

    fn needs(&self, scope: &Scope, context: &Context) -> Vec<Need> {
        self.wait().need(&self.path, true, scope, context)
    }

    fn judge(&self, seen: &ScopedEvidence<'_>) -> Result<AssertionRow, AssertionRow> {
        let (pattern, fresh) = appeared(seen, &self.path, &self.wait(), true, "Artifact")?;
        let mut parts: Vec<String> = Vec::new();
        let mut first: Option<(&str, usize)> = None;
        let (mut notes, mut places) = (Vec::new(), Vec::new());
        let mut uncertainty = None;
        if let Some(sections) = self.sections.as_ref().filter(|sections| !sections.is_empty()) {
            let text = seen.text("path", seen.newest(&fresh)?)?;
            let found = headings::headings(text.text);
            let newest = &seen.newest(&fresh)?.path;
            // In YAML, keys count as headings.
            let keys = if newest.ends_with(".yaml") || newest.ends_with(".yml") { keys(text.text) } else { Vec::new() };
            let mut missing = Vec::new();
            for (index, section) in sections.iter().enumerate() {
                let section_text = seen.expand("sections", section)?;
                let is_key = keys.iter().any(|key| *key == case_folded(section_text.trim()));
                if !is_key && !found.iter().any(|heading| heading.is(&section_text)) {
                    first = first.or(Some(("sections", index)));
                    uncertainty = uncertainty.or(text.uncertainty);
                    if keys.is_empty() {
                        let (near, place) = seen.note_on_heading(&section_text, newest, text.text);
                        notes.push(near);
                        places.extend(place);
                    } else {
                        let near = crate::words::nearest(&section_text, keys.iter().map(String::as_str));
                        notes.extend(near.map(|near| format!("the key nearest to `{section_text}` is `{near}`")));
                    }
                    missing.push(section_text);
                }
            }
            if !missing.is_empty() {
                parts.push(format!("missing sections: {}", missing.join(", ")));
            }
        }
        if let Some(fields) = self.fields.as_ref().filter(|fields| !fields.is_empty()) {
            let file = fresh.files[0];
            let text = seen.text("path", file)?;
            let value = structured(&file.path, text).map_err(|reason| {
                AssertionRow::broken("path", format!("`{}` cannot be read: {reason}", file.path))
                    .unless(text.uncertainty)
            })?;
            if !value.is_map() {
                let message = format!("Artifact not found: {pattern}");
                let actual = value.kind();
                return Ok(
                    AssertionRow::fail("fields", mismatch(message, "a mapping", actual)).unless(text.uncertainty)
                );
            }
            let mut missing = Vec::new();
            for (index, field) in fields.iter().enumerate() {
                let key = seen.expand("fields", field)?;
                if value.dotted(&key).is_none() {
                    first = first.or(Some(("fields", index)));
                    uncertainty = uncertainty.or(text.uncertainty);
                    missing.push(key);
                }
            }
            if !missing.is_empty() {
                parts.push(format!("missing fields: {}", missing.join(", ")));
            }
        }
        if self.sections.is_none() && self.fields.is_none() {
            return Err(AssertionRow::unknown("", "neither `sections` nor `fields` is set, so nothing is checked"));
        }
        let Some((field, index)) = first else { return Ok(AssertionRow::pass("path")) };
        let message = parts.join("; ");
        let expected = match (&self.sections, &self.fields) {
            (Some(_), Some(_)) => "all sections and fields",
            (None, Some(_)) => "all fields",
            (Some(_) | None, None) => "all sections",
        };
        let mut mismatch = mismatch(message.clone(), expected, message);
        notes.dedup();
        mismatch.notes = notes;
        Ok(AssertionRow::fail(field, mismatch).at_item(index).with_places(places).unless(uncertainty))
    }
}

/// Returns the keys of a YAML text at any level, in lower case.
fn keys(text: &str) -> Vec<String> {
    let document = Document::read(text, ScalarRules::Yaml11);
    let mut open: Vec<NodeRef<'_>> = document.root().into_iter().collect();
    let mut keys = Vec::new();
    // Aliases may refer to the same node many times.
    while let Some(node) = open.pop().filter(|_| keys.len() < 100_000) {
        for entry in node.entries() {
            keys.push(case_folded(&entry.key.key_text()));
            open.extend((entry.value.alias().is_none()).then_some(entry.value));
        }
        open.extend(node.items().filter(|item| item.alias().is_none()));
    }
    keys
}

/// Returns the content of a YAML or JSON file.
pub(super) fn structured(path: &str, text: FileText<'_>) -> Result<PythonValue, String> {
    let read = if path.ends_with(".json") { PythonValue::of_json } else { PythonValue::of_yaml };
    read(text.text).map_err(|error| unread(&error))
}

/// Returns the reason why a value cannot be read.
pub(super) fn unread(error: &NoValue) -> String {
    match error {
        NoValue::Yaml(kind) => faults::message(kind),
        NoValue::Json(message) | NoValue::Refused(message) => message.clone(),
        NoValue::TooLarge => "it is too large".to_owned(),
    }
}

/// A file does not contain certain words or phrases.
///
/// ```yaml
/// - type: artifact_absent_words
///   path: memory/drafts/{{today}}-output.md
///   words: [urgent, guaranteed, limited time]
/// ```
///
/// The list can also be in a YAML file:
///
/// ```yaml
/// - type: artifact_absent_words
///   path: memory/drafts/{{today}}-output.md
///   source: brand/rules.yaml
///   key: tone.banned
/// ```
///
/// Words are found anywhere, even inside other words, ignoring case. ClawSpec treats a missing list as empty, so the
/// assertion always passes.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(extend(
    "x-other-names" = [
        "artifact_not_contains", "file_not_contains", "log_not_contains", "log_entry_absent", "no_log_entry",
    ],
))]
pub struct ArtifactAbsentWords {
    /// Path of the file; if several match, the most recently written one.
    #[schemars(extend("examples" = ["memory/drafts/{{today}}-output.md"]))]
    pub path: Artifact,
    /// Words and phrases that must not occur.
    #[schemars(extend("items" = { "type": ["string", "number"] }, "x-compared" = "text", "examples" = [["urgent", "guaranteed"]]))]
    pub words: Option<Vec<serde_json::Value>>,
    /// YAML or JSON file with the list, instead of `words`.
    #[schemars(extend("x-exists" = "", "examples" = ["brand/rules.yaml"]))]
    pub source: Option<Artifact>,
    /// Path of the list in `source`; `a.b` is `b` inside `a`.
    #[schemars(extend("x-only" = "source", "examples" = ["tone.banned"]))]
    pub key: Option<Name>,
    /// Seconds to wait for the file. By default, speclens checks once.
    #[serde(default, skip_serializing_if = "is_zero", deserialize_with = "lenient_number")]
    #[schemars(range(min = 0), extend("type" = ["number", "string"], "x-unit" = "seconds", "examples" = [60]))]
    pub timeout: f64,
    /// Earliest time at which the file may have been written: ISO 8601, in quotes.
    #[schemars(extend("x-template" = "clawspec", "examples" = ["{{run_started_at}}"]))]
    pub updated_after: Option<String>,
    /// Words as written: JSON cannot distinguish a date from a string.
    #[serde(skip)]
    #[schemars(skip)]
    pub written: Option<Result<Vec<String>, String>>,
    /// Content of `source`.
    #[serde(skip)]
    #[schemars(skip)]
    pub stored: Stored,
}

impl ArtifactAbsentWords {
    fn wait(&self) -> Wait<'_> {
        Wait { timeout: self.timeout, updated_after: self.updated_after.as_deref() }
    }

    fn source_need(&self, scope: &Scope, context: &Context) -> Option<FilesNeed> {
        if self.words.is_some() || self.stored.0.is_some() {
            return None;
        }
        scope.first_file(self.source.as_deref()?, context)
    }

    /// Returns the list of words, from the assertion or from the file that it names.
    fn list(&self, seen: &ScopedEvidence<'_>) -> Result<Vec<String>, AssertionRow> {
        match &self.written {
            Some(Ok(written)) => return written.iter().map(|word| seen.expand("words", word)).collect(),
            Some(Err(reason)) => {
                return Err(AssertionRow::broken("words", format!("the list of words cannot be read: {reason}")));
            }
            None => {}
        }
        let (Some(source), Some(key)) = (&self.source, &self.key) else {
            return Err(AssertionRow::broken("", "missing list of words; set `words`, or `source` and `key`"));
        };
        let (path, text) = match &self.stored.0 {
            Some(stored) => (source.0.clone(), FileText { text: &stored.text, uncertainty: None }),
            None => {
                let (path, file) = seen.first_file("source", source)?;
                let Some(file) = file else {
                    return Err(AssertionRow::broken(
                        "source",
                        format!("the list of words cannot be read: `{path}` does not exist"),
                    ));
                };
                (file.path.clone(), seen.text("source", file)?)
            }
        };
        let value = structured(&path, text)
            .map_err(|reason| AssertionRow::broken("source", format!("`{path}` cannot be read: {reason}")))?;
        match value.dotted(key) {
            Some(PythonValue::List(words)) => Ok(words.iter().map(PythonValue::show).collect()),
            Some(other) => Err(AssertionRow::broken(
                "key",
                format!("`{key}` in `{path}` is {}, not a list of words", other.kind()),
            )),
            None => Err(AssertionRow::broken("key", format!("`{path}` has no list at `{key}`"))),
        }
    }
}

impl AssertionType for ArtifactAbsentWords {
    const NAME: &'static str = "artifact_absent_words";
    const PROVISIONAL: Provisional = Provisional::Pass;
    const WAITS: bool = true;

    fn adopt(&mut self, node: NodeRef<'_>) {
        self.written = node.get("words").map(|words| {
            let shown = |item: NodeRef<'_>| PythonValue::of_node(item).map(|value| value.show());
            words.items().map(shown).collect::<Result<_, _>>().map_err(|error| unread(&error))
        });
    }

    fn read(&mut self, files: &dyn Files) {
        if let Some(source) = &self.source {
            self.stored = Stored::read(source, files);
        }
    }

    fn subject(&self) -> String {
        self.path.to_string()
    }

    fn needs(&self, scope: &Scope, context: &Context) -> Vec<Need> {
        let mut needs = self.wait().need(&self.path, true, scope, context);
        needs.extend(self.source_need(scope, context).map(Need::Files));
        needs
    }

    fn judge(&self, seen: &ScopedEvidence<'_>) -> Result<AssertionRow, AssertionRow> {
        let (_, fresh) = appeared(seen, &self.path, &self.wait(), true, "Artifact")?;
        let file = seen.newest(&fresh)?;
        let text = seen.text("path", file)?;
        let words = self.list(seen)?;
        let field = if self.written.is_some() { "words" } else { "source" };
        if words.is_empty() {
            return Err(AssertionRow::unknown(field, "the list is empty, so nothing is checked"));
        }
        let folded = CaseFolded::new(text.text);
        let occurs = |word: &str| folded.contains(word);
        let found: Vec<(usize, &str)> = words
            .iter()
            .enumerate()
            .filter(|(_, word)| occurs(word.as_str()))
            .map(|(index, word)| (index, word.as_str()))
            .collect();
        let Some((first, _)) = found.first() else { return Ok(AssertionRow::pass(field).unless(text.uncertainty)) };
        let names: Vec<&str> = found.iter().map(|(_, word)| *word).collect();
        let mismatch =
            mismatch(format!("Found prohibited words: {}", names.join(", ")), "none of the words", names.join(", "));
        let places = names.iter().filter_map(|word| {
            let place = FilePlace::bytes(&file.path, text.text, folded.find(word)?);
            Some((format!("the word `{word}`"), place))
        });
        let row = AssertionRow::fail(field, mismatch).with_places(places);
        Ok(if field == "words" { row.at_item(*first) } else { row })
    }
}
