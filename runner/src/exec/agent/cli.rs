//! The program of the suite: whether it exists, and its version. Both are determined before a model is asked.

use std::time::Duration;

use speclens_schema::evidence::{RunError, RunErrorKind};
use tokio::sync::OnceCell;

use super::shell::{Deadline, Shell};

/// Maximum duration of the search for a program, and of asking for its version.
const TIMEOUT: Duration = Duration::from_secs(30);

/// Maximum number of bytes of its output that are kept.
const MAX_OUTPUT_BYTES: usize = 64 * 1024;

/// Maximum number of characters of a version.
const MAX_VERSION: usize = 200;

/// The version of a suite's program, determined once per run.
#[derive(Debug, Default)]
pub(crate) struct Version(OnceCell<Option<String>>);

/// Makes sure that the shell of a task finds the program.
pub(super) async fn find(cli: &str, shell: &Shell, deadline: Deadline) -> Result<(), RunError> {
    let Some(name) = name_of(cli) else { return Ok(()) };
    let finished = shell.run(&format!("command -v {name}"), deadline.left(TIMEOUT), MAX_OUTPUT_BYTES).await;
    if deadline.is_over() {
        return Err(deadline.error());
    }
    match finished.error {
        Some(error) => Err(error),
        None if finished.ran.exit.is_some_and(|exit| exit.code == Some(0)) => Ok(()),
        None => {
            let message = format!("the shell does not find the program `{name}`; install it, or correct `cli`");
            Err(RunError { kind: RunErrorKind::Program, message })
        }
    }
}

/// Returns the word of `cli` that names a program, if there clearly is one.
fn name_of(cli: &str) -> Option<&str> {
    let is_plain = |word: &str| word.chars().all(|letter| letter.is_alphanumeric() || "_./+@%:,~$-{}".contains(letter));
    let is_assignment = |word: &&str| word.split_once('=').is_some_and(|(name, _)| is_plain(name) && !name.is_empty());
    let mut words = cli.split_whitespace().skip_while(is_assignment);
    words.next().filter(|word| is_plain(word))
}

impl Version {
    /// Returns the version: the first line of the command's output. If the command fails, `notify` is called once.
    pub(super) async fn of(
        &self,
        command: &str,
        shell: &Shell,
        deadline: Deadline,
        notify: &(dyn Fn(String) + Sync),
    ) -> Option<String> {
        let ask = async || {
            let finished = shell.run(command, deadline.left(TIMEOUT), MAX_OUTPUT_BYTES).await;
            let is_good = finished.error.is_none() && finished.ran.exit.is_some_and(|exit| exit.code == Some(0));
            let text = finished.ran.stdout.as_ref().map(|stdout| stdout.text.trim()).unwrap_or_default();
            let line =
                text.lines().next().filter(|_| is_good).map(|line| line.trim().chars().take(MAX_VERSION).collect());
            if line.is_none() && !shell.cancel.is_cancelled() {
                let how = match (&finished.error, finished.ran.exit) {
                    (Some(error), _) => error.message.clone(),
                    (None, Some(_)) if is_good => "it printed nothing".to_owned(),
                    (None, Some(exit)) => format!("it {}", exit.sentence()),
                    (None, None) => "it could not be started".to_owned(),
                };
                notify(format!("cannot read the version of the program with `{command}`: {how}"));
            }
            line
        };
        self.0.get_or_init(ask).await.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::name_of;

    #[test]
    fn name_of_a_program_is_its_first_word_after_assignments() {
        for (cli, name) in [
            ("mycli", Some("mycli")),
            ("./bin/mycli --color", Some("./bin/mycli")),
            ("A=1 B='x' node cli.js", Some("node")),
            ("$HOME/bin/tool", Some("$HOME/bin/tool")),
            ("'my tool' x", None),
            ("(cd x; y)", None),
            ("", None),
        ] {
            assert_eq!(name_of(cli), name, "{cli}");
        }
    }
}
