//! Fixtures of the tests: files and a cursor, written as one text. `//- /path` begins a file, `$0` is the
//! cursor, two of them a selection. Text without `//- ` is `/kindlm.yaml`; a file whose name is that of a kind,
//! such as `cli-bench.yaml`, is of that kind.

use std::{ops::Range, sync::Arc};

use speclens_runner::event::RunResult;
use speclens_schema::{
    analysis::Analyzer, document::Document, files::MemoryFiles, json_schema::SpecFile, settings::Settings, suite::Case,
};

use crate::ide::{
    latest::Latest,
    outcome::{CaseOutcome, Phase},
};

pub(crate) struct Fixture {
    /// The document with the cursor, or else the first one.
    pub document: Document,
    pub file: SpecFile,
    /// The cursor or selection; empty at the start if there is none.
    pub selection: Range<usize>,
    /// All files, by their paths without the leading `/`.
    pub files: MemoryFiles,
}

impl Fixture {
    /// Parses a fixture. Panics if it has no file.
    pub(crate) fn parse(text: &str) -> Fixture {
        let mut files: Vec<(String, String)> = Vec::new();
        for line in text.split_inclusive('\n') {
            match line.strip_prefix("//- /") {
                Some(path) => files.push((path.trim().to_owned(), String::new())),
                None if files.is_empty() => files.push(("kindlm.yaml".to_owned(), line.to_owned())),
                None => files.last_mut().expect("checked").1.push_str(line),
            }
        }
        let main = files.iter().position(|(_, text)| text.contains("$0")).unwrap_or(0);
        let (path, text) = &mut files[main];
        let mut cursors = Vec::new();
        while let Some(at) = text.find("$0") {
            text.replace_range(at..at + 2, "");
            cursors.push(at);
        }
        let selection = match cursors.as_slice() {
            [] => 0..0,
            [at] => *at..*at,
            [start, end] => *start..*end,
            more => panic!("{} cursors", more.len()),
        };
        let stem = path.rsplit('/').next().and_then(|name| name.strip_suffix(".yaml"));
        let file = stem.and_then(SpecFile::parse).unwrap_or(SpecFile::KINDLM);
        let document = Document::read(text, file.scalar_rules());
        let place = path.clone();
        let files = MemoryFiles::new("/", files.iter().map(|(path, text)| (path.as_str(), text.as_str()))).at(&place);
        Fixture { document, file, selection, files }
    }

    pub(crate) fn latest(&self, recorded: impl Fn(&Case) -> Vec<RunResult>) -> Latest {
        let suite = Analyzer::new(self.file).analyze(&self.document, &self.files, &Settings::default()).suite;
        let outcome = |case: &Arc<Case>| CaseOutcome::of(case, &case.action.subjects(), recorded(case), Phase::AtRest);
        let outcomes = suite.cases.iter().map(|case| Arc::new(outcome(case))).collect();
        let text = self.document.text().clone();
        Latest { text, suite: Some(Arc::new(suite)), outcomes, ..Latest::default() }
    }

    /// Returns the cursor.
    pub(crate) fn offset(&self) -> usize {
        self.selection.start
    }

    /// Returns the text of the cursor's file.
    pub(crate) fn text(&self) -> String {
        String::from(self.document.text())
    }
}

#[test]
fn a_fixture_has_files_and_a_cursor() {
    use speclens_schema::files::Files;
    let fixture = Fixture::parse("//- /kindlm.yaml\nkindlm: $01\n//- /schemas/a.json\n{}\n");
    assert_eq!(fixture.text(), "kindlm: 1\n");
    assert_eq!(fixture.selection, 8..8);
    assert_eq!(fixture.files.read("schemas/a.json").expect("it is there").as_ref(), b"{}\n");
    let fixture = Fixture::parse("a: $0b$0\n");
    assert_eq!(fixture.selection, 3..4);
}
