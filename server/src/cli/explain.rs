//! `speclens explain`: explains a kind of problem, a result of a run, or a field.

use std::{cmp::Reverse, collections::BTreeSet, fmt::Write};

use anyhow::bail;
use serde_json::json;
use speclens_runner::event::AbsenceKind;
use speclens_schema::{
    dialect::clawspec::assertion::Assertion,
    document::Pointer,
    format::Dialect,
    json_schema::SpecFile,
    key_path::KeyPath,
    problem::{Code, examples},
    shape::{self, Field, Need, Shape},
    template_syntax::syntaxes,
    verdict::{FailureCode, Status},
    words,
};

use super::{PASSED, output};

/// The options of `speclens explain`.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Topic of the manual (`recordings`), kind of problem (`unknown-key`), result of a run (`CONTAINS_FAILED`, `stale`),
    /// assertion type (`log_entry`), template variable (`run_id`), field (`argsMatch`) or path of fields
    /// (`expect.output`); if omitted, all names are listed
    name: Option<String>,
    /// Output format
    #[arg(long, value_enum, default_value_t = Format::Human)]
    format: Format,
}

/// Output formats of explanations.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Format {
    Human,
    Json,
}

const TOPICS: [(&str, &str); 17] = [
    ("install", include_str!("../../manual/install.md")),
    ("files", include_str!("../../manual/files.md")),
    ("commands", include_str!("../../manual/commands.md")),
    ("agents", include_str!("../../manual/agents.md")),
    ("prompts", include_str!("../../manual/prompts.md")),
    ("clawspec-runs", include_str!("../../manual/clawspec-runs.md")),
    ("scripts", include_str!("../../manual/scripts.md")),
    ("recordings", include_str!("../../manual/recordings.md")),
    ("shards", include_str!("../../manual/shards.md")),
    ("import", include_str!("../../manual/import.md")),
    ("audit", include_str!("../../manual/audit.md")),
    ("models", include_str!("../../manual/models.md")),
    ("traces", include_str!("../../manual/traces.md")),
    ("settings", include_str!("../../manual/settings.md")),
    ("editors", include_str!("../../manual/editors.md")),
    ("secrets", include_str!("../../manual/secrets.md")),
    ("skill", include_str!("../../manual/skill.md")),
];

pub(super) fn perform(args: &Args) -> anyhow::Result<u8> {
    let text = match &args.name {
        None => overview(),
        Some(name) => explain(name.trim())?,
    };
    match args.format {
        Format::Human => output::print(&text)?,
        Format::Json => {
            let name = args.name.as_deref().map(str::trim);
            output::print(&output::json(&json!({ "speclens": 1, "name": name, "text": text }))?)?;
        }
    }
    Ok(PASSED)
}

fn explain(name: &str) -> anyhow::Result<String> {
    if let Some(code) = Code::parse(name) {
        return Ok(problem(code));
    }
    let mut text = format(name) + &result(name);
    // The same field at several places is explained once.
    let mut explained: Vec<(Vec<String>, FieldPage)> = Vec::new();
    for &file in SpecFile::ALL {
        for place in fields(file, name) {
            for (head, body) in pages(file, &place) {
                match explained.iter_mut().find(|(_, known)| *known == body) {
                    Some((heads, _)) if heads.contains(&head) => {}
                    Some((heads, _)) => heads.push(head),
                    None => explained.push((vec![head], body)),
                }
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
    // A topic may share its name with a field, whose explanation is shorter.
    text.extend(TOPICS.iter().filter(|(topic, _)| *topic == name).map(|(_, page)| *page));
    if !text.is_empty() {
        return Ok(text);
    }
    let codes = Code::ALL.iter().map(|code| code.as_str());
    let keys = SpecFile::ALL.iter().flat_map(|&file| shape::all_keys(file));
    let types = Assertion::TYPES.iter().map(|info| info.name);
    let variables = syntaxes().flat_map(|syntax| syntax.variables).map(|variable| variable.name);
    let results = results().map(|(word, _)| word);
    let topics = TOPICS.iter().map(|(topic, _)| *topic);
    let names: BTreeSet<&str> = codes.chain(keys).chain(types).chain(variables).chain(results).chain(topics).collect();
    let alike = alike(name, &names);
    if alike.is_empty() {
        bail!("unknown name `{name}`; `speclens explain` lists all names");
    }
    bail!("unknown name `{name}`; did you mean {}?", words::listed(alike))
}

/// Returns the names that may be meant by another one: a misspelled one, or those that contain all of its words.
fn alike<'n>(name: &str, names: &BTreeSet<&'n str>) -> Vec<&'n str> {
    const MAX_SUGGESTED: usize = 5;
    let wanted = words::parts(name);
    let is_longer = |other: &&&str| {
        let words = words::parts(other);
        wanted.iter().all(|word| words.contains(word))
    };
    let mut longer: Vec<&str> = names.iter().filter(is_longer).copied().collect();
    // Words that are spelled alike first.
    longer.sort_by_key(|other| (is_in_capitals(other) != is_in_capitals(name), other.len()));
    longer.truncate(MAX_SUGGESTED);
    if !longer.is_empty() && !wanted.is_empty() {
        return longer;
    }
    let of_the_kind = names.iter().copied().filter(|other| is_in_capitals(other) == is_in_capitals(name));
    if let Some(near) = words::nearest(name, of_the_kind) {
        return vec![near];
    }
    // Names that share a word, those with few others first.
    let shared = |other: &&str| {
        let words = words::parts(other);
        let is_alike = |word: &str| words.iter().any(|other| words::is_surely(word, other, [other.as_str()]));
        wanted.iter().filter(|word| is_alike(word)).count()
    };
    let mut related: Vec<&str> = names.iter().filter(|other| shared(other) > 0).copied().collect();
    related.sort_by_key(|other| (Reverse(shared(other)), words::parts(other).len()));
    related.truncate(MAX_SUGGESTED);
    related
}

/// Whether a name is spelled like the result of a run: `GATE_FAILED`.
fn is_in_capitals(name: &str) -> bool {
    !name.contains(char::is_lowercase)
}

/// Returns the explanation of a format; empty if there is none with this name.
fn format(name: &str) -> String {
    let Some(dialect) = Dialect::all().find(|dialect| dialect.program().eq_ignore_ascii_case(name)) else {
        return String::new();
    };
    let mut text = format!("{} (a format)\n\n", dialect.program());
    for file in SpecFile::ALL.iter().filter(|file| file.dialect() == Some(dialect)) {
        let root = Shape::of(*file);
        let names: Vec<&str> = root.fields(None).into_iter().map(|field| field.name).collect();
        let docs = root.docs().unwrap_or_default();
        let _ = writeln!(text, "{}\n\n{}\n", file.title(), docs.trim());
        if !names.is_empty() {
            let _ = writeln!(text, "  fields: {}\n", names.join(", "));
        }
    }
    if dialect == Dialect::CLAWSPEC {
        let _ = writeln!(text, "Types of assertions\n\n{}\n", types());
    }
    text
}

fn types() -> String {
    let types: Vec<&str> = Assertion::TYPES.iter().map(|info| info.name).collect();
    types.chunks(5).map(|line| format!("  {}", line.join(" "))).collect::<Vec<_>>().join("\n")
}

fn results() -> impl Iterator<Item = (&'static str, &'static str)> {
    let failures = FailureCode::ALL.iter().map(|code| (code.as_str(), code.docs()));
    let statuses = Status::ALL.iter().map(|status| (status.as_str(), status.docs()));
    let absences = AbsenceKind::all().map(|kind| (kind.as_str(), kind.docs()));
    failures.chain(statuses).chain(absences)
}

/// Returns the explanation of a run result; empty if there is none with this name.
fn result(name: &str) -> String {
    let found = results().filter(|(word, _)| word.eq_ignore_ascii_case(name));
    found.map(|(word, docs)| format!("{word} (in the report of a run)\n\n{}\n\n", lines(docs))).collect()
}

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
    for syntax in syntaxes() {
        for variable in syntax.variables.iter().filter(|variable| variable.name == bare) {
            let files: Vec<&str> =
                variable.files.iter().filter_map(|name| Some(SpecFile::parse(name)?.title())).collect();
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

#[derive(PartialEq)]
struct FieldPage {
    /// The type of the field, whether it is required, and its default.
    facts: String,
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

/// Returns the pages of a field, each with its heading: one for each type of the mapping that has the field.
fn pages(file: SpecFile, place: &KeyPath) -> Vec<(String, FieldPage)> {
    let Some((key, parent)) = place.0.split_last() else { return Vec::new() };
    let Some(mapping) = shape_at(file, &KeyPath(parent.to_vec())) else { return Vec::new() };
    let of = |shape: &Shape| shape.fields(None).into_iter().find(|field| field.name == *key);
    if let Some(field) = of(&mapping) {
        return vec![(format!("{} ({})", path(place), file.title()), page(&field))];
    }
    let forms = mapping.variants().into_iter().filter_map(|form| {
        let title = file.dialect().map_or(file.title(), |dialect| dialect.program());
        let head = match form.tag {
            Some((tag, value)) => format!("{key} of {tag}: {value} ({title})"),
            None => format!("{} ({})", path(place), file.title()),
        };
        Some((head, page(&of(&form.shape)?)))
    });
    forms.collect()
}

fn page(field: &Field) -> FieldPage {
    let shape = &field.shape;
    let mut facts = vec![shape.type_label()];
    facts.push(match &field.need {
        Need::Required => "required".to_owned(),
        Need::OneOf(names) => format!("exactly one of {}", words::listed(names.iter().copied())),
        Need::AnyOf(names) => format!("at least one of {}", words::listed(names.iter().copied())),
        Need::Optional => "optional".to_owned(),
    });
    // A mapping of defaults only says that the field may be omitted.
    if let Some(default) = shape.default().filter(|default| !default.is_object()) {
        facts.push(format!("default {}", speclens_schema::quoting::show(default)));
    }
    let own = shape.docs().into_iter().flat_map(paragraphs);
    // The first sentence about the type says what the field is.
    let of_type = shape.type_docs().into_iter().flat_map(|docs| paragraphs(docs).skip(1));
    let mut paragraphs: Vec<String> = Vec::new();
    for paragraph in own.chain(of_type) {
        if !paragraphs.contains(&paragraph) {
            paragraphs.push(paragraph);
        }
    }
    let mut members = String::new();
    for choice in shape.values() {
        if let Some(docs) = choice.docs {
            let _ = writeln!(members, "  {}: {docs}", speclens_schema::quoting::show(choice.value));
        }
    }
    let names: Vec<&str> = shape.fields(None).into_iter().map(|field| field.name).collect();
    if !names.is_empty() {
        let _ = writeln!(members, "\n  fields: {}", names.join(", "));
    }
    FieldPage { facts: facts.join("; "), paragraphs, members }
}

fn paragraphs(docs: &str) -> impl Iterator<Item = String> {
    docs.trim().split("\n\n").map(str::to_owned)
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
    let mut text = String::from("Topics:\n");
    for (topic, page) in TOPICS {
        let title = page.lines().next().unwrap_or_default().trim_start_matches("# ");
        let _ = writeln!(text, "  {topic:<15} {title}");
    }
    text.push_str("\nProblems:\n");
    let width = Code::ALL.iter().map(|code| code.as_str().len()).max().unwrap_or_default();
    for code in Code::ALL {
        let _ = writeln!(text, "  {:<width$} {}", code.as_str(), first_clause(code.docs()));
    }
    let _ = writeln!(text, "\nResults of runs:");
    for (word, docs) in results() {
        let _ = writeln!(text, "  {word:<30} {}", first_clause(docs));
    }
    let _ = writeln!(text, "\nClawSpec assertions:\n{}", types());
    // Several syntaxes may have the same variable.
    let mut variables: Vec<&str> = Vec::new();
    for variable in syntaxes().flat_map(|syntax| syntax.variables) {
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
    use std::{collections::BTreeSet, fs, path::Path};

    use super::{TOPICS, explain, first_clause, overview, results};

    #[test]
    fn fields_problems_and_paths_are_explained() {
        let text = explain("passRateMin").expect("a field of the format");
        assert!(text.contains("gates.passRateMin") && text.contains("0.95"), "{text}");
        let page = explain("unknown-key").expect("a code");
        assert!(page.starts_with("unknown-key (warning)") && page.contains("^^^") && page.contains("Fix: "), "{page}");
        assert!(explain("expect.output.contains").expect("a path").contains("expect.output.contains"));
        let error = explain("containss").expect_err("no such field").to_string();
        assert!(error.contains("did you mean `contains`?"), "{error}");
        for (name, suggested) in [("GATE_FAILED", "`gates`"), ("passRate", "`passRateMin`"), ("schema", "`schemaFile`")]
        {
            let error = explain(name).expect_err("no such name").to_string();
            assert!(error.contains(suggested), "{error}");
        }
    }

    #[test]
    fn key_of_several_types_is_explained_for_each() {
        for (name, types) in [
            ("expected", &["expected of type: tool_sequence", "expected of type: model_used"]),
            ("path", &["path of type: artifact_exists", "path of type: log_entry"]),
            ("endpoint", &["endpoint of type: gateway_healthy", "endpoint of type: gateway_response"]),
        ] {
            let text = explain(name).expect("a field");
            for head in types {
                assert_eq!(text.matches(head).count(), 1, "{text}");
            }
        }
    }

    #[test]
    fn every_page_of_the_manual_is_a_topic_and_every_link_leads_to_a_file() {
        let manual = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/manual"));
        let pages = fs::read_dir(manual).expect("the manual").map(|page| page.expect("a page").path());
        let mut pages: BTreeSet<_> = pages.collect();
        let topics: BTreeSet<_> = TOPICS.iter().map(|(topic, _)| manual.join(format!("{topic}.md"))).collect();
        assert_eq!(pages, topics);
        for (topic, page) in TOPICS {
            assert!(explain(topic).expect("a topic").ends_with(page) && overview().contains(topic), "{topic}");
        }
        let readme = Path::new(env!("CARGO_MANIFEST_DIR")).join("../README.md");
        let text = fs::read_to_string(&readme).expect("the README");
        assert!(TOPICS.iter().all(|(topic, _)| text.contains(&format!("(server/manual/{topic}.md)"))));
        pages.insert(readme);
        for page in pages {
            let text = fs::read_to_string(&page).expect("a page");
            let links = text.split("](").skip(1).filter_map(|rest| rest.split([')', '#']).next());
            for link in links.filter(|link| !link.is_empty() && !link.contains("://")) {
                assert!(page.with_file_name("").join(link).exists(), "{}: {link}", page.display());
            }
        }
    }

    #[test]
    fn formats_are_explained() {
        for name in ["cli-bench", "ClawSpec", "kindlm"] {
            assert!(explain(name).expect("a format").contains("(a format)"), "{name}");
        }
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
