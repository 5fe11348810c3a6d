//! Assertions about files of the target: existence, sections and fields, forbidden words.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    act::Until,
    check::{
        headings,
        python::PythonValue,
        text::{CaseFolded, case_folded},
    },
    dialect::clawspec::{
        claim::AssertionType,
        scope::Scope,
        scoped_evidence::{ScopedEvidence, StoredFile, Wait, structured, unread},
        statements::{Statement, Subject},
        words::{Artifact, Heading, KeyOfFile, Moment, is_zero, lenient_number, of_any},
    },
    document::{Document, NodeRef, Pointer, ScalarRules},
    evidence::{Context, FilesNeed, Need, SeenFile},
    files::Files,
    finding::{MessageParts, Report},
    gateway::workspace,
    lint_node::LintNode,
    problem::Code,
    seen::{Found, Proof, Why},
    verdict::{At, FilePlace, Judged, Mismatch, Row},
    words::{Name, all_of},
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
    #[schemars(extend("x-problems" = of_any(), "examples" = ["memory/drafts/{{today}}-output.md"]))]
    pub path: Artifact,
    /// Seconds to wait for the file. By default, speclens checks once.
    #[serde(default, skip_serializing_if = "is_zero", deserialize_with = "lenient_number")]
    #[schemars(range(min = 0), extend("type" = ["number", "string"], "x-unit" = "seconds", "x-in-quotes" = true, "examples" = [60]))]
    pub timeout: f64,
    /// Earliest time at which the file may have been written: ISO 8601, in quotes.
    pub updated_after: Option<Moment>,
}

/// Pattern for the path of a nested key.
const DOTTED: &str = r"^[^.\s]+(\.[^.\s]+)+$";

impl AssertionType for ArtifactExists {
    const NAME: &'static str = "artifact_exists";
    const SUBJECT: &'static str = "path";
    const OPPOSITE: Option<&'static str> = Some("file_absent");
    const WAITS: bool = true;

    fn says<'d>(node: &LintNode<'d>) -> Vec<Statement<'d>> {
        Statement::at(node, "path", Subject::File, true).collect()
    }

    fn needs(&self, scope: &Scope, context: &Context) -> Vec<Need> {
        Wait::of(self.timeout, &self.updated_after).needs(&self.path, false, scope, context)
    }

    fn judge(&self, seen: &ScopedEvidence<'_>) -> Judged {
        let (_, _, proof) =
            seen.appeared(&self.path, Wait::of(self.timeout, &self.updated_after), false, "Artifact")?;
        Ok(Row::pass("path", proof))
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
#[schemars(extend("anyOf" = [{ "required": ["sections"] }, { "required": ["fields"] }], "x-advice" = [
    {
        "names": ["text", "contains", "pattern"], "note": "ClawSpec checks only `sections` and `fields`",
        "help": "use `log_entry`, which searches for text in a file", "form": "log_entry", "key": "pattern",
    },
    {
        "names": ["absent"], "note": "ClawSpec checks only `sections` and `fields`", "form": "file_absent",
        "help": "use `file_absent` to require that the file does not exist",
    },
]))]
#[schemars(extend("x-problems" = [
    {
        "if": { "required": ["path", "sections"], "properties": { "path": { "pattern": r"\.json$" } } },
        "at": "sections", "underline": "key", "code": "contradiction",
        "message": "`sections` lists Markdown headings, but a `.json` file has none", "help": "list its keys in `fields`",
    },
    {
        "if": { "required": ["path", "sections"], "properties": { "path": { "pattern": r"\.html?$" } } },
        "at": "sections", "underline": "key", "code": "contradiction",
        "message": "`sections` lists Markdown headings, but an HTML file has none",
        "help": "use `log_entry` to search its text",
    },
    {
        "if": {
            "required": ["path", "sections"],
            "properties": { "path": { "pattern": r"\.ya?ml$" }, "sections": { "contains": { "pattern": DOTTED } } },
        },
        "at": "sections", "underline": "key", "code": "contradiction",
        "message": "a dotted name is never found, because keys in a YAML file are nested",
        "help": "list such keys in `fields`",
    },
    {
        "if": { "required": ["path", "fields"], "properties": { "path": { "pattern": r"\.(txt|html)$" } } },
        "at": "fields", "underline": "key", "code": "contradiction",
        "message": "`fields` lists keys, but a text or HTML file has none", "help": "use `sections` for its headings",
    },
    {
        "if": { "required": ["path", "fields"], "properties": { "path": { "pattern": r"\.md$" } } },
        "at": "fields", "underline": "key", "code": "upstream-differs",
        "message": "ClawSpec cannot read `fields` of a Markdown file",
        "note": "speclens looks for them in the front matter of the file; ClawSpec aborts with an error",
        "help": "use `sections` for its headings",
    },
]))]
pub struct ArtifactContains {
    /// Path of the file. Wildcards are allowed.
    #[schemars(extend("examples" = ["memory/drafts/{{today}}-output.md"]))]
    pub path: Artifact,
    /// Headings that a Markdown file must have, at any level, ignoring case.
    ///
    /// Headings in code and in comments do not count. In a YAML file, the keys count as headings.
    #[schemars(with = "Option<Vec<Heading>>", extend("x-compared" = "text", "examples" = [["hook", "body", "cta"]]))]
    #[schemars(extend("x-non-empty" = "list the headings that the file must have"))]
    pub sections: Option<Vec<Name>>,
    /// Keys that a YAML or JSON file must have, with a value other than null. `a.b` is `b` inside `a`.
    ///
    /// In a Markdown file, the keys of its front matter; ClawSpec cannot read these.
    #[schemars(with = "Option<Vec<KeyOfFile>>", extend("x-compared" = "name", "examples" = [["status", "meta.author"]]))]
    #[schemars(extend("x-non-empty" = "list the keys that the file must have"))]
    pub fields: Option<Vec<Name>>,
    /// Seconds to wait for the file. By default, speclens checks once.
    #[serde(default, skip_serializing_if = "is_zero", deserialize_with = "lenient_number")]
    #[schemars(range(min = 0), extend("type" = ["number", "string"], "x-unit" = "seconds", "x-in-quotes" = true, "examples" = [60]))]
    pub timeout: f64,
    /// Earliest time at which the file may have been written: ISO 8601, in quotes.
    pub updated_after: Option<Moment>,
}

impl AssertionType for ArtifactContains {
    const NAME: &'static str = "artifact_contains";
    const SUBJECT: &'static str = "path";
    const OPPOSITE: Option<&'static str> = Some("artifact_absent_words");
    const WAITS: bool = true;

    fn says<'d>(node: &LintNode<'d>) -> Vec<Statement<'d>> {
        let sections = Statement::at(node, "sections", Subject::content(node), true);
        Statement::at(node, "path", Subject::File, true).chain(sections).collect()
    }

    fn needs(&self, scope: &Scope, context: &Context) -> Vec<Need> {
        Wait::of(self.timeout, &self.updated_after).needs(&self.path, true, scope, context)
    }

    fn judge(&self, seen: &ScopedEvidence<'_>) -> Judged {
        let (_, fresh, _) = seen.appeared(&self.path, Wait::of(self.timeout, &self.updated_after), true, "Artifact")?;
        let sections = match self.sections.as_deref() {
            Some(sections) if !sections.is_empty() => Some(sections_of(sections, seen, seen.newest(&fresh)?)?),
            Some(_) | None => None,
        };
        let fields = match self.fields.as_deref() {
            Some(fields) if !fields.is_empty() => Some(fields_of(fields, seen, fresh.so_far()[0])?),
            Some(_) | None => None,
        };
        let proof = sections.iter().chain(&fields).map(|part| part.proof).next();
        let nothing = || Row::unknown("", "neither `sections` nor `fields` is set, so nothing is checked");
        let proof = proof.ok_or_else(nothing)?;
        let lacking = || sections.iter().chain(&fields).filter(|part| !part.missing.is_empty());
        let Some((first, index)) = lacking().map(|part| (part, part.missing[0].0)).next() else {
            return Ok(Row::pass("path", proof));
        };
        let names = |part: &Lacking| part.missing.iter().map(|(_, name)| &**name).collect::<Vec<_>>().join(", ");
        let message: Vec<String> = lacking().map(|part| format!("missing {}: {}", part.field, names(part))).collect();
        let message = message.join("; ");
        let expected = match (&self.sections, &self.fields) {
            (Some(_), Some(_)) => "all sections and fields",
            (None, Some(_)) => "all fields",
            (Some(_) | None, None) => "all sections",
        };
        let mut notes: Vec<String> = lacking().flat_map(|part| part.notes.clone()).collect();
        notes.dedup();
        let mismatch = Mismatch::new(message.clone(), expected, message).notes(notes);
        let mismatch = match &first.near {
            Some(near) => mismatch.accepting(near.as_str()),
            None => mismatch,
        };
        let places = lacking().flat_map(|part| part.places.clone());
        Ok(Row::fail(first.field, first.proof, mismatch).at_item(index).with_places(places))
    }
}

/// The parts of a list that a file lacks.
struct Lacking {
    field: &'static str,
    /// The index and the name of each.
    missing: Vec<(usize, String)>,
    /// The name in the file that is most similar to the first of them.
    near: Option<String>,
    notes: Vec<String>,
    places: Vec<(String, FilePlace)>,
    proof: Proof,
}

impl Lacking {
    fn nothing(field: &'static str, proof: Proof) -> Lacking {
        Lacking { field, missing: Vec::new(), near: None, notes: Vec::new(), places: Vec::new(), proof }
    }
}

fn sections_of(sections: &[Name], seen: &ScopedEvidence<'_>, file: &SeenFile) -> Result<Lacking, Row> {
    let text = seen.text("path", file, Until::TimeLimit)?;
    let known = text.so_far();
    let headings = headings::headings(known);
    // In YAML, keys count as headings.
    let is_yaml = file.path.ends_with(".yaml") || file.path.ends_with(".yml");
    let keys = if is_yaml { keys(known) } else { Vec::new() };
    let mut lacking: Option<Lacking> = None;
    for (index, section) in sections.iter().enumerate() {
        let section = seen.expand("sections", section)?;
        let found = text.search(|_| {
            let is_key = keys.iter().any(|key| *key == case_folded(section.trim()));
            (is_key || headings.iter().any(|heading| heading.is(&section))).then_some(())
        });
        let found = found.map_err(|why| Row::not_known("sections", why).at_item(index))?;
        let lacking = lacking.get_or_insert_with(|| Lacking::nothing("sections", found.proof()));
        let Found::No(proof) = found else { continue };
        if lacking.missing.is_empty() {
            let names = headings.iter().map(|heading| heading.text.as_str()).chain(keys.iter().map(String::as_str));
            lacking.near = crate::words::nearest(&section, names).map(str::to_owned);
        }
        if keys.is_empty() {
            let (near, place) = seen.note_on_heading(&section, &file.path, known);
            lacking.notes.push(near);
            lacking.places.extend(place);
        } else {
            let near = crate::words::nearest(&section, keys.iter().map(String::as_str));
            lacking.notes.extend(near.map(|near| format!("the key nearest to `{section}` is `{near}`")));
        }
        lacking.missing.push((index, section));
        lacking.proof = proof;
    }
    lacking.ok_or_else(|| Row::unknown("sections", "the list is empty, so nothing is checked"))
}

/// Returns the keys that a YAML or JSON file lacks.
fn fields_of(fields: &[Name], seen: &ScopedEvidence<'_>, file: &SeenFile) -> Result<Lacking, Row> {
    let text = seen.text("path", file, Until::TimeLimit)?;
    let (text, proof) = text.complete().at("fields")?;
    let value = structured(&file.path, text).map_err(|reason| Row::broken("path", reason))?;
    if !value.is_map() {
        let message = format!("`{}` contains {}, which has no fields", file.path, value.kind());
        return Err(Row::fail("fields", proof, Mismatch::new(message, "a mapping", value.kind())));
    }
    let mut lacking = Lacking::nothing("fields", proof);
    for (index, field) in fields.iter().enumerate() {
        let key = seen.expand("fields", field)?;
        if value.dotted(&key).is_none() {
            if lacking.missing.is_empty() {
                let known = value.keys();
                lacking.near = crate::words::nearest(&key, known.iter().map(String::as_str)).map(str::to_owned);
            }
            lacking.missing.push((index, key));
        }
    }
    Ok(lacking)
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
/// Words are found anywhere, even inside other words, ignoring case. A phrase is found also if it is broken over two
/// lines, which ClawSpec misses. ClawSpec treats a missing list as empty, so the assertion always passes.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(extend(
    "x-other-names" = [
        "artifact_not_contains", "file_not_contains", "log_not_contains", "log_entry_absent", "no_log_entry",
    ],
))]
#[schemars(extend("anyOf" = [{ "required": ["words"] }, { "required": ["source"] }], "x-problems" = [{
    "if": { "required": ["source"], "properties": { "words": false, "key": false } },
    "at": "source", "underline": "key", "code": "missing-field", "message": "missing `key`",
    "note": "`key`: path of the list in `source`", "help": "add `key`",
}]))]
pub struct ArtifactAbsentWords {
    /// Path of the file; if several match, the most recently written one.
    #[schemars(extend("examples" = ["memory/drafts/{{today}}-output.md"]))]
    pub path: Artifact,
    /// Words and phrases that must not occur.
    #[schemars(extend("items" = { "type": ["string", "number"], "x-problems": [{
        "if": { "const": "" }, "code": "contradiction", "help": "remove it",
        "message": "every file contains the empty string, so this assertion always fails",
    }] }))]
    #[schemars(extend("x-compared" = "text", "x-forbids" = "`log_entry` with `absent: true`"))]
    #[schemars(extend("x-non-empty" = "list the words that the file must not have", "examples" = [["urgent", "guaranteed"]]))]
    pub words: Option<Vec<serde_json::Value>>,
    /// YAML or JSON file with the list, instead of `words`.
    #[schemars(extend("x-exists" = "", "x-no-effect-with" = ["words"], "examples" = ["brand/rules.yaml"]))]
    pub source: Option<Artifact>,
    /// Path of the list in `source`; `a.b` is `b` inside `a`.
    #[schemars(extend("x-only" = "source", "examples" = ["tone.banned"]))]
    pub key: Option<Name>,
    /// Seconds to wait for the file. By default, speclens checks once.
    #[serde(default, skip_serializing_if = "is_zero", deserialize_with = "lenient_number")]
    #[schemars(range(min = 0), extend("type" = ["number", "string"], "x-unit" = "seconds", "x-in-quotes" = true, "examples" = [60]))]
    pub timeout: f64,
    /// Earliest time at which the file may have been written: ISO 8601, in quotes.
    pub updated_after: Option<Moment>,
    /// Words as written: JSON cannot distinguish a date from a string.
    #[serde(skip)]
    #[schemars(skip)]
    pub written: Option<Result<Vec<String>, String>>,
    /// Content of `source`.
    #[serde(skip)]
    #[schemars(skip)]
    pub stored: Option<StoredFile>,
}

impl ArtifactAbsentWords {
    fn source_need(&self, scope: &Scope, context: &Context) -> Option<FilesNeed> {
        if self.words.is_some() || self.stored.is_some() {
            return None;
        }
        scope.first_file(self.source.as_deref()?, context)
    }

    /// Returns the list of words, from the assertion or from the file that it names.
    fn list(&self, seen: &ScopedEvidence<'_>) -> Result<Vec<String>, Row> {
        match &self.written {
            Some(Ok(written)) => return written.iter().map(|word| seen.expand("words", word)).collect(),
            Some(Err(reason)) => {
                return Err(Row::broken("words", format!("the list of words cannot be read: {reason}")));
            }
            None => {}
        }
        let (Some(source), Some(key)) = (&self.source, &self.key) else {
            return Err(Row::broken("", "missing list of words; set `words`, or `source` and `key`"));
        };
        let (path, text) = seen.stored("source", source, self.stored.as_ref(), |path, _| {
            Row::broken("source", format!("the list of words cannot be read: `{path}` does not exist"))
        })?;
        let (text, _) = text.complete().at("source")?;
        let value = structured(path, text).map_err(|reason| Row::broken("source", reason))?;
        match value.dotted(key) {
            Some(PythonValue::List(words)) => Ok(words.iter().map(PythonValue::show).collect()),
            Some(other) => {
                Err(Row::broken("key", format!("`{key}` in `{path}` is {}, not a list of words", other.kind())))
            }
            None => Err(Row::broken("key", format!("`{path}` has no list at `{key}`"))),
        }
    }
}

impl ArtifactAbsentWords {
    /// Checks the file with the list of words.
    fn lint_source(node: &LintNode<'_>, files: &dyn Files, report: &mut Report) -> Option<()> {
        let (source, place) = (node.text_at("source")?, node.get("key")?);
        let file = workspace::below_root(source).filter(|_| workspace::is_placed(files))?;
        let key = place.text().filter(|text| !text.is_empty())?;
        let document = workspace::document_at(&file, files).filter(Document::is_intact)?;
        let words = match document.find(&key.split('.').fold(Pointer::root(), |at, step| at.key(step))) {
            Some(list) if list.items().next().is_some() => return None,
            Some(_) => MessageParts::new(format!("`{key}` in `{file}` is not a list of words, so nothing is checked")),
            None => {
                let keys: Vec<String> =
                    document.root().into_iter().flat_map(NodeRef::entries).map(|entry| entry.key.key_text()).collect();
                MessageParts::new(format!("`{file}` has no key `{key}`, so nothing is checked"))
                    .note(format!("its keys are {}", all_of(keys.iter().map(String::as_str))))
            }
        };
        let words = words.help("set `key` to the path of a list of words");
        report.push(place.absence(Code::VacuousClaim, words));
        None
    }
}

impl AssertionType for ArtifactAbsentWords {
    const NAME: &'static str = "artifact_absent_words";
    const SUBJECT: &'static str = "path";
    const OPPOSITE: Option<&'static str> = Some("artifact_contains");

    fn says<'d>(node: &LintNode<'d>) -> Vec<Statement<'d>> {
        Statement::at(node, "words", Subject::content(node), false).collect()
    }

    fn lint(node: &LintNode<'_>, files: &dyn Files, report: &mut Report) {
        ArtifactAbsentWords::lint_source(node, files, report);
    }

    const WAITS: bool = true;

    fn adopt(&mut self, node: NodeRef<'_>) {
        self.written = node.get("words").map(|words| {
            let shown = |item: NodeRef<'_>| PythonValue::of_node(item).map(|value| value.show());
            words.items().map(shown).collect::<Result<_, _>>().map_err(|error| unread(&error))
        });
    }

    fn read(&mut self, files: &dyn Files) {
        if let Some(source) = &self.source {
            self.stored = StoredFile::read(source, files);
        }
    }

    fn needs(&self, scope: &Scope, context: &Context) -> Vec<Need> {
        let mut needs = Wait::of(self.timeout, &self.updated_after).needs(&self.path, true, scope, context);
        needs.extend(self.source_need(scope, context).map(Need::Files));
        needs
    }

    fn judge(&self, seen: &ScopedEvidence<'_>) -> Judged {
        let (_, fresh, _) = seen.appeared(&self.path, Wait::of(self.timeout, &self.updated_after), true, "Artifact")?;
        let file = seen.newest(&fresh)?;
        let text = seen.text("path", file, Until::End)?;
        let words = self.list(seen)?;
        let field = if self.written.is_some() { "words" } else { "source" };
        let folded = CaseFolded::new(text.so_far());
        let occurs = |word: &str| word.is_empty() || folded.find_phrase(word).is_some();
        let found: Vec<(usize, &str)> = words
            .iter()
            .enumerate()
            .filter(|(_, word)| occurs(word))
            .map(|(index, word)| (index, word.as_str()))
            .collect();
        if words.is_empty() {
            return Err(Why::unknown("the list is empty, so nothing is checked")).at(field);
        }
        let row = Row::absent(field, text.search(|_| found.first()).at(field)?, |_| {
            let names = found.iter().map(|(_, word)| *word).collect::<Vec<_>>().join(", ");
            Mismatch::new(format!("Found prohibited words: {names}"), "none of the words", names)
        });
        let places = found.iter().filter_map(|(_, word)| {
            let place = FilePlace::bytes(&file.path, text.so_far(), folded.find_phrase(word)?);
            Some((format!("the word `{word}`"), place))
        });
        let row = row.with_places(places);
        Ok(match found.first() {
            Some((first, _)) if field == "words" => row.at_item(*first),
            Some(_) | None => row,
        })
    }
}
