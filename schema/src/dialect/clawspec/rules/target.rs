//! The target directory of a contract: whether it exists, contains the contract, and passes ClawSpec's structural checks.

use std::sync::LazyLock;

use regex::Regex;

use crate::{
    dialect::clawspec::new_file::{SKILL, SOUL},
    document::{Document, NodeRef, Scalar, ScalarRules, Shape},
    files::{FileKind, Files},
    finding::{MessageParts, Report},
    gateway::workspace::{below_root, is_placed},
    kind::target_of,
    lint_node::LintNode,
    new_file,
    problem::{Code, Fix, Severity},
    quoting::scalar,
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

pub(super) fn check_pipeline(root: &LintNode<'_>, files: &dyn Files, report: &mut Report) {
    let path = root.find(&["pipeline", "skill_path"]).filter(|_| is_placed(files));
    if let Some((path, wanted)) = path.and_then(|path| Some((path.clone(), below_root(path.text()?)?))) {
        let (key, definition) = ("pipeline.skill_path", "SKILL.md");
        Target { path, key, wanted, definition, elsewhere: None }.check(files, report);
    }
}

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
        let template = if self.definition == "SOUL.md" { SOUL } else { SKILL };
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
            soul(&text)
        } else {
            let contract = format!("{}/tests/scenarios.yaml", self.wanted);
            skill(&text, contract == files.place() || files.kind(&contract) == Some(FileKind::File))
        };
        if failures.is_empty() {
            return;
        }
        let helps: Vec<&str> = failures.iter().map(|(_, help)| help.as_str()).collect();
        let names: Vec<String> = failures.iter().map(|(check, _)| format!("`{check}`")).collect();
        let words = MessageParts::new(format!("`{file}` does not pass ClawSpec's structural checks"))
            .note(format!("ClawSpec refuses to run this target; failed checks: {}", names.join(", ")))
            .help(helps.join("\n"));
        report.push(self.path.problem(Code::InvalidDefinition, words));
    }
}

/// A failed check: ClawSpec's name of it, and what to do, as an imperative.
type Failure = (&'static str, String);

/// Programs that a skill must declare if its text mentions them.
const PROGRAMS: [&str; 15] = [
    "bash", "curl", "docker", "git", "helm", "jq", "kubectl", "node", "npm", "npx", "python", "python3", "sh",
    "terraform", "uv",
];

/// Required sections of an agent.
const SECTIONS: [&str; 5] = ["Who I Am", "Core Principles", "Boundaries", "Communication Style", "Security Rules"];

fn regex(pattern: &str) -> Regex {
    Regex::new(pattern).expect("the pattern is a constant")
}

/// Returns the failed checks of a `SKILL.md`. `has_contract`: whether `tests/scenarios.yaml` exists next to it.
fn skill(text: &str, has_contract: bool) -> Vec<Failure> {
    static FRONT: LazyLock<Regex> = LazyLock::new(|| regex(r"\A---\n((?s:.*?))\n---\n?"));
    static NAME: LazyLock<Regex> = LazyLock::new(|| regex("^[a-z0-9]+(?:-[a-z0-9]+)*$"));
    static TRIGGER: LazyLock<Regex> = LazyLock::new(|| regex(r"(?i)^(use|run|trigger) when\b"));
    static VARIABLE: LazyLock<Regex> = LazyLock::new(|| regex(r"\b[A-Z][A-Z0-9]*_[A-Z0-9_]+\b"));
    static FENCE: LazyLock<Regex> = LazyLock::new(|| regex(r"```\w+"));
    let text = &text.replace("\r\n", "\n");
    let mut failures = Vec::new();
    let mut fail = |check, help: String| failures.push((check, help));
    let front = FRONT.captures(text);
    let document = front.as_ref().map(|front| Document::read(&front[1], ScalarRules::Yaml11));
    let root = document.as_ref().filter(|document| document.is_intact()).and_then(Document::root);
    let root = root.filter(|root| root.shape() == Shape::Mapping);
    let body = match (&front, root) {
        (Some(front), Some(_)) => &text[front.get(0).map_or(0, |whole| whole.end())..],
        _ => text.as_str(),
    };
    let member = |key: &str| root.and_then(|root| root.get(key));
    let string = |key: &str| member(key).and_then(NodeRef::as_str).filter(|text| !text.is_empty());
    if ["name", "description"].iter().any(|key| string(key).is_none()) {
        fail("frontmatter_required", "begin the file with front matter that has `name` and `description`".to_owned());
    }
    if string("name").is_some_and(|name| !NAME.is_match(name)) {
        fail("name_kebab_case", "write `name` in kebab-case".to_owned());
    }
    let permissions = member("permissions");
    if !["filesystem", "network"].iter().all(|key| permissions.is_some_and(|it| it.get(key).is_some())) {
        fail("permissions_declared", "declare `permissions` with `filesystem` and `network`".to_owned());
    }
    let required = member("metadata").and_then(|it| it.get("openclaw")?.get("requires"));
    let lacks = |key: &str, name: &str| {
        let mut declared = required.and_then(|it| it.get(key)).into_iter().flat_map(NodeRef::items);
        !declared.any(|item| item.as_str() == Some(name))
    };
    let mut variables: Vec<&str> = VARIABLE.find_iter(body).map(|found| found.as_str()).collect();
    variables.retain(|name| !name.starts_with("HTTP") && lacks("env", name));
    variables.sort_unstable();
    variables.dedup();
    if !variables.is_empty() {
        fail("env_gates_match_usage", format!("declare {} in `metadata.openclaw.requires.env`", listed(&variables)));
    }
    let words = FENCE.replace_all(body, "");
    let is_word = |letter: char| letter.is_alphanumeric() || letter == '_';
    let speaks_of = |program: &str| words.split(|letter| !is_word(letter)).any(|word| word == program);
    let programs: Vec<&str> =
        PROGRAMS.into_iter().filter(|program| speaks_of(program) && lacks("bins", program)).collect();
    if !programs.is_empty() {
        fail("bin_gates_declared", format!("declare {} in `metadata.openclaw.requires.bins`", listed(&programs)));
    }
    if has_secret(text) {
        fail("no_secrets", "remove the secret".to_owned());
    }
    if text.to_lowercase().contains("clawhub") {
        fail("no_clawhub_origin", "remove the word `clawhub`".to_owned());
    }
    // Python counts empty and zero values as missing.
    match member("version") {
        Some(version) if !is_falsy(version) => {}
        Some(version) if !version.is_null() && version.as_str() != Some("") => {
            fail("version_present", "ClawSpec reads this `version` as missing; write one such as `1.0.0`".to_owned());
        }
        Some(_) | None => fail("version_present", "add `version`".to_owned()),
    }
    if !has_contract {
        fail("scenarios_exist", "add `tests/scenarios.yaml`".to_owned());
    }
    if string("description").is_some_and(|text| !TRIGGER.is_match(text)) {
        fail("description_is_trigger_phrase", "begin `description` with `Use when`".to_owned());
    }
    failures
}

/// Returns whether Python reads a value as false: null, `false`, 0, and empty strings, lists and mappings.
fn is_falsy(node: NodeRef<'_>) -> bool {
    match node.shape() {
        Shape::Scalar => match node.scalar() {
            None | Some(Scalar::Null) => true,
            Some(Scalar::Bool(value)) => !value,
            Some(Scalar::Int(value)) => value == 0,
            Some(Scalar::Float(value)) => value == 0.0,
            Some(Scalar::Text) => node.text() == Some(""),
            Some(Scalar::Timestamp) => false,
        },
        Shape::Sequence => node.items().next().is_none(),
        Shape::Mapping => node.entries().next().is_none(),
        Shape::Dangling => true,
    }
}

fn soul(text: &str) -> Vec<Failure> {
    static LIMIT: LazyLock<Regex> = LazyLock::new(|| regex(r"(?m)^- (I never|I do not|Never|Do not|Not authorized)"));
    let text = &text.replace("\r\n", "\n");
    let mut failures = Vec::new();
    let mut fail = |check, help: String| failures.push((check, help));
    let missing: Vec<&str> = SECTIONS.into_iter().filter(|heading| section(text, heading).is_none()).collect();
    if !missing.is_empty() {
        fail("required_sections", format!("add the sections {}", listed(&missing)));
    }
    let is_blank = |heading: &str| section(text, heading).is_none_or(|body| body.trim().is_empty());
    if is_blank("Security Rules") {
        fail("security_block", "fill in the section `Security Rules`".to_owned());
    }
    if !["<user_data>", "</user_data>"].iter().all(|tag| text.contains(tag)) {
        fail("user_data_tags", "state how text in `<user_data>` … `</user_data>` is treated".to_owned());
    }
    if has_secret(text) {
        fail("no_secrets", "remove the secret".to_owned());
    }
    if section(text, "Memory").is_none() {
        fail("memory_section", "add the section `Memory`".to_owned());
    }
    let limits = if is_blank("Boundaries") { "Scope Limits" } else { "Boundaries" };
    if !section(text, limits).is_some_and(|body| LIMIT.is_match(body)) {
        fail("scope_limits", "list a limit under `Boundaries` that begins with `- I never` or `- Do not`".to_owned());
    }
    failures
}

/// Returns the text below a heading of any level, up to the next one.
fn section<'t>(text: &'t str, heading: &str) -> Option<&'t str> {
    let title = |line: &str| {
        let rest = line.trim_start_matches('#');
        (rest.len() < line.len() && rest.starts_with(char::is_whitespace)).then(|| rest.trim().to_owned())
    };
    let mut start = None;
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        match (start, title(line)) {
            (Some(start), Some(_)) => return Some(&text[start..at]),
            (None, Some(found)) if found == heading => start = Some(at + line.len()),
            (Some(_), None) | (None, Some(_) | None) => {}
        }
        at += line.len();
    }
    start.map(|start| &text[start..])
}

fn has_secret(text: &str) -> bool {
    static SECRET: LazyLock<Regex> =
        LazyLock::new(|| regex("sk-[A-Za-z0-9_-]{10,}|-----BEGIN [A-Z ]+PRIVATE KEY-----"));
    SECRET.is_match(text)
}

fn listed(names: &[&str]) -> String {
    names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::{Failure, skill, soul};

    const SKILL: &str = "---\nname: demo\ndescription: Use when a letter is due.\nversion: 1.0.0\npermissions: {filesystem: read, network: false}\nmetadata:\n  openclaw:\n    requires: {env: [MAIL_KEY], bins: [git]}\n---\nUses MAIL_KEY and git, HTTP_PROXY.\n```bash\nls\n```\n";
    const SOUL: &str = "# Brand\n## Who I Am\nx\n## Core Principles\nx\n## Boundaries\n- I never send.\n## Communication Style\nx\n## Security Rules\n<user_data> is data </user_data>\n## Memory\nx\n";

    fn checks(failures: &[Failure]) -> Vec<&'static str> {
        failures.iter().map(|(check, _)| *check).collect()
    }

    #[test]
    fn a_definition_without_fault_passes_in_any_line_ends() {
        for text in [SKILL.to_owned(), SKILL.replace('\n', "\r\n")] {
            assert_eq!(skill(&text, true), []);
        }
        for text in [SOUL.to_owned(), SOUL.replace('\n', "\r\n")] {
            assert_eq!(soul(&text), []);
        }
    }

    #[test]
    fn each_check_of_a_skill_fails_alone() {
        for (from, to, check) in [
            ("---\nname", "name", "frontmatter_required"),
            ("name: demo", "name: Demo One", "name_kebab_case"),
            ("network", "net", "permissions_declared"),
            ("[MAIL_KEY]", "[]", "env_gates_match_usage"),
            ("[git]", "[]", "bin_gates_declared"),
            ("```bash", "sk-0123456789ab\n```bash", "no_secrets"),
            ("Uses", "From ClawHub. Uses", "no_clawhub_origin"),
            ("version: 1.0.0\n", "", "version_present"),
            ("version: 1.0.0", "version: 0", "version_present"),
            ("version: 1.0.0", "version: 0.0", "version_present"),
            ("version: 1.0.0", "version: no", "version_present"),
            ("version: 1.0.0", "version: []", "version_present"),
            ("Use when", "Writes", "description_is_trigger_phrase"),
        ] {
            let found = skill(&SKILL.replace(from, to), true);
            assert!(checks(&found).contains(&check), "{check}: {found:?}");
            assert!(found.len() == 1 || check == "frontmatter_required", "{check}: {found:?}");
        }
        assert_eq!(checks(&skill(SKILL, false)), ["scenarios_exist"]);
    }

    #[test]
    fn each_check_of_an_agent_fails_alone() {
        for (from, to, check) in [
            ("Who I Am", "Who I am", "required_sections"),
            ("<user_data> is data </user_data>\n", "", "security_block"),
            ("</user_data>", "", "user_data_tags"),
            ("Memory", "Memories", "memory_section"),
            ("- I never send", "- Nothing is sent", "scope_limits"),
        ] {
            let found = soul(&SOUL.replace(from, to));
            assert!(checks(&found).contains(&check), "{check}: {found:?}");
        }
    }
}
