//! Reports for code scanners: SARIF and workflow commands.

use std::fs;

use serde_json::Value;

use crate::support::{Place, repository, suite};

const WRONG: &str = "\
kindlm: 1
projct: demo
project: demo
suite: { name: demo }
tests:
  - name: 🦀 one
    command: \"echo 100% {{nme}}\"
    vars: { name: x }
    expect: { output: { containss: [hello] } }
  - name: 🦀 one
    command: echo hello
    expect: { output: { contains: [hello, hello] } }
";

fn sarif(text: &str) -> Value {
    let log: Value = serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"));
    let schema = fs::read_to_string(repository().join("tests/sarif/sarif-schema-2.1.0.json")).unwrap();
    // One `]` too many: only lenient readers accept it as a regular expression.
    let schema: Value = serde_json::from_str(&schema.replace("{2}]?$", "{2}$")).unwrap();
    let validator = jsonschema::options().should_validate_formats(true).build(&schema).unwrap();
    let errors: Vec<String> =
        validator.iter_errors(&log).map(|error| format!("{}: {error}", error.instance_path())).collect();
    assert!(errors.is_empty(), "{errors:#?}\n{text}");
    log
}

#[test]
fn sarif_follows_its_schema_and_points_at_the_problem() {
    let place = Place::empty();
    place.write("a b/kindlm.yaml", WRONG);
    place.write("speclens.yaml", "severty: {}\n");
    let done = place.run(&["check", "--format", "sarif"]);
    assert_eq!(done.code, Some(2), "{done:?}");
    let log = sarif(&done.stdout);
    let run = &log["runs"][0];
    let results = run["results"].as_array().unwrap();
    let of = |rule: &str| {
        results.iter().find(|result| result["ruleId"] == rule).unwrap_or_else(|| panic!("{rule}: {log:#}"))
    };
    let misspelled =
        results.iter().find(|result| result["message"]["text"].as_str().unwrap().contains("`containss`")).unwrap();
    let place_of = &misspelled["locations"][0]["physicalLocation"];
    assert_eq!(place_of["artifactLocation"]["uri"], "a%20b/kindlm.yaml");
    assert_eq!(
        place_of["region"],
        serde_json::json!({ "startLine": 9, "startColumn": 25, "endLine": 9, "endColumn": 34 })
    );
    assert_eq!(misspelled["level"], "error");
    let replacement = &misspelled["fixes"][0]["artifactChanges"][0]["replacements"][0];
    assert_eq!(replacement["insertedContent"]["text"], "contains");
    assert_eq!(replacement["deletedRegion"], place_of["region"]);
    let taken = of("duplicate-name");
    assert_eq!(taken["relatedLocations"][0]["physicalLocation"]["region"]["startLine"], 6);
    assert_eq!(of("invalid-setting")["locations"][0]["physicalLocation"]["artifactLocation"]["uri"], "speclens.yaml");
    for result in results {
        let rule = &run["tool"]["driver"]["rules"][result["ruleIndex"].as_u64().unwrap() as usize];
        assert_eq!(rule["id"], result["ruleId"]);
    }
}

#[test]
fn sarif_of_nothing_and_of_a_run_follows_its_schema_too() {
    let place = Place::with(&suite("echo hello", "{output: {contains: [hello]}}"));
    let log = sarif(&place.run(&["check", "--format", "sarif"]).stdout);
    assert!(log["runs"][0]["results"].as_array().unwrap().iter().all(|result| result["level"] == "note"), "{log:#}");
    place.write("kindlm.yaml", suite("echo hello; exit 3", "{output: {contains: [goodbye]}}"));
    let done = place.run(&["run", "--report", "sarif"]);
    assert_eq!(done.code, Some(1), "{done:?}");
    let log = sarif(&done.stdout);
    let failed = log["runs"][0]["results"].as_array().unwrap().iter().find(|result| result["level"] == "error");
    let failed = failed.unwrap_or_else(|| panic!("{log:#}"));
    assert!(failed["message"]["text"].as_str().unwrap().starts_with("`only`: "), "{failed}");
    assert_eq!(failed["locations"][0]["physicalLocation"]["region"]["startLine"], 7);
}

#[test]
fn github_gets_a_command_for_each_problem() {
    let place = Place::empty();
    place.write("a,b/kindlm.yaml", WRONG);
    let done = place.run(&["check", "--format", "github"]);
    assert_eq!(done.code, Some(2), "{done:?}");
    let commands: Vec<&str> = done.stdout.lines().filter(|line| line.starts_with("::")).collect();
    assert!(
        commands.iter().any(|line| line.starts_with(
            "::error file=a%2Cb/kindlm.yaml,line=9,endLine=9,col=25,endColumn=34,title=speclens%3A unknown-key::unknown key `containss`"
        )),
        "{done:?}"
    );
    assert!(commands.iter().any(|line| line.starts_with("::warning ") && line.contains("unknown-key")), "{done:?}");
    assert_eq!(commands.len(), done.stdout.lines().count() - 1, "{done:?}");
    assert!(done.stdout.lines().last().unwrap().ends_with(" in 1 file"), "{done:?}");
    let ran = place.run(&["run", "--report", "github", "--allow", "unknown-key"]);
    assert_eq!(ran.code, Some(2), "{ran:?}");
    assert!(ran.stdout.contains("::error ") && !ran.stdout.contains("unknown-key"), "{ran:?}");
}
