//! Recorded cases of ClawSpec: the files, and the answers that were recorded for them.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
};

use serde_json::Value;
use speclens_schema::{
    analysis::{Analysis, Analyzer},
    check::time,
    document::{Document, ScalarRules},
    evidence::{
        Address, Answer, Capture, Content, Context, FilesAnswer, FilesNeed, LinePlace, LogAnswer, LogFile, LogNeed,
        ModelReply, Need, Observation, Presence, QuestionAnswer, ResponseAnswer, ScoreNeed, SeenFile, Span, SpanKind,
        TemplateValues, Tokens, Trace, TraceAnswer,
    },
    files::{FileKind, Files, MemoryFiles},
    json_schema::SpecFile,
    settings::Settings,
};

const RUN: &str = "run-a1";
const NOW: &str = "2026-05-14T12:00:00Z";

/// A recorded case.
pub(crate) struct Recorded {
    pub(crate) name: String,
    folder: PathBuf,
    pub(crate) harness: Value,
    /// Recorded rows.
    pub(crate) expected: Vec<Value>,
}

/// Returns all cases, by name.
pub(crate) fn cases() -> Vec<Recorded> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases/clawspec");
    let read = |path: PathBuf| -> Value { serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap() };
    let mut cases: Vec<Recorded> = fs::read_dir(root)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|folder| folder.join("case.yaml").exists())
        .map(|folder| Recorded {
            name: folder.file_name().unwrap().to_str().unwrap().to_owned(),
            harness: read(folder.join("harness.json")),
            expected: read(folder.join("expected.json")).as_array().unwrap().clone(),
            folder,
        })
        .collect();
    cases.sort_by(|one, other| one.name.cmp(&other.name));
    cases
}

fn add_below(directory: &Path, prefix: &str, files: &mut MemoryFiles) {
    for entry in fs::read_dir(directory).into_iter().flatten().map(Result::unwrap) {
        let path = format!("{prefix}{}", entry.file_name().to_str().unwrap());
        if entry.path().is_dir() {
            add_below(&entry.path(), &format!("{path}/"), files);
        } else {
            files.add(&path, &String::from_utf8_lossy(&fs::read(entry.path()).unwrap()));
        }
    }
}

impl Recorded {
    /// Returns the files below `ws`, and the contract in its place.
    fn workspace(&self) -> MemoryFiles {
        let root = self.folder.join("ws");
        let place = self.harness["place_at"].as_str().unwrap_or("skills/demo/tests/scenarios.yaml");
        let mut files = MemoryFiles::new(&root, []).at(place);
        add_below(&root, "", &mut files);
        files
    }

    pub(crate) fn text(&self) -> String {
        fs::read_to_string(self.folder.join("case.yaml")).unwrap()
    }

    pub(crate) fn file(&self) -> SpecFile {
        let text = self.text();
        let has = |key: &str| text.lines().any(|line| line.starts_with(key));
        match (has("handoff:"), has("pipeline:")) {
            (true, _) => SpecFile::CLAWSPEC_HANDOFF,
            (_, true) => SpecFile::CLAWSPEC_PIPELINE,
            _ => SpecFile::CLAWSPEC_SCENARIOS,
        }
    }

    pub(crate) fn analysis(&self) -> Analysis {
        self.analysis_under(&Settings::default())
    }

    pub(crate) fn analysis_under(&self, settings: &Settings) -> Analysis {
        let document = Document::read(&self.text(), ScalarRules::Yaml11);
        Analyzer::new(self.file()).analyze(&document, &self.workspace(), settings)
    }

    fn modified_us(&self, path: &str) -> i64 {
        let time = self.harness["mtimes"][path].as_str().unwrap_or(NOW);
        time::parse(time).unwrap().clock_us
    }

    pub(crate) fn context(&self) -> Context {
        let now = self.harness["now"].as_str().unwrap_or(NOW);
        let values: BTreeMap<String, String> = [
            ("today", &now[..10]),
            ("now", now),
            ("run_started_at", now),
            ("repo_root", "/ws"),
            ("qa_inbox", "lumina.qa@agentmail.to"),
            ("run_id", RUN),
        ]
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .into();
        let templates = TemplateValues { before: values.clone(), after: values, utc_offset_s: Some(0) };
        Context { templates: Some(templates), ..Context::default() }
    }
}

/// The stub that answers requests as the recording did: rules are used in order, each as often as it says.
pub(crate) struct Stub {
    rules: Vec<(Value, usize)>,
}

impl Stub {
    pub(crate) fn of(harness: &Value) -> Stub {
        let rules = harness["http"].as_array().into_iter().flatten();
        Stub { rules: rules.map(|rule| (rule.clone(), rule["times"].as_u64().unwrap_or(99) as usize)).collect() }
    }

    fn ask(&mut self, method: &str, url: &str) -> Value {
        let fits = |rule: &Value| {
            rule["url"] == url && (rule["method"].as_str().unwrap_or("GET") == method || rule["method"].is_null())
        };
        match self.rules.iter_mut().find(|(rule, left)| *left > 0 && fits(rule)) {
            Some((rule, left)) => {
                *left -= 1;
                rule.clone()
            }
            None => serde_json::json!({ "error": "[Errno 111] Connection refused" }),
        }
    }
}

/// Returns the recorded answers to needs, in order.
pub(crate) fn observed(case: &Recorded, stub: &mut Stub, needs: Vec<Need>) -> Vec<Observation> {
    needs.into_iter().map(|need| Observation { answer: observe(case, stub, &need), need }).collect()
}

fn observe(case: &Recorded, stub: &mut Stub, need: &Need) -> Answer {
    match need {
        Need::Files(need) => Answer::Files(files(case, need)),
        Need::Log(need) => Answer::Log(log(case, need)),
        Need::Variables(need) => {
            let unset = case.harness["unset_env"].as_array().cloned().unwrap_or_default();
            let presence = |name: &String| match case.harness["env"][name].as_str() {
                Some("") => Presence::Empty,
                Some(_) => Presence::Set,
                None if unset.iter().any(|it| it == name) => Presence::Absent,
                None => Presence::Absent,
            };
            Answer::Variables(need.names.iter().map(|name| (name.clone(), presence(name))).collect())
        }
        Need::Response(need) => {
            let url = match &need.address {
                Address::Url(url) => url.clone(),
                Address::Gateway(path) => format!("http://localhost:18789{path}"),
            };
            let error = if url.starts_with("http") {
                let answer = stub.ask("GET", &url);
                let Some(error) = answer["error"].as_str() else {
                    return Answer::Response(ResponseAnswer {
                        status: Some(answer["status"].as_u64().unwrap_or(200) as u16),
                        body: Capture {
                            text: answer["body"].as_str().unwrap_or_default().to_owned(),
                            ..Capture::default()
                        },
                        error: None,
                    });
                };
                error.to_owned()
            } else {
                "the address has no scheme".to_owned()
            };
            Answer::Response(ResponseAnswer { error: Some(error), ..ResponseAnswer::default() })
        }
        Need::Trace => Answer::Trace(trace(case)),
        Need::Scores(need) => Answer::Question(scores(stub, need)),
        Need::Path { .. } | Need::Command { .. } | Need::Question(_) => {
            unreachable!("no assertion of this format asks for that")
        }
    }
}

fn files(case: &Recorded, need: &FilesNeed) -> FilesAnswer {
    let workspace = case.workspace();
    let mut paths = if need.wildcards {
        // Without recursion, `**` is `*`.
        workspace.glob(&need.pattern.replace("**", "*")).paths
    } else {
        Vec::new()
    };
    if paths.is_empty() && (!need.wildcards || need.literal) && workspace.kind(&need.pattern).is_some() {
        paths.push(need.pattern.clone());
    }
    let mut files: Vec<SeenFile> = paths
        .into_iter()
        .map(|path| {
            let directory = workspace.kind(&path) == Some(FileKind::Directory);
            let content = (need.content && !directory).then(|| {
                let text = String::from_utf8_lossy(&workspace.read(&path).unwrap()).into_owned();
                Content::Text(Capture::whole(text))
            });
            SeenFile { modified_us: Some(case.modified_us(&path)), path, directory, content, ..SeenFile::default() }
        })
        .collect();
    for late in case.harness["delayed_files"].as_array().into_iter().flatten() {
        let after = late["after_ms"].as_u64().unwrap();
        if late["path"] == need.pattern.as_str() && after <= need.wait_ms {
            let path = need.pattern.clone();
            files.push(SeenFile {
                modified_us: Some(case.modified_us(&path)),
                path,
                seen_after_ms: after,
                ..SeenFile::default()
            });
        }
    }
    FilesAnswer { files, waited_ms: need.wait_ms, cut: false, beside: Vec::new() }
}

fn log(case: &Recorded, need: &LogNeed) -> LogAnswer {
    let path = need.path.clone().unwrap_or_default();
    let Ok(bytes) = case.workspace().read(&path) else { return LogAnswer { path, ..LogAnswer::default() } };
    let lines = Capture::of_bytes(bytes.to_vec(), false);
    let places = (0..lines.text.lines().count()).map(|line| LinePlace { file: 0, line }).collect();
    let files = vec![LogFile { path: path.clone(), unread: None }];
    LogAnswer { path, files, lines, places, ..LogAnswer::default() }
}

fn scores(stub: &mut Stub, need: &ScoreNeed) -> QuestionAnswer {
    let reply = |given: Value| {
        let status = given["status"].as_u64().unwrap_or(200);
        let error = match given["error"].as_str() {
            Some(error) => Some(error.replace("timeout", "timed out")),
            None => (status != 200).then(|| format!("status {status}")),
        };
        ModelReply { text: Capture::whole(given["json"].to_string()), error, ..ModelReply::default() }
    };
    let replies = (0..need.times).map(|_| reply(stub.ask("POST", "http://localhost:18789/qa/judge"))).collect();
    QuestionAnswer { replies }
}

/// The spans as the recording holds them: durations in seconds, as the original took them.
fn trace(case: &Recorded) -> TraceAnswer {
    let Ok(text) = fs::read_to_string(case.folder.join("trace.json")) else {
        return TraceAnswer::Missing("no trace was recorded".to_owned());
    };
    let recorded: Value = serde_json::from_str(&text).unwrap();
    let us = |value: &Value| time::parse(value.as_str()?).map(|instant| instant.clock_us);
    let span = |span: &Value| {
        let name = span["name"].as_str().unwrap_or_default().to_owned();
        let kind = match span["type"].as_str().map(str::to_lowercase).as_deref() {
            Some("llm") => SpanKind::Llm,
            Some("tool") => SpanKind::Tool,
            _ if ["subagent", "delegation", "spawn"].iter().any(|mark| name.to_lowercase().contains(mark)) => {
                SpanKind::Subagent
            }
            _ => SpanKind::Tool,
        };
        let usage = &span["usage"];
        let number = |names: [&str; 2]| names.iter().find_map(|name| usage[*name].as_u64().filter(|it| *it > 0));
        let input = number(["prompt_tokens", "input_tokens"]).unwrap_or(0);
        let output = number(["completion_tokens", "output_tokens"]).unwrap_or(0);
        let total = usage["total_tokens"].as_u64().unwrap_or(input + output);
        let cost = [&usage["cost"], &usage["total_cost"], &span["total_estimated_cost"]];
        let error = [&span["error_info"], &span["error"]].into_iter().find(|error| !error.is_null());
        Span {
            kind,
            name,
            model: span["model"].as_str().map(str::to_owned),
            started_us: us(&span["start_time"]),
            ended_us: us(&span["end_time"]),
            duration_ms: span["duration"].as_f64().map(|seconds| seconds * 1000.0),
            tokens: usage.is_object().then_some(Tokens { input, output, total }),
            cost_usd: cost.into_iter().find_map(Value::as_f64),
            error: error.map(|error| error.as_str().map_or_else(|| error.to_string(), str::to_owned)),
            ..Span::default()
        }
    };
    TraceAnswer::Found(Trace {
        started_us: us(&recorded["start_time"]),
        ended_us: us(&recorded["end_time"]),
        spans: recorded["spans"].as_array().unwrap().iter().map(span).collect(),
        ..Trace::default()
    })
}
