//! Templates for new files: one for each kind of missing file that specs name.

use crate::{
    dialect::clawspec,
    files::{FileKind, Files},
    gateway::config::Config,
    problem::{Fix, NewFile},
    shape::scalar,
};

/// Kind of a missing file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Template {
    /// A JSON Schema.
    JsonSchema,
    /// A task file of cli-bench.
    Tasks,
    /// A scripted model.
    Script,
    /// A directory; an empty file keeps it in version control.
    Directory,
    /// The definition of a skill.
    Skill,
    /// The definition of an agent.
    Soul,
    /// A ClawSpec scenario contract.
    Scenarios,
    /// A ClawSpec pipeline contract.
    Pipeline,
    /// A ClawSpec handoff contract.
    Handoff,
    /// A golden file.
    Golden,
}

/// Returns the fix that creates a missing path; `None` if no file can be created there. `path` is relative to the
/// suite's directory.
pub(crate) fn creation(path: &str, template: Template, files: &dyn Files) -> Option<Fix> {
    let path = path.trim_end_matches('/');
    let is_plain = |step: &str| {
        !matches!(step, "" | "." | "..")
            && !step.contains(|letter: char| letter.is_control() || "\\:*?\"<>|".contains(letter))
    };
    let in_the_way = |at: usize| matches!(files.kind(&path[..at]), Some(FileKind::File | FileKind::Other));
    if files.root().as_os_str().is_empty()
        || path.is_empty()
        || !path.split('/').all(is_plain)
        || path.match_indices('/').any(|(at, _)| in_the_way(at))
    {
        return None;
    }
    let (title, file) = match template {
        Template::Directory => (format!("create the directory `{path}`"), format!("{path}/.gitkeep")),
        Template::JsonSchema
        | Template::Tasks
        | Template::Script
        | Template::Skill
        | Template::Soul
        | Template::Scenarios
        | Template::Pipeline
        | Template::Handoff
        | Template::Golden => (format!("create `{path}`"), path.to_owned()),
    };
    if files.kind(&file).is_some() {
        return None;
    }
    let file = NewFile { path: relative(files.place(), &file), text: template.text(path) };
    Some(Fix::creation(title, file))
}

/// Returns a path below the root relative to a document.
fn relative(place: &str, path: &str) -> String {
    let directories: Vec<&str> =
        place.rsplit_once('/').map(|(directory, _)| directory.split('/').collect()).unwrap_or_default();
    let steps: Vec<&str> = path.split('/').collect();
    let common = directories.iter().zip(&steps).take_while(|(one, other)| one == other).count();
    let up = std::iter::repeat_n("..", directories.len() - common);
    up.chain(steps[common..].iter().copied()).collect::<Vec<_>>().join("/")
}

impl Template {
    /// Returns the template for a value of `x-exists`.
    pub(crate) fn called(name: &str) -> Option<Template> {
        match name {
            "directory" => Some(Template::Directory),
            "golden" => Some(Template::Golden),
            "soul" => Some(Template::Soul),
            _ => None,
        }
    }

    /// Returns the content of a new file at this path.
    fn text(self, path: &str) -> String {
        let target = target_of(path);
        let name = target.rsplit('/').next().unwrap_or(target);
        match self {
            Template::Directory => String::new(),
            Template::JsonSchema => include_str!("new_file/schema.json.txt").to_owned(),
            Template::Tasks => include_str!("new_file/tasks.yaml.txt").to_owned(),
            Template::Script => include_str!("new_file/script.yaml.txt").to_owned(),
            Template::Golden => include_str!("new_file/golden.md.txt").to_owned(),
            Template::Skill => filled(include_str!("new_file/SKILL.md.txt"), &[("%name%", &scalar(name))]),
            Template::Soul => filled(include_str!("new_file/SOUL.md.txt"), &[("%name%", name)]),
            Template::Scenarios => scenarios(target, name),
            Template::Pipeline => filled(
                include_str!("new_file/pipeline.yaml.txt"),
                &[("%name%", &scalar(name)), ("%path%", &scalar(target)), ("%trigger%", &scalar(&format!("/{name}")))],
            ),
            Template::Handoff => handoff(path),
        }
    }
}

/// Replaces the placeholders of a template.
fn filled(template: &str, values: &[(&str, &str)]) -> String {
    values.iter().fold(template.to_owned(), |text, (placeholder, value)| text.replace(placeholder, value))
}

/// Returns the tested directory: `skills/demo` for `skills/demo/tests/scenarios.yaml`.
fn target_of(path: &str) -> &str {
    let directory = path.rsplit_once('/').map_or("", |(directory, _)| directory);
    let target = directory.split_once("/tests").map_or(directory, |(target, _)| target);
    if target.is_empty() { "skills/demo" } else { target }
}

fn scenarios(target: &str, name: &str) -> String {
    let (kind, trigger) = match target.split('/').next() {
        Some("agents") => ("agent", scalar(name)),
        Some(_) | None => ("skill", scalar(&format!("/{name}"))),
    };
    let values = [("%kind%", kind), ("%path%", &scalar(target)), ("%trigger%", &trigger)];
    let mut text = filled(include_str!("new_file/scenarios.yaml.txt"), &values);
    let log_path = Config::default().log_path();
    text.extend(clawspec::rules::contract::negative_scenario(&log_path).map(|line| format!("  {line}\n")));
    text
}

fn handoff(path: &str) -> String {
    let file = path.rsplit('/').next().unwrap_or(path);
    let stem = file.rsplit_once('.').map_or(file, |(stem, _)| stem);
    let (from, to) = stem.split_once("-to-").unwrap_or(("lead", stem));
    let values = [("%from%", &*scalar(from)), ("%to%", &*scalar(to))];
    filled(include_str!("new_file/handoff.yaml.txt"), &values)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        analysis::Analyzer,
        check::schema_file::UserSchema,
        document::Document,
        files::MemoryFiles,
        json_schema::SpecFile,
        problem::{Code, Severity},
        settings::Settings,
    };

    #[test]
    fn paths_begin_in_the_directory_of_the_document() {
        assert_eq!(relative("kindlm.yaml", "schemas/a.json"), "schemas/a.json");
        assert_eq!(relative("", "a.json"), "a.json");
        assert_eq!(relative("skills/demo/tests/scenarios.yaml", "skills/demo/SKILL.md"), "../SKILL.md");
        assert_eq!(relative("skills/demo/tests/scenarios.yaml", "agents/x/SOUL.md"), "../../../agents/x/SOUL.md");
    }

    #[test]
    fn nothing_is_created_where_nothing_can_be() {
        let files = MemoryFiles::new("/suite", [("a.md", ""), ("b/c.md", "")]);
        for path in ["", "/", "a.md/x", "b/c.md/d/e", "../x", "x/../../y", "a:b", "x\ny", "x\\y", "*.yaml"] {
            assert_eq!(creation(path, Template::Golden, &files), None, "{path}");
        }
        assert!(creation("b/d.md", Template::Golden, &files).is_some());
        assert_eq!(creation("b/d.md", Template::Golden, &MemoryFiles::default()), None);
    }

    /// A new file is valid, or its problems show what to fill in.
    #[test]
    fn templates_are_right() {
        let schema = Template::JsonSchema.text("schemas/a.json");
        assert!(UserSchema::read(schema.as_bytes()).is_ok());
        for (template, file, path) in [
            (Template::Tasks, SpecFile::CLI_BENCH_TASKS, "tasks/a.yaml"),
            (Template::Script, SpecFile::SCRIPT, "careful.script.yaml"),
            (Template::Scenarios, SpecFile::CLAWSPEC_SCENARIOS, "skills/a/demo/tests/scenarios.yaml"),
            (Template::Scenarios, SpecFile::CLAWSPEC_SCENARIOS, "agents/demo/tests/scenarios.yaml"),
            (Template::Pipeline, SpecFile::CLAWSPEC_PIPELINE, "skills/a/demo/tests/pipeline.yaml"),
            (Template::Handoff, SpecFile::CLAWSPEC_HANDOFF, "skills/a/demo/tests/handoffs/lead-to-copy.yaml"),
            (Template::Handoff, SpecFile::CLAWSPEC_HANDOFF, "tests/handoffs/x.yaml"),
        ] {
            let text = template.text(path);
            let skill = "---\nname: demo\ndescription: Use when asked.\nversion: 1\npermissions: {filesystem: a, network: b}\n---\n";
            let soul = Template::Soul.text("agents/demo/SOUL.md").replace("TODO: begin with I never", "I never send");
            let beside = [
                ("skills/a/demo/SKILL.md", skill),
                ("skills/a/demo/tests/scenarios.yaml", ""),
                ("agents/demo/SOUL.md", soul.as_str()),
            ];
            let files = MemoryFiles::new("/work", beside).at(path).named_by("cli-bench.yaml");
            let document = Document::read(&text, file.scalar_rules());
            let problems = Analyzer::new(file).problems(&document, &files, &Settings::default());
            let (left, wrong): (Vec<_>, Vec<_>) = problems
                .iter()
                .filter(|problem| problem.severity <= Severity::Warning)
                .partition(|problem| problem.code == Code::Placeholder);
            assert!(wrong.is_empty(), "{template:?} {wrong:#?}\n{text}");
            assert_eq!(left.len(), text.matches("TODO(").count(), "{template:?} {left:#?}\n{text}");
        }
    }
}
