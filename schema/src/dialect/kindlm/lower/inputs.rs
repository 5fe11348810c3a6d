//! The files of the suite that a command names: when one of them changes, a recording of the command is stale.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::Write,
};

use sha2::{Digest, Sha256};

use crate::files::{FileKind, Files};

/// As many files of one command are looked at.
const MOST_FILES: usize = 64;

/// As many words of one command are looked at.
const MOST_WORDS: usize = 2_000;

/// The files that the words of a command name, each with the first 16 digits of the SHA-256 of its content. Files that the
/// command writes to (`> out.txt`) do not count.
pub fn inputs_of(command: &str, files: &dyn Files) -> BTreeMap<String, String> {
    let mut inputs = BTreeMap::new();
    for Word { text, .. } in words_of(command) {
        for candidate in candidates(&text) {
            let (path, content) = match inside(candidate) {
                Some(path) if files.kind(&path) == Some(FileKind::File) => {
                    let content = files.read(&path).ok();
                    (path, content)
                }
                Some(_) => continue,
                None => (candidate.to_owned(), outside(candidate).and_then(|path| files.read_beyond(path))),
            };
            if let Some(content) = content.filter(|_| inputs.len() < MOST_FILES) {
                inputs.entry(path).or_insert_with(|| digest(&content));
            }
        }
    }
    inputs
}

/// The paths in a command that it probably writes to, by the option before them: `-o out.txt`, `--report=r.json`.
pub fn outputs_of(command: &str) -> BTreeSet<String> {
    let words = words_of(command).into_iter().filter(|word| word.is_output);
    words.filter_map(|word| inside(candidates(&word.text).last()?)).collect()
}

/// The paths in a command that lead out of the directory.
pub fn outsiders_of(command: &str) -> BTreeSet<String> {
    let words = words_of(command);
    let paths = words.iter().flat_map(|word| candidates(&word.text)).filter_map(outside);
    paths.map(str::to_owned).collect()
}

/// A word of a command.
#[derive(Debug, Default, PartialEq)]
struct Word {
    text: String,
    /// Whether the option before it, or in it, says that something is written there.
    is_output: bool,
}

fn words_of(command: &str) -> Vec<Word> {
    let mut texts = Vec::new();
    shell_words(command, 0, &mut texts);
    texts.truncate(MOST_WORDS);
    let mut words: Vec<Word> = Vec::with_capacity(texts.len());
    for text in texts {
        let before = words.last().is_some_and(|word| names_output(&word.text) && !word.text.contains('='));
        let is_output = before || text.contains('=') && names_output(&text);
        words.push(Word { text, is_output });
    }
    words
}

fn names_output(word: &str) -> bool {
    const NAMES: [&str; 9] = ["out", "log", "report", "result", "save", "write", "dump", "export", "trace"];
    matches!(word, "-o" | "tee")
        || word.strip_prefix("--").is_some_and(|name| NAMES.iter().any(|known| name.starts_with(known)))
}

/// What in a word may be a path: `--input=data/a.json`, `FILE=a.json`.
fn candidates(word: &str) -> impl Iterator<Item = &str> {
    [Some(word), word.split_once('=').map(|(_, value)| value)].into_iter().flatten()
}

/// A path that is absolute, or begins with `..`.
fn outside(path: &str) -> Option<&str> {
    let leads_out = path.starts_with('/') || path == ".." || path.starts_with("../");
    (leads_out && !path.contains(['\n', '\0'])).then_some(path)
}

fn digest(content: &[u8]) -> String {
    let mut digits = String::with_capacity(16);
    for byte in Sha256::digest(content).iter().take(8) {
        let _ = write!(digits, "{byte:02x}");
    }
    digits
}

/// A relative path without `.` and `..`, when it stays inside the directory that it starts from.
pub(super) fn inside(path: &str) -> Option<String> {
    if path.is_empty() || path.starts_with(['/', '\\', '~', '-']) || path.contains(['\n', '\0']) {
        return None;
    }
    if path.as_bytes().get(1) == Some(&b':') && path.as_bytes()[0].is_ascii_alphabetic() {
        return None;
    }
    let mut steps: Vec<&str> = Vec::new();
    for step in path.split('/') {
        match step {
            "" | "." => {}
            ".." => {
                steps.pop()?;
            }
            step => steps.push(step),
        }
    }
    (!steps.is_empty()).then(|| steps.join("/"))
}

/// Splits a command into words as a shell does, quotes removed. Nothing is expanded. A quoted word that holds white space may be
/// a command itself (`sh -c '…'`), so its words count too.
fn shell_words(command: &str, depth: usize, words: &mut Vec<String>) {
    let mut word = String::new();
    let mut begun = false;
    let mut quoted = false;
    let mut written = false;
    let mut characters = command.chars().peekable();
    let mut end = |word: &mut String, begun: &mut bool, quoted: &mut bool, written: &mut bool| {
        if *begun {
            if !*written {
                if *quoted && depth < 2 && word.contains(char::is_whitespace) {
                    shell_words(word, depth + 1, words);
                }
                words.push(std::mem::take(word));
            }
            *written = false;
        }
        word.clear();
        (*begun, *quoted) = (false, false);
    };
    while let Some(character) = characters.next() {
        match character {
            '\'' | '"' => {
                (begun, quoted) = (true, true);
                while let Some(inner) = characters.next() {
                    if inner == character {
                        break;
                    }
                    if character == '"' && inner == '\\' && matches!(characters.peek(), Some('"' | '\\' | '$' | '`')) {
                        word.extend(characters.next());
                        continue;
                    }
                    word.push(inner);
                }
            }
            '\\' => {
                begun = true;
                word.extend(characters.next().filter(|&it| it != '\n'));
            }
            '#' if !begun => {
                while characters.peek().is_some_and(|&it| it != '\n') {
                    characters.next();
                }
            }
            '>' => {
                // `2>` is no word.
                if begun && !quoted && word.bytes().all(|byte| byte.is_ascii_digit()) {
                    word.clear();
                    begun = false;
                }
                end(&mut word, &mut begun, &mut quoted, &mut written);
                written = true;
            }
            '<' | '|' | ';' | '&' | '(' | ')' | '`' | '\n' => {
                end(&mut word, &mut begun, &mut quoted, &mut written);
                written &= matches!(character, '|' | '&');
            }
            space if space.is_whitespace() => end(&mut word, &mut begun, &mut quoted, &mut written),
            other => {
                begun = true;
                word.push(other);
            }
        }
    }
    end(&mut word, &mut begun, &mut quoted, &mut written);
}

#[cfg(test)]
mod tests {
    use super::{inputs_of, inside, outputs_of, outsiders_of, shell_words};
    use crate::files::MemoryFiles;

    #[track_caller]
    fn check(command: &str, expected: &[&str]) {
        let names = ["run.sh", "data/in.txt", "out.txt", "a b.py", "kindlm.yaml"];
        let files = MemoryFiles::new("/suite", names.map(|name| (name, name)));
        let found: Vec<String> = inputs_of(command, &files).into_keys().collect();
        assert_eq!(found, expected, "{command}");
    }

    #[test]
    fn named_files_are_found() {
        check("sh ./run.sh --in=data/../data/in.txt", &["data/in.txt", "run.sh"]);
        check("cat <data/in.txt|sh run.sh;true", &["data/in.txt", "run.sh"]);
        check("python 'a b.py' \"run.sh\"", &["a b.py", "run.sh"]);
        check("bash -c 'sh run.sh && cat data/in.txt'", &["data/in.txt", "run.sh"]);
        check("INPUT=data/in.txt sh run.sh", &["data/in.txt", "run.sh"]);
        check("echo $(cat data/in.txt) `cat run.sh`", &["data/in.txt", "run.sh"]);
    }

    #[test]
    fn what_is_written_or_outside_does_not_count() {
        check("sh run.sh > out.txt 2>&1", &["run.sh"]);
        check("sh run.sh >> out.txt", &["run.sh"]);
        check("sh run.sh 2>out.txt", &["run.sh"]);
        check("cat ../suite/run.sh /suite/run.sh data", &[]);
        check("echo done # see run.sh", &[]);
    }

    #[test]
    fn what_is_written_is_told_by_its_option() {
        let outputs = |command: &str| outputs_of(command).into_iter().collect::<Vec<_>>().join(" ");
        assert_eq!(outputs("sh run.sh -o out.txt data/in.txt"), "out.txt");
        assert_eq!(outputs("sh run.sh --report=./r.json --in=a"), "r.json");
        assert_eq!(outputs("sh run.sh --output-file x/y | tee z"), "x/y z");
        assert_eq!(outputs("grep only ../out.txt"), "");
    }

    #[test]
    fn what_leads_out_is_told() {
        let paths = outsiders_of("sh ../run.sh /opt/a --x=/b in/../c -- .. ...");
        assert_eq!(paths.into_iter().collect::<Vec<_>>(), ["..", "../run.sh", "/b", "/opt/a"]);
    }

    #[test]
    fn the_digest_is_that_of_the_content() {
        let files = MemoryFiles::new("/suite", [("a", "abc")]);
        assert_eq!(inputs_of("cat a", &files)["a"], "ba7816bf8f01cfea");
    }

    #[test]
    fn quotes_and_operators_end_words() {
        let mut words = Vec::new();
        shell_words(r#"a"b c"'d' e\ f;g>h i|j"#, 2, &mut words);
        assert_eq!(words, ["ab cd", "e f", "g", "i", "j"]);
    }

    #[test]
    fn paths_stay_inside() {
        assert_eq!(inside("./a//b/../c").as_deref(), Some("a/c"));
        for path in ["", ".", "..", "../a", "a/../..", "/a", "\\a", "C:\\a", "-x", "~/a"] {
            assert_eq!(inside(path), None, "{path}");
        }
    }
}
