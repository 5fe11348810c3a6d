//! No suggestion and no fix turns what an author asserts into its opposite.

use crate::golden;

use std::{collections::BTreeSet, ops::Range};

use serde_json::Value;
use speclens_schema::{
    document::{Document, NodeRef},
    faults,
    files::MemoryFiles,
    fixing,
    json_schema::SpecFile,
    problem::Problem,
    words::{is_surely, nearest},
};

use golden::Golden;

/// Words with their opposites, written down apart from those of the program.
const PAIRS: [(&str, &str); 25] = [
    ("min", "max"),
    ("before", "after"),
    ("allow", "deny"),
    ("allowed", "denied"),
    ("permitted", "forbidden"),
    ("enable", "disable"),
    ("enabled", "disabled"),
    ("first", "last"),
    ("any", "all"),
    ("include", "exclude"),
    ("contains", "excludes"),
    ("with", "without"),
    ("on", "off"),
    ("add", "remove"),
    ("start", "end"),
    ("pass", "fail"),
    ("passed", "failed"),
    ("from", "to"),
    ("input", "output"),
    ("true", "false"),
    ("equals", "differs"),
    ("least", "most"),
    ("present", "absent"),
    ("exists", "missing"),
    ("all", "none"),
];

/// Returns the names that say the opposite of one, each spelled as names of its kind are.
fn opposites(name: &str) -> BTreeSet<String> {
    let words = words(name);
    let is_camel = name.contains(char::is_uppercase);
    let mut all = BTreeSet::new();
    for index in 0..words.len() {
        let with = |new: &str| {
            let mut words = words.clone();
            words[index] = new.to_owned();
            joined(&words, is_camel)
        };
        for prefix in ["un", "non", "dis"] {
            all.insert(with(&format!("{prefix}{}", words[index])));
        }
        for (one, other) in PAIRS {
            if words[index] == one {
                all.insert(with(other));
            } else if words[index] == other {
                all.insert(with(one));
            }
        }
        if words[index] == "not" || words[index] == "no" {
            all.insert(with("was"));
            let mut rest = words.clone();
            rest.remove(index);
            all.insert(joined(&rest, is_camel));
        } else {
            let mut more = words.clone();
            more.insert(index, "not".to_owned());
            all.insert(joined(&more, is_camel));
        }
    }
    all.remove("");
    all
}

fn words(name: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    for letter in name.chars() {
        match words.last_mut() {
            _ if letter == '_' || letter == '-' => words.push(String::new()),
            Some(word) if !letter.is_uppercase() => word.push(letter),
            _ => words.push(letter.to_lowercase().collect()),
        }
    }
    words.retain(|word| !word.is_empty());
    words
}

fn joined(words: &[String], is_camel: bool) -> String {
    if !is_camel {
        return words.join("_");
    }
    let mut name = String::new();
    for word in words {
        let mut letters = word.chars();
        let first = letters.next().unwrap();
        name.extend(if name.is_empty() { vec![first] } else { first.to_uppercase().collect() });
        name.extend(letters);
    }
    name
}

/// Returns the same with two letters exchanged, as fingers do.
fn with_slip(name: &str) -> String {
    let mut letters: Vec<char> = name.chars().collect();
    let middle = letters.len() / 2;
    if letters.len() > 6 {
        letters.swap(middle, middle + 1);
    }
    letters.into_iter().collect()
}

/// The names that are beside each other in a schema: the keys of each mapping, the members of each enumeration, the types.
fn sets(value: &Value, found: &mut Vec<Vec<String>>) {
    if let Some(keys) = value.get("properties").and_then(Value::as_object) {
        found.push(keys.keys().cloned().collect());
    }
    for (list, key) in [("enum", None), ("oneOf", Some("const")), ("anyOf", Some("const"))] {
        let items = value.get(list).and_then(Value::as_array).into_iter().flatten();
        let text = |item: &Value| key.map_or(Some(item), |key| item.get(key))?.as_str().map(str::to_owned);
        found.push(items.filter_map(text).collect());
    }
    match value {
        Value::Object(members) => members.values().for_each(|member| sets(member, found)),
        Value::Array(items) => items.iter().for_each(|item| sets(item, found)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

#[test]
fn names_are_never_likened_to_their_opposites() {
    let mut all: Vec<Vec<String>> = SpecFile::ALL
        .iter()
        .flat_map(|file| {
            let mut found = Vec::new();
            sets(file.schema(), &mut found);
            found
        })
        .filter(|names| !names.is_empty())
        .collect();
    let types = speclens_schema::dialect::clawspec::assertion::Assertion::TYPES.iter().map(|info| info.name.to_owned());
    all.push(types.collect());
    let mut tried = 0;
    for names in &all {
        let candidates = || names.iter().map(String::as_str);
        for name in names {
            for opposite in opposites(name).into_iter().filter(|it| !names.contains(it)) {
                for written in [opposite.clone(), opposite.replace('_', ""), with_slip(&opposite)] {
                    tried += 1;
                    assert_ne!(nearest(&written, candidates()), Some(name.as_str()), "{written} among {names:?}");
                    assert!(!is_surely(&written, name, candidates()), "{written} for {name}");
                }
            }
        }
    }
    assert!(tried > 3000, "only {tried} were tried");
}

/// A key of a text with its opposite in its place.
fn keys(node: NodeRef<'_>, found: &mut Vec<(Range<usize>, String)>) {
    for entry in node.entries() {
        if !entry.key.is_through_alias() {
            found.push((entry.key.own_range(), entry.key.key_text()));
        }
        keys(entry.value, found);
    }
    node.items().for_each(|item| keys(item, found));
}

/// Returns what a fix makes of the place.
fn outcome(text: &str, problem: &Problem, place: &Range<usize>) -> Vec<String> {
    let at_place =
        |edit: &&speclens_schema::problem::Edit| edit.range.start <= place.start && edit.range.end >= place.end;
    let fixes = problem.fixes.iter().filter(|fix| fix.edits.iter().any(|edit| at_place(&edit)));
    fixes.map(|fix| fixing::replaced(text, &fix.edits)).collect()
}

/// A key that was put instead of another one.
struct Replaced<'r> {
    golden: &'r Golden,
    /// The text with the new key, and where it is.
    text: &'r str,
    place: Range<usize>,
    /// The key of the golden text, and the new one.
    key: &'r str,
    other: &'r str,
}

/// Puts other names instead of each key of each golden text, once for each kind of file: every key of every text would
/// take minutes. `check` sees each problem that there is then. Returns how many names were tried.
fn with_other_keys<O: IntoIterator<Item = String>>(
    others: impl Fn(&str) -> O,
    check: impl Fn(&Replaced<'_>, &Problem),
) -> usize {
    let mut tried = 0;
    let mut seen = BTreeSet::new();
    for golden in Golden::all() {
        let original = golden.document();
        let Some(root) = original.root() else { continue };
        if faults::problems(&original).iter().any(|problem| problem.code.is_about_reading()) {
            continue;
        }
        let mut all = Vec::new();
        keys(root, &mut all);
        for (range, key) in all.into_iter().filter(|(_, key)| seen.insert((golden.file.as_str(), key.clone()))) {
            for other in others(&key) {
                let mut text = golden.text.clone();
                text.replace_range(range.clone(), &other);
                let document = Document::read(&text, golden.file.scalar_rules());
                let place = range.start..range.start + other.len();
                let replaced = Replaced { golden: &golden, text: &text, place, key: &key, other: &other };
                tried += 1;
                golden.problems(&document).iter().for_each(|problem| check(&replaced, problem));
            }
        }
    }
    tried
}

/// No fix of a problem gives the golden text back.
fn is_not_undone(replaced: &Replaced<'_>, problem: &Problem) {
    let Replaced { golden, text, place, key, other } = replaced;
    for new in outcome(text, problem, place) {
        assert_ne!(new, golden.text, "{}: {other} becomes {key}", golden.path.display());
    }
}

#[test]
fn no_fix_turns_a_key_into_its_opposite() {
    let tried = with_other_keys(opposites, |replaced, problem| {
        is_not_undone(replaced, problem);
        let asks = format!("rename it to `{}`", replaced.key);
        let is_asked = problem.range == replaced.place && problem.help.as_ref() == Some(&asks);
        assert!(!is_asked, "{}: {}", replaced.golden.path.display(), problem.text());
    });
    assert!(tried > 1000, "only {tried} were tried");
}

/// Words for units, each group apart from the others.
const UNITS: [&[&str]; 5] = [&["ms", "millis"], &["sec", "seconds"], &["minutes"], &["hours"], &["cents"]];

/// Returns the names of the same amount in other units.
fn in_other_units(name: &str) -> Vec<String> {
    let all = words(name);
    let Some((last, rest)) = all.split_last() else { return Vec::new() };
    let own = UNITS.iter().position(|units| units.contains(&last.as_str()));
    if own.is_none() && last != "usd" {
        return Vec::new();
    }
    let others = UNITS.iter().enumerate().filter(|(group, _)| Some(*group) != own).flat_map(|(_, units)| *units);
    let named = |unit: &&str| joined(&[rest, &[(*unit).to_owned()]].concat(), name.contains(char::is_uppercase));
    others.map(named).collect()
}

#[test]
fn no_fix_renames_a_key_to_one_of_another_unit() {
    let tried = with_other_keys(in_other_units, is_not_undone);
    assert!(tried > 30, "only {tried} were tried");
}

/// A version is never taken for a slip of another one, and never changed unseen.
#[test]
fn a_version_is_only_offered() {
    for version in ["\"2.0\"", "\"1\"", "\"1.0.0\"", "\"v1.0\"", "2.0", "1", "1.1"] {
        let text = format!(
            "version: {version}\ntarget: {{ type: skill, path: skills/demo, trigger: /demo }}\nscenarios: []\n"
        );
        let file = SpecFile::CLAWSPEC_SCENARIOS;
        let document = Document::read(&text, file.scalar_rules());
        let files = MemoryFiles::new("/work", [("skills/demo/SKILL.md", "# Demo\n")]);
        let problems = speclens_schema::analysis::Analyzer::new(file).problems(
            &document,
            &files.at("skills/demo/tests/scenarios.yaml"),
            &speclens_schema::settings::Settings::default(),
        );
        let problem = problems.iter().find(|problem| problem.at.to_string() == "/version").unwrap();
        assert!(!problem.text().contains("did you mean"), "{version}: {}", problem.text());
        assert!(problem.fixes.iter().all(|fix| !fix.is_safe()), "{version}: {:?}", problem.fixes);
    }
}
