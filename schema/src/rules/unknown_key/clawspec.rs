//! Keys that contracts do not have, because of which ClawSpec rejects the file, and keys of the coverage ledger that are almost
//! those that are read: any other is free there.

use crate::{
    dialect::clawspec::kinds::ContractFile,
    document::{NodeRef, Pointer},
    finding::{Finding, Report, Rule, Scope, Site, Words},
    json_schema::SpecFile,
    problem::{Code, Fix, Severity},
    spot::Spot,
    validate::{Context, rename_title},
    words::{all_of, nearest},
};

/// A key because of which ClawSpec rejects the file, with what the schema says of it.
#[derive(Debug)]
struct Refused(Box<dyn Rule>);

/// A second kind of contract in one file.
#[derive(Debug)]
struct SecondKind {
    rule: Box<dyn Rule>,
    key: String,
}

/// A target under another name, with the keys of it that are known.
#[derive(Debug)]
struct Meta {
    rule: Box<dyn Rule>,
    known: Vec<&'static str>,
}

/// `orchestrator` in place of `name`, as the guide shows it.
#[derive(Debug)]
struct Orchestrator {
    rule: Box<dyn Rule>,
    has_name: bool,
}

/// Says of an unknown key what is known of it here.
pub(crate) fn explain(context: &Context<'_>, finding: Finding) -> Finding {
    let (Some(parent), Some(key)) = (finding.at().parent(), finding.at().last()) else { return finding };
    if !context.file.has_cases() || finding.code() != Code::UnknownKey {
        return finding;
    }
    let in_root = parent.is_root() && context.base.is_root();
    if in_root && ["target", "handoff", "pipeline"].contains(&key.as_str()) {
        return finding.with_rule(|rule| Box::new(SecondKind { rule, key }));
    }
    let is_of_scenario = parent.is_root() && context.file == SpecFile::CLAWSPEC_SCENARIOS && !in_root;
    let finding = match finding.severity() {
        Severity::Warning => finding.with_rule(|rule| Box::new(Refused(rule))),
        _ if is_of_scenario => finding.with_rule(|rule| Box::new(Refused(rule))),
        Severity::Error | Severity::Information | Severity::Hint => finding,
    };
    let holder = context.node.find(&parent);
    match (ContractFile::of(context.file), key.as_str()) {
        (ContractFile::Scenarios, "meta") if in_root => explain_meta(context.node, finding),
        (ContractFile::Pipeline, "orchestrator") if parent == Pointer::root().key("pipeline") => {
            let has_name = holder.is_some_and(|pipeline| pipeline.get("name").is_some());
            // That `name` is missing is the same mistake.
            let same = Scope::CodeAt(Code::MissingField, parent.key("name"));
            finding.with_rule(|rule| Box::new(Orchestrator { rule, has_name })).instead_of(same)
        }
        _ => finding,
    }
}

fn explain_meta(root: NodeRef<'_>, finding: Finding) -> Finding {
    let meta = root.get("meta").filter(|meta| meta.get("path").is_some() && root.get("target").is_none());
    let Some(meta) = meta else { return finding };
    let known = ["path", "trigger"].into_iter().filter(|key| meta.get(key).is_some()).collect();
    finding.with_rule(|rule| Box::new(Meta { rule, known }))
}

/// A key that is almost one that is read.
#[derive(Debug)]
struct NearlyRead {
    key: String,
    near: &'static str,
}

/// Looks at an entry of the coverage ledger.
pub(crate) fn check_entry(item: &Spot<'_>, report: &mut Report) {
    const READ: [(Option<&str>, &[&str]); 4] = [
        (None, &["id", "path", "tier", "status", "contracts", "coverage", "verification"]),
        (Some("contracts"), &["scenario_file", "pipeline_file", "handoff_files"]),
        (Some("coverage"), &["negative"]),
        (Some("verification"), &["approved_smoke_scenario"]),
    ];
    for (block, names) in READ {
        let Some(mapping) = block.map_or_else(|| Some(item.clone()), |block| item.get(block)) else { continue };
        for (key, member) in mapping.entries() {
            if names.contains(&key.as_str()) || key.len() < 4 {
                continue;
            }
            if let Some(near) = nearest(&key, names.iter().copied().filter(|name| mapping.get(name).is_none())) {
                report.push(member.head_finding(NearlyRead { key, near }));
            }
        }
    }
}

impl Rule for Refused {
    fn code(&self) -> Code {
        Code::UnknownKey
    }

    fn severity(&self) -> Severity {
        Severity::Error
    }

    fn words(&self, site: &Site<'_>) -> Words {
        Words { note: Some("ClawSpec rejects the whole file".to_owned()), ..self.0.words(site) }
    }
}

impl Rule for SecondKind {
    fn code(&self) -> Code {
        Code::UnknownKey
    }

    fn severity(&self) -> Severity {
        Severity::Error
    }

    fn words(&self, site: &Site<'_>) -> Words {
        let message = "a contract has exactly one of `target`, `handoff` and `pipeline`".to_owned();
        let words = Words { message, fixes: Vec::new(), ..self.rule.words(site) };
        words.help(format!("move `{}` to a separate file", self.key))
    }
}

impl Rule for Meta {
    fn code(&self) -> Code {
        Code::UnknownKey
    }

    fn severity(&self) -> Severity {
        self.rule.severity()
    }

    fn words(&self, site: &Site<'_>) -> Words {
        let help = rename_title("target");
        let edits = site.spot().and_then(|meta| meta.renamed("target"));
        let fixes = edits.map(|edits| Fix::guess(&help, edits)).into_iter().collect();
        let words = Words { message: "unknown key `meta`".to_owned(), fixes, ..self.rule.words(site) };
        words.help(format!("{help}: it has {}", all_of(self.known.iter().copied())))
    }
}

impl Rule for Orchestrator {
    fn code(&self) -> Code {
        Code::UnknownKey
    }

    fn severity(&self) -> Severity {
        self.rule.severity()
    }

    fn words(&self, site: &Site<'_>) -> Words {
        let words = Words::new("unknown key `orchestrator`")
            .note("ClawSpec's guide uses it, but its schema requires `name`");
        let words = Words { subject: self.rule.words(site).subject, ..words };
        if self.has_name {
            return words;
        }
        // The name of an agent becomes the name of the pipeline, and of its reports.
        let help = rename_title("name");
        let edits = site.spot().and_then(|old| old.renamed("name"));
        words.fix(edits.map(|edits| Fix::guess(&help, edits))).help(help)
    }
}

impl Rule for NearlyRead {
    fn code(&self) -> Code {
        Code::UnknownKey
    }

    fn words(&self, _: &Site<'_>) -> Words {
        Words::new(format!("unknown key `{}`", self.key)).help(rename_title(self.near))
    }
}
