//! cli-bench as a person meets it: one golden file per kind of problem, every fix applied, and the examples.
#![expect(clippy::unwrap_used, reason = "a test may panic")]

mod common;
#[path = "common/golden.rs"]
mod golden;
#[path = "common/numbers.rs"]
mod numbers;

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
};

use speclens_schema::{
    analysis::{Analysis, Analyzer},
    dialect::cli_bench::{assertions::Assertion, config::Config, tasks::Tasks},
    document::{Document, Pointer},
    evidence::Evidence,
    files::MemoryFiles,
    json_schema::SpecFile,
    problem::{Code, Fix, Problem, Severity},
    settings::Settings,
    shape::Shape,
    verdict::Outcome,
};

use golden::files_below;
use numbers::Numbers;

fn analyze(text: &str, file: SpecFile, beside: &[(String, String)]) -> Analysis {
    let files = MemoryFiles::new("/suite", beside.iter().map(|(name, text)| (name.as_str(), text.as_str())));
    let files = if file == SpecFile::CLI_BENCH_TASKS {
        files.at("tasks/own.yaml").named_by("cli-bench.yaml")
    } else {
        files.at("cli-bench.yaml")
    };
    let document = Document::read(text, file.scalar_rules());
    Analyzer::new(file).analyze(&document, &files, &Settings::default())
}

fn apply(text: &str, fix: &Fix) -> String {
    let mut edits = fix.edits.clone();
    edits.sort_by_key(|edit| std::cmp::Reverse(edit.range.start));
    let mut text = text.to_owned();
    for edit in edits {
        text.replace_range(edit.range, &edit.text);
    }
    text
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/problems/cli-bench")
}

/// Returns the golden files: their path, what they are, and the code that they show.
fn cases() -> Vec<(PathBuf, SpecFile, Code)> {
    let mut cases = Vec::new();
    for path in fs::read_dir(folder()).unwrap().map(|entry| entry.unwrap().path()) {
        if path.extension().is_none_or(|extension| extension != "yaml") {
            continue;
        }
        let stem = path.file_stem().unwrap().to_str().unwrap().to_owned();
        let (name, file) = match stem.strip_suffix(".tasks") {
            Some(name) => (name, SpecFile::CLI_BENCH_TASKS),
            None => (stem.as_str(), SpecFile::CLI_BENCH),
        };
        // What is after two dashes says what the file is about.
        let word = name.split("--").next().unwrap();
        let code = Code::parse(word).unwrap_or_else(|| panic!("there is no code {name}"));
        cases.push((path, file, code));
    }
    cases.sort_by(|one, other| one.0.cmp(&other.0));
    assert!(cases.len() >= 20, "{cases:?}");
    cases
}

fn beside() -> Vec<(String, String)> {
    let mut beside = Vec::new();
    files_below(&folder().join("files"), "", &mut beside);
    beside
}

#[test]
fn every_code_shows_what_is_wrong() {
    let beside = beside();
    let mut stale = Vec::new();
    for (path, file, code) in cases() {
        let text = fs::read_to_string(&path).unwrap();
        let problems = analyze(&text, file, &beside).problems;
        assert!(problems.iter().any(|problem| problem.code == code), "{}: {problems:#?}", path.display());
        let document = Document::read(&text, file.scalar_rules());
        for problem in &problems {
            let parent = problem.at.parent().unwrap_or_default();
            assert!(document.find(&parent).is_some(), "{problem:?}");
            assert!(text.get(problem.range.clone()).is_some(), "{problem:?}");
            assert!(!problem.message.ends_with('.') && !problem.message.is_empty(), "{}", problem.message);
        }
        let rendered = common::render(&text, &problems);
        let golden = path.with_extension("txt");
        if fs::read_to_string(&golden).unwrap_or_default() != rendered {
            fs::write(&golden, rendered).unwrap();
            stale.push(golden);
        }
    }
    assert!(stale.is_empty(), "written anew, look at the changes: {stale:?}");
}

#[test]
fn nothing_is_in_the_folder_that_no_test_looks_at() {
    let names: BTreeSet<PathBuf> =
        fs::read_dir(folder()).unwrap().map(|entry| entry.unwrap().path()).filter(|path| path.is_file()).collect();
    let expected: BTreeSet<PathBuf> =
        cases().into_iter().flat_map(|(path, ..)| [path.with_extension("txt"), path]).collect();
    assert_eq!(names, expected);
}

/// Returns what a problem is about, wherever it is.
fn essence(problem: &Problem) -> (Code, String) {
    (problem.code, problem.message.clone())
}

#[test]
fn every_fix_removes_its_problem_and_adds_none() {
    let beside = beside();
    let mut applied = 0;
    for (path, file, _) in cases() {
        let text = fs::read_to_string(&path).unwrap();
        let before = analyze(&text, file, &beside).problems;
        for problem in &before {
            // What brings files into being is tried elsewhere, beside those files.
            for fix in problem.fixes.iter().filter(|fix| fix.creates.is_empty()) {
                let fixed = apply(&text, fix);
                let after = analyze(&fixed, file, &beside).problems;
                let count = |problems: &[Problem]| problems.iter().filter(|it| essence(it) == essence(problem)).count();
                let shown = || format!("{}: {} / {}\n{fixed}", path.display(), problem.message, fix.title);
                assert!(count(&after) < count(&before), "the problem is still there: {}", shown());
                if fix.is_safe() {
                    let known: Vec<_> = before.iter().map(essence).collect();
                    let errors = after.iter().filter(|it| it.severity == Severity::Error);
                    let new: Vec<_> = errors.filter(|it| !known.contains(&essence(it))).collect();
                    assert!(new.is_empty(), "{}\n{}", shown(), common::render(&fixed, &after));
                }
                applied += 1;
            }
        }
    }
    assert!(applied >= 30, "only {applied} fixes");
}

/// The shipped suite is right, and shows every assertion.
#[test]
fn nothing_is_wrong_with_the_examples() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples-editing/cli-bench");
    let mut beside = Vec::new();
    files_below(&folder, "", &mut beside);
    let mut shown = BTreeSet::new();
    for (path, text) in beside.iter().filter(|(path, _)| path.ends_with(".yaml")) {
        let file = if path == "cli-bench.yaml" { SpecFile::CLI_BENCH } else { SpecFile::CLI_BENCH_TASKS };
        let files = MemoryFiles::new("/suite", beside.iter().map(|(name, text)| (name.as_str(), text.as_str())));
        let files = files.at(path).named_by("cli-bench.yaml");
        let document = Document::read(text, file.scalar_rules());
        let analysis = Analyzer::new(file).analyze(&document, &files, &Settings::default());
        assert!(analysis.problems.is_empty(), "{path}\n{}", common::render(text, &analysis.problems));
        let value = document.root().unwrap().to_value().unwrap();
        assert!(jsonschema::validator_for(file.schema()).unwrap().is_valid(&value), "{path}");
        if file == SpecFile::CLI_BENCH {
            drop(serde_json::from_value::<Config>(value).unwrap());
        } else {
            drop(serde_json::from_value::<Tasks>(value).unwrap());
        }
        assert!(!analysis.suite.cases.is_empty() && analysis.suite.cases.iter().all(|case| case.intact), "{path}");
        if file == SpecFile::CLI_BENCH {
            assert_eq!(analysis.suite.cases.len(), 6);
            let claims = analysis.suite.cases.iter().flat_map(|case| &case.claims);
            shown.extend(claims.flat_map(|claim| claim.check.check(&Evidence::default())).map(|row| row.kind));
        }
    }
    assert_eq!(shown, Assertion::NAMES.iter().copied().collect());
}

/// What the documentation of each assertion shows can be read, checked and lowered without a problem.
#[test]
fn the_example_of_every_assertion_is_right() {
    let assertion = Shape::find(SpecFile::CLI_BENCH_TASKS, &Pointer::parse("/0/assert/0"), None).unwrap();
    let fields = assertion.fields(None);
    assert_eq!(fields.len(), Assertion::NAMES.len());
    for field in fields {
        let docs = field.shape.docs().unwrap();
        let example = docs.split("```yaml\n").nth(1).and_then(|rest| rest.split("```").next());
        let example = example.unwrap_or_else(|| panic!("`{}` has no example", field.name));
        let lines: String = example.lines().map(|line| format!("  {line}\n")).collect();
        let text = format!("- id: example\n  intent: Write a file\n{lines}");
        let analysis = analyze(&text, SpecFile::CLI_BENCH_TASKS, &[]);
        let told = |problem: &&Problem| ![Code::NoExitCode, Code::VacuousClaim].contains(&problem.code);
        let problems: Vec<&Problem> = analysis.problems.iter().filter(told).collect();
        assert!(problems.is_empty(), "{text}{problems:#?}");
        let case = &analysis.suite.cases[0];
        let kinds: Vec<&str> =
            case.claims.iter().flat_map(|claim| claim.check.check(&Evidence::default())).map(|row| row.kind).collect();
        assert!(case.intact && kinds.contains(&field.name), "{text}{kinds:?}");
    }
}

/// Whatever a person types: nothing panics, everything points into the text, and what is known of an edited document is
/// what would be known of the same text read again.
#[test]
fn typing_leaves_what_reading_again_would_find() {
    let beside = beside();
    let settings = Settings::default();
    let mut numbers = Numbers(7);
    let (mut found, mut compared) = (0, 0);
    for (path, file, _) in cases() {
        let text = fs::read_to_string(&path).unwrap();
        let files = MemoryFiles::new("/suite", beside.iter().map(|(name, text)| (name.as_str(), text.as_str())));
        let files = if file == SpecFile::CLI_BENCH_TASKS {
            files.at("tasks/own.yaml").named_by("cli-bench.yaml")
        } else {
            files.at("cli-bench.yaml")
        };
        let analyzer = Analyzer::new(file);
        for _ in 0..12 {
            let mut document = Document::read(&text, file.scalar_rules());
            for _ in 0..=numbers.below(4) {
                let now = String::from(document.text());
                let (range, comes) = numbers.edit(&now);
                document.edit(range, &comes);
                document.refresh();
                let now = String::from(document.text());
                let analysis = analyzer.analyze(&document, &files, &settings);
                for problem in &analysis.problems {
                    let own = problem.related.iter().filter(|related| related.file.is_none());
                    let ranges = own.map(|related| &related.range);
                    let edits = problem.fixes.iter().flat_map(|fix| fix.edits.iter().map(|edit| &edit.range));
                    for range in std::iter::once(&problem.range).chain(ranges).chain(edits) {
                        assert!(now.get(range.clone()).is_some(), "{problem:?}\n{now}");
                    }
                    assert!(!problem.message.contains("under any of the"), "{}", problem.message);
                }
                for claim in analysis.suite.cases.iter().flat_map(|case| &case.claims) {
                    let verdicts = claim.check.check(&Evidence::default());
                    assert!(verdicts.iter().all(|row| row.outcome != Outcome::Pass), "{verdicts:?}");
                }
                found += analysis.problems.len();
            }
            let now = String::from(document.text());
            let fresh = Document::read(&now, file.scalar_rules());
            // A damaged text may be taken apart in other ways when it is read from its beginning.
            if !fresh.is_intact() || !document.is_intact() {
                continue;
            }
            compared += 1;
            let kept = analyzer.analyze(&document, &files, &settings);
            let new = analyzer.analyze(&fresh, &files, &settings);
            assert_eq!(common::render(&now, &kept.problems), common::render(&now, &new.problems), "{now}");
            let places = |analysis: &Analysis| -> Vec<String> {
                let cases = analysis.suite.cases.iter();
                cases.map(|case| format!("{} {} {} {}", case.name, case.at, case.intact, case.claims.len())).collect()
            };
            assert_eq!(places(&kept), places(&new), "{now}");
        }
    }
    assert!(found > 1500 && compared > 80, "only {found} problems, {compared} compared");
}

/// A key in a suite of any format is reported once, wherever it is.
#[test]
fn pasted_secrets_are_reported_in_every_format() {
    // Put together here, so that no scanner takes this file for a leak.
    let key = ["ghp_", "aB3dE6gH9jK2mN5pQ8sT1vW4yZ7cF0hL"].concat();
    for (file, text) in [
        (SpecFile::KINDLM, format!("kindlm: 1\ntests:\n  - name: a\n    command: login {key}\n    expect: {{}}\n")),
        (SpecFile::KINDLM, format!("kindlm: 1\nproject: {key}\n")),
        (SpecFile::CLI_BENCH, format!("cli: a\nsetup: [login {key}]\n")),
        (SpecFile::CLI_BENCH_TASKS, format!("- id: a\n  env: {{TOKEN: {key}}}\n")),
        (SpecFile::CLAWSPEC_SCENARIOS, format!("scenarios:\n  - name: a\n    when: {{params: {{key: {key}}}}}\n")),
        (SpecFile::CLAWSPEC, format!("gateway_auth_token: {key}\n")),
    ] {
        let problems = analyze(&text, file, &[]).problems;
        let told: Vec<_> = problems.iter().filter(|problem| problem.code == Code::PastedSecret).collect();
        assert_eq!(told.len(), 1, "{text}{problems:#?}");
        assert!(text[told[0].range.clone()].contains(&key) || file == SpecFile::CLAWSPEC, "{told:?}");
    }
}
