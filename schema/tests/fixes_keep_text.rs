//! Safe fixes keep the text: a slip in a line of a real file loses no words, whichever fixes are applied.
//!
//! The slips are generated, in several styles. The words of the scalars are compared as our own reader finds them, and as
//! PyYAML does where Python has it: a fix may divide or move a scalar, and loses none of its words. The words of the text
//! are compared in any case, because most of these texts are not YAML. A fix changes only the line with the slip, unless
//! the text then means what it meant before the slip.

#![expect(clippy::print_stdout, reason = "it says what is skipped")]

use crate::list_style;

use std::{
    collections::BTreeMap,
    fs,
    io::Write,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    thread,
};

use speclens_schema::{
    analysis::Analyzer,
    document::{Document, NodeRef},
    files::MemoryFiles,
    fixing::{Applied, FixedText, Revealing, apply_fixes},
    json_schema::SpecFile,
    kind::{FileContext, detect},
    problem::Fix,
    settings::Settings,
};

use list_style::ListStyle;

/// One of this many slips is tried in the examples and specs of the repository, and in public files.
const EVERY: usize = 97;
const EVERY_PUBLIC: usize = 997;

/// Maximum number of bytes of a file: the time grows with its square.
const MAX_BYTES: u64 = 6_000;

/// Prints the words in scalars that each pair of texts has before, and not after: one line each, as JSON.
const PYTHON: &str = r"
import collections, json, re, sys, yaml
def scalars(text):
    try:
        events = list(yaml.parse(text, Loader=yaml.SafeLoader))
    except yaml.YAMLError:
        return None
    values = [event.value for event in events if isinstance(event, yaml.ScalarEvent)]
    return collections.Counter(word for value in values for word in re.findall(r'[^\W_]+', value))
for before, after in json.load(sys.stdin):
    before, after = scalars(before), scalars(after)
    if before is None:
        print(json.dumps([]))
    elif after is None:
        print(json.dumps(['everything']))
    else:
        print(json.dumps(sorted((before - after).elements())))
";

struct Source {
    path: String,
    file: SpecFile,
    text: String,
    every: usize,
}

/// A text with a slip, and the same after all safe fixes.
struct Outcome {
    name: String,
    file: SpecFile,
    original: String,
    slipped: String,
    fixed: String,
    applied: Vec<Applied>,
    again: String,
}

fn yaml_files(folder: &Path, found: &mut Vec<PathBuf>) {
    let mut paths: Vec<PathBuf> =
        fs::read_dir(folder).into_iter().flatten().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    for path in paths {
        if path.is_dir() {
            yaml_files(&path, found);
        } else if path.extension().is_some_and(|it| it == "yaml")
            && path.metadata().is_ok_and(|file| file.len() < MAX_BYTES)
        {
            found.push(path);
        }
    }
}

fn sources() -> Vec<Source> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let public = root.join("../shared/corpus");
    if !public.is_dir() {
        println!("skipped: no public files beside the repository");
    }
    let folders = [
        (root.join("schema/examples"), EVERY),
        (root.join("tests/specs"), EVERY),
        (public.join("cli-bench"), EVERY_PUBLIC),
        (public.join("clawspec"), EVERY_PUBLIC),
    ];
    let mut sources = Vec::new();
    for (folder, every) in folders {
        let mut paths = Vec::new();
        yaml_files(&folder, &mut paths);
        for path in paths {
            let Ok(text) = fs::read_to_string(&path) else { continue };
            let text = text.replace("\r\n", "\n");
            let path = path.to_str().unwrap().to_owned();
            let found = detect(&path, &text, &FileContext::NOTHING).map(|found| found.file);
            let file = found.or_else(|| path.contains("/tasks/").then_some(SpecFile::CLI_BENCH_TASKS));
            let Some(file) = file else { continue };
            // What is wrong with the file itself is no part of the slip.
            let text = fix(file, &text).text;
            if Document::read(&text, file.scalar_rules()).is_intact() {
                sources.push(Source { path, file, text, every });
            }
        }
    }
    sources
}

fn indent(line: &str) -> usize {
    line.len() - line.trim_start_matches(' ').len()
}

/// Returns the end of the lines that belong to a line: those that are deeper.
fn end_of(lines: &[&str], at: usize) -> usize {
    let is_deeper = |line: &&str| line.trim().is_empty() || indent(line) > indent(lines[at]);
    at + 1 + lines[at + 1..].iter().take_while(|line| is_deeper(line)).count()
}

fn moved(line: &str, by: isize) -> Option<String> {
    let blanks = indent(line).checked_add_signed(by)?;
    Some(if line.trim().is_empty() { line.to_owned() } else { format!("{}{}", " ".repeat(blanks), line.trim_start()) })
}

/// Returns the texts that a slip in a line makes, with its name.
fn slips(lines: &[&str], at: usize) -> Vec<(&'static str, Vec<String>)> {
    let line = lines[at];
    let words = line.trim_start_matches(' ');
    if words.is_empty() || words.starts_with('#') {
        return Vec::new();
    }
    let blanks = &line[..line.len() - words.len()];
    let value = words.find(": ").map(|colon| blanks.len() + colon + 2);
    let in_line: [(&'static str, Option<String>); 22] = [
        ("lost dash", words.strip_prefix("- ").map(|rest| format!("{blanks}  {rest}"))),
        ("lost dash and blank", words.strip_prefix("- ").map(|rest| format!("{blanks}{rest}"))),
        ("lost space after the dash", words.strip_prefix("- ").map(|rest| format!("{blanks}-{rest}"))),
        ("tab after the dash", words.strip_prefix("- ").map(|rest| format!("{blanks}-\t{rest}"))),
        ("lost colon", line.find(": ").map(|colon| format!("{}{}", &line[..colon], &line[colon + 1..]))),
        ("lost colon at the end", line.strip_suffix(':').map(str::to_owned)),
        ("lost space after the colon", line.contains(": ").then(|| line.replacen(": ", ":", 1))),
        ("lost first quote", line.find(['"', '\'']).map(|quote| format!("{}{}", &line[..quote], &line[quote + 1..]))),
        ("lost last quote", line.strip_suffix(['"', '\'']).map(str::to_owned)),
        ("lost bracket", line.strip_suffix([']', '}']).map(str::to_owned)),
        ("tab", (!blanks.is_empty()).then(|| format!("\t{words}"))),
        ("tabs", (!blanks.is_empty()).then(|| format!("{}{words}", "\t".repeat(blanks.len() / 2)))),
        ("deeper by 1", moved(line, 1)),
        ("deeper by 2", moved(line, 2)),
        ("deeper by 4", moved(line, 4)),
        ("less deep by 1", moved(line, -1)),
        ("less deep by 2", moved(line, -2)),
        ("less deep by 4", moved(line, -4)),
        ("trailing comma", Some(format!("{line},"))),
        ("no-break space", line.contains(": ").then(|| line.replacen(": ", ":\u{a0}", 1))),
        ("reserved character", value.map(|value| format!("{}@{}", &line[..value], &line[value..]))),
        ("alias sign", value.map(|value| format!("{}*{}", &line[..value], &line[value..]))),
    ];
    let with = |range: std::ops::Range<usize>, new: Vec<String>| -> Vec<String> {
        let owned = |lines: &[&str]| lines.iter().map(|line| (*line).to_owned()).collect::<Vec<String>>();
        [owned(&lines[..range.start]), new, owned(&lines[range.end..])].concat()
    };
    let mut all: Vec<(&'static str, Vec<String>)> = in_line
        .into_iter()
        .filter_map(|(name, slipped)| Some((name, with(at..at + 1, vec![slipped.filter(|it| it != line)?]))))
        .collect();
    all.push(("duplicate line", with(at..at + 1, vec![line.to_owned(), line.to_owned()])));
    let whole = at..end_of(lines, at);
    for (name, by) in [("item deeper by 2", 2), ("item deeper by 4", 4), ("item less deep by 2", -2)] {
        let lines: Option<Vec<String>> = lines[whole.clone()].iter().map(|line| moved(line, by)).collect();
        all.extend(lines.filter(|_| words.starts_with("- ")).map(|new| (name, with(whole.clone(), new))));
    }
    all
}

/// Applies all safe fixes.
fn fix(file: SpecFile, text: &str) -> FixedText {
    let analyzer = Analyzer::new(file);
    let look = |document: &Document| analyzer.problems(document, &MemoryFiles::default(), &Settings::default());
    let document = Document::read(text, file.scalar_rules());
    apply_fixes(&document, &look, &|problem| problem.fixes.iter().find(|fix| Fix::is_safe(fix)), Revealing::Allowed)
}

fn outcome(file: SpecFile, name: String, original: String, slipped: String) -> Outcome {
    let FixedText { text: fixed, applied, .. } = fix(file, &slipped);
    let again = if fixed == slipped { slipped.clone() } else { fix(file, &fixed).text };
    Outcome { name, file, original, slipped, fixed, applied, again }
}

fn outcomes(sources: &[Source]) -> Vec<Outcome> {
    let mut outcomes = Vec::new();
    let mut number = 0_usize;
    for source in sources {
        for style in [None].into_iter().chain(ListStyle::ALL.map(Some)) {
            let text = style.map_or_else(|| source.text.clone(), |style| style.of(&source.text));
            let lines: Vec<&str> = text.lines().collect();
            for at in 0..lines.len() {
                for (slip, new) in slips(&lines, at) {
                    number += 1;
                    if !number.is_multiple_of(source.every) {
                        continue;
                    }
                    let line_break = if number.is_multiple_of(3) { "\r\n" } else { "\n" };
                    let slipped = format!("{}{line_break}", new.join(line_break));
                    let name = format!("{} in {style:?}, line {}: {slip}", source.path, at + 1);
                    let original = format!("{}{line_break}", lines.join(line_break));
                    outcomes.push(outcome(source.file, name, original, slipped));
                }
            }
        }
    }
    outcomes
}

impl Outcome {
    /// Whether a name was replaced by another one, which changes letters.
    fn renames(&self) -> bool {
        self.applied.iter().any(|fix| ["rename ", "change ", "write `"].iter().any(|verb| fix.title.starts_with(verb)))
    }

    /// Whether all lines but the one with the slip are as they were: to undo the slip by hand gives the original text.
    fn keeps_other_lines(&self) -> bool {
        let [original, slipped] = [&self.original, &self.slipped].map(|text| text.split_inclusive('\n'));
        let is_same = |(one, other): &(&str, &str)| one == other;
        let length = |(line, _): (&str, &str)| line.len();
        let above: usize = original.clone().zip(slipped.clone()).take_while(is_same).map(length).sum();
        let below: usize = original.rev().zip(slipped.rev()).take_while(is_same).map(length).sum();
        let below = &self.slipped[self.slipped.len() - below.min(self.slipped.len() - above)..];
        let rest = self.fixed.strip_prefix(&self.slipped[..above]);
        rest.is_some_and(|rest| rest.ends_with(below))
    }

    /// Whether the fixed text means what the original does.
    fn means_original(&self) -> bool {
        let read = |text: &str| Document::read(text, self.file.scalar_rules());
        let meaning = |document: &Document| document.root().and_then(|root| root.to_value().ok());
        let fixed = read(&self.fixed);
        fixed.is_intact() && meaning(&fixed) == meaning(&read(&self.original))
    }

    fn says(&self, what: &str) -> String {
        let titles: Vec<&str> = self.applied.iter().map(|fix| fix.title.as_str()).collect();
        format!("{}: {what}: {titles:?}\n", self.name)
    }
}

fn scalars(node: NodeRef<'_>, found: &mut BTreeMap<String, usize>) {
    if node.alias().is_some() {
        return;
    }
    for entry in node.entries() {
        scalars(entry.key, found);
        scalars(entry.value, found);
    }
    node.items().for_each(|item| scalars(item, found));
    words(node.text().unwrap_or_default(), found);
}

/// Returns the words in scalars that a text had before, and lacks after.
fn lost_scalars(outcome: &Outcome) -> Vec<String> {
    let of = |text: &str| {
        let document = Document::read(text, speclens_schema::document::ScalarRules::Yaml12);
        let mut found = BTreeMap::new();
        document.root().into_iter().for_each(|root| scalars(root, &mut found));
        (document.is_intact(), found)
    };
    let (is_read, before) = of(&outcome.slipped);
    let (_, after) = of(&outcome.fixed);
    if is_read { lost(&before, &after) } else { Vec::new() }
}

/// Counts the words of a text.
fn words(text: &str, found: &mut BTreeMap<String, usize>) {
    for word in text.split(|letter: char| !letter.is_alphanumeric()).filter(|word| !word.is_empty()) {
        *found.entry(word.to_owned()).or_default() += 1;
    }
}

fn lost(before: &BTreeMap<String, usize>, after: &BTreeMap<String, usize>) -> Vec<String> {
    let is_lost = |(word, count): &(&String, &usize)| after.get(*word).is_none_or(|left| left < count);
    before.iter().filter(is_lost).map(|(word, _)| word.clone()).collect()
}

/// Returns the words of a text that another one lacks.
fn lost_words(before: &str, after: &str) -> Vec<String> {
    let of = |text: &str| {
        let mut found = BTreeMap::new();
        words(text, &mut found);
        found
    };
    lost(&of(before), &of(after))
}

#[test]
fn safe_fixes_keep_every_scalar_and_settle() {
    let sources = sources();
    assert!(sources.len() > 10, "{}", sources.len());
    let half = sources.len() / 2;
    let outcomes: Vec<Outcome> = thread::scope(|scope| {
        let parts = [&sources[..half], &sources[half..]].map(|part| scope.spawn(move || outcomes(part)));
        parts.into_iter().flat_map(|part| part.join().unwrap()).collect()
    });
    let fixed: Vec<&Outcome> = outcomes.iter().filter(|it| it.fixed != it.slipped).collect();
    println!("{} slips, {} with safe fixes", outcomes.len(), fixed.len());
    let mut wrong = String::new();
    for outcome in &fixed {
        if outcome.again != outcome.fixed {
            wrong.push_str(&outcome.says("a second run changes more"));
        }
        if !outcome.keeps_other_lines() && !outcome.means_original() {
            wrong.push_str(&outcome.says("another line is changed, and the meaning is not that of the original"));
        }
        let lost = lost_words(&outcome.slipped, &outcome.fixed);
        if !outcome.renames() && !lost.is_empty() {
            wrong.push_str(&outcome.says(&format!("words are lost: {lost:?}")));
        }
        let lost = lost_scalars(outcome);
        if !outcome.renames() && !lost.is_empty() {
            wrong.push_str(&outcome.says(&format!("our reader misses {lost:?}")));
        }
    }
    for (outcome, lost) in fixed.iter().zip(missed_by_pyyaml(&fixed)) {
        if !outcome.renames() && !lost.is_empty() {
            wrong.push_str(&outcome.says(&format!("PyYAML misses {lost:?}")));
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
    assert!(fixed.len() * 20 > outcomes.len(), "{} of {}", fixed.len(), outcomes.len());
}

/// Returns the words that PyYAML finds before the fixes but not after them. Empty if Python or PyYAML is missing.
fn missed_by_pyyaml(outcomes: &[&Outcome]) -> Vec<Vec<String>> {
    let pairs: Vec<(&str, &str)> =
        outcomes.iter().map(|outcome| (outcome.slipped.as_str(), outcome.fixed.as_str())).collect();
    let input = serde_json::to_vec(&pairs).unwrap();
    let started = Command::new("python3")
        .args(["-c", PYTHON])
        .env("PYTHONIOENCODING", "utf-8")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn();
    let Ok(mut python) = started else {
        println!("skipped: no Python to read the texts");
        return Vec::new();
    };
    let mut stdin = python.stdin.take().unwrap();
    let writer = thread::spawn(move || stdin.write_all(&input));
    let output = python.wait_with_output().unwrap();
    let is_sent = writer.join().unwrap().is_ok();
    if !output.status.success() || !is_sent {
        println!("skipped: Python has no module `yaml`");
        return Vec::new();
    }
    let lines = String::from_utf8(output.stdout).unwrap();
    let lost: Vec<Vec<String>> = lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(lost.len(), outcomes.len());
    lost
}
