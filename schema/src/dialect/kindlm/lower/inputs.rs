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

/// As many patterns and directories of one command are looked into.
const MOST_WIDE: usize = 16;

/// As many entries of one directory are looked at.
const MOST_ENTRIES: usize = 512;

/// As many directories that a command changes to are told apart.
const MOST_ENTERED: usize = 8;

/// The files that the words of a command name, each with the first 16 digits of the SHA-256 of its content. Files that the
/// command writes to (`> out.txt`) do not count. A pattern names the files that it matches, a directory those below it: one
/// more or one less is a change as well.
pub fn inputs_of(command: &str, files: &dyn Files) -> BTreeMap<String, String> {
    let mut inputs = BTreeMap::new();
    let mut wide = Vec::new();
    let words = Words::of(command);
    for (index, word) in words.words.iter().enumerate() {
        for place in words.places(word) {
            let (path, content) = match inside(&place) {
                Some(path) => match files.kind(&path) {
                    Some(FileKind::File) => {
                        let content = files.read(&path).ok();
                        (path, content)
                    }
                    Some(FileKind::Directory) if !word.is_entered && !words.is_task(index) => {
                        wide.push(Wide::Directory(path));
                        continue;
                    }
                    None if is_pattern(&path) => {
                        wide.push(Wide::Pattern(path));
                        continue;
                    }
                    Some(FileKind::Directory | FileKind::Other) | None => continue,
                },
                None => {
                    let content = outside(&place).and_then(|path| files.read_beyond(path));
                    (place, content)
                }
            };
            if let Some(content) = content.filter(|_| inputs.len() < MOST_FILES) {
                inputs.entry(path).or_insert_with(|| digest(&content));
            }
        }
    }
    for wide in wide.into_iter().take(MOST_WIDE) {
        let (name, found) = match wide {
            Wide::Pattern(pattern) => {
                let paths = files.glob(&pattern).paths;
                (pattern, paths.into_iter().filter(|path| files.kind(path) == Some(FileKind::File)).collect())
            }
            Wide::Directory(path) => {
                let mut found = Vec::new();
                let mut left = MOST_ENTRIES;
                below(&path, files, &mut left, &mut found);
                (format!("{path}/"), found)
            }
        };
        let contents = found.into_iter().take(MOST_ENTRIES);
        let contents = contents.filter_map(|path| files.read(&path).ok().map(|content| (path, content)));
        // What is too much to be listed by name still counts.
        let mut rest = Sha256::new();
        let mut cut = false;
        for (path, content) in contents {
            if inputs.len() < MOST_FILES {
                inputs.entry(path).or_insert_with(|| digest(&content));
            } else if !inputs.contains_key(&path) {
                cut = true;
                rest.update(format!("{path}\0{}\n", digest(&content)));
            }
        }
        if cut {
            inputs.insert(name, digest(&rest.finalize()));
        }
    }
    inputs
}

/// What stands for more than one file.
enum Wide {
    Pattern(String),
    Directory(String),
}

fn is_pattern(path: &str) -> bool {
    // `.*` is an expression rather than a name.
    path.contains(['*', '?', '['])
        && ![".*", ".+", ".?", ".["].iter().any(|beginning| path.starts_with(beginning))
        && path.len() < 256
}

/// The files below a directory, but for those that programs keep for themselves.
fn below(directory: &str, files: &dyn Files, left: &mut usize, found: &mut Vec<String>) {
    for (name, kind) in files.list(directory) {
        if name.starts_with('.') || matches!(name.as_str(), "__pycache__" | "node_modules") {
            continue;
        }
        let Some(rest) = left.checked_sub(1) else { return };
        *left = rest;
        let path = format!("{directory}/{name}");
        match kind {
            FileKind::File => found.push(path),
            // A link may lead back up.
            FileKind::Directory if path.matches('/').count() < 16 => below(&path, files, left, found),
            FileKind::Directory | FileKind::Other => {}
        }
    }
}

/// The paths in a command that it probably writes to, by the option before them: `-o out.txt`, `--report=r.json`.
pub fn outputs_of(command: &str) -> BTreeSet<String> {
    let words = Words::of(command);
    let outputs = words.words.iter().filter(|word| word.is_output);
    outputs
        .filter_map(|word| Some((word, candidates(&word.text).last()?)))
        .flat_map(|(word, path)| words.wherever_it_is(word, path))
        .filter_map(|path| inside(&path))
        .collect()
}

/// The paths in a command that lead out of the directory.
pub fn outsiders_of(command: &str) -> BTreeSet<String> {
    let words = Words::of(command);
    let paths = words.words.iter().flat_map(|word| words.places(word));
    paths.filter(|path| outside(path).is_some()).collect()
}

/// A word of a command.
#[derive(Debug, Default, PartialEq)]
struct Word {
    text: String,
    /// Whether the option before it, or in it, says that something is written there.
    is_output: bool,
    /// Whether the command changes to this directory.
    is_entered: bool,
    /// How many of the directories were entered before it.
    entered: usize,
}

/// The words of a command, and the directories that it changes to.
#[derive(Debug, Default)]
struct Words {
    words: Vec<Word>,
    directories: Vec<String>,
}

impl Words {
    fn of(command: &str) -> Words {
        let mut texts = Vec::new();
        shell_words(&without_working_directory(command), 0, &mut texts);
        texts.truncate(MOST_WORDS);
        let mut words = Words { words: Vec::with_capacity(texts.len()), directories: Vec::new() };
        let mut enters = false;
        for text in texts {
            let before = words.words.last().is_some_and(|word| names_output(&word.text) && !word.text.contains('='));
            let is_output = before || text.contains('=') && names_output(&text);
            let is_entered = enters && !text.starts_with('-');
            let word = Word { text, is_output, is_entered, entered: words.directories.len() };
            if is_entered {
                for directory in words.wherever_it_is(&word, &word.text) {
                    let directory = inside(&directory).or_else(|| outside(&directory).map(str::to_owned));
                    let new = directory
                        .filter(|it| words.directories.len() < MOST_ENTERED && !words.directories.contains(it));
                    words.directories.extend(new);
                }
            }
            enters = matches!(word.text.as_str(), "cd" | "pushd" | "-C" | "--cwd" | "--directory" | "--prefix")
                || enters && word.text.starts_with('-');
            words.words.push(word);
        }
        words
    }

    /// What a word may name: from where the command starts, and from each directory that it changed to before.
    fn places(&self, word: &Word) -> Vec<String> {
        candidates(&word.text).flat_map(|path| self.wherever_it_is(word, path)).collect()
    }

    fn wherever_it_is(&self, word: &Word, path: &str) -> Vec<String> {
        let mut places = vec![path.to_owned()];
        if !path.is_empty() && !path.starts_with(['/', '~', '-']) {
            places.extend(self.directories[..word.entered].iter().map(|directory| format!("{directory}/{path}")));
        }
        places
    }

    /// Whether a word is the name of a task rather than of a directory: `npm run build`.
    fn is_task(&self, index: usize) -> bool {
        const RUNNERS: [&str; 12] =
            ["npm", "pnpm", "yarn", "bun", "deno", "npx", "make", "just", "cargo", "go", "docker", "echo"];
        let before = &self.words[index.saturating_sub(3)..index];
        !self.words[index].text.contains('/') && before.iter().any(|word| RUNNERS.contains(&word.text.as_str()))
    }
}

/// A command with `.` for what stands for the working directory.
fn without_working_directory(command: &str) -> String {
    let mut text = command.replace("$(pwd)", ".").replace("`pwd`", ".").replace("${PWD}", ".");
    let mut from = 0;
    while let Some(found) = text[from..].find("$PWD").map(|found| from + found) {
        let behind = text[found + 4..].chars().next();
        if behind.is_none_or(|letter| !letter.is_ascii_alphanumeric() && letter != '_') {
            text.replace_range(found..found + 4, ".");
        }
        from = found + 1;
    }
    text
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
                if *quoted && depth < 2 {
                    if word.contains(char::is_whitespace) {
                        shell_words(word, depth + 1, words);
                    }
                    // Texts in a program: `node -e "…readFileSync('a.json')…"`.
                    words.extend(word.split(['\'', '"', '`']).skip(1).step_by(2).map(str::to_owned));
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
    fn files_of_directories_that_are_entered_are_found() {
        for command in [
            "cd data && cat in.txt",
            "cd ./data; ./in.txt",
            "(cd data; sh ./in.txt)",
            "sh -c \"cd data && sh in.txt\"",
            "cd -- data\ncat in.txt",
            "cd $PWD/data && cat in.txt",
            "make -C data in.txt",
            "sh \"$PWD/data/in.txt\"",
            "sh ${PWD}/data/in.txt",
            "sh $(pwd)/data/in.txt",
            "sh \"`pwd`/data/in.txt\"",
            "node -e \"console.log(require('fs').readFileSync('data/in.txt','utf8'))\"",
        ] {
            check(command, &["data/in.txt"]);
        }
        check("cd data && cat in.txt && cd .. && sh run.sh", &["data/in.txt", "run.sh"]);
        check("cd data && cat ../run.sh", &["run.sh"]);
        check("cat in.txt && cd data", &[]);
        check("echo $PWDX/run.sh", &[]);
        assert_eq!(outputs_of("cd data && x -o a.txt").into_iter().collect::<Vec<_>>(), ["a.txt", "data/a.txt"]);
    }

    #[test]
    fn patterns_and_directories_name_the_files_in_them() {
        check("cat d*/*.txt", &["data/in.txt"]);
        check("cat ./r?n.sh", &["run.sh"]);
        check("cd data; cat *.txt", &["data/in.txt", "out.txt"]);
        check("grep -rh . data", &["data/in.txt"]);
        check("pytest data/", &["data/in.txt"]);
        check("npm run data", &[]);
        check("grep '.*' run.sh", &["run.sh"]);
    }

    #[test]
    fn files_beyond_the_limit_count_too() {
        let names: Vec<String> = (0..100).map(|number| format!("d/{number:03}")).collect();
        let inputs = |last: &str| {
            let content = |name: &str| if name == "d/099" { last.to_owned() } else { "x".to_owned() };
            let texts: Vec<(&str, String)> = names.iter().map(|name| (name.as_str(), content(name))).collect();
            let files = MemoryFiles::new("/suite", texts.iter().map(|(name, text)| (*name, text.as_str())));
            inputs_of("cat d/*", &files)
        };
        assert_ne!(inputs("good"), inputs("bad"));
        assert_eq!(inputs("good"), inputs("good"));
    }

    #[test]
    fn what_is_written_or_outside_does_not_count() {
        check("sh run.sh > out.txt 2>&1", &["run.sh"]);
        check("sh run.sh >> out.txt", &["run.sh"]);
        check("sh run.sh 2>out.txt", &["run.sh"]);
        check("cat ../suite/run.sh /suite/run.sh", &[]);
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
