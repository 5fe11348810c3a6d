//! The target directory of a contract: whether it exists, contains the contract, and passes ClawSpec's structural checks.

use crate::{
    dialect::clawspec::new_file as new_files,
    dialect::clawspec::structure,
    files::{FileKind, Files},
    finding::{MessageParts, Report},
    gateway::workspace::{below_root, is_placed},
    kind::target_of,
    lint_node::LintNode,
    new_file,
    problem::{Code, Fix, Severity},
    shape::scalar,
    words::nearest_file,
};

struct Target<'d> {
    path: LintNode<'d>,
    key: &'static str,
    /// Directory, relative to the root.
    wanted: String,
    /// Name of the file that defines the target.
    definition: &'static str,
    /// Directory that the location of the contract implies, if it must be the same but differs.
    elsewhere: Option<String>,
}

/// Checks the target of a scenario contract.
pub(super) fn check_scenarios(root: &LintNode<'_>, files: &dyn Files, report: &mut Report) {
    let Some(path) = root.find(&["target", "path"]) else { return };
    let Some(text) = path.text().filter(|text| !text.is_empty() && is_placed(files)) else { return };
    let (here, wanted) = (target_of(files.place()), below_root(text));
    let is_outside = match &wanted {
        Some(_) => text.starts_with("./") || text.contains("../"),
        None => text.starts_with(['/', '~', '.']),
    };
    if is_outside {
        let fix = |here| Some(Fix::guess(format!("change it to `{here}`"), path.replaced(scalar(here))?));
        let words = MessageParts::new(format!("`{text}` is not a normalized path"))
            .note("ClawSpec compares the path as text")
            .help("write it without `./` and `..`, relative to the root of the workspace")
            .fix_with_help(here.and_then(fix));
        return report.push(path.problem(Code::TargetMismatch, words));
    }
    let Some(wanted) = wanted else { return };
    // Without settings, the root may differ from the author's: a path with the same end is accepted.
    // A root is never `skills` or `agents` itself.
    let is_root = |rest: &str| !["skills/", "agents/"].iter().any(|name| rest.ends_with(name));
    let is_here = |here: &&str| {
        here.strip_suffix(&wanted).is_some_and(|rest| rest.is_empty() || rest.ends_with('/') && is_root(rest))
    };
    let wanted = here.filter(is_here).map_or_else(|| wanted.clone(), str::to_owned);
    let is_agent = root.find(&["target", "type"]).is_some_and(|kind| kind.text() == Some("agent"));
    let definition = if is_agent { "SOUL.md" } else { "SKILL.md" };
    let elsewhere = here.filter(|here| *here != wanted).map(str::to_owned);
    Target { path, key: "target.path", wanted, definition, elsewhere }.check(files, report);
}

/// Checks the skill of a pipeline.
pub(super) fn check_pipeline(root: &LintNode<'_>, files: &dyn Files, report: &mut Report) {
    let path = root.find(&["pipeline", "skill_path"]).filter(|_| is_placed(files));
    if let Some((path, wanted)) = path.and_then(|path| Some((path.clone(), below_root(path.text()?)?))) {
        let (key, definition) = ("pipeline.skill_path", "SKILL.md");
        Target { path, key, wanted, definition, elsewhere: None }.check(files, report);
    }
}

/// Whether a directory has the definition of a skill or an agent.
fn is_defined(directory: &str, files: &dyn Files) -> bool {
    ["SKILL.md", "SOUL.md"].iter().any(|name| files.kind(&format!("{directory}/{name}")) == Some(FileKind::File))
}

impl Target<'_> {
    fn check(&self, files: &dyn Files, report: &mut Report) {
        let Target { path, wanted, definition, .. } = self;
        let file = format!("{wanted}/{definition}");
        match (files.kind(wanted), &self.elsewhere) {
            (Some(FileKind::File | FileKind::Other), _) => {
                let words = MessageParts::new(format!("`{wanted}` is not a directory"))
                    .help(format!("name the directory that contains `{definition}`"));
                report.push(path.problem(Code::MissingFile, words));
            }
            (Some(FileKind::Directory), None) if files.kind(&file).is_some() => {
                self.check_definition(&file, files, report);
            }
            (Some(FileKind::Directory), Some(here)) if files.kind(&file).is_some() => {
                let note = format!("ClawSpec counts the scenarios as tests of `{wanted}`, but the file is in `{here}`");
                let words = MessageParts::new("`target.path` is not the directory of this file").note(note);
                let fix = self.change_to(here, is_defined(here, files));
                report.push(path.problem(Code::TargetMismatch, words.fix_with_help(fix)));
            }
            (Some(FileKind::Directory), _) => {
                let finding = self.missing(format!("`{wanted}` has no `{definition}`"), &file, None, files);
                report.push(path.problem(Code::MissingFile, finding).with_severity(Severity::Warning));
            }
            (None, _) => {
                let message = format!("`{wanted}` in `{}` does not exist", self.key);
                let (directory, name) = wanted.rsplit_once('/').unwrap_or(("", wanted));
                let entries = files.list(directory);
                let names = entries.iter().filter(|(_, kind)| *kind == FileKind::Directory);
                let near = nearest_file(name, names.map(|(name, _)| name.as_str()));
                let near =
                    near.map(|near| if directory.is_empty() { near.to_owned() } else { format!("{directory}/{near}") });
                report.push(path.problem(Code::MissingFile, self.missing(message, &file, near, files)));
            }
        }
    }

    /// Returns the text about a missing directory or definition. `near`: the most similar directory.
    fn missing(&self, message: String, file: &str, near: Option<String>, files: &dyn Files) -> MessageParts {
        // The author moved the directory, or copied the contract: the target is where the contract is.
        let here = target_of(files.place()).filter(|here| *here != self.wanted && is_defined(here, files));
        let to_here = here.and_then(|here| self.change_to(here, true));
        let to_near = near.and_then(|near| {
            let edits = self.path.replaced(scalar(&near))?;
            let is_said = to_here.as_ref().is_some_and(|known| known.edits == edits);
            let fix = Fix::guess(format!("change it to `{near}`"), edits);
            (!is_said).then_some(Fix { preferred: here.is_none(), ..fix })
        });
        let template = if self.definition == "SOUL.md" { new_files::SOUL } else { new_files::SKILL };
        let words = MessageParts::new(message).note("ClawSpec refuses to run this target");
        words.fix(to_here).fix(to_near).fix(new_file::creation(file, template, files))
    }

    /// Returns the fix that changes the path to the contract's directory; only a suggestion if that has no definition.
    fn change_to(&self, here: &str, is_defined: bool) -> Option<Fix> {
        let edits = self.path.replaced(scalar(here))?;
        let fix = if is_defined { Fix::guess } else { Fix::suggestion };
        Some(fix(format!("change `{}` to `{here}`", self.key), edits))
    }

    /// Reports a definition that does not pass ClawSpec's structural checks. The problem is in another file, so it is
    /// reported once, where that file is named.
    fn check_definition(&self, file: &str, files: &dyn Files, report: &mut Report) {
        let Ok(bytes) = files.read(file) else { return };
        let text = String::from_utf8_lossy(&bytes);
        let failures = if self.definition == "SOUL.md" {
            structure::soul(&text)
        } else {
            let contract = format!("{}/tests/scenarios.yaml", self.wanted);
            structure::skill(&text, contract == files.place() || files.kind(&contract) == Some(FileKind::File))
        };
        if failures.is_empty() {
            return;
        }
        let helps: Vec<&str> = failures.iter().map(|failure| failure.help.as_str()).collect();
        let names: Vec<String> = failures.iter().map(|failure| format!("`{}`", failure.check)).collect();
        let words = MessageParts::new(format!("`{file}` does not pass ClawSpec's structural checks"))
            .note(format!("ClawSpec refuses to run this target; failed checks: {}", names.join(", ")))
            .help(helps.join("\n"));
        report.push(self.path.problem(Code::InvalidDefinition, words));
    }
}
