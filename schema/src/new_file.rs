//! Fixes that create missing files which specs name.

use crate::{
    files::{FileKind, Files},
    problem::{Fix, NewFile},
};

/// What is created in place of a missing path.
#[derive(Clone, Copy, Debug)]
pub enum Template {
    /// A directory; an empty file keeps it in version control.
    Directory,
    /// A file with the text that the function returns for its path.
    File(fn(&str) -> String),
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
        Template::File(_) => (format!("create `{path}`"), path.to_owned()),
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
    pub(crate) fn text(self, path: &str) -> String {
        match self {
            Template::Directory => String::new(),
            Template::File(text) => text(path),
        }
    }
}

pub(crate) fn filled(template: &str, values: &[(&str, &str)]) -> String {
    values.iter().fold(template.to_owned(), |text, (placeholder, value)| text.replace(placeholder, value))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::files::MemoryFiles;

    const EMPTY: Template = Template::File(|_| String::new());

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
            assert_eq!(creation(path, EMPTY, &files), None, "{path}");
        }
        assert!(creation("b/d.md", EMPTY, &files).is_some());
        assert_eq!(creation("b/d.md", EMPTY, &MemoryFiles::default()), None);
    }
}
