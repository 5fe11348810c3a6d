//! A suite with a task for each recorded conversation in which shell commands ran.

use std::{collections::HashMap, fmt::Write};

use crate::{
    format::NewTest,
    import::{conversation::provider_of, evidence::programs},
    problem::NewFile,
    quoting::{scalar, text},
};

/// Programs that most commands use: they are the subject of a suite only if there is no other.
const COMMON: [&str; 22] = [
    "cd", "ls", "cat", "echo", "printf", "pwd", "mkdir", "rm", "cp", "mv", "touch", "head", "tail", "grep", "find",
    "sed", "awk", "wc", "sort", "true", "test", "export",
];

pub(super) fn new_suite(name: &str, tests: &[NewTest<'_>]) -> Result<Vec<NewFile>, String> {
    let Some(program) = program(tests) else {
        return Err("the recording has no shell commands, which cli-bench is about; use `--format kindlm`".to_owned());
    };
    let mut models: Vec<String> = Vec::new();
    for test in tests {
        let model = match test.conversation.model().map(provider_of) {
            Some((provider, model)) => format!("{}/{model}", provider.unwrap_or("openai")),
            None => "openai/recorded".to_owned(),
        };
        if !models.contains(&model) {
            models.push(model);
        }
    }
    if models.len() > 1 {
        let names = models.join(", ");
        return Err(format!(
            "the recordings are of several models ({names}), and each task of cli-bench runs with all of them; import those of one model at a time"
        ));
    }
    let mut yaml = format!(
        "# speclens: dialect=cli-bench\ncli: {}\ndisplay_name: {}\nproviders:\n",
        scalar(&program),
        scalar(name)
    );
    for model in &models {
        let _ = writeln!(yaml, "  - {}", scalar(model));
    }
    yaml.push_str("tasks:\n");
    for NewTest { name, conversation, attempts } in tests {
        let turns = conversation.replies.len();
        let _ = write!(yaml, "  - id: {}\n    intent: {}\n", scalar(name), text(&conversation.user, 4));
        let _ = writeln!(yaml, "    max_turns: {turns}");
        if *attempts > 1 {
            let _ = writeln!(yaml, "    repeat: {attempts}");
        }
        yaml.push_str("    assert: []\n");
    }
    Ok(vec![NewFile { path: format!("{name}.yaml"), text: yaml }])
}

/// Returns the program that the commands use most.
fn program(tests: &[NewTest<'_>]) -> Option<String> {
    let mut uses: HashMap<String, usize> = HashMap::new();
    for program in tests.iter().flat_map(|test| programs(test.conversation)) {
        *uses.entry(program).or_default() += 1;
    }
    let rank =
        |(name, count): &(String, usize)| (!COMMON.contains(&name.as_str()), *count, std::cmp::Reverse(name.clone()));
    uses.into_iter().max_by_key(rank).map(|(name, _)| name)
}
