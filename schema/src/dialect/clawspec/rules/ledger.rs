//! A coverage ledger: keys that resemble known ones (other keys are allowed there), missing files, and what its entries
//! claim about negative scenarios.

use crate::{
    dialect::clawspec::coverage::{base, contract_has_negative, entries, named_contracts},
    document::Pointer,
    files::{FileKind, Files},
    finding::{MessageParts, Report},
    gateway::workspace::{is_placed, joined},
    json_schema::SpecFile,
    lint_node::LintNode,
    problem::{Code, Severity},
    rules::missing_file::Missing,
    shape::Shape,
    validate::rename_title,
    words::nearest,
};

pub(super) fn check(root: &LintNode<'_>, files: &dyn Files, report: &mut Report) {
    let base = base(files.place());
    let shape = Shape::find(SpecFile::CLAWSPEC_LEDGER, &Pointer::parse("/waves/one/items/0"), None);
    for (_, item) in entries(root) {
        if let Some(shape) = &shape {
            check_keys(&item, shape, report);
            for (key, block) in item.entries() {
                let shape = shape.step(&key, None);
                shape.iter().for_each(|shape| check_keys(&block, shape, report));
            }
        }
        if is_placed(files) {
            check_files(&item, base, files, report);
            check_negative(&item, files, report);
        }
    }
}

fn check_keys(mapping: &LintNode<'_>, shape: &Shape, report: &mut Report) {
    let fields = shape.fields(None);
    for (key, member) in mapping.entries() {
        if key.len() < 4 || fields.iter().any(|field| field.name == key) {
            continue;
        }
        let free = fields.iter().map(|field| field.name).filter(|name| mapping.get(name).is_none());
        if let Some(near) = nearest(&key, free) {
            let words = MessageParts::new(format!("unknown key `{key}`")).help(rename_title(near));
            report.push(member.head_problem(Code::UnknownKey, words));
        }
    }
}

/// Reports missing targets and contracts of an entry.
fn check_files(item: &LintNode<'_>, base: &str, files: &dyn Files, report: &mut Report) {
    let target = item.get("path").or_else(|| item.get("id")).map(|target| (target, None));
    let contracts = named_contracts(item).into_iter().map(|(_, file, template)| (file, Some(template)));
    for (file, template) in target.into_iter().chain(contracts) {
        let Some((path, wanted)) = file.text().and_then(|path| Some((path, joined(base, path)?))) else { continue };
        let (kind, is_there) = match template {
            None => (FileKind::Directory, files.kind(&wanted).is_some()),
            Some(_) => (FileKind::File, files.kind(&wanted) == Some(FileKind::File)),
        };
        if !is_there {
            let missing = Missing::of(path, &wanted, kind, template, files);
            report.push(Missing { severity: Severity::Warning, ..missing }.at(&file));
        }
    }
    let Some(contracts) = item.get("contracts").filter(|_| item.text_at("tier") == Some("orchestrator")) else {
        return;
    };
    for (key, covers) in [("pipeline_file", "pipeline"), ("handoff_files", "handoffs")] {
        if contracts.get(key).is_none() {
            let words = MessageParts::new(format!("the orchestrator is missing `{key}`"))
                .note(format!("no contract covers its {covers}, but `clawspec coverage` does not report this gap"))
                .help(format!("add `{key}` to `contracts`"));
            report.push(item.head_problem(Code::MissingField, words).with_severity(Severity::Hint));
        }
    }
}

/// Checks that `coverage.negative` of an entry agrees with the contract.
fn check_negative(item: &LintNode<'_>, files: &dyn Files, report: &mut Report) {
    let Some(has_negative) = contract_has_negative(item, files) else { return };
    let claimed = item.find(&["coverage", "negative"]);
    let (claimed, is_claimed) = (claimed.as_ref().unwrap_or(item), claimed.as_ref().and_then(LintNode::bool));
    if is_claimed == Some(true) && !has_negative {
        let words =
            MessageParts::new("`coverage.negative` is `true`, but the contract has no scenario tagged `negative`")
                .help("add such a scenario, or write `negative: false`");
        report.push(claimed.problem(Code::MissingNegative, words));
    } else if is_claimed != Some(true) && has_negative {
        let words =
            MessageParts::new("the contract has a scenario tagged `negative`, but `coverage.negative` is not `true`")
                .help("write `negative: true`");
        report.push(claimed.head_problem(Code::MissingNegative, words).with_severity(Severity::Information));
    }
}
