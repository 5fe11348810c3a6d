//! Files that are generated from the types. A stale one is rewritten, and the test fails once.

use crate::golden;

use std::{collections::BTreeMap, fs, path::Path};

use serde_json::Value;
use speclens_schema::{
    document::Document,
    fixing,
    format::Dialect,
    json_schema::SpecFile,
    kind::{self, Named},
    problem::{Code, Example, Fix, Problem},
    reference::reference,
};

use golden::Golden;

#[track_caller]
fn check(path: &str, text: &str) {
    check_all([(path.to_owned(), text.to_owned())]);
}

/// Checks files, by their paths. All that are stale are written before the test fails.
#[track_caller]
fn check_all(files: impl IntoIterator<Item = (String, String)>) {
    let mut stale = Vec::new();
    for (path, text) in files {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(path);
        if fs::read_to_string(&path).unwrap_or_default() != text {
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(&path, text).unwrap();
            stale.push(path);
        }
    }
    assert!(stale.is_empty(), "written anew: run the test again, and commit {stale:?}");
}

#[test]
fn schemas_are_fresh() {
    let path = |file: &SpecFile| format!("json/{}.schema.json", file.as_str());
    check_all(SpecFile::ALL.iter().map(|file| (path(file), file.schema_text())));
    // Optimized builds read the copies.
    for file in SpecFile::ALL {
        let committed = (file.committed)().unwrap_or_default();
        assert_eq!(committed, file.schema_text(), "{}", file.as_str());
        assert_eq!(serde_json::from_str::<Value>(committed).unwrap(), (file.schema)(*file), "{}", file.as_str());
    }
}

/// What a schema catalogue asks for, beside the schemas.
#[test]
fn the_table_of_file_names_is_fresh() {
    let mut text = String::from(
        "# JSON Schemas\n\n\
         Generated from the types in `../src`; a test keeps them up to date. They use draft 2020-12, and each has an\n\
         `$id` that is a name, not an address. Keys that begin with `x-` are speclens' own; other tools ignore them.\n\n\
         | schema | contents | files |\n|---|---|---|\n",
    );
    for file in SpecFile::ALL {
        let patterns = file.file_patterns().iter().map(|pattern| format!("`{pattern}`")).collect::<Vec<_>>().join(", ");
        let serves = if patterns.is_empty() { "files that a suite names as `file://…`" } else { &patterns };
        text.push_str(&format!(
            "| [{0}.schema.json]({0}.schema.json) | {1} | {serves} |\n",
            file.as_str(),
            file.title()
        ));
    }
    text.push_str("| [report.schema.json](report.schema.json) | report | output of `speclens run --report json` |\n");
    check("json/README.md", &text);
}

/// What a pattern matches is of that kind for the server, too, and the extension of VS Code knows every pattern.
#[test]
fn every_pattern_of_names_is_known_to_server_and_client() {
    let client = Path::new(env!("CARGO_MANIFEST_DIR")).join("../editors/vscode/src/files.ts");
    let client = fs::read_to_string(client).unwrap();
    for file in SpecFile::ALL {
        for pattern in file.file_patterns() {
            let path = pattern.replace("**/", "deep/").replace('*', "a");
            let named = kind::of_path(&path).unwrap();
            assert!(named == Named::Surely(*file) || named == Named::Perhaps(*file), "{path}: {named:?}");
            assert!(client.contains(&format!("'{pattern}'")), "{pattern}");
        }
    }
}

#[test]
fn the_reference_is_fresh() {
    check("reference.md", &reference());
}

/// The reference holds these: it is stale once more after they were.
#[test]
fn the_examples_of_problems_are_fresh() {
    type Best = BTreeMap<Option<&'static str>, ((bool, usize), Example)>;
    let mut best: BTreeMap<&str, Best> = BTreeMap::new();
    for golden in Golden::all() {
        let name = golden.path.file_stem().unwrap().to_str().unwrap().split('.').next().unwrap();
        for problem in golden.problems(&golden.document()) {
            // The file that is named after the code shows it best, and a mistake that can be fixed says most.
            let rank = rank(&problem, name == problem.code.as_str());
            let best = best.entry(problem.code.as_str()).or_default();
            let format = golden.file.dialect().map(Dialect::as_str);
            if best.get(&format).is_none_or(|(known, _)| rank < *known) {
                best.insert(format, (rank, example(&golden, &problem)));
            }
        }
    }
    // Of each format that has a file for the code; of one format where none has.
    let chosen = |mut best: Best| {
        let least = best.values().map(|(rank, _)| *rank).min();
        if best.values().any(|((unnamed, _), _)| !unnamed) {
            best.retain(|_, ((unnamed, _), _)| !*unnamed);
        } else {
            best.retain(|_, (rank, _)| Some(*rank) == least);
        }
        // Most readers write suites.
        if best.keys().any(Option::is_some) {
            best.remove(&None);
        }
        let is_named = best.values().any(|((unnamed, _), _)| !unnamed);
        best.into_values().map(|(_, example)| example).take(if is_named { usize::MAX } else { 1 }).collect()
    };
    let examples: BTreeMap<&str, Vec<Example>> = best.into_iter().map(|(code, best)| (code, chosen(best))).collect();
    assert!(examples.len() > Code::ALL.len() / 2, "{:?}", examples.keys());
    check("src/problem/examples.json", &format!("{}\n", serde_json::to_string_pretty(&examples).unwrap()));
}

/// Returns the less, the better.
fn rank(problem: &Problem, named: bool) -> (bool, usize) {
    let best = best(problem);
    (
        !named,
        if best.is_some_and(Fix::is_safe) {
            0
        } else if best.is_some() {
            1
        } else {
            2
        },
    )
}

fn best(problem: &Problem) -> Option<&Fix> {
    let mut fixes = problem.fixes.iter().filter(|fix| fix.creates.is_empty());
    fixes.clone().find(|fix| fix.preferred).or(fixes.next())
}

fn example(golden: &Golden, problem: &Problem) -> Example {
    let text = &golden.text;
    let start = text[..problem.range.start].rfind('\n').map_or(0, |at| at + 1);
    let end = text[problem.range.start..].find('\n').map_or(text.len(), |at| problem.range.start + at);
    let line = &text[start..end];
    let under = text[problem.range.start..problem.range.end.clamp(problem.range.start, end)].chars().count().max(1);
    let marks = format!("{}{}", " ".repeat(text[start..problem.range.start].chars().count()), "^".repeat(under));
    let indent = line.len() - line.trim_start_matches(' ').len();
    let shown = |line: &str| -> String {
        let line = line.get(indent.min(line.len() - line.trim_start_matches(' ').len())..).unwrap_or_default();
        line.chars().take(110).collect::<String>().trim_end().to_owned()
    };
    let fix = best(problem).map(|fix| {
        let new = fixing::replaced(text, &fix.edits);
        (fix.title.clone(), changed_lines(text, &new).iter().map(|line| shown(line)).collect::<Vec<_>>().join("\n"))
    });
    Example {
        file: golden.file.as_str().to_owned(),
        marked: format!("{}\n{}", shown(line), shown(&marks)),
        message: format!("{}: {}", problem.severity.as_str(), problem.text()),
        fix,
    }
}

/// Returns the lines of the new text that hold a change, a few at most.
fn changed_lines(old: &str, new: &str) -> Vec<String> {
    let document = Document::read(new, speclens_schema::document::ScalarRules::Yaml12);
    let rope = document.text();
    let mut lines: Vec<usize> = Vec::new();
    let mut moved = 0_isize;
    for edit in fixing::edits_between(old, new) {
        let start = edit.range.start.strict_add_signed(moved);
        moved += isize::try_from(edit.text.len()).unwrap() - isize::try_from(edit.range.len()).unwrap();
        lines.extend(rope.byte_to_line(start)..=rope.byte_to_line(start + edit.text.trim_end().len()));
    }
    lines.dedup();
    lines.into_iter().take(4).map(|line| rope.line(line).to_string().trim_end().to_owned()).collect()
}
