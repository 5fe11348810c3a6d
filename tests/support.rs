//! A directory with files, and the program in it.

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Child, Command, Output, Stdio},
};

use serde_json::Value;
use tempfile::TempDir;

/// A temporary directory.
pub(crate) struct Place {
    directory: TempDir,
    home: TempDir,
}

/// The result of the program.
#[derive(Debug)]
pub(crate) struct Done {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Place {
    pub(crate) fn empty() -> Place {
        Place { directory: tempfile::tempdir().unwrap(), home: tempfile::tempdir().unwrap() }
    }

    /// Returns a directory with one suite.
    pub(crate) fn with(suite: &str) -> Place {
        let place = Place::empty();
        place.write("kindlm.yaml", suite);
        place
    }

    /// Returns a copy of a directory of the repository.
    pub(crate) fn copy_of(path: &str) -> Place {
        let place = Place::empty();
        copy(&repository().join(path), place.path());
        place
    }

    pub(crate) fn path(&self) -> &Path {
        self.directory.path()
    }

    pub(crate) fn write(&self, name: &str, text: impl AsRef<[u8]>) {
        let path = self.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    pub(crate) fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path().join(name)).unwrap()
    }

    pub(crate) fn exists(&self, name: &str) -> bool {
        self.path().join(name).exists()
    }

    /// Returns the program, ready to be started here, without the settings and secrets of the user.
    pub(crate) fn program(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_speclens"));
        command.args(arguments).current_dir(self.path()).stdin(Stdio::null());
        command.env("HOME", self.home.path()).env("XDG_STATE_HOME", self.home.path().join("state"));
        for name in ["SPECLENS_NOW", "SPECLENS_LOG", "NO_COLOR", "CLICOLOR_FORCE"] {
            command.env_remove(name);
        }
        command
    }

    /// Starts the program here, with its output kept for [`Done::at_end_of`].
    pub(crate) fn start(&self, arguments: &[&str]) -> Child {
        self.program(arguments).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
    }

    /// Runs the program here.
    pub(crate) fn run(&self, arguments: &[&str]) -> Done {
        Done::of(&self.program(arguments).output().unwrap())
    }

    /// Runs the program here with these variables in its environment.
    pub(crate) fn run_with(&self, variables: &[(&str, &str)], arguments: &[&str]) -> Done {
        Done::of(&self.program(arguments).envs(variables.iter().copied()).output().unwrap())
    }

    /// Runs the program in a directory here.
    pub(crate) fn run_in(&self, directory: &str, arguments: &[&str]) -> Done {
        Done::of(&self.program(arguments).current_dir(self.path().join(directory)).output().unwrap())
    }

    /// Checks the suites here and reads the JSON report.
    pub(crate) fn check(&self, arguments: &[&str]) -> (Option<i32>, Value) {
        let done = self.run(&[&["check", "--format", "json"], arguments].concat());
        (done.code, done.json())
    }

    /// Runs the suites here and reads the JSON report.
    pub(crate) fn report(&self, arguments: &[&str]) -> (Option<i32>, Value) {
        let mut all = vec!["run", "--report", "json", "--set", "report.evidence=true"];
        all.extend(arguments);
        let done = self.run(&all);
        (done.code, done.json())
    }

    /// Returns the recordings here, by name.
    pub(crate) fn recordings(&self) -> Vec<PathBuf> {
        self.files(".speclens/recordings")
    }

    /// Returns the separate texts of the recordings here, by name.
    pub(crate) fn texts(&self) -> Vec<PathBuf> {
        self.files(".speclens/recordings/texts")
    }

    fn files(&self, directory: &str) -> Vec<PathBuf> {
        let entries = fs::read_dir(self.path().join(directory)).into_iter().flatten();
        let paths = entries.map(|entry| entry.unwrap().path());
        let mut paths: Vec<PathBuf> = paths.filter(|path| path.is_file()).collect();
        paths.sort();
        paths
    }
}

impl Done {
    pub(crate) fn of(output: &Output) -> Done {
        Done {
            code: output.status.code(),
            stdout: String::from_utf8(output.stdout.clone()).unwrap(),
            stderr: String::from_utf8(output.stderr.clone()).unwrap(),
        }
    }

    /// Waits for the end of a program.
    pub(crate) fn at_end_of(program: Child) -> Done {
        Done::of(&program.wait_with_output().unwrap())
    }

    /// Returns the JSON on standard output.
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.stdout).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }

    /// Returns all output.
    pub(crate) fn text(&self) -> String {
        format!("{}{}", self.stdout, self.stderr)
    }
}

/// Returns a suite of one command test with these claims; the claims are one line of YAML.
pub(crate) fn suite(command: &str, expect: &str) -> String {
    format!(
        "kindlm: 1\nproject: demo\nsuite: {{name: demo}}\ntests:\n  - name: only\n    command: {command:?}\n    expect: {expect}\n"
    )
}

/// Returns the outcomes of the verdicts of an attempt in a report.
pub(crate) fn outcomes(attempt: &Value) -> Vec<&str> {
    attempt["verdicts"].as_array().unwrap().iter().map(|verdict| verdict["outcome"].as_str().unwrap()).collect()
}

/// Returns the first attempt of a test in the report of one suite.
pub(crate) fn attempt(report: &Value, test: usize) -> &Value {
    &report["suites"][0]["cases"][test]["runs"][0]
}

pub(crate) fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().to_owned()
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let path = entry.unwrap().path();
        let target = to.join(path.file_name().unwrap());
        if path.file_name().is_some_and(|name| name == ".speclens") {
            continue;
        }
        if path.is_dir() {
            copy(&path, &target);
        } else {
            fs::copy(&path, &target).unwrap();
        }
    }
}
