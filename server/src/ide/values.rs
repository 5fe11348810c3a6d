//! Current values of templates and paths.

use speclens_schema::{files::Files, shape::Shape, template::KnownValue, template_syntax};

/// The prefix of a path that would otherwise be ambiguous.
const SCHEME: &str = "file://";

/// Characters that make a path a pattern.
const WILDCARDS: [char; 3] = ['*', '?', '['];

/// The values known before anything runs.
#[derive(Clone, Copy)]
pub(crate) struct Values<'v> {
    /// The files below the suite's directory.
    pub files: &'v dyn Files,
    /// The time, RFC 3339 in UTC.
    pub now: &'v str,
}

impl Values<'_> {
    /// Returns the current value of a built-in name; `None` for one that only a run knows.
    pub(crate) fn of(&self, name: &str) -> Option<String> {
        match template_syntax::known_values().find(|(known, _)| *known == name)?.1 {
            KnownValue::Date => self.now.get(..10).map(str::to_owned),
            KnownValue::Time => self.now.get(..19).map(|now| format!("{now}Z")),
            KnownValue::Root => {
                let root = self.files.root().to_str()?;
                (!root.is_empty()).then(|| root.to_owned())
            }
            KnownValue::Text(text) => Some(text.to_owned()),
        }
    }

    /// Returns a text with all its placeholders filled; `None` if one has no value yet.
    pub(crate) fn expand(&self, shape: &Shape, text: &str) -> Option<String> {
        self.expand_with(shape.template(), text)
    }

    fn expand_with(&self, template: Option<&str>, text: &str) -> Option<String> {
        let mut expanded = String::new();
        let mut from = 0;
        for found in template.map(|kind| template_syntax::placeholders_of(kind, text)).into_iter().flatten() {
            expanded.push_str(&text[from..found.range().start]);
            expanded.push_str(&self.of(found.name)?);
            from = found.range().end;
        }
        expanded.push_str(&text[from..]);
        Some(expanded)
    }

    /// Returns the path below the suite's directory that a text refers to. `None` for a path elsewhere, or one that
    /// only a run knows.
    pub(crate) fn path(&self, shape: &Shape, text: &str) -> Option<String> {
        let path = self.path_with(shape.template(), text)?;
        let base = shape.base(self.files.place());
        Some(if base.is_empty() || path.starts_with('/') { path } else { format!("{base}/{path}") })
    }

    pub(crate) fn path_with(&self, template: Option<&str>, text: &str) -> Option<String> {
        let text = self.expand_with(template, text)?;
        let path = text.strip_prefix(SCHEME).unwrap_or(&text);
        let path = match (path.starts_with('/'), self.files.root().to_str()) {
            (true, Some(root)) => path.strip_prefix(root)?.strip_prefix('/').filter(|_| root != "/")?,
            (true, None) => return None,
            (false, _) => path,
        };
        let path = path.trim_start_matches("./");
        (!path.is_empty()).then(|| path.to_owned())
    }

    /// Returns a text as a pattern of files; `None` if it is a single path.
    pub(crate) fn pattern(&self, shape: &Shape, text: &str) -> Option<String> {
        shape.is_glob().then(|| self.path(shape, text)).flatten().filter(|path| path.contains(WILDCARDS))
    }
}

#[cfg(test)]
mod tests {
    use speclens_schema::{document::Pointer, files::MemoryFiles, json_schema::SpecFile};

    use super::*;

    #[test]
    fn paths_lead_below_the_suites_directory() {
        let files = MemoryFiles::new("/there/suite", []);
        let values = Values { files: &files, now: "2026-05-14T12:00:00.5Z" };
        let shape = Shape::of(SpecFile::CLI_BENCH).below(&Pointer::parse("/scaffold"), None).unwrap();
        let path = |text| values.path(&shape, text);
        assert_eq!(path("file://./a/b.yaml").as_deref(), Some("a/b.yaml"));
        assert_eq!(path("/there/suite/a").as_deref(), Some("a"));
        assert_eq!(path("/there/suites/a"), None);
        assert_eq!(path(""), None);
        assert_eq!(values.of("now").as_deref(), Some("2026-05-14T12:00:00Z"));
        assert_eq!(values.of("today").as_deref(), Some("2026-05-14"));
        assert_eq!(values.of("run_id"), None);
    }
}
