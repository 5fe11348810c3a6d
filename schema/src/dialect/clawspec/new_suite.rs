//! A skill with a scenario for each recorded conversation.

use std::fmt::Write;

use crate::{
    format::NewTest,
    problem::NewFile,
    quoting::{scalar, text},
};

pub(super) fn new_suite(name: &str, tests: &[NewTest<'_>]) -> Vec<NewFile> {
    let path = scalar(&format!("skills/{name}"));
    let trigger = scalar(&format!("/{name}"));
    let mut yaml = format!("version: \"1.0\"\ntarget:\n  type: skill\n  path: {path}\n  trigger: {trigger}\n");
    yaml.push_str(
        "# The recording shows nothing that the skill refuses.\n# speclens: allow(missing-negative)\nscenarios:\n",
    );
    for NewTest { name, conversation, .. } in tests {
        let invoke = text(&conversation.user.replace("{{", "{ {"), 6);
        let _ = writeln!(yaml, "  - name: {}\n    when:\n      invoke: {invoke}\n    then: []", scalar(name));
    }
    let skill = format!(
        "---\nname: {0}\ndescription: Use when the requests of the recorded conversations are made.\nversion: 0.1.0\npermissions: {{ filesystem: read, network: none }}\n---\n\n# {1}\n",
        scalar(name),
        name
    );
    vec![
        NewFile { path: format!("skills/{name}/tests/scenarios.yaml"), text: yaml },
        NewFile { path: format!("skills/{name}/SKILL.md"), text: skill },
    ]
}
