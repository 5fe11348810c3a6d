//! Which kind of file is it? Decided by what the author says in a comment, by name and place, by who names
//! the file, and by what stands in it; in this order.
//!
//! The text is only scanned for its outline, line by line: a file that is none of ours costs next to
//! nothing, and a damaged one is still recognised.

use crate::json_schema::SpecFile;

/// The beginning of the comment that says what a file is: `# speclens: dialect=clawspec-handoff`.
const MARK: &str = "speclens: dialect=";

/// The kind of a file, if it is one of ours. `path`: where it stands, `/` between names, as far as it is
/// known. `is_named`: whether a `file://` entry of a cli-bench suite leads to it.
pub fn detect(path: &str, text: &str, is_named: bool) -> Option<SpecFile> {
    let outline = Outline::of(text);
    let by_content = of_outline(&outline);
    let said = said(text);
    if let Some(Ok(said)) = said {
        // The word of a dialect is also that of one of its kinds; the content, and the name, then know better.
        if !is_dialect_word(said) {
            return Some(said);
        }
        let by_name = of_path(path).map(|(Named::Surely(file) | Named::Perhaps(file))| file);
        let found = [by_content, outline.by_key_of(said), by_name].into_iter().flatten();
        return Some(found.into_iter().find(|found| found.dialect() == said.dialect()).unwrap_or(said));
    }
    // What somebody says with a slip of the pen is still told by name and content first.
    let meant = || {
        let word = said.and_then(Result::err)?;
        SpecFile::parse(crate::words::nearest(word, SpecFile::ALL.iter().map(|file| file.as_str()))?)
    };
    match of_path(path) {
        Some(Named::Surely(file)) => return Some(file),
        _ if is_named => return Some(SpecFile::CliBenchTasks),
        Some(Named::Perhaps(file)) => {
            if let Some(found) = by_content {
                return Some(found);
            }
            if outline.could_be(file) {
                return Some(file);
            }
        }
        None => {}
    }
    let is_list_of_scenarios = || outline.has("scenarios") && is_named_scenarios(path);
    by_content.or_else(|| is_list_of_scenarios().then_some(SpecFile::ClawSpecScenarios)).or_else(meant)
}

/// Whether a text is a mapping of which this kind of file knows no key: it belongs to another tool.
pub fn is_foreign(file: SpecFile, text: &str) -> bool {
    let outline = Outline::of(text);
    let fields = crate::shape::Shape::of(file).all_fields();
    let known = |key: &str| fields.iter().any(|field| field.name == key);
    outline.items.is_empty() && !outline.keys.is_empty() && !outline.keys.iter().any(|(key, _)| known(key))
}

/// Whether a file beside the tests of a skill is called after its scenarios: `tests/smoke-scenarios.yaml`.
fn is_named_scenarios(path: &str) -> bool {
    let mut names = path.rsplit('/');
    let name = names.next().unwrap_or_default();
    names.next() == Some("tests") && [".yaml", ".yml"].iter().any(|end| name.ends_with(&format!("scenarios{end}")))
}

/// What the name and the place of a file say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Named {
    /// No other file has such a name.
    Surely(SpecFile),
    /// Other tools may have files of this name: the content must agree.
    Perhaps(SpecFile),
}

/// What the name and the place of a file say.
pub fn of_path(path: &str) -> Option<Named> {
    let mut names = path.rsplit('/');
    let (name, folder, above) = (names.next()?, names.next().unwrap_or_default(), names.next().unwrap_or_default());
    Some(match (above, folder, name) {
        (_, _, "kindlm.yaml" | "kindlm.yml") => Named::Surely(SpecFile::KindLm),
        (_, _, "speclens.yaml") => Named::Surely(SpecFile::Settings),
        (_, _, "cli-bench.yaml" | "cli-bench.yml") => Named::Surely(SpecFile::CliBench),
        (_, _, "clawspec.yaml") => Named::Surely(SpecFile::ClawSpec),
        (_, "tests", "scenarios.yaml") => Named::Perhaps(SpecFile::ClawSpecScenarios),
        (_, "tests", "pipeline.yaml") => Named::Perhaps(SpecFile::ClawSpecPipeline),
        (_, "tests", "baselines.yaml") => Named::Perhaps(SpecFile::ClawSpecBaselines),
        ("tests", "handoffs", name) if is_yaml(name) => Named::Perhaps(SpecFile::ClawSpecHandoff),
        ("tests", "pipelines", name) if is_yaml(name) => Named::Perhaps(SpecFile::ClawSpecPipeline),
        (_, _, "coverage-ledger.yaml") => Named::Perhaps(SpecFile::ClawSpecLedger),
        _ => return None,
    })
}

/// Whether a name is that of a YAML file.
pub fn is_yaml(name: &str) -> bool {
    [".yaml", ".yml"].iter().any(|ending| name.len() > ending.len() && name.ends_with(ending))
}

/// What a comment before the first entry says the file is, or a word that means nothing.
pub fn said(text: &str) -> Option<Result<SpecFile, &str>> {
    let head = text.trim_start_matches('\u{feff}').lines().take_while(|line| {
        let line = line.trim_start();
        line.is_empty() || line.starts_with('#') || line.trim_end() == "---" || line.starts_with('%')
    });
    let mut marked = head.filter_map(|line| {
        let rest = line.trim_start().strip_prefix('#')?.trim_start().strip_prefix(MARK)?;
        rest.split_whitespace().next()
    });
    let word = marked.next()?;
    Some(SpecFile::parse(word).ok_or(word))
}

fn is_dialect_word(file: SpecFile) -> bool {
    file.dialect().is_some_and(|dialect| dialect.as_str() == file.as_str())
}

/// The keys of the first two levels, as far as indentation shows them.
#[derive(Debug, Default)]
struct Outline<'t> {
    /// The keys of the root, and whether a value stands beside each.
    keys: Vec<(&'t str, bool)>,
    /// Keys one level below, with the place of the one above them.
    below: Vec<(usize, &'t str)>,
    /// The keys of each item, where the root is a list. Only of the first ones.
    items: Vec<Vec<&'t str>>,
    /// Whether there is anything besides.
    other: bool,
}

impl<'t> Outline<'t> {
    fn of(text: &'t str) -> Outline<'t> {
        /// The items, and the keys, that are looked at. Whoever writes a suite says so soon.
        const LIMIT: usize = 256;
        let mut outline = Outline::default();
        if outline.read_flow(text, LIMIT) {
            return outline;
        }
        // The column of the keys on the second level.
        let mut inner = None;
        for line in text.trim_start_matches('\u{feff}').lines() {
            let words = line.trim_start_matches(' ');
            let indent = line.len() - words.len();
            if words.trim().is_empty() || words.starts_with('#') || (indent == 0 && words.trim_end() == "---") {
                continue;
            }
            if outline.keys.len() + outline.below.len() + outline.items.len() > LIMIT {
                break;
            }
            match (indent, words.strip_prefix("- ").or((words == "-").then_some(""))) {
                (0, Some(rest)) if outline.keys.is_empty() => {
                    let first = key_of(rest).map(|(key, _)| key);
                    outline.items.push(first.into_iter().chain(keys_in_braces(rest)).collect());
                    inner = Some(2 + rest.len() - rest.trim_start_matches(' ').len());
                }
                (0, Some(_)) => {}
                (0, None) => match key_of(words) {
                    Some(key) => {
                        let value = words[key.0.len()..].split_once(':').map_or("", |(_, value)| value);
                        let at = outline.keys.len();
                        outline.below.extend(keys_in_braces(value).map(|key| (at, key)));
                        outline.keys.push(key);
                        inner = None;
                    }
                    None => outline.other = true,
                },
                (_, _) if *inner.get_or_insert(indent) == indent => {
                    let Some((key, _)) = key_of(words) else { continue };
                    match outline.items.last_mut() {
                        Some(item) if item.len() < LIMIT => item.push(key),
                        Some(_) => {}
                        None if !outline.keys.is_empty() => outline.below.push((outline.keys.len() - 1, key)),
                        None => {}
                    }
                }
                (_, _) => {}
            }
        }
        outline
    }

    /// Reads a file that is one mapping or list in brackets, as JSON is; false where it is none.
    fn read_flow(&mut self, text: &'t str, limit: usize) -> bool {
        let mut at = 0;
        let start = text.trim_start_matches('\u{feff}').lines().find_map(|line| {
            at = line.as_ptr() as usize - text.as_ptr() as usize;
            let words = line.trim();
            (!words.is_empty() && !words.starts_with('#') && words != "---").then_some(words)
        });
        if !start.is_some_and(|line| line.starts_with(['{', '['])) {
            return false;
        }
        let mut open: Vec<char> = Vec::new();
        // Where a key or a value begins that is not yet over.
        let mut begin = None;
        let mut letters = text[at..].char_indices().peekable();
        while let Some((offset, letter)) = letters.next() {
            if self.keys.len() + self.below.len() + self.items.len() > limit {
                break;
            }
            let here = at + offset;
            match letter {
                '{' | '[' => {
                    if letter == '{' && open == ['['] {
                        self.items.push(Vec::new());
                    }
                    open.push(letter);
                    begin = None;
                }
                '}' | ']' => {
                    open.pop();
                    begin = None;
                }
                ',' => begin = None,
                '"' | '\'' if begin.is_none() => {
                    let mut escaped = false;
                    for (_, inner) in letters.by_ref() {
                        if inner == letter && !escaped {
                            break;
                        }
                        escaped = inner == '\\' && letter == '"' && !escaped;
                    }
                    begin = Some(here);
                }
                '#' if begin.is_none() => while letters.next_if(|(_, letter)| *letter != '\n').is_some() {},
                ':' => {
                    let Some(key) = begin.take() else { continue };
                    let key = text[key..here].trim().trim_matches(['"', '\'']);
                    let rest = text[here + 1..].trim_start();
                    match open.as_slice() {
                        ['{'] => self.keys.push((key, !rest.is_empty() && !rest.starts_with([',', '}']))),
                        ['{', '{'] if !self.keys.is_empty() => self.below.push((self.keys.len() - 1, key)),
                        ['[', '{'] => self.items.last_mut().into_iter().for_each(|item| item.push(key)),
                        _ => {}
                    }
                    // What follows is a value, until the next comma.
                    begin = None;
                }
                _ if letter.is_whitespace() => {}
                _ => begin = begin.or(Some(here)),
            }
        }
        true
    }

    /// The kind of a dialect whose first key stands here.
    fn by_key_of(&self, said: SpecFile) -> Option<SpecFile> {
        let clawspec = [
            ("scenarios", SpecFile::ClawSpecScenarios),
            ("target", SpecFile::ClawSpecScenarios),
            ("handoff", SpecFile::ClawSpecHandoff),
            ("pipeline", SpecFile::ClawSpecPipeline),
            ("stages", SpecFile::ClawSpecPipeline),
            ("waves", SpecFile::ClawSpecLedger),
            ("baselines", SpecFile::ClawSpecBaselines),
        ];
        let first = || clawspec.into_iter().find(|(key, _)| self.has(key)).map(|(_, file)| file);
        match said {
            SpecFile::ClawSpec => first(),
            SpecFile::CliBench => (!self.items.is_empty()).then_some(SpecFile::CliBenchTasks),
            SpecFile::KindLm
            | SpecFile::Settings
            | SpecFile::CliBenchTasks
            | SpecFile::ClawSpecScenarios
            | SpecFile::ClawSpecHandoff
            | SpecFile::ClawSpecPipeline
            | SpecFile::ClawSpecLedger
            | SpecFile::ClawSpecBaselines => None,
        }
    }

    fn has(&self, key: &str) -> bool {
        self.keys.iter().any(|(known, _)| *known == key)
    }

    fn has_below(&self, parent: &str, keys: &[&str]) -> bool {
        let is_child = |(at, key): &(usize, &str)| self.keys[*at].0 == parent && keys.contains(key);
        self.below.iter().any(is_child)
    }

    /// Whether nothing speaks against a kind: every key that there is belongs to it.
    fn could_be(&self, file: SpecFile) -> bool {
        let fields = crate::shape::Shape::of(file).all_fields();
        let known = |key: &str| fields.iter().any(|field| field.name == key);
        self.items.is_empty()
            && if self.keys.is_empty() { !self.other } else { self.keys.iter().any(|(key, _)| known(key)) }
            && self.keys.first().is_none_or(|(first, _)| self.keys.len() > 1 || known(first))
    }
}

/// The key that a line begins with, and whether a value stands beside it.
fn key_of(line: &str) -> Option<(&str, bool)> {
    let line = line.trim_start_matches(' ');
    let (key, rest) = match line.chars().next()? {
        quote @ ('"' | '\'') => line[1..].split_once(quote).map(|(key, rest)| (key, rest.trim_start()))?,
        first if first.is_alphanumeric() || first == '_' => {
            let at = line.find(':')?;
            (&line[..at], &line[at..])
        }
        _ => return None,
    };
    let rest = rest.strip_prefix(':').filter(|rest| rest.is_empty() || rest.starts_with([' ', '\t']))?;
    let value = rest.trim();
    Some((key.trim_end(), !value.is_empty() && !value.starts_with('#')))
}

/// The keys of a mapping in braces, as far as one line shows them.
fn keys_in_braces(value: &str) -> impl Iterator<Item = &str> {
    let inner = value.trim_start().strip_prefix('{').unwrap_or_default();
    let mut depth = 0_usize;
    let parts = inner.split(move |letter| {
        match letter {
            '{' | '[' => depth += 1,
            '}' | ']' => depth = depth.saturating_sub(1),
            _ => {}
        }
        letter == ',' && depth == 0
    });
    parts.filter_map(|part| key_of(part).map(|(key, _)| key))
}

/// What stands in the file.
fn of_outline(outline: &Outline<'_>) -> Option<SpecFile> {
    if outline.items.iter().any(|item| item.contains(&"intent") && item.contains(&"assert")) {
        return Some(SpecFile::CliBenchTasks);
    }
    let is_named_text = |name: &str| outline.keys.iter().any(|(key, has_value)| *key == name && *has_value);
    if is_named_text("kindlm") {
        return Some(SpecFile::KindLm);
    }
    if is_named_text("cli") && outline.has("tasks") {
        return Some(SpecFile::CliBench);
    }
    if outline.has("scenarios") && outline.has_below("target", &["trigger", "path"]) {
        return Some(SpecFile::ClawSpecScenarios);
    }
    if outline.has_below("handoff", &["from", "to"])
        && ["version", "caller_provides", "callee_produces"].iter().any(|key| outline.has(key))
    {
        return Some(SpecFile::ClawSpecHandoff);
    }
    if outline.has_below("pipeline", &["skill_path", "trigger"]) && outline.has("stages") {
        return Some(SpecFile::ClawSpecPipeline);
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(path: &str, text: &str, expected: Option<SpecFile>) {
        assert_eq!(detect(path, text, false), expected, "{path}\n{text}");
    }

    #[test]
    fn names_that_only_we_have_need_no_content() {
        check("a/kindlm.yaml", "", Some(SpecFile::KindLm));
        check("kindlm.yml", "x: 1\n", Some(SpecFile::KindLm));
        check("a/cli-bench.yaml", "", Some(SpecFile::CliBench));
        check("speclens.yaml", "", Some(SpecFile::Settings));
        check("w/clawspec.yaml", "", Some(SpecFile::ClawSpec));
        check("my-kindlm.yaml", "", None);
    }

    #[test]
    fn names_that_others_have_need_content_that_agrees() {
        let path = "skills/a/tests/scenarios.yaml";
        check(path, "", Some(SpecFile::ClawSpecScenarios));
        check(path, "# a comment\n\n", Some(SpecFile::ClawSpecScenarios));
        check(path, "version: \"1.0\"\n", Some(SpecFile::ClawSpecScenarios));
        check(path, "version: \"1.0\"\ntar", Some(SpecFile::ClawSpecScenarios));
        check(path, "openapi: 3.0.0\ninfo: {}\n", None);
        check(path, "- a\n- b\n", None);
        check(path, "hello world\n", None);
        check("scenarios.yaml", "", None);
        check("s/tests/handoffs/a-to-b.yaml", "", Some(SpecFile::ClawSpecHandoff));
        check("s/tests/pipeline.yaml", "pipeline:\n  name: x\n", Some(SpecFile::ClawSpecPipeline));
        check("s/tests/pipeline.yaml", "kind: pipeline\nsteps: []\n", None);
        check("docs/testing/coverage-ledger.yaml", "waves:\n  one: {}\n", Some(SpecFile::ClawSpecLedger));
        check("s/tests/baselines.yaml", "metadata: {}\nreports: []\n", None);
        check("s/tests/baselines.yaml", "version: \"1.0\"\nbaselines: {}\n", Some(SpecFile::ClawSpecBaselines));
        // What stands in a contract says which one it is.
        let handoff = "version: \"1.0\"\nhandoff:\n  from: a\n  to: b\n";
        check("s/tests/pipeline.yaml", handoff, Some(SpecFile::ClawSpecHandoff));
    }

    #[test]
    fn what_stands_in_a_file_says_what_it_is() {
        check("x.yaml", "kindlm: 1\n", Some(SpecFile::KindLm));
        check("x.yaml", "---\n# c\ncli: git\ntasks:\n  - id: a\n", Some(SpecFile::CliBench));
        check("x.yaml", "cli: git\n", None);
        check("x.yaml", "- id: a\n  intent: b\n  assert:\n    - ran: x\n", Some(SpecFile::CliBenchTasks));
        check("x.yaml", "-   id: a\n    'intent': b\n    assert: []\n", Some(SpecFile::CliBenchTasks));
        check("x.yaml", "- id: a\n  meta:\n    intent: b\n    assert: c\n", None);
        let scenarios = "version: \"1.0\"\ntarget:\n  type: skill\n  path: a\nscenarios:\n  - name: \"x\n";
        check("x.yaml", scenarios, Some(SpecFile::ClawSpecScenarios));
        check("x.yaml", "target:\n  type: skill\nscenarios: []\n", None);
        let braces = "target: {type: skill, also: [a, trigger: b], path: c}\nscenarios: []\n";
        check("x.yaml", braces, Some(SpecFile::ClawSpecScenarios));
        check("x.yaml", "target: {type: skill, also: {path: c}}\nscenarios: []\n", None);
        check("x.yaml", "- {id: a, intent: b, assert: [{ran: c}]}\n", Some(SpecFile::CliBenchTasks));
        check(
            "x.yaml",
            "pipeline:\n  name: a\n  skill_path: b\nstages:\n  - name: c\n",
            Some(SpecFile::ClawSpecPipeline),
        );
        for other in [
            "on: push\njobs:\n  a:\n    steps: []\n",
            "apiVersion: v1\nkind: Service\nmetadata:\n  name: a\n",
            "stages: [a]\npipeline:\n  a: 1\n",
            "",
            "- hosts: all\n  tasks:\n    - name: x\n",
            "%YAML 1.2\n---\na: 1\n",
        ] {
            check("x.yaml", other, None);
        }
    }

    #[test]
    fn a_file_in_brackets_is_read_as_well() {
        let json = "{\n  \"version\": \"1.0\",\n  \"target\": {\n    \"type\": \"skill\",\n    \"path\": \"a\"\n  },\n  \
                    \"scenarios\": [{\"name\": \"x\", \"when\": {\"invoke\": \"a: {b\"}}]\n}\n";
        check("x.yaml", json, Some(SpecFile::ClawSpecScenarios));
        check("x.yaml", &json.replace('\n', ""), Some(SpecFile::ClawSpecScenarios));
        check("x.yaml", "# a\n{kindlm: 1}", Some(SpecFile::KindLm));
        check("x.yaml", "{cli: git, tasks: [{id: a}]}", Some(SpecFile::CliBench));
        check("x.yaml", "[{id: a, 'intent': \"b\", assert: []}]", Some(SpecFile::CliBenchTasks));
        check("x.yaml", "{a: {kindlm: 1}, b: [scenarios, target: {path: c}]}", None);
        check("x.yaml", "{{a}}: b\n", None);
        check("a/tests/scenarios.yaml", "{\"scenarios\": [", Some(SpecFile::ClawSpecScenarios));
    }

    #[test]
    fn scenarios_beside_the_tests_of_a_skill() {
        let text = "scenarios:\n  - name: a\n";
        check("skills/a/tests/parallel-scenarios.yaml", text, Some(SpecFile::ClawSpecScenarios));
        check("skills/a/tests/scenarios.yml", text, Some(SpecFile::ClawSpecScenarios));
        check("skills/a/parallel-scenarios.yaml", text, None);
        check("skills/a/tests/parallel-scenarios.yaml", "cases: []\n", None);
    }

    #[test]
    fn the_author_has_the_first_word() {
        check("x.yaml", "# speclens: dialect=clawspec-handoff\na: 1\n", Some(SpecFile::ClawSpecHandoff));
        check("kindlm.yaml", "\u{feff}---\n#speclens: dialect=cli-bench-tasks\n", Some(SpecFile::CliBenchTasks));
        check("x.yaml", "# speclens: dialect=nothing\nkindlm: 1\n", Some(SpecFile::KindLm));
        check("x.yaml", "a: 1\n# speclens: dialect=kindlm\n", None);
        assert_eq!(said("# speclens: dialect=nothing\n"), Some(Err("nothing")));
        // The name of a dialect, where the content says which of its files it is.
        let tasks = "# speclens: dialect=cli-bench\n- id: a\n  intent: b\n  assert: []\n";
        check("x.yaml", tasks, Some(SpecFile::CliBenchTasks));
        let scenarios = "# speclens: dialect=clawspec\ntarget:\n  path: a\nscenarios: []\n";
        check("x.yaml", scenarios, Some(SpecFile::ClawSpecScenarios));
        check("x.yaml", "# speclens: dialect=clawspec\n", Some(SpecFile::ClawSpec));
        check(
            "x.yaml",
            "# speclens: dialect=clawspec\nversion: '1.0'\nscenarios: []\n",
            Some(SpecFile::ClawSpecScenarios),
        );
        check("s/tests/pipeline.yaml", "# speclens: dialect=clawspec\n", Some(SpecFile::ClawSpecPipeline));
        check("x.yaml", "# speclens: dialect=clawspec\nwaves: {}\n", Some(SpecFile::ClawSpecLedger));
        // A slip of the pen is no reason to look at nothing.
        check("x.yaml", "# speclens: dialect=clawspec-handof\na: 1\n", Some(SpecFile::ClawSpecHandoff));
    }

    #[test]
    fn a_file_that_a_suite_names_holds_tasks() {
        assert_eq!(detect("tasks/a.yaml", "", true), Some(SpecFile::CliBenchTasks));
        assert_eq!(detect("cli-bench.yaml", "", true), Some(SpecFile::CliBench));
    }
}
