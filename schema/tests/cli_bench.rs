//! The examples of cli-bench, and suites while they are typed.
#![expect(clippy::unwrap_used, reason = "a test may panic")]

mod common;
#[path = "common/golden.rs"]
mod golden;
#[path = "common/numbers.rs"]
mod numbers;

use std::{collections::BTreeSet, path::Path};

use speclens_schema::{
    analysis::{Analysis, Analyzer},
    dialect::{
        Dialect,
        cli_bench::{assertions::Assertion, config::Config, tasks::Tasks},
    },
    document::{Document, Pointer},
    evidence::Evidence,
    files::MemoryFiles,
    json_schema::SpecFile,
    problem::{Code, Problem},
    settings::Settings,
    shape::Shape,
    verdict::Outcome,
};

use golden::{Golden, files_below};
use numbers::Numbers;

fn analyze(text: &str, file: SpecFile) -> Analysis {
    let files = MemoryFiles::new("/suite", []);
    let files = if file == SpecFile::CLI_BENCH_TASKS {
        files.at("tasks/own.yaml").named_by("cli-bench.yaml")
    } else {
        files.at("cli-bench.yaml")
    };
    let document = Document::read(text, file.scalar_rules());
    Analyzer::new(file).analyze(&document, &files, &Settings::default())
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
        let analysis = analyze(&text, SpecFile::CLI_BENCH_TASKS);
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
    let settings = Settings::default();
    let mut numbers = Numbers(7);
    let (mut found, mut compared) = (0, 0);
    let goldens = Golden::all().into_iter().filter(|golden| golden.file.dialect() == Some(Dialect::CLI_BENCH));
    for Golden { file, text, files, .. } in goldens {
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
        let problems = analyze(&text, file).problems;
        let told: Vec<_> = problems.iter().filter(|problem| problem.code == Code::PastedSecret).collect();
        assert_eq!(told.len(), 1, "{text}{problems:#?}");
        assert!(text[told[0].range.clone()].contains(&key) || file == SpecFile::CLAWSPEC, "{told:?}");
    }
}
