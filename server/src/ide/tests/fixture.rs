//! Fixtures of the tests: files and a cursor, written as one text. `//- /path` begins a file, `$0` is the
//! cursor, two of them a selection. Text without `//- ` is `/kindlm.yaml`; a file whose name is that of a kind,
//! such as `cli-bench.yaml`, is of that kind.

use std::{ops::Range, sync::Arc};

use speclens_runner::event::{RunResult, StoredEvidence};
use speclens_schema::{
    analysis::Analyzer,
    document::Document,
    evidence::{
        Answer, Capture, Change, ChangedFile, CommandLog, Content, Context, Ended, Evidence, Exit, FileLog,
        FilesAnswer, MaskingLoss, Need, Observation, ObservationTime, PathState, Ran, SeenFile, Span, Trace,
        TraceAnswer, Usage,
    },
    files::MemoryFiles,
    json_schema::SpecFile,
    judge,
    mask::Secrets,
    settings::Settings,
    suite::{Case, Subject},
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

    /// Returns the results of attempts at every test, judged and with their evidence.
    pub(crate) fn attempted(&self, attempts: &[Attempt<'_>]) -> Latest {
        let result = |case: &Case, (repeat, attempt): (usize, &Attempt<'_>)| {
            let mut evidence = attempt.evidence(case);
            let mut secrets = Secrets::default();
            attempt.secrets.iter().for_each(|secret| secrets.add(secret));
            evidence.mask(&secrets, |_, _| MaskingLoss::Nothing);
            self.file.dialect().expect("a suite").interpret(&mut evidence);
            let verdicts = judge::judge(case, &evidence, &secrets);
            let status = judge::status(case, &evidence, &verdicts);
            let subject = case.action.subjects().into_iter().next().unwrap_or(Subject::Command);
            let evidence = StoredEvidence::Memory(Arc::new(evidence));
            RunResult { verdicts, evidence, ..RunResult::of(&subject, repeat as u32, status) }
        };
        self.latest(|case| attempts.iter().enumerate().map(|it| result(case, it)).collect())
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

/// What happened in an attempt.
#[derive(Clone, Debug, Default)]
pub(crate) struct Attempt<'t> {
    /// The output of the test's command.
    pub wrote: &'t str,
    /// The commands of an agent, with their outputs.
    pub commands: &'t [(&'t str, &'t str)],
    /// The files that it wrote.
    pub files: &'t [(&'t str, &'t str)],
    pub spans: Vec<Span>,
    pub duration_ms: f64,
    pub cost_usd: f64,
    pub secrets: &'t [&'t str],
}

impl Attempt<'_> {
    pub(crate) fn writing(text: &str) -> Attempt<'_> {
        Attempt { wrote: text, ..Attempt::default() }
    }

    fn evidence(&self, case: &Case) -> Evidence {
        let exit = Some(Exit { code: Some(0), signal: None });
        let ran = |(command, output): &(&str, &str)| Ran {
            command: Capture::whole(*command),
            stdout: Some(Capture::whole(*output)),
            stderr: Some(Capture::default()),
            exit,
            ..Ran::default()
        };
        let changed = |(path, text): &(&str, &str)| ChangedFile {
            path: (*path).to_owned(),
            change: Change::Created,
            size: Some(text.len() as u64),
            digest: None,
            text: Some(Capture::whole(*text)),
        };
        let context = Context::default();
        let needs = [ObservationTime::Before, ObservationTime::After].map(|moment| case.needs(moment, &context));
        let observe = |need: Need| Observation { answer: self.answer(&need), need };
        Evidence {
            command: Some(ran(&("", self.wrote))),
            commands: Some(CommandLog { commands: self.commands.iter().map(ran).collect(), ..CommandLog::default() }),
            files: Some(FileLog { files: self.files.iter().map(changed).collect(), ..FileLog::default() }),
            observations: needs.into_iter().flatten().map(observe).collect(),
            ended: Some(Ended::Exit),
            duration_ms: Some(self.duration_ms),
            usage: Some(Usage { input_tokens: 0, output_tokens: 0, cost_usd: Some(self.cost_usd) }),
            context,
            ..Evidence::default()
        }
    }

    fn answer(&self, need: &Need) -> Answer {
        let text_of = |path: &str| self.files.iter().find(|(name, _)| *name == path).map(|(_, text)| *text);
        let content = |text: &str| Some(Content::Text(Capture::whole(text)));
        match need {
            Need::Trace => Answer::Trace(TraceAnswer::Found(Trace {
                spans: self.spans.clone(),
                started_us: Some(0),
                ended_us: Some((self.duration_ms * 1000.0) as i64),
                ..Trace::default()
            })),
            Need::Files(need) => {
                let file = |text: &str| SeenFile {
                    path: need.pattern.clone(),
                    modified_us: Some(1),
                    content: content(text),
                    ..SeenFile::default()
                };
                let files = text_of(&need.pattern).map(file).into_iter().collect();
                Answer::Files(FilesAnswer { files, ..FilesAnswer::default() })
            }
            Need::Path { path, .. } => Answer::Path(match text_of(path) {
                Some(text) => PathState::File { content: content(text) },
                None => PathState::Missing { beside: Vec::new() },
            }),
            Need::Command { .. }
            | Need::Log(_)
            | Need::Variables(_)
            | Need::Response(_)
            | Need::Scores(_)
            | Need::Question(_) => Answer::Nothing("a test does not observe it".to_owned()),
        }
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
