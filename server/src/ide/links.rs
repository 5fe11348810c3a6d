//! Links: paths to existing files.

use std::ops::Range;

use speclens_schema::{
    document::{Document, NodeRef},
    files::{FileKind, Files},
    json_schema::SpecFile,
    script,
    shape::{Shape, Word},
    suite::task_files,
};

use super::{agents, values::Values, walk};

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Link {
    /// The bytes of the path.
    pub range: Range<usize>,
    /// The path it refers to, relative to the suite's directory.
    pub path: String,
}

pub(crate) fn links(document: &Document, file: SpecFile, values: Values<'_>) -> Vec<Link> {
    let mut found = Vec::new();
    walk::values(document, file, &walk::WHOLE, &mut |node, shape, _| found.extend(link(node, shape, values)));
    found
}

/// Returns the files that an editor opens for the text at an offset: the target of a path, the file of an agent, or the
/// files that a pattern matches.
pub(crate) fn files_at(document: &Document, file: SpecFile, values: Values<'_>, offset: usize) -> Vec<String> {
    let mut found = Vec::new();
    walk::values(document, file, &(offset..offset), &mut |node, shape, _| {
        found.extend(link(node, shape, values).map(|link| opened(&link.path, values.files)));
    });
    if found.is_empty() {
        found.extend(agent_at(document, file, values.files, offset));
    }
    if found.is_empty() {
        found = matches(document, file, values, offset);
    }
    found
}

/// Returns the file that an editor opens for a path: for the directory of an agent or a skill, which no editor opens,
/// the file that describes it.
pub(crate) fn opened(path: &str, files: &dyn Files) -> String {
    let is_directory = files.kind(path) == Some(FileKind::Directory);
    let inside = ["SOUL.md", "SKILL.md"].map(|name| format!("{}/{name}", path.trim_end_matches('/')));
    let described = inside.into_iter().find(|file| is_directory && files.kind(file) == Some(FileKind::File));
    described.unwrap_or_else(|| path.to_owned())
}

/// Returns the file of the agent that a text such as `agent:website/orchestrator` names.
fn agent_at(document: &Document, file: SpecFile, files: &dyn Files, offset: usize) -> Option<String> {
    let node = document.find(&document.pointer_at(offset))?;
    let directories = agents::of(file).filter(|_| node.own_range().contains(&offset))?;
    let name = node.text()?.trim().strip_prefix("agent:")?;
    let directory = format!("{}/{name}", agents::KIND);
    let definition = directories.definition(name, files);
    definition.or_else(|| Some(opened(&directory, files)).filter(|file| *file != directory))
}

fn link(node: NodeRef<'_>, shape: &Shape, values: Values<'_>) -> Option<Link> {
    let path = match shape.word() {
        Some(Word::File(_)) => values.path(shape, node.text()?),
        _ => script_of(shape, node),
    };
    let path = path.filter(|path| values.files.kind(path).is_some())?;
    Some(Link { range: node.own_range(), path })
}

pub(super) fn script_of(shape: &Shape, node: NodeRef<'_>) -> Option<String> {
    if shape.is_model_id() { script::file_of(node.text()?) } else { None }
}

pub(crate) fn script_at(document: &Document, file: SpecFile, values: Values<'_>, offset: usize) -> Option<String> {
    let pointer = document.pointer_at(offset);
    let node = document.find(&pointer)?;
    let range = node.range();
    let shape = Shape::find(file, &pointer, document.root())?;
    let path = script_of(&shape, node).filter(|_| range.start <= offset && offset <= range.end)?;
    values.files.kind(&path).map(|_| path)
}

/// Returns the files that the pattern at an offset matches; empty if there is no pattern.
fn matches(document: &Document, file: SpecFile, values: Values<'_>, offset: usize) -> Vec<String> {
    let pointer = document.pointer_at(offset);
    let Some(node) = document.find(&pointer).filter(|node| !node.is_through_alias()) else { return Vec::new() };
    let range = node.own_range();
    let (Some(text), Some(shape)) = (node.text(), Shape::find(file, &pointer, document.root())) else {
        return Vec::new();
    };
    if offset < range.start || offset > range.end || !matches!(shape.word(), Some(Word::File(_))) {
        return Vec::new();
    }
    if shape.word() == Some(Word::File("tasks")) {
        return task_files::Target::of(text, values.files).map(task_files::Target::files).unwrap_or_default();
    }
    values.pattern(&shape, text).map(|pattern| values.files.glob(&pattern).paths).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::{Values, links};
    use crate::ide::tests::fixture::Fixture;

    #[test]
    fn paths_to_files_that_exist_are_links() {
        let text = "tests:\n  - name: 😀\n    expect:\n      output: {format: json, schemaFile: s/a.json}\n  - name: \"open\n  - expect:\n      output:\n        schemaFile: 's/none.json'\n//- /s/a.json\n{}\n";
        for text in [text.to_owned(), text.replace('\n', "\r\n")] {
            let fixture = Fixture::parse(&format!("//- /kindlm.yaml\n{text}"));
            let values = Values { files: &fixture.files, now: "2026-05-14T12:00:00Z" };
            let found = links(&fixture.document, fixture.file, values);
            assert_eq!(found.len(), 1, "{found:?}");
            assert_eq!(&fixture.text()[found[0].range.clone()], "s/a.json");
        }
    }

    #[test]
    fn paths_count_from_the_directory_that_their_field_declares() {
        for (text, expected) in [
            (
                "//- /skills/a/tests/clawspec-pipeline.yaml\nstages: [{name: x, handoff_contract: tests/handoffs/h.yaml}]\n//- /skills/a/tests/handoffs/h.yaml\n{}\n",
                "skills/a/tests/handoffs/h.yaml",
            ),
            (
                "//- /w/docs/testing/clawspec-ledger.yaml\nwaves: {w: {items: [{id: a, contracts: {scenario_file: a/s.yaml}}]}}\n//- /w/a/s.yaml\n{}\n",
                "w/a/s.yaml",
            ),
        ] {
            let fixture = Fixture::parse(text);
            let values = Values { files: &fixture.files, now: "2026-05-14T12:00:00Z" };
            let found = links(&fixture.document, fixture.file, values);
            assert_eq!(found.iter().map(|link| link.path.as_str()).collect::<Vec<_>>(), [expected]);
        }
    }

    #[test]
    fn schemes_are_no_part_of_a_path() {
        let fixture = Fixture::parse(
            "//- /cli-bench.yaml\ntasks: [file://./t/a.yaml, 'file://t/*.yaml', {id: a}]\n//- /t/a.yaml\n[]\n",
        );
        let values = Values { files: &fixture.files, now: "2026-05-14T12:00:00Z" };
        let found = links(&fixture.document, fixture.file, values);
        let paths: Vec<&str> = found.iter().map(|link| link.path.as_str()).collect();
        assert_eq!(paths, ["t/a.yaml"]);
    }
}
