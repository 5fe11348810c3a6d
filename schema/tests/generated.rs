//! Files that are generated from the types. A stale one is written anew, and the test fails once.
#![expect(clippy::unwrap_used, reason = "a test may panic")]

use std::{fs, path::Path};

use speclens_schema::{json_schema::SpecFile, reference::reference};

#[track_caller]
fn check(path: &str, text: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(path);
    if fs::read_to_string(&path).unwrap_or_default() != text {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        panic!("{} was stale and is written anew: run the test again, and commit the file", path.display());
    }
}

#[test]
fn the_kindlm_schema_is_fresh() {
    check("json/kindlm.schema.json", &SpecFile::KindLm.schema_text());
}

#[test]
fn the_cli_bench_schemas_are_fresh() {
    check("json/cli-bench.schema.json", &SpecFile::CliBench.schema_text());
    check("json/cli-bench-tasks.schema.json", &SpecFile::CliBenchTasks.schema_text());
}

#[test]
fn the_clawspec_schemas_are_fresh() {
    for file in [
        SpecFile::ClawSpecScenarios,
        SpecFile::ClawSpecHandoff,
        SpecFile::ClawSpecPipeline,
        SpecFile::ClawSpec,
        SpecFile::ClawSpecLedger,
        SpecFile::ClawSpecBaselines,
    ] {
        check(&format!("json/{}.schema.json", file.as_str()), &file.schema_text());
    }
}

#[test]
fn the_settings_schema_is_fresh() {
    check("json/speclens.schema.json", &SpecFile::Settings.schema_text());
}

#[test]
fn the_reference_is_fresh() {
    check("reference.md", &reference());
}
