//! What is known of one test depends on that test alone, so that it can be kept while the rest changes.

use std::{fs, path::Path};

use speclens_schema::{
    dialect::{
        ScalarRules,
        kindlm::lint::{lint_test, test_facts},
    },
    document::{Document, Pointer},
    files::MemoryFiles,
    json_schema::SpecFile,
    validate::{Definition, validate_node},
};

#[test]
fn a_test_that_moves_keeps_its_facts_and_problems() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/problems");
    let files = MemoryFiles::default();
    let mut seen = 0;
    for code in ["no-effect", "missing-variable", "shell-quoting", "contradiction", "wrong-type", "unknown-reference"] {
        let text = fs::read_to_string(folder.join(format!("{code}.yaml"))).expect("the fixture is there");
        let before = "# A remark that was not there before.\n";
        let moved = format!("{before}{text}");
        let [here, there] = [&text, &moved].map(|text| Document::read(text, ScalarRules::Yaml12));
        for index in 0.. {
            let at = Pointer::root().key("tests").index(index);
            let (Some(one), Some(other)) = (here.find(&at), there.find(&at)) else { break };
            assert_eq!(test_facts(one), test_facts(other));
            let definition = Definition::Item(SpecFile::KindLm, "tests");
            let both = |node| [validate_node(node, definition), lint_test(node, &files)].concat();
            let shifted = both(one).into_iter().map(|problem| problem.moved(&Pointer::root(), before.len()));
            assert_eq!(shifted.collect::<Vec<_>>(), both(other));
            seen += 1;
        }
    }
    assert!(seen >= 10, "only {seen} tests");
}
