//! The supported formats. Each has a folder with everything that is specific to it, behind [`crate::format::Format`].

pub mod clawspec;
pub mod cli_bench;
pub mod kindlm;

#[cfg(test)]
mod tests {
    use super::{
        clawspec::new_file,
        cli_bench::rules::{suite, task_files},
        kindlm::rules::schema_files,
    };
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
    fn new_files_are_valid_or_show_what_to_fill_in() {
        let schema = schema_files::NEW.text("schemas/a.json");
        assert!(UserSchema::read(schema.as_bytes()).is_ok());
        for (template, file, path) in [
            (task_files::TASKS, SpecFile::CLI_BENCH_TASKS, "tasks/a.yaml"),
            (suite::SCRIPT, SpecFile::SCRIPT, "careful.script.yaml"),
            (new_file::SCENARIOS, SpecFile::CLAWSPEC_SCENARIOS, "skills/a/demo/tests/scenarios.yaml"),
            (new_file::SCENARIOS, SpecFile::CLAWSPEC_SCENARIOS, "agents/demo/tests/scenarios.yaml"),
            (new_file::PIPELINE, SpecFile::CLAWSPEC_PIPELINE, "skills/a/demo/tests/pipeline.yaml"),
            (new_file::HANDOFF, SpecFile::CLAWSPEC_HANDOFF, "skills/a/demo/tests/handoffs/lead-to-copy.yaml"),
            (new_file::HANDOFF, SpecFile::CLAWSPEC_HANDOFF, "tests/handoffs/x.yaml"),
        ] {
            let text = template.text(path);
            let skill = "---\nname: demo\ndescription: Use when asked.\nversion: 1\npermissions: {filesystem: a, network: b}\n---\n";
            let soul = new_file::SOUL.text("agents/demo/SOUL.md").replace("TODO: begin with I never", "I never send");
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
