//! One golden file per kind of problem and format: what a person sees. A stale one is rewritten, and the test fails once.

use crate::{common, golden};

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
};

use speclens_schema::{format::Dialect, problem::Code};

use golden::Golden;

/// Returns the part of the name before `--`, which is a code except in some files of ClawSpec.
fn word(golden: &Golden) -> &str {
    let stem = golden.path.file_stem().unwrap().to_str().unwrap();
    stem.split("--").next().unwrap().trim_end_matches(".tasks")
}

#[test]
fn every_golden_shows_what_is_wrong() {
    let mut stale = Vec::new();
    for golden in Golden::all() {
        let Golden { path, text, .. } = &golden;
        let document = golden.document();
        let problems = golden.problems(&document);
        match Code::parse(word(&golden)) {
            Some(code) => assert!(problems.iter().any(|it| it.code == code), "{}: {problems:#?}", path.display()),
            None => assert_eq!(golden.file.dialect(), Some(Dialect::CLAWSPEC), "no code: {}", path.display()),
        }
        for problem in &problems {
            // The node, or where a key is missing the mapping that lacks it.
            let parent = problem.at.parent().unwrap_or_default();
            assert!(document.root().is_none() || document.find(&parent).is_some(), "{problem:?}");
            assert!(text.get(problem.range.clone()).is_some(), "{problem:?}");
            assert!(!problem.message.ends_with('.') && !problem.message.is_empty(), "{}", problem.message);
        }
        let rendered = common::render(text, &problems);
        let path = path.with_extension("txt");
        if fs::read_to_string(&path).unwrap_or_default() != rendered {
            fs::write(&path, rendered).unwrap();
            stale.push(path);
        }
    }
    assert!(stale.is_empty(), "written anew, look at the changes: {stale:?}");
}

#[test]
fn every_code_has_a_golden() {
    let goldens = Golden::all();
    let is_shown = |code: &Code| goldens.iter().any(|golden| word(golden) == code.as_str());
    let hidden: Vec<Code> = Code::ALL.iter().copied().filter(|code| !is_shown(code)).collect();
    // They are about bytes, or there is no text.
    assert_eq!(hidden, [Code::Encoding, Code::UnreadableFile]);
}

#[test]
fn every_file_belongs_to_a_golden() {
    let goldens = Golden::all();
    let expected: BTreeSet<PathBuf> =
        goldens.iter().flat_map(|golden| [golden.path.clone(), golden.path.with_extension("txt")]).collect();
    let folders: BTreeSet<&Path> = goldens.iter().map(|golden| golden.path.parent().unwrap()).collect();
    let entries = folders.into_iter().flat_map(|folder| fs::read_dir(folder).unwrap());
    let files: BTreeSet<PathBuf> = entries.map(|entry| entry.unwrap().path()).filter(|path| path.is_file()).collect();
    assert_eq!(files, expected);
}
