//! A tab between the dash of an item and the first key of the item. It would be indentation, where YAML allows only
//! spaces.

use crate::{
    document::{ScalarRules, Shape},
    edit,
    finding::{Finding, Location, MessageParts, Report, Rule},
    problem::{Code, Edit, Fix},
    walk::Value,
};

/// Blanks with a tab after a dash.
#[derive(Debug)]
struct TabAfterDash {
    /// Program that rejects the file.
    program: Option<&'static str>,
}

/// Checks a list or mapping that may be an item. PyYAML allows tabs nowhere, which another rule reports.
pub(crate) fn check(value: &Value<'_, '_>, report: &mut Report) {
    let node = value.node;
    let document = node.document();
    let is_block = matches!(node.shape(), Shape::Mapping | Shape::Sequence) && !edit::is_flow(node);
    if !document.has_tab() || document.rules() == ScalarRules::Yaml11 || !is_block {
        return;
    }
    let start = node.own_range().start;
    let text = document.text();
    let line = text.line_to_byte(text.byte_to_line(start));
    let Some(before) = text.get_byte_slice(line..start).map(String::from) else { return };
    let words = before.trim_end_matches([' ', '\t']);
    if words.ends_with('-') && before[words.len()..].contains('\t') {
        let program = value.file().dialect().map(|dialect| dialect.program());
        let range = line + words.len()..start;
        report.push(Finding::new(TabAfterDash { program }, value.lint_node().at, range));
    }
}

impl Rule for TabAfterDash {
    const CODE: Code = Code::Syntax;

    fn message(&self, location: &Location<'_>) -> MessageParts {
        let spaces = " ".repeat(location.range.len());
        let words = MessageParts::new("a tab where only spaces are allowed");
        let words = match self.program {
            Some(program) => words.note(format!("{program} rejects the file")),
            None => words,
        };
        words.fix_with_help(Some(Fix::safe("write a space instead", vec![Edit::new(location.range.clone(), spaces)])))
    }
}
