//! What it takes to add something: an assertion type and a rule are each a file with its `mod`, and one row. A format is
//! a folder and one row: `server/src/ide/tests/fourth_format.rs`.

use std::{fs, path::Path, process::Command};

use tempfile::TempDir;

const ASSERTION: &str = r#"//! Sizes of files.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    act::Until,
    dialect::clawspec::{claim::AssertionType, scope::Scope, scoped_evidence::ScopedEvidence, words::Artifact},
    evidence::{Context, Need},
    seen::Found,
    verdict::{Judged, Row},
};

/// A file exists, whatever it is.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FileIsThere {
    /// The file.
    pub path: Artifact,
}

impl AssertionType for FileIsThere {
    const NAME: &'static str = "file_is_there";

    fn subject(&self) -> String {
        self.path.to_string()
    }

    fn needs(&self, scope: &Scope, context: &Context) -> Vec<Need> {
        scope.files(&self.path, context).map(Need::Files).into_iter().collect()
    }

    fn judge(&self, seen: &ScopedEvidence<'_>) -> Judged {
        let Some(need) = seen.scope.files(&self.path, seen.act.context()) else {
            return Err(Row::broken("path", "the path has no value"));
        };
        Ok(match seen.file("path", &need, Until::TimeLimit)? {
            Found::Yes(_, proof) => Row::pass("path", proof),
            Found::No(proof) => seen.missing("path", &self.path, proof, "it is not there".to_owned()),
        })
    }
}
"#;

const RULE: &str = r#"//! Texts that shout.

use crate::{
    finding::{MessageParts, Report},
    problem::Code,
    walk::Value,
};

pub(crate) fn check(value: &Value<'_, '_>, report: &mut Report) {
    if value.text.is_some_and(|text| text.ends_with("!!!")) {
        let words = MessageParts::new("this text shouts").help("remove the exclamation marks");
        report.push(value.lint_node().problem(Code::Placeholder, words));
    }
}
"#;

/// Copies a directory, without what is built.
fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap().map(Result::unwrap) {
        let (name, path) = (entry.file_name(), entry.path());
        match entry.file_type().unwrap().is_dir() {
            true if name == "target" || name == "node_modules" || name == ".git" => {}
            true => copy(&path, &to.join(name)),
            false => drop(fs::copy(&path, to.join(name)).unwrap()),
        }
    }
}

/// Adds a text behind another one, which is in the file once.
fn add(file: &Path, behind: &str, new: &str) {
    let text = fs::read_to_string(file).unwrap();
    assert_eq!(text.matches(behind).count(), 1, "{behind} in {}", file.display());
    fs::write(file, text.replace(behind, &format!("{behind}{new}"))).unwrap();
}

#[test]
fn an_assertion_type_and_a_rule_are_a_file_and_a_row() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let there = TempDir::new().unwrap();
    for name in ["Cargo.toml", "Cargo.lock"] {
        fs::copy(root.join(name), there.path().join(name)).unwrap();
    }
    for name in ["schema", "runner", "server", "tests"] {
        copy(&root.join(name), &there.path().join(name));
    }
    let source = there.path().join("schema/src");
    let clawspec = source.join("dialect/clawspec");
    fs::write(clawspec.join("assertions/file_is_there.rs"), ASSERTION).unwrap();
    add(&clawspec.join("assertions.rs"), "pub(crate) mod behavioral;", "\npub(crate) mod file_is_there;");
    add(
        &clawspec.join("assertion.rs"),
        "    FilePresent in preconditions = Precondition;",
        "\n    FileIsThere in file_is_there = Artifact;",
    );
    fs::write(source.join("rules/shouting.rs"), RULE).unwrap();
    add(&source.join("rules.rs"), "pub(crate) mod shell_quoting;", "\npub(crate) mod shouting;");
    add(&source.join("walk.rs"), "&[placeholder::check,", " crate::rules::shouting::check,");

    let target = std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root.join("target"), Into::into);
    let checked = Command::new(env!("CARGO"))
        .args(["check", "--offline", "--locked", "--quiet", "--package", "speclens-schema"])
        .env("CARGO_TARGET_DIR", target)
        .current_dir(there.path())
        .output()
        .unwrap();
    assert!(checked.status.success(), "{}", String::from_utf8_lossy(&checked.stderr));
}
