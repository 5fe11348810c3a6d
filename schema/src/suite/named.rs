//! Files that a command names: if one of them changes, a recording of the command is stale.
//!
//! Commands are only split into unquoted words, without the semantics of a shell or program: `cd` is not followed,
//! variables and patterns are not expanded, and directories are not read. Settings can declare such files.

use std::collections::BTreeSet;

use super::AgentAction;
use crate::files::{FileKind, Files, Inputs, inside};

/// Maximum number of words to check per command.
const MAX_WORDS: usize = 2_000;

/// Returns the files of the workspace that a command names, each with the digest of its content. Files to which the
/// command redirects its output (`> out.txt`) are excluded.
pub fn inputs_of(command: &str, files: &dyn Files) -> Inputs {
    let mut inputs = Inputs::new();
    for word in words(command) {
        candidates(&word).for_each(|path| add(&mut inputs, path, files));
    }
    inputs
}

/// Adds the file at a path to the inputs, if there is one.
fn add(inputs: &mut Inputs, path: &str, files: &dyn Files) {
    let found = match inside(path) {
        Some(path) if !inputs.contains_key(&path) && files.kind(&path) == Some(FileKind::File) => {
            files.digest(&path).map(|digest| (path, digest))
        }
        Some(_) => None,
        None => outside(path).and_then(|path| Some((path.to_owned(), files.digest_beyond(path)?))),
    };
    inputs.extend(found);
}

/// Returns the paths in the directory of the suite that a command may name. `None` if there are more than `most`, or if
/// one is outside of the directory.
pub fn few_paths_of(command: &str, most: usize) -> Option<BTreeSet<String>> {
    let words = words(command);
    let mut paths = BTreeSet::new();
    for path in words.iter().flat_map(|word| candidates(word)) {
        if outside(path).is_some() || paths.len() > most {
            return None;
        }
        paths.extend(inside(path));
    }
    (paths.len() <= most).then_some(paths)
}

/// Returns the files of the workspace that a task depends on besides its scaffold: the program under test, and the
/// files in the commands of `setup`, `verify` and `version_command`. Relative paths start in the `workdir` of the
/// suite; without one, in a new directory of the task, which has no files of the workspace. Files in the `workdir`
/// itself are excluded, because tasks change them; the program is included.
pub fn inputs_of_task(task: &AgentAction, files: &dyn Files) -> Inputs {
    let around = &task.surroundings;
    let mut inputs = Inputs::new();
    let mut add = |path: String| add(&mut inputs, &path, files);
    let directory = around.workdir.as_deref();
    let program = words(&around.cli);
    program.iter().flat_map(|word| candidates(word)).filter_map(|word| placed(word, directory)).for_each(&mut add);
    let first = program.iter().find(|word| !word.contains('=')).filter(|word| !word.contains('/'));
    if let (Some(name), Some(path)) = (first, task.environment().get("PATH")) {
        let directories = path.split(':').filter(|directory| directory.starts_with('/'));
        directories.for_each(|directory| add(format!("{}/{name}", directory.trim_end_matches('/'))));
    }
    let own = directory.and_then(|directory| placed(directory, Some(".")));
    let whole = own.as_ref().map(|own| match own.starts_with('/') {
        true => own.clone(),
        false => lexical(&format!("{}/{own}", files.root().to_string_lossy())),
    });
    let is_beside = |path: &String| {
        let top = if path.starts_with('/') { &whole } else { &own };
        !top.as_ref().is_some_and(|top| is_in(path, top))
    };
    let commands = around.version_command.iter().chain(&around.setup).chain(&task.setup).chain(&task.verify);
    for command in commands {
        let words = words(command);
        let paths = words.iter().flat_map(|word| candidates(word)).filter_map(|word| placed(word, directory));
        paths.filter(is_beside).for_each(&mut add);
    }
    inputs
}

/// Returns the path of a word relative to the directory of the suite; `None` for a path in a new directory of the
/// task.
fn placed(word: &str, directory: Option<&str>) -> Option<String> {
    if word.starts_with('/') {
        return Some(lexical(word));
    }
    let is_path = !word.is_empty() && !word.starts_with(['-', '~', '$']);
    directory.filter(|_| is_path).map(|directory| lexical(&format!("{directory}/{word}")))
}

/// Returns a path without `.`, and with `..` only at its start.
pub fn lexical(path: &str) -> String {
    let mut names: Vec<&str> = Vec::new();
    for name in path.split('/') {
        match name {
            "" | "." => {}
            ".." if names.last().is_some_and(|last| *last != "..") => drop(names.pop()),
            name => names.push(name),
        }
    }
    let root = if path.starts_with('/') { "/" } else { "" };
    format!("{root}{}", names.join("/"))
}

fn is_in(path: &str, directory: &str) -> bool {
    if directory.is_empty() {
        return !path.starts_with("..");
    }
    path.strip_prefix(directory).is_some_and(|rest| rest.is_empty() || rest.starts_with('/') || directory == "/")
}

/// Returns the paths that a command probably writes, by the option before them: `-o out.txt`, `--report=r.json`.
pub fn outputs_of(command: &str) -> BTreeSet<String> {
    let words = words(command);
    let before = [""].into_iter().chain(words.iter().map(String::as_str));
    let outputs = before.zip(&words).filter_map(|(before, word)| match word.split_once('=') {
        Some((option, path)) if names_output(option) => Some(path),
        _ if names_output(before) => Some(word.as_str()),
        _ => None,
    });
    outputs.filter_map(inside).collect()
}

pub fn outsiders_of(command: &str) -> BTreeSet<String> {
    words(command).iter().flat_map(|word| candidates(word)).filter_map(outside).map(str::to_owned).collect()
}

fn names_output(word: &str) -> bool {
    const NAMES: [&str; 9] = ["out", "log", "report", "result", "save", "write", "dump", "export", "trace"];
    matches!(word, "-o" | "tee")
        || word.strip_prefix("--").is_some_and(|name| NAMES.iter().any(|known| name.starts_with(known)))
}

/// Returns possible paths in a word: the word itself, and the value in `--input=data/a.json` and `FILE=a.json`.
fn candidates(word: &str) -> impl Iterator<Item = &str> {
    [Some(word), word.split_once('=').map(|(_, value)| value)].into_iter().flatten()
}

/// Returns a path if it is absolute or begins with `..`.
fn outside(path: &str) -> Option<&str> {
    let leads_out = path.starts_with('/') || path == ".." || path.starts_with("../");
    (leads_out && !path.contains(['\n', '\0'])).then_some(path)
}

/// Splits a command into unquoted words like a shell, without comments and the targets of `>`.
fn words(command: &str) -> Vec<String> {
    let mut words = WordSplitter::default();
    let mut characters = command.chars().peekable();
    while let Some(character) = characters.next() {
        match character {
            '\'' | '"' => {
                words.word.get_or_insert_default();
                while let Some(inner) = characters.next().filter(|&inner| inner != character) {
                    let is_escape =
                        character == '"' && inner == '\\' && matches!(characters.peek(), Some('"' | '\\' | '$' | '`'));
                    words.push(if is_escape { characters.next().unwrap_or(inner) } else { inner });
                }
            }
            '\\' => match characters.next() {
                Some('\n') | None => {}
                Some(escaped) => words.push(escaped),
            },
            '#' if words.word.is_none() => while characters.next_if(|&letter| letter != '\n').is_some() {},
            '>' => {
                // `2>` is not a word.
                words.word.take_if(|word| word.bytes().all(|byte| byte.is_ascii_digit()));
                words.end();
                words.is_target = true;
                // `>|` and `>&`.
                characters.next_if(|letter| matches!(letter, '|' | '&'));
            }
            '<' | '|' | ';' | '&' | '(' | ')' | '`' | '\n' => {
                words.end();
                words.is_target = false;
            }
            blank if blank.is_whitespace() => words.end(),
            letter => words.push(letter),
        }
    }
    words.end();
    words.ended.truncate(MAX_WORDS);
    words.ended
}

#[derive(Default)]
struct WordSplitter {
    ended: Vec<String>,
    word: Option<String>,
    /// Whether the next word is a redirection target.
    is_target: bool,
}

impl WordSplitter {
    fn push(&mut self, letter: char) {
        self.word.get_or_insert_default().push(letter);
    }

    fn end(&mut self) {
        if let Some(word) = self.word.take()
            && !std::mem::take(&mut self.is_target)
        {
            self.ended.push(word);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{few_paths_of, inputs_of, outputs_of, outsiders_of, words};
    use crate::files::MemoryFiles;

    #[track_caller]
    fn check(command: &str, expected: &[&str]) {
        let names = ["run.sh", "data/in.txt", "out.txt", "a b.py", "kindlm.yaml"];
        let files = MemoryFiles::new("/suite", names.map(|name| (name, name)));
        let found: Vec<String> = inputs_of(command, &files).into_keys().collect();
        assert_eq!(found, expected, "{command}");
    }

    #[test]
    fn words_that_are_files_are_inputs() {
        check("sh ./run.sh --in=data/../data/in.txt", &["data/in.txt", "run.sh"]);
        check("cat <data/in.txt|sh run.sh;true", &["data/in.txt", "run.sh"]);
        check("python 'a b.py' \"run.sh\"", &["a b.py", "run.sh"]);
        check("INPUT=data/in.txt sh run.sh", &["data/in.txt", "run.sh"]);
        check("echo $(cat data/in.txt) `cat run.sh`", &["data/in.txt", "run.sh"]);
        check("cat \\\n  run.sh", &["run.sh"]);
    }

    #[test]
    fn nothing_is_expanded_or_followed() {
        for command in [
            "cd data && cat in.txt",
            "make -C data in.txt",
            "cat $PWD/run.sh ${PWD}/run.sh \"$(pwd)/run.sh\"",
            "sh -c 'sh run.sh; true'",
            "cat d*/*.txt",
            "grep -rh . data",
        ] {
            check(command, &[]);
        }
    }

    #[test]
    fn targets_comments_and_files_outside_are_not_inputs() {
        check("sh run.sh > out.txt 2>&1", &["run.sh"]);
        check("sh run.sh >> out.txt", &["run.sh"]);
        check("sh run.sh >| out.txt", &["run.sh"]);
        check("sh run.sh 2>out.txt", &["run.sh"]);
        check("true >a; cat run.sh", &["run.sh"]);
        check("cat ../suite/run.sh /suite/run.sh", &[]);
        check("echo done # see run.sh\ncat out.txt", &["out.txt"]);
    }

    #[test]
    fn few_paths_are_all_that_a_command_may_name() {
        let few = |command: &str| few_paths_of(command, 2).map(|paths| paths.into_iter().collect::<Vec<_>>().join(" "));
        assert_eq!(few("true"), Some("true".to_owned()));
        assert_eq!(few("cat --in=./data/in.txt"), Some("cat data/in.txt".to_owned()));
        assert_eq!(few("echo -n >out.txt"), Some("echo".to_owned()));
        assert_eq!(few("cat a b"), None);
        assert_eq!(few("cat /etc/hosts"), None);
        assert_eq!(few("cat ../a"), None);
    }

    #[test]
    fn outputs_are_known_by_their_option() {
        let outputs = |command: &str| outputs_of(command).into_iter().collect::<Vec<_>>().join(" ");
        assert_eq!(outputs("sh run.sh -o out.txt data/in.txt"), "out.txt");
        assert_eq!(outputs("sh run.sh --report=./r.json --in=a"), "r.json");
        assert_eq!(outputs("sh run.sh --output-file x/y | tee z"), "x/y z");
        assert_eq!(outputs("grep only ../out.txt"), "");
    }

    #[test]
    fn paths_that_lead_out_are_outsiders() {
        let paths = outsiders_of("sh ../run.sh /opt/a --x=/b in/../c -- .. ...");
        assert_eq!(paths.into_iter().collect::<Vec<_>>(), ["..", "../run.sh", "/b", "/opt/a"]);
    }

    #[test]
    fn digest_is_that_of_the_content() {
        let files = MemoryFiles::new("/suite", [("a", "abc")]);
        assert_eq!(inputs_of("cat a", &files)["a"], "ba7816bf8f01cfea");
    }

    #[test]
    fn quotes_and_operators_end_words() {
        assert_eq!(words(r#"a"b c"'d' e\ f;g>h i|j "" k"l\"m""#), ["ab cd", "e f", "g", "i", "j", "", "kl\"m"]);
    }
}
