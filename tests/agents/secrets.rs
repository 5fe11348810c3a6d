//! Variables of the environment that commands of a model print, and those that they do not see.

use std::fs;

use super::{
    SUITE, place_of,
    provider::{calling, provider, saying},
    with_key,
};
use crate::support::Done;

/// Secrets of the environment that the settings pass on to commands, in several styles of names and values.
const PASSED_ON: [(&str, &str); 9] = [
    ("GITHUB_TOKEN", "planted-github-1a2b3c"),
    ("AWS_ACCESS_KEY_ID", "AKIAPLANTED0EXAMPLE1"),
    ("AWS_SECRET_ACCESS_KEY", "planted/aws+secret/4d5e6f"),
    ("stripeSecretKey", "planted-stripe-7a8b9c"),
    ("DB_PASSWORD", "planted \"quoted\" pass\\word"),
    ("DATABASE_URL", "postgres://app:planted-url-1d2e3f@db.example/x"),
    ("DEPLOY_KEY", "-----BEGIN OPENSSH PRIVATE KEY-----\nplantedLineOne0123456789\nplantedLineTwo0123456789\n"),
    ("SERVICE_CREDENTIALS", r#"{"private_key":"plantedJsonLine1\nplantedJsonLine2\n"}"#),
    ("NOTES", "glpat-planted0123456789abcd"),
];

/// Returns the texts that must not leave: the values, their lines, and their encodings.
fn forbidden() -> Vec<String> {
    let encoded = |value: &str, program: &str| {
        let script = format!("printf %s \"$VALUE\" | {program}");
        let output = std::process::Command::new("sh").args(["-c", &script]).env("VALUE", value).output().unwrap();
        String::from_utf8(output.stdout).unwrap()
    };
    let mut forbidden: Vec<String> = ["LineOne", "LineTwo", "JsonLine1", "JsonLine2"].map(str::to_owned).into();
    forbidden.extend(["planted%2Faws", "planted-url", "planted-by-pattern"].map(str::to_owned));
    for (_, value) in PASSED_ON {
        let values = if value.contains("://") { vec!["planted-url-1d2e3f"] } else { value.trim().lines().collect() };
        for value in values.into_iter().filter(|value| value.len() >= 16) {
            let base64 = encoded(value, "base64 -w0");
            forbidden.extend([value.to_owned(), serde_json::json!(value).to_string().trim_matches('"').to_owned()]);
            // The last letters depend on what follows.
            forbidden.push(base64.trim_end_matches('=')[..value.len() * 8 / 6].to_owned());
        }
    }
    forbidden
}

#[test]
fn printed_environment_reaches_no_model_no_judge_and_no_file() {
    const COMMANDS: &[&str] = &[
        "env; cat /proc/$PPID/environ | tr '\\0' '\\n'; for pid in $(ls /proc); do cat /proc/$pid/environ; done | grep -a key-01",
        "env | base64; printf %s \"$AWS_SECRET_ACCESS_KEY\" | base64 -w0; printf %s \"u:$GITHUB_TOKEN\" | base64",
        "echo 'planted%2Faws%2Bsecret%2F4d5e6f' {\\\"a\\\":\\\"planted \\\\\\\"quoted\\\\\\\" pass\\\\\\\\word\\\"}; echo plantedLineOne0123456789",
        "head -c 9995 /dev/zero | tr '\\0' x; echo \"$GITHUB_TOKEN$GITHUB_TOKEN\"; echo \"[$HIDDEN_API_KEY][$LOCAL_KEY]\" > out.txt",
        "env >&2; env > env.txt; cat out.txt; echo planted-by-pattern-42; exit 3",
    ];
    let provider = provider(|turn| match COMMANDS.get(turn) {
        Some(command) => calling(turn, command),
        None => saying("It is done. planted-github-1a2b3c"),
    });
    let suite = SUITE.replace("max_turns: 4", "max_turns: 9");
    let place = place_of(&suite, &provider);
    let names: Vec<&str> = PASSED_ON.iter().map(|(name, _)| *name).collect();
    for flow in [true, false] {
        let list = match flow {
            true => format!("env: [{}]\n", names.join(", ")),
            false => format!("env:\r\n{}", names.iter().map(|name| format!("- \"{name}\"\r\n")).collect::<String>()),
        };
        let patterns = "recordings: {redact_patterns: ['planted-by-pattern-\\d+']}\n";
        place.write("speclens.yaml", format!("{}{list}{patterns}", super::settings(&provider)));
        let run = |arguments: &[&str]| {
            let mut program = with_key(&place, arguments);
            Done::of(&program.envs(PASSED_ON).env("HIDDEN_API_KEY", "planted-hidden-0123").output().unwrap())
        };
        let mut written: Vec<(String, String)> = Vec::new();
        for format in ["human", "json", "junit", "sarif", "github"] {
            let report = format!("{format}=report.{format}");
            let done = run(&["run", "--report", &report, "--report", "human", "--set", "report.evidence=true"]);
            assert_eq!(done.code, Some(1), "{done:?}");
            written.push((format.to_owned(), place.read(&format!("report.{format}"))));
            written.push(("terminal".to_owned(), done.text()));
        }
        assert!(
            written.iter().any(|(name, text)| name == "json" && text.contains("[][]")),
            "hidden variables are empty"
        );
        let requests = provider.requests();
        written.extend(requests.iter().map(|request| ("request".to_owned(), request.body.to_string())));
        assert!(written.iter().any(|(name, text)| name == "request" && text.contains("GITHUB_TOKEN=****")));
        let files = place.recordings().into_iter().chain(place.texts());
        written.extend(files.map(|path| (path.display().to_string(), fs::read_to_string(path).unwrap())));
        for secret in forbidden().iter().map(String::as_str).chain(["planted-hidden", "key-0123456789abcdef"]) {
            for (name, text) in &written {
                assert!(!text.contains(secret), "{name} holds {secret}:\n{text}");
            }
        }
    }
}

#[test]
fn command_that_misses_a_hidden_variable_is_explained() {
    let provider = provider(|turn| match turn {
        0 => calling(turn, "echo 'error: STRIPE_API_KEY is not set' >&2; exit 1"),
        _ => saying("It is done."),
    });
    let place = place_of(SUITE, &provider);
    let mut program = with_key(&place, &["run"]);
    let done = Done::of(&program.env("STRIPE_API_KEY", "planted-0123456789").output().unwrap());
    let note = "commands of tasks do not see `STRIPE_API_KEY`; to pass variables on, list them under `env` in";
    assert!(done.stdout.contains(note), "{done:?}");
}

#[cfg(target_os = "linux")]
#[test]
fn environment_of_the_program_cannot_be_read_by_its_commands() {
    // The system administrator may read everything, so the program runs without that right.
    let place = super::place(SUITE, &["cat /proc/$PPID/environ > out.txt; echo \"ended $?\"", "cat out.txt"]);
    let mut program = with_key(&place, &["run", "--report", "json", "--set", "report.evidence=true"]);
    let is_root = rustix::process::geteuid().is_root();
    if is_root {
        let mut limited = std::process::Command::new("setpriv");
        limited.arg("--bounding-set=-all").arg(program.get_program()).args(program.get_args());
        limited.envs(program.get_envs().filter_map(|(name, value)| Some((name, value?)))).current_dir(place.path());
        program = limited;
    }
    let done = Done::of(&program.output().unwrap());
    assert!(done.stdout.contains("ended 1"), "{done:?}");
    assert!(!done.text().contains("LOCAL_KEY="), "{done:?}");
}
