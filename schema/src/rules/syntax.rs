//! Valid YAML that some programs reject.

use crate::{
    document::{ScalarRules, Shape},
    edit,
    finding::{Finding, MessageParts, Report},
    json_schema::SpecFile,
    problem::{Code, Edit, Fix},
    walk::Value,
};

/// Checks a list or mapping that may be an item. PyYAML allows tabs nowhere, which another rule reports.
pub(crate) fn check(value: &Value<'_, '_>, file: SpecFile, report: &mut Report) {
    let node = value.node;
    let document = node.document();
    let is_block = matches!(node.shape(), Shape::Mapping | Shape::Sequence) && !edit::nodes::is_flow(node);
    if !document.has_tab() || document.rules() == ScalarRules::Yaml11 || !is_block {
        return;
    }
    let start = node.own_range().start;
    let text = document.text();
    let line = text.line_to_byte(text.byte_to_line(start));
    let Some(before) = text.get_byte_slice(line..start).map(String::from) else { return };
    let words = before.trim_end_matches([' ', '\t']);
    if words.ends_with('-') && before[words.len()..].contains('\t') {
        let range = line + words.len()..start;
        let words = MessageParts::new("a tab where only spaces are allowed");
        let words = match file.dialect() {
            Some(dialect) => words.note(format!("{} rejects the file", dialect.program())),
            None => words,
        };
        let edits = vec![Edit::new(range.clone(), " ".repeat(range.len()))];
        let words = words.fix_with_help(Some(Fix::safe("write a space instead", edits)));
        report.push(Finding::stated(Code::Syntax, words, value.lint_node().at, range));
    }
}
