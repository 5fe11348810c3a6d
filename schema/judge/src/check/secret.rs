//! Detects pasted secrets: texts that have the form of a key, a token or a password.

use std::{ops::Range, sync::OnceLock};

use regex::Regex;

const FORMS: [(&str, &str); 13] = [
    (r"sk-ant-[A-Za-z0-9_-]{20,}", "an Anthropic API key"),
    (r"sk-or-[A-Za-z0-9_-]{20,}", "an OpenRouter API key"),
    (r"sk-[A-Za-z0-9_-]{20,}", "an OpenAI API key"),
    (r"gh[pousr]_[A-Za-z0-9]{30,}|github_pat_[A-Za-z0-9_]{40,}", "a GitHub token"),
    (r"glpat-[A-Za-z0-9_-]{20,}", "a GitLab token"),
    (r"xox[abeoprs]-[A-Za-z0-9-]{10,}", "a Slack token"),
    (r"(?:AKIA|ASIA)[A-Z0-9]{16}", "an AWS access key"),
    (r"AIza[A-Za-z0-9_-]{35}", "a Google API key"),
    (r"hf_[A-Za-z0-9]{30,}", "a Hugging Face token"),
    (r"npm_[A-Za-z0-9]{36}", "an npm token"),
    (r"eyJ[A-Za-z0-9_-]{10,}\.eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}", "a JSON Web Token"),
    (r"-----BEGIN [A-Z ]*PRIVATE KEY-----", "a private key"),
    (r"[a-z][a-z0-9+.-]*://[^\s/:@$<>{}]+:[^\s/:@$<>{}*]{6,}@", "a password in a URL"),
];

/// Returns the byte range and the name of the first secret in a text. Placeholders such as
/// `sk-xxxxxxxxxxxxxxxxxxxxxxxx` are not secrets.
pub fn pasted_secret(text: &str) -> Option<(Range<usize>, &'static str)> {
    static FORM: OnceLock<Vec<(Regex, &str)>> = OnceLock::new();
    static BEGINNING: OnceLock<Regex> = OnceLock::new();
    /// A pattern that every form contains: most texts need no closer look.
    const BEGINNINGS: &str = "sk-|gh[pousr]_|github_pat_|glpat-|xox|AKIA|ASIA|AIza|hf_|npm_|eyJ|-----BEGIN|://";
    let beginning = BEGINNING.get_or_init(|| Regex::new(BEGINNINGS).expect("the pattern is fixed and tested"));
    if text.len() < 12 || !beginning.is_match(text) {
        return None;
    }
    let forms = FORM.get_or_init(|| {
        let compile = |(form, what): (&str, &'static str)| {
            // A key begins a word: `task-…` is not one.
            let form = format!(r"(?:^|[^A-Za-z0-9_])({form})");
            (Regex::new(&form).expect("the forms are fixed and tested"), what)
        };
        FORMS.map(compile).into()
    });
    let found = forms.iter().filter_map(|(form, what)| Some((form.captures(text)?.get(1)?, *what)));
    // Random letters have digits among them; words with hyphens in between have none.
    let is_words = |text: &str| text.starts_with("sk-") && !text.contains(|letter: char| letter.is_ascii_digit());
    let is_key = |text: &str| is_varied(text) && !is_words(text);
    let real = found.filter(|(found, what)| is_key(found.as_str()) || *what == "a private key");
    real.min_by_key(|(found, _)| found.start()).map(|(found, what)| (found.range(), what))
}

fn is_varied(text: &str) -> bool {
    let mut seen = [false; 128];
    for byte in text.bytes().filter(u8::is_ascii) {
        seen[usize::from(byte)] = true;
    }
    seen.iter().filter(|seen| **seen).count() >= 9
}

#[cfg(test)]
mod tests {
    use super::pasted_secret;

    #[track_caller]
    fn check(text: &str, expected: Option<(&str, &str)>) {
        let found = pasted_secret(text).map(|(range, what)| (&text[range], what));
        assert_eq!(found, expected, "{text}");
    }

    // The examples are put together here, so that no scanner takes this file for a leak.
    #[test]
    fn keys_are_known_by_their_form() {
        let drawn = "aB3dE6gH9jK2mN5pQ8sT1vW4yZ7cF0hL";
        for (prefix, length, what) in [
            ("sk-ant-", 32, "an Anthropic API key"),
            ("sk-proj-", 32, "an OpenAI API key"),
            ("ghp_", 32, "a GitHub token"),
            ("glpat-", 20, "a GitLab token"),
            ("hf_", 32, "a Hugging Face token"),
        ] {
            let key = format!("{prefix}{}", &drawn[..length]);
            check(&format!("export KEY='{key}'"), Some((key.as_str(), what)));
            check(&format!("my{key}"), None);
        }
        let aws = format!("AKIA{}", drawn[..16].to_uppercase());
        check(&aws, Some((aws.as_str(), "an AWS access key")));
        let address = ["https://alice:", "s3cr3t-word", "@db.example/x"].concat();
        check(&address, Some((&address[..address.len() - "db.example/x".len()], "a password in a URL")));
    }

    #[test]
    fn placeholder_for_a_key_is_no_secret() {
        for text in [
            "sk-xxxxxxxxxxxxxxxxxxxxxxxxxxxx",
            "sk-",
            "/demo sk-learn-tutorial-notebook-for-beginners",
            "task-management-with-a-very-long-name",
            "https://alice:$PASSWORD@db.example",
            "https://db.example:8080/a@b",
            "git@github.com:owner/name",
            "ghp_YOUR_TOKEN_HERE",
        ] {
            check(text, None);
        }
    }
}
