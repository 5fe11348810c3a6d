//! `speclens explain`: explains a kind of problem, a result of a run, or a field.

use std::fmt::Write;

use anyhow::bail;
use speclens_runner::event::AbsenceKind;
use speclens_schema::{
    dialect::clawspec::assertion::Assertion,
    document::Pointer,
    json_schema::SpecFile,
    problem::{Code, example::examples},
    shape::{self, KeyPath, Need, Shape},
    template::SYNTAXES,
    verdict::{FailureCode, Status},
    words,
};

use super::{PASSED, output};

/// The options of `speclens explain`.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Kind of problem (`unknown-key`), result of a run (`CONTAINS_FAILED`, `stale`), assertion type (`log_entry`),
    /// template variable (`run_id`), field (`argsMatch`) or path of fields (`expect.output`); if omitted, all names are
    /// listed
    name: Option<String>,
}

pub(super) fn perform(args: &Args) -> anyhow::Result<u8> {
    let text = match &args.name {
        None => overview(),
        Some(name) => explain(name.trim())?,
    };
    output::print(&text)?;
    Ok(PASSED)
}

fn explain(name: &str) -> anyhow::Result<String> {
    if let Some(code) = Code::parse(name) {
        return Ok(problem(code));
    }
    let mut text = result(name);
    // The same field at several places is explained once.
    let mut explained: Vec<(Vec<String>, FieldPage)> = Vec::new();
    for &file in SpecFile::ALL {
        for place in fields(file, name) {
            let Some(body) = field(file, &place) else { continue };
            let head = format!("{} ({})", path(&place), file.title());
            match explained.iter_mut().find(|(_, known)| *known == body) {
                Some((heads, _)) => heads.push(head),
                None => explained.push((vec![head], body)),
            }
        }
    }
    let mut printed: Vec<String> = Vec::new();
    for (heads, mut page) in explained {
        // Types of other fields may share a paragraph.
        page.paragraphs.retain(|paragraph| !printed.contains(paragraph));
        let _ = writeln!(text, "{}\n{}", heads.join("\n"), page.text());
        printed.append(&mut page.paragraphs);
    }
    text.push_str(&assertion(name));
    text.push_str(&variable(name));
    if !text.is_empty() {
        return Ok(text);
    }
    let codes = Code::ALL.iter().map(|code| code.as_str());
    let keys = SpecFile::ALL.iter().flat_map(|&file| shape::all_keys(file));
    let types = Assertion::TYPES.iter().map(|info| info.name);
    let variables = SYNTAXES.iter().flat_map(|syntax| syntax.variables).map(|variable| variable.name);
    let results = results().map(|(word, _)| word);
    match words::nearest(name, codes.chain(keys).chain(types).chain(variables).chain(results)) {
        Some(near) => bail!("unknown name `{name}`; did you mean `{near}`?"),
        None => bail!("unknown name `{name}`; `speclens explain` lists all names"),
    }
}

/// Returns the words for results in run reports, with their docs.
fn results() -> impl Iterator<Item = (&'static str, &'static str)> {
    let failures = FailureCode::ALL.iter().map(|code| (code.as_str(), code.docs()));
    let statuses = Status::all().map(|status| (status.as_str(), status.docs()));
    let absences = AbsenceKind::all().map(|kind| (kind.as_str(), kind.docs()));
    failures.chain(statuses).chain(absences)
}

/// Returns the explanation of a run result; empty if there is none with this name.
fn result(name: &str) -> String {
    let found = results().filter(|(word, _)| word.eq_ignore_ascii_case(name));
    found.map(|(word, docs)| format!("{word} (in the report of a run)\n\n{}\n\n", lines(docs))).collect()
}

/// Returns docs without the blanks at the start of their lines.
fn lines(docs: &str) -> String {
    docs.trim().lines().map(str::trim).collect::<Vec<_>>().join("\n")
}

/// Returns the explanation of a ClawSpec assertion type; empty if there is none with this name.
fn assertion(name: &str) -> String {
    let mut text = String::new();
    let then = KeyPath(vec!["scenarios", "[]", "then", "[]"]);
    let variants = shape_at(SpecFile::CLAWSPEC_SCENARIOS, &then).map(|shape| shape.variants()).unwrap_or_default();
    for variant in variants.into_iter().filter(|variant| variant.tag.is_some_and(|(_, value)| value == name)) {
        let _ = writeln!(text, "type: {name} (a ClawSpec assertion)\n");
        let _ = writeln!(text, "{}\n", variant.shape.type_docs().unwrap_or_default().trim());
        for field in variant.shape.fields(None).iter().filter(|field| field.name != "type") {
            let need = if field.need == Need::Required { ", required" } else { "" };
            let summary = field.shape.summary().unwrap_or_default();
            let _ = writeln!(text, "  {} ({}{need})\n    {summary}", field.name, field.shape.type_label());
        }
    }
    text
}

/// Returns the explanation of a template variable, with or without its braces; empty if there is none with this name.
fn variable(name: &str) -> String {
    let bare = name.strip_prefix("{{").and_then(|name| name.strip_suffix("}}")).unwrap_or(name).trim();
    let mut text = String::new();
    for syntax in &SYNTAXES {
        for variable in syntax.variables.iter().filter(|variable| variable.name == bare) {
            let files: Vec<&str> = variable.files.iter().map(|file| file.title()).collect();
            let _ = writeln!(text, "{{{{{bare}}}}} (in {})\n", syntax.texts);
            let _ = writeln!(text, "{}\n{}\n\n  available in: {}\n", variable.docs, syntax.docs, files.join(", "));
        }
    }
    text
}

fn problem(code: Code) -> String {
    let docs: Vec<&str> = code.docs().lines().map(str::trim).collect();
    let example: String = examples(code).iter().map(|example| format!("\n{}", example.text())).collect();
    format!("{} ({})\n\n{}\n{example}", code.as_str(), code.severity().as_str(), docs.join("\n").trim())
}

/// Returns the places of each field whose path ends with the name.
fn fields(file: SpecFile, name: &str) -> Vec<KeyPath> {
    let steps: Vec<&str> = name.split(['.', '/']).filter(|step| !step.is_empty()).collect();
    let Some((&key, parents)) = steps.split_last() else { return Vec::new() };
    let Some(key) = shape::all_keys(file).find(|known| *known == key) else { return Vec::new() };
    let matches = |place: &&KeyPath| {
        let own: Vec<&str> = place.0.iter().copied().filter(|step| *step != "[]" && *step != "*").collect();
        own.ends_with(parents)
    };
    let places = shape::places_of(file, key).iter().filter(matches);
    places
        .map(|place| {
            let mut steps = place.0.clone();
            steps.push(key);
            KeyPath(steps)
        })
        .collect()
}

/// The page of a field.
#[derive(PartialEq)]
struct FieldPage {
    /// The type of the field, whether it is required, and its default.
    facts: String,
    /// The docs of the field.
    paragraphs: Vec<String>,
    /// The values or fields it may have.
    members: String,
}

impl FieldPage {
    fn text(&self) -> String {
        let docs: String = self.paragraphs.iter().map(|paragraph| format!("\n{paragraph}\n")).collect();
        format!("  {}\n{docs}{}", self.facts, self.members)
    }
}

fn field(file: SpecFile, place: &KeyPath) -> Option<FieldPage> {
    let shape = shape_at(file, place)?;
    let mut facts = vec![shape.type_label()];
    let (key, parent) =
        place.0.split_last().map_or(("", KeyPath(Vec::new())), |(key, rest)| (*key, KeyPath(rest.to_vec())));
    if let Some(parent) = shape_at(file, &parent)
        && let Some(field) = parent.fields(None).into_iter().find(|field| field.name == key)
    {
        facts.push(match field.need {
            Need::Required => "required".to_owned(),
            Need::OneOf(names) => format!("exactly one of {}", words::listed(names)),
            Need::Optional => "optional".to_owned(),
        });
    }
    if let Some(default) = shape.default() {
        facts.push(format!("default {}", shape::show(default)));
    }
    // The docs of the type may repeat paragraphs of the field's.
    let mut paragraphs: Vec<String> = Vec::new();
    for paragraph in [shape.docs(), shape.type_docs()].into_iter().flatten().flat_map(|docs| docs.trim().split("\n\n"))
    {
        if !paragraphs.iter().any(|known| known == paragraph) {
            paragraphs.push(paragraph.to_owned());
        }
    }
    let mut members = String::new();
    for choice in shape.values() {
        if let Some(docs) = choice.docs {
            let _ = writeln!(members, "  {}: {docs}", shape::show(choice.value));
        }
    }
    let names: Vec<&str> = shape.fields(None).into_iter().map(|field| field.name).collect();
    if !names.is_empty() {
        let _ = writeln!(members, "\n  fields: {}", names.join(", "));
    }
    Some(FieldPage { facts: facts.join("; "), paragraphs, members })
}

fn shape_at(file: SpecFile, place: &KeyPath) -> Option<Shape> {
    let mut shape = Shape::of(file);
    for step in &place.0 {
        shape = match *step {
            "[]" => shape.item()?,
            "*" => shape.map_value()?,
            key => shape.below(&Pointer::root().key(key), None).or_else(|| {
                // A field that only some forms of the mapping have.
                shape.all_fields().into_iter().find(|field| field.name == key).map(|field| field.shape)
            })?,
        };
    }
    Some(shape)
}

/// `tests[].expect.output`.
fn path(place: &KeyPath) -> String {
    place.0.iter().fold(String::new(), |mut path, step| {
        if *step != "[]" && !path.is_empty() {
            path.push('.');
        }
        path.push_str(step);
        path
    })
}

/// Returns the beginning of a description, on one line: up to the first colon or the end of the sentence, whichever
/// comes first outside of code.
fn first_clause(docs: &str) -> String {
    let docs = lines(docs.trim()).replace('\n', " ");
    let is_end = |at: &usize| docs[..*at].matches('`').count().is_multiple_of(2);
    let ends = [". ", ": "].into_iter().filter_map(|end| docs.match_indices(end).map(|(at, _)| at).find(is_end));
    let end = ends.min().unwrap_or(docs.len());
    docs[..end].trim_end_matches('.').to_owned()
}

fn overview() -> String {
    let mut text = String::from("Problems:\n");
    let width = Code::ALL.iter().map(|code| code.as_str().len()).max().unwrap_or_default();
    for code in Code::ALL {
        let _ = writeln!(text, "  {:<width$} {}", code.as_str(), first_clause(code.docs()));
    }
    let _ = writeln!(text, "\nResults of runs:");
    for (word, docs) in results() {
        let _ = writeln!(text, "  {word:<30} {}", first_clause(docs));
    }
    let types: Vec<&str> = Assertion::TYPES.iter().map(|info| info.name).collect();
    let _ = writeln!(text, "\nClawSpec assertions:");
    for line in types.chunks(5) {
        let _ = writeln!(text, "  {}", line.join(" "));
    }
    // Several syntaxes may have the same variable.
    let mut variables: Vec<&str> = Vec::new();
    for variable in SYNTAXES.iter().flat_map(|syntax| syntax.variables) {
        if !variables.contains(&variable.name) {
            variables.push(variable.name);
        }
    }
    let _ = writeln!(text, "\nTemplate variables:\n  {}", variables.join(" "));
    for &file in SpecFile::ALL {
        let _ = writeln!(text, "\nFields of a {}:", file.singular());
        let keys: Vec<&str> = shape::all_keys(file).collect();
        let mut line = String::from(" ");
        for key in keys {
            if line.len() + key.len() > 100 {
                let _ = writeln!(text, "{line}");
                line = String::from(" ");
            }
            let _ = write!(line, " {key}");
        }
        let _ = writeln!(text, "{line}");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::{explain, first_clause, overview, results};

    #[test]
    fn fields_problems_and_paths_are_explained() {
        let text = explain("passRateMin").expect("a field of the format");
        assert!(text.contains("gates.passRateMin") && text.contains("0.95"), "{text}");
        let page = explain("unknown-key").expect("a code");
        assert!(page.starts_with("unknown-key (warning)") && page.contains("^^^") && page.contains("Fix: "), "{page}");
        assert!(explain("expect.output.contains").expect("a path").contains("expect.output.contains"));
        let error = explain("containss").expect_err("no such field").to_string();
        assert!(error.contains("did you mean `contains`?"), "{error}");
    }

    #[test]
    fn first_clause_ends_outside_of_code() {
        assert_eq!(first_clause("A call that `never: true` forbids. The rest."), "A call that `never: true` forbids");
        assert_eq!(first_clause("It is `a. b` here: more."), "It is `a. b` here");
        assert_eq!(first_clause("No end."), "No end");
    }

    #[test]
    fn every_line_of_the_overview_has_balanced_backticks_and_names_each_variable_once() {
        let text = overview();
        let open: Vec<&str> = text.lines().filter(|line| !line.matches('`').count().is_multiple_of(2)).collect();
        assert!(open.is_empty(), "{open:?}");
        let (_, variables) = text.split_once("Template variables:\n").expect("a list of variables");
        let names: Vec<&str> = variables.lines().next().unwrap_or_default().split_whitespace().collect();
        let mut once = names.clone();
        once.sort_unstable();
        once.dedup();
        assert_eq!(names.len(), once.len(), "{names:?}");
    }

    #[test]
    fn results_of_runs_are_explained() {
        for name in ["CONTAINS_FAILED", "contains_failed", "TOOL_CALL_ARGS_MISMATCH", "unsupported", "stale", "unknown"]
        {
            assert!(explain(name).expect("a result").contains("(in the report of a run)"), "{name}");
        }
        for (word, _) in results() {
            assert!(overview().contains(word) && explain(word).is_ok(), "{word}");
        }
    }

    #[test]
    fn fields_are_explained_without_repetition() {
        for name in ["expect.output", "contains", "timeout", "output", "expect"] {
            let text = explain(name).expect("a field");
            let lines: Vec<&str> =
                text.lines().map(str::trim).filter(|line| line.len() > 50 && !line.starts_with("fields: ")).collect();
            for (index, line) in lines.iter().enumerate() {
                assert!(!lines[..index].contains(line), "{name}: {line}");
            }
        }
    }

    #[test]
    fn types_of_assertions_are_explained() {
        let text = explain("llm_judge").expect("a type");
        assert!(text.contains("pass_threshold") && text.contains("rubric: \"Score 1-5"), "{text}");
        assert!(explain("llm_juge").expect_err("no type").to_string().contains("did you mean `llm_judge`?"));
    }

    #[test]
    fn variables_of_templates_are_explained() {
        for name in ["{{ run_started_at }}", "run_started_at"] {
            assert!(explain(name).expect("a variable").contains("The time when the run began"), "{name}");
        }
        assert!(explain("{{messages_json}}").expect("a variable").contains("become empty strings"));
    }

    #[test]
    fn everything_that_is_listed_is_explained() {
        let text = overview();
        let fields = text.split_once("Fields of a").expect("fields follow").1;
        let keys = fields.lines().filter(|line| line.starts_with("  ")).flat_map(str::split_whitespace);
        let mut count = 0;
        for key in keys {
            explain(key).unwrap_or_else(|error| panic!("{error}"));
            count += 1;
        }
        assert!(count > 50, "{text}");
    }
}
