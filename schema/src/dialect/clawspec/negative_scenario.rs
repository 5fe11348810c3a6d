//! Template of a scenario that tests what a target must refuse.

use crate::{rules::placeholder::placeholder, shape::scalar};

/// Returns the lines of a negative scenario. The only observable sign of a refusal is that a tool is not
/// called.
pub(crate) fn lines(log_path: &str) -> [String; 9] {
    let refused = placeholder("a request that the target must refuse");
    let tool = placeholder("the name of the tool that the target must not call");
    [
        "- name: refuses".to_owned(),
        "  tags: [negative]".to_owned(),
        "  when:".to_owned(),
        format!("    invoke: {refused}"),
        "  then:".to_owned(),
        "    - type: tool_not_called".to_owned(),
        format!("      tool: {tool}"),
        format!("      log_path: {}", scalar(log_path)),
        format!("      run_id: {}", scalar("{{run_id}}")),
    ]
}
