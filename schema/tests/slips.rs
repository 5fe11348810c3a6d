//! A slip in any key of the shipped examples is put right: the text is what it was, byte for byte.

use std::{
    fs,
    path::{Path, PathBuf},
};

use speclens_schema::{
    analysis::Analyzer,
    document::{Document, NodeRef},
    files::MemoryFiles,
    fixing::{Revealing, apply_fixes, edits_between, replaced},
    json_schema::SpecFile,
    problem::{Code, Fix, Problem},
    settings::Settings,
};

fn keys(node: NodeRef<'_>, found: &mut Vec<(usize, String)>) {
    for entry in node.entries() {
        found.push((entry.key.own_range().start, entry.key.key_text()));
        keys(entry.value, found);
    }
    node.items().for_each(|item| keys(item, found));
}

fn safe(problem: &Problem) -> Option<&Fix> {
    problem.fixes.iter().find(|fix| fix.is_safe())
}

/// Returns the files that the examples name.
fn beside(folder: &Path) -> MemoryFiles {
    let names = ["schemas/status.json", "lookup-order.schema.json"];
    let texts = names.map(|name| (name, fs::read_to_string(folder.join(name)).unwrap_or_default()));
    MemoryFiles::new(
        folder,
        texts.iter().filter(|(_, text)| !text.is_empty()).map(|(name, text)| (*name, text.as_str())),
    )
}

#[test]
fn a_slip_in_a_key_is_corrected() {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("examples");
    let (mut fixed, mut left) = (0, Vec::new());
    for path in fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path().join("kindlm.yaml")) {
        let files = beside(path.parent().unwrap());
        let look =
            |document: &Document| Analyzer::new(SpecFile::KINDLM).problems(document, &files, &Settings::default());
        let Ok(text) = fs::read_to_string(&path) else { continue };
        let text = text.replace('\n', "\r\n");
        let document = Document::read(&text, SpecFile::KINDLM.scalar_rules());
        let mut all = Vec::new();
        keys(document.root().unwrap(), &mut all);
        for (at, key) in all.into_iter().filter(|(_, key)| key.len() > 3) {
            let half = at + key.len() / 2;
            let wrong = format!("{}q{}", &text[..half], &text[half..]);
            let document = Document::read(&wrong, SpecFile::KINDLM.scalar_rules());
            let is_unknown = |problem: &Problem| problem.code == Code::UnknownKey && problem.range.start == at;
            if !look(&document).iter().any(is_unknown) {
                // A name that the author chooses.
                continue;
            }
            let right = apply_fixes(&document, &look, &safe, Revealing::Allowed);
            assert_eq!(replaced(&wrong, &edits_between(&wrong, &right.text)), right.text);
            if right.text == text {
                fixed += 1;
            } else {
                left.push(key);
            }
        }
    }
    assert!(fixed > 40, "only {fixed} slips were put right");
    // A slip in a short word may be another word: a person looks at it.
    assert!(left.iter().all(|key| ["maxMs", "apiKeyEnv"].contains(&key.as_str())), "{left:?}");
}
