//! Secrets of twelve kinds as programs write them, and the search for them in everything that leaves.

use serde_json::Value;

/// A kind of secret.
pub(crate) struct Kind {
    pub(crate) name: &'static str,
    /// The variables that hold it.
    pub(crate) variables: &'static [(&'static str, &'static str)],
    /// Texts in which a program shows it.
    shown: &'static [&'static str],
    /// The parts of these texts that may not leave.
    secret: &'static [&'static str],
}

/// Settings that name two of the secrets, and pass all variables on to the commands of tasks.
pub(crate) const SETTINGS: &str = "\
env: [MODEL_PROXY, GITHUB_TOKEN, AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, DEPLOY_KEY, DATABASE_URL, FORM_PASSWORD, \
BASIC_SECRET, OUTER, UPSTREAM_AUTH, SESSION_COOKIE, stripeSecretKey, NOTES, SERVICE_CREDENTIALS]
recordings: {redact_env: [OUTER], redact_patterns: ['planted-by-pattern-\\d+']}
";

/// The kinds that every suite masks.
pub(crate) const KINDS: &[Kind] = &[
    // Its name does not look secret: the settings say that it is the key of a provider.
    Kind {
        name: "provider-key",
        variables: &[("MODEL_PROXY", "planted-provider-1p2q")],
        shown: &["planted-provider-1p2q"],
        secret: &["planted-provider-1p2q"],
    },
    Kind {
        name: "github-token",
        variables: &[("GITHUB_TOKEN", "planted-github-1a2b3c")],
        shown: &["planted-github-1a2b3c", "x-access-token:planted-github-1a2b3c,"],
        secret: &["planted-github-1a2b3c"],
    },
    Kind {
        name: "aws-pair",
        variables: &[
            ("AWS_ACCESS_KEY_ID", "AKIAPLANTED0EXAMPLE1"),
            ("AWS_SECRET_ACCESS_KEY", "planted/aws+<secret>/4d"),
        ],
        shown: &["AKIAPLANTED0EXAMPLE1 planted/aws+<secret>/4d", r"planted\/aws+\u003csecret\u003E\/4d"],
        secret: &["AKIAPLANTED0EXAMPLE1", "planted/aws", r"planted\/aws", "secret>", r"csecret\"],
    },
    Kind {
        name: "private-key",
        variables: &[
            ("DEPLOY_KEY", "-----BEGIN OPENSSH PRIVATE KEY-----\nplantedLineOne0123456789\nplantedLineTwo0123456789\n"),
            ("SERVICE_CREDENTIALS", r#"{"private_key":"plantedJsonLine10123\nplantedJsonLine20123\n"}"#),
        ],
        shown: &[
            "-----BEGIN OPENSSH PRIVATE KEY-----\nplantedLineOne0123456789\nplantedLineTwo0123456789\n",
            "plantedLineTwo0123456789 alone",
            "plantedLineOne01\n23456789 broken",
            r"plantedJsonLine10123\nplantedJsonLine20123",
        ],
        secret: &["LineOne", "LineTwo", "23456789 broken", "JsonLine1", "JsonLine2"],
    },
    Kind {
        name: "url-password",
        variables: &[("DATABASE_URL", "postgres://app:planted-url-1d2e3f@db.example/x")],
        shown: &[
            "postgres://app:planted-url-1d2e3f@db.example/x",
            "planted-url-1d2e3f alone",
            "https://somebody:planted-unknown@host.example/x",
        ],
        secret: &["planted-url", "planted-unknown"],
    },
    Kind {
        name: "url-encoded",
        variables: &[("FORM_PASSWORD", "planted form/6g7h8i")],
        shown: &["planted%20form%2F6g7h8i", "planted+form/6g7h8i", "planted%2520form%252f6g7h8i"],
        secret: &["6g7h8i", "planted%20form", "planted+form", "planted%2520form"],
    },
    Kind {
        name: "base64",
        variables: &[("BASIC_SECRET", "planted-base64-9j0k1l")],
        shown: &[
            "cGxhbnRlZC1iYXNlNjQtOWowazFs",
            "Basic dTpwbGFudGVkLWJhc2U2NC05ajBrMWw=",
            "eHBsYW50ZWQtYmFzZTY0LTlqMGsxbA==",
        ],
        secret: &["hbnRlZC1iYXNl", "bGFudGVkLWJhc2U2", "BsYW50ZWQtYmFz"],
    },
    Kind {
        name: "named-by-settings",
        variables: &[("OUTER", "planted by list")],
        shown: &["planted by list", "planted-by-pattern-42"],
        secret: &["planted by list", "planted-by-pattern"],
    },
    Kind {
        name: "bearer-header",
        variables: &[("UPSTREAM_AUTH", "Bearer planted-bearer-2m3n4o")],
        shown: &["Authorization: Bearer planted-bearer-2m3n4o", r#"{"token":"planted-bearer-2m3n4o"}"#],
        secret: &["planted-bearer"],
    },
    Kind {
        name: "cookie",
        variables: &[("SESSION_COOKIE", "sid=planted-cookie-5p6q7r; theme=dark")],
        shown: &["Cookie: theme=dark; sid=planted-cookie-5p6q7r", "Set-Cookie: id=planted-cookie-5p6q7r"],
        secret: &["planted-cookie"],
    },
    Kind {
        name: "secret-name",
        variables: &[("stripeSecretKey", "planted-stripe-7a8b9c"), ("NOTES", "glpat-planted0123456789abcd")],
        shown: &["planted-stripe-7a8b9c", "glpat-planted0123456789abcd"],
        secret: &["planted-stripe", "glpat-planted"],
    },
];

/// The kind that a workspace of ClawSpec adds: no variable holds it.
pub(crate) const GATEWAY_TOKEN: Kind = Kind {
    name: "gateway-token",
    variables: &[],
    shown: &["planted-clawspec-word", "authorization: Bearer planted-clawspec-word"],
    secret: &["planted-clawspec-word"],
};

/// The kind that a suite of cli-bench adds: a variable that it sets, and a pattern.
pub(crate) const NAMED_BY_SUITE: Kind = Kind {
    name: "named-by-suite",
    variables: &[],
    shown: &["planted by suite", "tok_12ab"],
    secret: &["planted by suite", "tok_12ab"],
};

impl Kind {
    /// Returns the first text that shows the secret.
    pub(crate) fn value(&self) -> &'static str {
        self.shown[0]
    }
}

/// Returns all variables with their values.
pub(crate) fn variables() -> Vec<(&'static str, &'static str)> {
    KINDS.iter().flat_map(|kind| kind.variables).copied().collect()
}

/// Returns a text with all secrets of these kinds, each after the name of its kind.
pub(crate) fn text<'k>(kinds: impl IntoIterator<Item = &'k Kind>) -> String {
    let lines = |kind: &Kind| kind.shown.iter().map(|shown| format!("{}={shown}\n", kind.name)).collect::<String>();
    kinds.into_iter().map(lines).collect()
}

/// Asserts that none of the secrets is in any of the texts, each with its name.
#[track_caller]
pub(crate) fn assert_none_left<'k>(kinds: impl IntoIterator<Item = &'k Kind>, left: &[(String, String)]) {
    let mut leaks = Vec::new();
    for kind in kinds {
        for (name, text) in left {
            let lines = text.lines().filter(|line| kind.secret.iter().any(|secret| line.contains(secret)));
            leaks.extend(lines.map(|line| format!("{} in {name}: {}", kind.name, around(line, kind))));
        }
    }
    leaks.dedup();
    assert!(leaks.is_empty(), "{} leaks:\n{}", leaks.len(), leaks.join("\n"));
}

/// Returns the part of a long line around the secret.
fn around(line: &str, kind: &Kind) -> String {
    let at = kind.secret.iter().find_map(|secret| line.find(secret)).unwrap_or_default();
    let skipped = line[..at].chars().count().saturating_sub(60);
    line.chars().skip(skipped).take(140).collect()
}

/// Returns all texts of a value, decoded.
pub(crate) fn readable(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(items) => items.iter().map(readable).collect::<Vec<_>>().join("\n"),
        Value::Object(members) => {
            members.iter().map(|(key, value)| format!("{key}: {}", readable(value))).collect::<Vec<_>>().join("\n")
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => value.to_string(),
    }
}
