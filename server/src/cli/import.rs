//! `speclens import`: recordings of other programs become recordings of a test, or a new suite with assertions.

use std::{
    collections::HashSet,
    env, fs,
    io::Read,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use anyhow::{Context, anyhow, bail, ensure};
use clap::builder::{PossibleValuesParser, TypedValueParser};
use speclens_runner::{
    clock::Clock,
    evidence_store::{AttemptRef, EvidenceStore},
    files::open_regular,
    recording::{Recorded, beginning_us},
    write::{Readers, create},
};
use speclens_schema::{
    check::{secret::pasted_secret, text::shortened},
    document::Document,
    evidence::Evidence,
    format::{Dialect, NewTest},
    import::{
        self,
        conversation::{Conversation, Imported, provider_of},
        evidence::{evidence, prompt},
    },
    mask::Secrets,
    problem::{NewFile, Problem, Severity},
    suite::{Action, Case, Subject},
    words::{plural, slug},
    write,
};
use tokio::runtime::Runtime;

use super::{
    INTERRUPTED, PASSED,
    discover::Wanted,
    fix,
    levels::Levels,
    load::{self, Loaded},
    output,
    passing::case_in,
    write::{find, numbers},
};
use crate::{
    job::settings_sentence,
    processes, threads, trust,
    workspace::{self, Reach, Workspace},
};

/// The options of `speclens import`.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Recordings: OpenTelemetry spans (OTLP/JSON), Opik exports, Claude Code transcripts, Codex rollouts, Inspect logs (JSON)
    #[arg(value_name = "FILE", required = true)]
    files: Vec<PathBuf>,
    /// Suite with the test whose recording it becomes; without this option, a new suite is written
    #[arg(long, value_name = "SUITE")]
    into: Option<PathBuf>,
    /// With `--into`: the test, if the suite has several
    #[arg(long, value_name = "NAME", requires = "into")]
    test: Option<String>,
    /// Format of the new suite
    #[arg(long, value_name = "FORMAT", conflicts_with = "into", value_parser = formats(), default_value = first_format())]
    format: Dialect,
    /// File of the new suite [default: the name of the recording]
    #[arg(long, value_name = "FILE", conflicts_with = "into")]
    output: Option<PathBuf>,
}

fn formats() -> impl TypedValueParser<Value = Dialect> {
    PossibleValuesParser::new(Dialect::all().map(Dialect::as_str)).map(|name| {
        let found = Dialect::all().find(|dialect| dialect.as_str() == name);
        found.expect("the value is one of the formats")
    })
}

fn first_format() -> &'static str {
    Dialect::all().next().map_or("", Dialect::as_str)
}

pub(super) fn perform(args: &Args) -> anyhow::Result<u8> {
    match &args.into {
        Some(suite) => into(args, suite),
        None => new_suite(args),
    }
}

/// Records the conversations as attempts of a test.
fn into(args: &Args, suite: &Path) -> anyhow::Result<u8> {
    let suites = load(suite)?;
    let (loaded, index) = match &args.test {
        Some(test) => find(suites, test)?,
        None => only_test(suites)?,
    };
    ensure_recordable(&loaded.workspace)?;
    let limit = loaded.workspace.settings.limits.recording_bytes();
    let (files, secrets) = read(&args.files, limit, &loaded.report.source.secrets)?;
    let conversations: Vec<&Conversation> = files.iter().flat_map(|file| &file.conversations).collect();
    let case = &loaded.report.suite.cases[index];
    warn_of_text(case, &conversations, &secrets);
    let attempts = attempts(case, loaded.report.suite.dialect, &conversations, &secrets)?;
    let mut recorded = Vec::new();
    let done = record(&loaded, index, attempts, &secrets, &mut recorded);
    if done.is_err() {
        remove(&mut recorded);
    }
    output::print(&done?)?;
    Ok(PASSED)
}

/// Warns if a test sends another text than the user of a recording.
fn warn_of_text(case: &Case, conversations: &[&Conversation], secrets: &Secrets) {
    let sent = prompt(case).map(str::trim);
    let differs = |conversation: &&&Conversation| sent.is_some_and(|sent| sent != conversation.user.trim());
    if let Some(other) = conversations.iter().find(differs) {
        let name = secrets.mask(&case.name);
        let text = secrets.mask(&shortened(&other.user.split_whitespace().collect::<Vec<_>>().join(" "), 60));
        output::warn(&format!("`{name}` sends another text than the recording, in which the user wrote `{text}`"));
    }
}

fn load(path: &Path) -> anyhow::Result<Vec<Loaded>> {
    let load::Load { suites, mut failures, activity } =
        load::suites(&[path.to_owned()], Wanted::Suites, &Levels::default());
    drop(activity);
    match failures.pop() {
        Some(failure) => Err(failure),
        None if suites.is_empty() => Err(anyhow!("`{}` has no suite", path.display())),
        None => Ok(suites),
    }
}

/// Returns the only suite with its only test.
fn only_test(suites: Vec<Loaded>) -> anyhow::Result<(Loaded, usize)> {
    let count: usize = suites.iter().map(|loaded| loaded.report.suite.cases.len()).sum();
    ensure!(count == 1, "the suite has {}; name one with `--test`", plural(count, "test"));
    let name = suites.iter().flat_map(|loaded| &loaded.report.suite.cases).map(|case| case.name.clone()).next();
    find(suites, &name.unwrap_or_default())
}

/// An attempt, with secrets masked and not yet interpreted.
struct Attempt {
    subject: Subject,
    repeat: u32,
    evidence: Evidence,
}

/// Returns conversations as the attempts of a test.
fn attempts(
    case: &Case,
    dialect: Dialect,
    conversations: &[&Conversation],
    secrets: &Secrets,
) -> anyhow::Result<Vec<Attempt>> {
    let name = secrets.mask(&case.name);
    let mut attempts: Vec<Attempt> = Vec::new();
    let mut replaced: Option<(&str, String)> = None;
    for conversation in conversations {
        let (subject, is_same) = subject_of(case, conversation).ok_or_else(|| anyhow!("`{name}` names no model"))?;
        if let Some(model) = conversation.model().filter(|_| !is_same) {
            replaced.get_or_insert((model, subject.to_string()));
        }
        let mut evidence = evidence(conversation, case, dialect, &subject)
            .map_err(|reason| anyhow!("nothing to record for `{name}`: {}", secrets.mask(&reason)))?;
        dialect.mask(&mut evidence, secrets);
        let before = attempts.iter().filter(|attempt| attempt.subject == subject).count();
        attempts.push(Attempt { subject, repeat: u32::try_from(before).unwrap_or(u32::MAX), evidence });
    }
    if let Some((model, subject)) = replaced {
        output::warn(&secrets.mask(&format!(
            "`{name}` does not run with the model `{model}` of the recording, which is stored as that of `{subject}`"
        )));
    }
    Ok(attempts)
}

/// Records the attempts of a test, and returns a line about them. Their files are added to `created`.
fn record(
    loaded: &Loaded,
    index: usize,
    attempts: Vec<Attempt>,
    secrets: &Arc<Secrets>,
    created: &mut Vec<PathBuf>,
) -> anyhow::Result<String> {
    let suite = &loaded.report.suite;
    let (case, dialect) = (&suite.cases[index], suite.dialect);
    let name = secrets.mask(&case.name);
    let settings = &loaded.workspace.settings;
    let store = EvidenceStore::of(settings, &loaded.directory, &loaded.place, trust::machine);
    let clock = Clock::from_environment()?;
    let most = attempts.iter().map(|attempt| attempt.repeat + 1).max().unwrap_or_default();
    let mut statuses: Vec<&str> = Vec::new();
    for Attempt { subject, repeat, evidence } in attempts {
        let attempt_ref = AttemptRef { suite, case, subject: &subject, repeat };
        let recorded = Recorded {
            key: attempt_ref.key(),
            act: case.action.parts(dialect.as_str(), &subject, &suite.inputs(&case.action)),
            began_us: beginning_us(),
            now: clock.now(),
            evidence: Arc::new(evidence),
            notes: Vec::new(),
        };
        let judge = |evidence: &Arc<Evidence>| attempt_ref.judged(evidence, secrets, Vec::new()).status;
        let (status, stored) = store.add(attempt_ref, recorded, secrets, judge);
        created.extend(stored.path);
        if let Some(error) = stored.error {
            return Err(anyhow!(error).context(format!("cannot record `{name}`")));
        }
        statuses.push(status.as_str());
    }
    let expected = case.repeat;
    if most > expected {
        output::note(&format!(
            "only {expected} of {most} attempts of `{name}` are evaluated; set `repeat: {most}`, or run with `--repeat {most}`"
        ));
    } else if most < expected {
        output::note(&format!("{most} of the {expected} attempts of `{name}` were imported (`repeat: {expected}`)"));
    }
    let (count, path) = (plural(statuses.len(), "attempt"), &loaded.report.source.path);
    Ok(format!("recorded {count} of `{name}` in `{path}`: {}\n", statuses.join(", ")))
}

/// Returns an error if the settings of a suite prevent recordings.
fn ensure_recordable(workspace: &Workspace) -> anyhow::Result<()> {
    if let Some(file) = workspace.wrong() {
        bail!("nothing is recorded: {}", settings_sentence(file));
    }
    ensure!(
        workspace.settings.recordings.enabled,
        "nothing is recorded, because `speclens.yaml` turns recordings off; set `recordings: {{ enabled: true }}`"
    );
    Ok(())
}

/// Returns the subject of a test that a conversation is recorded for, and whether its model is the same.
fn subject_of(case: &Case, conversation: &Conversation) -> Option<(Subject, bool)> {
    let subjects = case.action.subjects();
    let Some(model) = conversation.model() else { return Some((subjects.first()?.clone(), true)) };
    let name = provider_of(model).1;
    let is_same = |subject: &&Subject| {
        let Some(id) = subject.model_id() else { return true };
        let asked = match &case.action {
            Action::Prompt(prompt) => prompt.model(id).asked.model,
            Action::Agent(_) | Action::Command(_) | Action::Trigger(_) | Action::None => String::new(),
        };
        [id, &asked].into_iter().any(|known| known == model || provider_of(known).1 == name)
    };
    match subjects.iter().find(is_same) {
        Some(subject) => Some((subject.clone(), true)),
        None => Some((subjects.first()?.clone(), false)),
    }
}

/// Reads files, and prints what is not read of them. Returns the secrets as well, with the keys in the files.
fn read(paths: &[PathBuf], limit: u64, secrets: &Arc<Secrets>) -> anyhow::Result<(Vec<Imported>, Arc<Secrets>)> {
    let mut texts: Vec<String> = Vec::new();
    let mut all: Vec<Imported> = Vec::new();
    for path in paths {
        let text = text_of(path, limit)?;
        if let Some(same) = texts.iter().position(|known| *known == text) {
            let (one, two) = (paths[same].display(), path.display());
            bail!("`{one}` and `{two}` are the same recording, which is one attempt; name it once");
        }
        let imported = import::read(&text).map_err(|reason| {
            let reason = with_keys(secrets, [reason.clone()]).mask(&reason);
            anyhow!("cannot import `{}`: {reason}", path.display())
        })?;
        texts.push(text);
        all.push(imported);
    }
    let conversations = all.iter().flat_map(|imported| &imported.conversations).flat_map(Conversation::texts);
    let secrets = with_keys(secrets, conversations.chain(all.iter().flat_map(|imported| imported.notes.clone())));
    for (imported, path) in all.iter().zip(paths) {
        let shown = path.display();
        let count = plural(imported.conversations.len(), "conversation");
        output::note(&secrets.mask(&format!("`{shown}`: {count} ({})", imported.source.name())));
        imported.notes.iter().for_each(|note| output::note(&secrets.mask(&format!("`{shown}`: {note}"))));
    }
    Ok((all, secrets))
}

fn text_of(path: &Path, limit: u64) -> anyhow::Result<String> {
    let shown = path.display();
    let cannot = || format!("cannot read `{shown}`");
    let mut bytes = Vec::new();
    open_regular(path).with_context(cannot)?.take(limit + 1).read_to_end(&mut bytes).with_context(cannot)?;
    ensure!(
        bytes.len() as u64 <= limit,
        "`{shown}` is larger than {} MiB; raise `limits.recording_mib` in `speclens.yaml`, or split it",
        limit / 1024 / 1024
    );
    ensure!(
        !bytes.starts_with(b"PK\x03\x04"),
        "`{shown}` is a ZIP archive; if it is an Inspect log, convert it with `inspect log convert {shown} --to json --output-dir DIR`"
    );
    String::from_utf8(bytes).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        let line = error.as_bytes()[..at].iter().filter(|byte| **byte == b'\n').count() + 1;
        anyhow!("`{shown}` is not valid UTF-8 (line {line})")
    })
}

/// Returns the secrets, and what looks like a key in texts of another program, whose keys nobody lists.
fn with_keys(secrets: &Arc<Secrets>, texts: impl IntoIterator<Item = String>) -> Arc<Secrets> {
    let mut all = Arc::clone(secrets);
    for text in texts {
        let mut rest = &*text;
        while let Some((found, _)) = pasted_secret(rest) {
            Arc::make_mut(&mut all).add(&rest[found.clone()]);
            rest = &rest[found.end..];
        }
    }
    all
}

/// The conversations with the same beginning: attempts of one test.
struct Group<'c> {
    name: String,
    conversations: Vec<&'c Conversation>,
    /// The first one, with secrets masked.
    masked: Conversation,
}

/// Writes a suite with a test for each conversation, records them, and writes assertions.
fn new_suite(args: &Args) -> anyhow::Result<u8> {
    let place = place_of(args);
    let settings =
        workspace::settings_for(&Reach::of(existing(&place), &existing(&place), &[existing(Path::new("."))]));
    ensure_recordable(&settings)?;
    let known = Arc::new(settings.secrets());
    let (files, secrets) = read(&args.files, settings.settings.limits.recording_bytes(), &known)?;
    let conversations: Vec<&Conversation> = files.iter().flat_map(|file| &file.conversations).collect();
    ensure!(
        conversations.iter().all(|conversation| !conversation.user.trim().is_empty()),
        "the recording does not show what the user asked, so no test can ask it again; import it with `--into`"
    );
    let groups = groups(&conversations, &secrets);
    let tests: Vec<NewTest<'_>> = groups
        .iter()
        .map(|Group { name, conversations, masked }| NewTest {
            name,
            conversation: masked,
            attempts: conversations.len(),
        })
        .collect();
    let name = name_of(args);
    let new = args.format.new_suite(&name, &tests).map_err(|reason| anyhow!(reason))?;
    let paths = paths(args, &new.iter().map(|file| file.path.as_str()).collect::<Vec<_>>())?;
    if let Some(path) = paths.iter().find(|path| path.symlink_metadata().is_ok()) {
        bail!("`{}` already exists, so nothing was written; name another file with `--output`", path.display());
    }
    let (suite, created) = (&paths[0], Arc::new(Mutex::default()));
    let runtime = remove_at_end(&created)?;
    let done = created_files(&paths, &new, &created).and_then(|()| fill(suite, &groups, &secrets, &created));
    // Half a suite is useless.
    remove(&mut lock(&created));
    drop(runtime);
    done?;
    let written: Vec<String> = paths.iter().map(|path| format!("`{}`", path.display())).collect();
    output::print(&format!(
        "wrote {}; try `speclens run --recorded {}` and `speclens audit`\n",
        written.join(", "),
        suite.display()
    ))?;
    Ok(PASSED)
}

/// The files and directories of a suite that is not finished, in the order in which they were made.
type Unfinished = Mutex<Vec<PathBuf>>;

/// Removes what was made of a suite and ends the program, when the user or the system asks for that.
fn remove_at_end(created: &Arc<Unfinished>) -> anyhow::Result<Runtime> {
    let (runtime, created) = (threads::runtime()?, Arc::clone(created));
    let ending = {
        let _inside = runtime.enter();
        processes::ending()
    };
    runtime.spawn(async move {
        ending.await;
        // Nothing can be made from now on.
        let mut created = lock(&created);
        remove(&mut created);
        std::process::exit(i32::from(INTERRUPTED));
    });
    Ok(runtime)
}

fn lock(created: &Unfinished) -> MutexGuard<'_, Vec<PathBuf>> {
    created.lock().unwrap_or_else(PoisonError::into_inner)
}

fn remove(created: &mut Vec<PathBuf>) {
    for path in created.drain(..).rev() {
        // A directory in which there is something else by now remains.
        drop(if path.is_dir() { fs::remove_dir(&path) } else { fs::remove_file(&path) });
    }
}

fn created_files(paths: &[PathBuf], new: &[NewFile], created: &Unfinished) -> anyhow::Result<()> {
    for (path, file) in paths.iter().zip(new) {
        let mut created = lock(created);
        let missing = path.ancestors().skip(1).take_while(|it| !it.as_os_str().is_empty() && !it.exists());
        for directory in missing.collect::<Vec<_>>().into_iter().rev() {
            fs::create_dir(directory)
                .with_context(|| format!("cannot create the directory `{}`", directory.display()))?;
            created.push(directory.to_owned());
        }
        create(path, &file.text, Readers::Usual).with_context(|| format!("cannot write `{}`", path.display()))?;
        created.push(path.clone());
    }
    Ok(())
}

/// Returns the directory that a new suite is in or below.
fn place_of(args: &Args) -> PathBuf {
    let parent = args.output.as_deref().and_then(Path::parent).filter(|parent| !parent.as_os_str().is_empty());
    parent.unwrap_or(Path::new(".")).to_owned()
}

/// Returns the nearest directory above that exists.
fn existing(path: &Path) -> PathBuf {
    let absolute = env::current_dir().unwrap_or_default().join(path);
    let found = absolute.ancestors().find_map(|directory| fs::canonicalize(directory).ok());
    found.unwrap_or(absolute)
}

/// Returns the name of a new suite: that of its file, or else of the first recording.
fn name_of(args: &Args) -> String {
    let path = args.output.as_ref().unwrap_or(&args.files[0]);
    let is_contract = args.output.is_some() && path.ends_with("tests/scenarios.yaml");
    let named = if is_contract { path.ancestors().nth(2) } else { Some(path.as_path()) };
    let name = slug(&named.and_then(Path::file_stem).unwrap_or_default().to_string_lossy());
    if name.is_empty() { "imported".to_owned() } else { name }
}

/// Returns where the files of a new suite are written.
fn paths(args: &Args, new: &[&str]) -> anyhow::Result<Vec<PathBuf>> {
    match (&args.output, new) {
        (None, _) => Ok(new.iter().map(PathBuf::from).collect()),
        (Some(output), [_]) => Ok(vec![output.clone()]),
        (Some(output), [own, ..]) => {
            ensure!(output.ends_with(own), "the file of such a suite is `{own}`; end `--output` with it");
            let steps = Path::new(own).components().count();
            let base = output.ancestors().nth(steps).unwrap_or(Path::new(""));
            Ok(new.iter().map(|path| base.join(path)).collect())
        }
        (Some(_), []) => bail!("there is nothing to write"),
    }
}

/// Maximum number of words in the name of a test.
const MAX_NAME_WORDS: usize = 6;

/// Returns the conversations by what begins them, each with a name of its own.
fn groups<'c>(conversations: &[&'c Conversation], secrets: &Secrets) -> Vec<Group<'c>> {
    let mut groups: Vec<Group<'c>> = Vec::new();
    let mut names: HashSet<String> = HashSet::new();
    for conversation in conversations {
        let is_same = |group: &&mut Group<'c>| group.conversations[0].begins_like(conversation);
        if let Some(group) = groups.iter_mut().find(is_same) {
            group.conversations.push(conversation);
            continue;
        }
        let masked = conversation.masked(secrets);
        let words = slug(masked.name.as_deref().unwrap_or(&masked.user));
        let words: Vec<&str> = words.split('-').take(MAX_NAME_WORDS).collect();
        let name = match words.join("-") {
            name if name.is_empty() => "conversation".to_owned(),
            // Ids of tasks begin with a letter or a digit, but a number alone says little.
            name if name.bytes().all(|byte| byte.is_ascii_digit()) => format!("sample-{name}"),
            name => name,
        };
        let free = (2..).map(|number| format!("{name}-{number}")).find(|name| !names.contains(name));
        let name = if names.contains(&name) { free.unwrap_or(name) } else { name };
        names.insert(name.clone());
        groups.push(Group { name, conversations: vec![conversation], masked });
    }
    groups
}

/// Writes assertions into the tests of a new suite, and records their conversations.
fn fill(suite: &Path, groups: &[Group<'_>], secrets: &Arc<Secrets>, created: &Unfinished) -> anyhow::Result<()> {
    let loaded = only(load(suite)?)?;
    let dialect = loaded.report.suite.dialect;
    let path = loaded.path();
    let mut document = loaded.report.source.document.clone();
    let mut recorded: Vec<Vec<Attempt>> = Vec::new();
    let mut numbers: Vec<String> = Vec::new();
    for group in groups {
        let cases = &loaded.report.suite.cases;
        let case = cases.iter().find(|case| case.name == group.name).and_then(|case| {
            // Those above it may have more lines by now.
            case_in(&loaded, case, &path, &document)
        });
        let case = case.with_context(|| format!("the test of `{}` cannot be read", group.name))?;
        warn_of_text(&case, &group.conversations, secrets);
        let attempts = attempts(&case, dialect, &group.conversations, secrets)?;
        let interpreted = |attempt: &Attempt| {
            let mut evidence = attempt.evidence.clone();
            dialect.interpret(&mut evidence);
            Arc::new(evidence)
        };
        let evidence: Vec<Arc<Evidence>> = attempts.iter().map(interpreted).collect();
        let look = |text: &Document| (case_in(&loaded, &case, &path, text), loaded.checker.problems(text));
        match write::write(&document, &case, dialect, &evidence, secrets, &look) {
            Ok(written) => {
                numbers.push(format!("`{}`: {}", group.name, self::numbers(&written)));
                document = Document::read(&written.text, document.rules());
            }
            Err(reason) => output::warn(&format!("`{}` gets no assertions: {reason}", group.name)),
        }
        recorded.push(attempts);
    }
    // From here on, an end waits until all is written.
    let mut created = lock(created);
    fix::rewrite(&path, &String::from(loaded.report.source.document.text()), &String::from(document.text()))?;
    let loaded = only(load(suite)?)?;
    let problems = loaded.report.problems.iter().filter(|it| it.severity <= Severity::Warning);
    let problems: Vec<&Problem> = problems.collect();
    if let Some(error) = problems.iter().find(|problem| problem.severity == Severity::Error) {
        bail!("no valid suite can be written for this recording: {}", secrets.mask(&error.message));
    }
    if !problems.is_empty() {
        let count = plural(problems.len(), "problem");
        output::warn(&format!("`{}` has {count}; run `speclens check`", suite.display()));
    }
    for (group, attempts) in groups.iter().zip(recorded) {
        let index = loaded.report.suite.cases.iter().position(|case| case.name == group.name);
        record(&loaded, index.context("the test is gone")?, attempts, secrets, &mut created)?;
    }
    created.clear();
    numbers.iter().for_each(|numbers| output::note(numbers));
    Ok(())
}

fn only(suites: Vec<Loaded>) -> anyhow::Result<Loaded> {
    suites.into_iter().next().context("the suite cannot be read")
}
