//! Names of keys in other formats, with the names that they have here.

use rustc_hash::FxHashSet;

use crate::{
    dialect::Dialect,
    document::{NodeRef, Pointer},
    problem::{Code, Problem, Severity},
    shape::{Need, Shape},
    validate::{self, Definition},
};

/// The other names of the keys of a type: the type, then each wrong key with the right one.
type Names = &'static [(&'static str, &'static [(&'static str, &'static str)])];

const CLI_BENCH: Names = &[
    (
        "",
        &[
            ("command", "cli"),
            ("program", "cli"),
            ("tool", "cli"),
            ("name", "display_name"),
            ("models", "providers"),
            ("model", "providers"),
            ("provider", "providers"),
            ("tests", "tasks"),
            ("cases", "tasks"),
            ("fixtures", "scaffold"),
            ("copy", "scaffold"),
            ("before_each", "setup"),
            ("cwd", "workdir"),
            ("working_directory", "workdir"),
            ("environment", "env"),
            ("repeats", "repeat"),
            ("runs", "repeat"),
        ],
    ),
    (
        "Task",
        &[
            ("name", "id"),
            ("prompt", "intent"),
            ("description", "intent"),
            ("task", "intent"),
            ("goal", "intent"),
            ("instruction", "intent"),
            ("assertions", "assert"),
            ("asserts", "assert"),
            ("expect", "assert"),
            ("checks", "assert"),
            ("turns", "max_turns"),
            ("tags", "category"),
            ("level", "difficulty"),
            ("before", "setup"),
            ("cleanup", "teardown"),
            ("fixtures", "scaffold"),
            ("environment", "env"),
            ("repeats", "repeat"),
            ("runs", "repeat"),
        ],
    ),
    (
        "Assertion",
        &[
            ("contains", "output_contains"),
            ("output", "output_contains"),
            ("stdout", "output_contains"),
            ("stdout_contains", "output_contains"),
            ("equals", "output_equals"),
            ("stdout_equals", "output_equals"),
            ("output_is", "output_equals"),
            ("stderr", "error_contains"),
            ("stderr_contains", "error_contains"),
            ("error", "error_contains"),
            ("status", "exit_code"),
            ("exit", "exit_code"),
            ("exit_status", "exit_code"),
            ("return_code", "exit_code"),
            ("code", "exit_code"),
            ("file", "file_exists"),
            ("exists", "file_exists"),
            ("path_exists", "file_exists"),
            ("file_content", "file_contains"),
            ("executed", "ran"),
            ("command_ran", "ran"),
            ("did_run", "ran"),
            ("did_not_run", "not_ran"),
            ("never_ran", "not_ran"),
            ("not_run", "not_ran"),
            ("not_executed", "not_ran"),
            ("command_count", "run_count"),
            ("shell", "verify"),
            ("script", "verify"),
            ("check", "verify"),
        ],
    ),
    (
        "FileContains",
        &[
            ("file", "path"),
            ("file_path", "path"),
            ("filename", "path"),
            ("contains", "text"),
            ("content", "text"),
            ("contents", "text"),
            ("substring", "text"),
            ("value", "text"),
        ],
    ),
    (
        "RunCount",
        &[
            ("command", "pattern"),
            ("cmd", "pattern"),
            ("regex", "pattern"),
            ("ran", "pattern"),
            ("at_least", "min"),
            ("minimum", "min"),
            ("at_most", "max"),
            ("maximum", "max"),
        ],
    ),
    (
        "Verify",
        &[
            ("command", "run"),
            ("cmd", "run"),
            ("shell", "run"),
            ("script", "run"),
            ("contains", "output_contains"),
            ("stdout_contains", "output_contains"),
            ("equals", "output_equals"),
            ("stdout_equals", "output_equals"),
        ],
    ),
    ("Thresholds", &[("pass_rate", "default"), ("min", "default"), ("on_violation", "behavior")]),
];

const KINDLM: Names = &[
    ("", &[("version", "kindlm"), ("suites", "suite"), ("cases", "tests"), ("scenarios", "tests")]),
    (
        "Test",
        &[
            ("id", "name"),
            ("title", "name"),
            ("cmd", "command"),
            ("run", "command"),
            ("assert", "expect"),
            ("assertions", "expect"),
            ("asserts", "expect"),
            ("expected", "expect"),
            ("variables", "vars"),
            ("input", "vars"),
            ("inputs", "vars"),
            ("turns", "conversation"),
            ("messages", "conversation"),
            ("mocks", "tools"),
            ("runs", "repeat"),
            ("disabled", "skip"),
        ],
    ),
    (
        "Expect",
        &[
            ("tools", "toolCalls"),
            ("text", "output"),
            ("response", "output"),
            ("llmJudge", "judge"),
            ("time", "latency"),
        ],
    ),
    (
        "OutputExpect",
        &[
            ("includes", "contains"),
            ("containsAll", "contains"),
            ("contains_all", "contains"),
            ("include", "contains"),
            ("mustContain", "contains"),
            ("excludes", "notContains"),
            ("mustNotContain", "notContains"),
            ("schema", "schemaFile"),
            ("jsonSchema", "schemaFile"),
            ("type", "format"),
        ],
    ),
    (
        "ToolCallExpect",
        &[
            ("name", "tool"),
            ("function", "tool"),
            ("args", "argsMatch"),
            ("arguments", "argsMatch"),
            ("with", "argsMatch"),
            ("not", "shouldNotCall"),
            ("shouldNotBeCalled", "shouldNotCall"),
            ("mustNotCall", "shouldNotCall"),
            ("must_not_call", "shouldNotCall"),
            ("mustNotBeCalled", "shouldNotCall"),
            ("notCalled", "shouldNotCall"),
            ("forbidden", "shouldNotCall"),
            ("position", "order"),
            ("index", "order"),
        ],
    ),
    (
        "JudgeExpect",
        &[
            ("prompt", "criteria"),
            ("criterion", "criteria"),
            ("question", "criteria"),
            ("threshold", "minScore"),
            ("min", "minScore"),
            ("score", "minScore"),
        ],
    ),
    (
        "KeywordsGuardrail",
        &[
            ("block", "deny"),
            ("denied", "deny"),
            ("disallow", "deny"),
            ("disallowed", "deny"),
            ("forbidden", "deny"),
            ("blocked", "deny"),
            ("any_of", "allow"),
            ("anyOf", "allow"),
            ("denylist", "deny"),
            ("forbid", "deny"),
            ("allowed", "allow"),
            ("require", "allow"),
        ],
    ),
    ("Suite", &[("desc", "description"), ("title", "name")]),
    ("Providers", &[("google", "gemini"), ("claude", "anthropic"), ("gpt", "openai")]),
    ("PiiGuardrail", &[("patterns", "customPatterns")]),
    ("CustomPattern", &[("regex", "pattern")]),
    ("LatencyExpect", &[("max", "maxMs"), ("ms", "maxMs")]),
    ("CostExpect", &[("max", "maxUsd"), ("usd", "maxUsd")]),
    (
        "Tool",
        &[
            ("tool", "name"),
            ("schema", "parameters"),
            ("inputSchema", "parameters"),
            ("input_schema", "parameters"),
            ("args", "parameters"),
            ("mocks", "responses"),
            ("returns", "defaultResponse"),
            ("default", "defaultResponse"),
        ],
    ),
    (
        "ToolResponse",
        &[
            ("args", "when"),
            ("arguments", "when"),
            ("if", "when"),
            ("response", "then"),
            ("return", "then"),
            ("returns", "then"),
        ],
    ),
    (
        "Turn",
        &[
            ("name", "turn"),
            ("label", "turn"),
            ("id", "turn"),
            ("content", "user"),
            ("message", "user"),
            ("assert", "expect"),
            ("assertions", "expect"),
        ],
    ),
    ("Prompt", &[("prompt", "user"), ("template", "user"), ("content", "user"), ("text", "user"), ("message", "user")]),
    ("Model", &[("name", "id"), ("parameters", "params"), ("config", "params")]),
    ("KeyProvider", &[("apiKey", "apiKeyEnv"), ("api_key", "apiKeyEnv"), ("key", "apiKeyEnv"), ("url", "baseUrl")]),
    ("OllamaProvider", &[("url", "baseUrl"), ("host", "baseUrl")]),
    ("HttpProvider", &[("baseUrl", "url"), ("endpoint", "url")]),
    ("McpProvider", &[("url", "serverUrl"), ("tool", "toolName")]),
    ("Gates", &[("passRate", "passRateMin"), ("minPassRate", "passRateMin")]),
    ("Defaults", &[("timeout", "timeoutMs"), ("judge", "judgeModel"), ("parallel", "concurrency")]),
];

/// Keys that no single field stands for: the type, the keys, and what to write.
const ADVICE: &[(&str, &[&str], &str)] = &[
    (
        "OutputExpect",
        &["containsAny", "contains_any", "containsOneOf", "anyOf", "any_of", "oneOf"],
        "use `guardrails.keywords.allow`, of which the output must contain one",
    ),
    (
        "Assertion",
        &[
            "output_contains_any",
            "contains_any",
            "any_of",
            "output_matches",
            "output_regex",
            "stdout_matches",
            "matches",
            "regex",
            "pattern",
        ],
        "use `verify` with a command that checks it",
    ),
];

/// The name of the cli-bench key that is meant.
pub(crate) fn of(kind: &str, key: &str) -> Option<&'static str> {
    let (_, names) = CLI_BENCH.iter().find(|(of, _)| *of == kind)?;
    names.iter().find(|(other, _)| *other == key).map(|(_, name)| *name)
}

/// Reports of unknown keys that are other names what they are called here. A field that is there under another name is not
/// missing as well. Pointers are relative to `node`.
pub(crate) fn lint(node: NodeRef<'_>, definition: Definition, problems: &mut Vec<Problem>) {
    let names = match definition.file().dialect() {
        Some(Dialect::CliBench) => CLI_BENCH,
        Some(Dialect::KindLm) => KINDLM,
        Some(Dialect::ClawSpec) | None => return,
    };
    if !problems.iter().any(|problem| problem.code == Code::UnknownKey) {
        return;
    }
    let whole = definition.shape();
    let mut renamed: FxHashSet<Pointer> = FxHashSet::default();
    for problem in problems.iter_mut().filter(|problem| problem.code == Code::UnknownKey) {
        renamed.extend(rename(node, &whole, definition.file().dialect(), names, problem));
    }
    problems.retain(|problem| problem.code != Code::MissingField || !renamed.contains(&problem.at));
}

/// Says what a key is called here, or what to use for it. Returns the place of the field that is meant.
fn rename(
    node: NodeRef<'_>,
    whole: &Shape,
    dialect: Option<Dialect>,
    names: Names,
    problem: &mut Problem,
) -> Option<Pointer> {
    let (parent, key) = (problem.at.parent()?, problem.at.last()?);
    let mapping = node.find(&parent)?;
    let shape = whole.below(&parent, Some(node))?;
    let definition = match shape.definition() {
        // An entry that is a mapping is a task.
        Some("TaskEntry") => "Task",
        named => named.unwrap_or_default(),
    };
    let advice = ADVICE.iter().find(|(of, keys, _)| *of == definition && keys.contains(&key.as_str()));
    if let Some((.., help)) = advice {
        problem.help = Some((*help).to_owned());
        problem.fixes.retain(|fix| fix.is_comment);
        return None;
    }
    let of_type = names.iter().find(|(of, _)| *of == definition)?;
    let (_, name) = of_type.1.iter().find(|(other, _)| *other == key)?;
    let fields = shape.fields(Some(mapping));
    let field = fields.iter().find(|field| field.name == *name)?;
    if mapping.entry(name).is_some() {
        return None;
    }
    if field.need == Need::Required {
        problem.severity = Severity::Error;
    }
    let is_claim = validate::is_claim(whole, node, &parent);
    crate::rules::unknown_key::rename_key(problem, mapping, field, dialect.filter(|_| is_claim));
    Some(parent.key(name))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{json_schema::SpecFile, shape::all_keys};

    /// A name that the format has would never be looked up, and one that leads nowhere would lead astray.
    #[test]
    fn every_name_leads_to_a_key_of_its_type() {
        for (names, file) in [(CLI_BENCH, SpecFile::CliBench), (KINDLM, SpecFile::KindLm)] {
            for (of, keys) in names {
                let fields = fields_of(file, of);
                assert!(!fields.is_empty(), "no type {of}");
                for (other, name) in *keys {
                    assert!(fields.contains(name), "{of}: {name}");
                    assert!(!fields.contains(other), "{of}: {other} is a key of its own");
                }
            }
        }
    }

    fn fields_of(file: SpecFile, of: &str) -> Vec<&'static str> {
        let schema = match of {
            "" => file.schema(),
            of => &file.schema()["$defs"][of],
        };
        let keys = schema["properties"].as_object().into_iter().flatten().map(|(key, _)| key.clone());
        let keys: Vec<String> = keys.collect();
        all_keys(file).filter(|known| keys.iter().any(|key| key == known)).collect()
    }
}
