//! The files of the suite that a command names: when one of them changes, a recording of the command is stale.

use std::{collections::BTreeMap, fmt::Write};

use sha2::{Digest, Sha256};

use crate::files::{FileKind, Files};

/// As many files of one command are looked at.
const MOST_FILES: usize = 64;

/// As many words of one command are looked at.
const MOST_WORDS: usize = 2_000;

/// The files that the words of a command name, each with the first 16 digits of the SHA-256 of its content. Files that the
/// command writes to (`> out.txt`) do not count.
pub fn inputs_of(command: &str, files: &dyn Files) -> BTreeMap<String, String> {
    let mut words = Vec::new();
    shell_words(command, 0, &mut words);
    let mut inputs = BTreeMap::new();
    for word in words.iter().take(MOST_WORDS) {
        // `--input=data/a.json`, `FILE=a.json`
        for candidate in [Some(word.as_str()), word.split_once('=').map(|(_, value)| value)].into_iter().flatten() {
            let Some(path) = inside(candidate) else { continue };
            if inputs.len() >= MOST_FILES || inputs.contains_key(&path) || files.kind(&path) != Some(FileKind::File) {
                continue;
            }
            if let Ok(content) = files.read(&path) {
                inputs.insert(path, digest(&content));
            }
        }
    }
    inputs
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
    use super::{inputs_of, inside, shell_words};
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
