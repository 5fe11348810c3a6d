//! Decides which environment variables hold a secret.

use serde_json::Value;

use crate::check::secret::pasted_secret;

/// Minimum length of a value that is assumed to be secret because of the name of its variable.
const MIN_GUESSED_LENGTH: usize = 8;

/// Returns whether a variable probably holds a secret: because of its name, or because its value has the form of a key.
pub fn holds_secret(name: &str, value: &str) -> bool {
    let is_long = value.chars().count() >= MIN_GUESSED_LENGTH;
    is_long && (looks_secret(name) && !is_harmless(name, value)) || is_key(value)
}

/// Returns whether a value has the form of a key. A URL with a password is more than a secret.
fn is_key(value: &str) -> bool {
    pasted_secret(value).is_some() && !value.contains("://")
}

/// Returns the parts of a secret value that are secret alone: the token after `Bearer`, and the values of cookies and of
/// named passwords, as in `Server=db;Password=…`.
pub(super) fn secret_parts<'v>(name: &str, value: &'v str) -> impl Iterator<Item = &'v str> {
    const SCHEMES: [&str; 3] = ["basic", "bearer", "token"];
    let is_cookie = words(name).iter().any(|word| word.starts_with("COOKIE"));
    value.split([';', '&', '?', '\n']).filter_map(move |part| {
        let (before, token) = part.trim().rsplit_once(' ').unwrap_or_default();
        let scheme = before.rsplit([' ', ':']).next().unwrap_or_default();
        if SCHEMES.iter().any(|known| scheme.eq_ignore_ascii_case(known)) {
            return Some(token);
        }
        let (key, value) = part.split_once('=')?;
        (is_cookie || looks_secret(key.trim())).then(|| value.trim())
    })
}

/// Returns the strings under secret-looking names in a value that is JSON, such as the credentials of a service.
pub(super) fn secret_members(value: &str) -> Vec<String> {
    fn collect(value: &Value, is_secret: bool, found: &mut Vec<String>) {
        match value {
            Value::String(text) if is_secret => found.push(text.clone()),
            Value::Array(items) => items.iter().for_each(|item| collect(item, is_secret, found)),
            Value::Object(members) => {
                members.iter().for_each(|(name, member)| collect(member, is_secret || looks_secret(name), found));
            }
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
    }
    let mut found = Vec::new();
    if let Ok(value) = serde_json::from_str(value) {
        collect(&value, false, &mut found);
    }
    found
}

/// Returns the words of a name in capitals: `githubToken`, `github-token` and `GITHUB_TOKEN` have the same.
fn words(name: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut before = '_';
    for letter in name.chars() {
        if !letter.is_ascii_alphanumeric() || before.is_ascii_lowercase() && letter.is_ascii_uppercase() {
            words.push(String::new());
        }
        if let Some(word) = words.last_mut().filter(|_| letter.is_ascii_alphanumeric()) {
            word.push(letter.to_ascii_uppercase());
        }
        before = letter;
    }
    words
}

/// Returns whether a variable with this name probably holds a secret.
fn looks_secret(name: &str) -> bool {
    const WORDS: [&str; 21] = [
        "APIKEY", "AUTH", "BEARER", "COOKIE", "COOKIES", "CRED", "CREDENTIAL", "CREDENTIALS", "CREDS", "JWT", "KEY",
        "PASS", "PASSCODE", "PASSPHRASE", "PASSWD", "PASSWORD", "PAT", "PWD", "SECRET", "SECRETS", "TOKEN",
    ];
    const ENDINGS: [&str; 9] =
        ["ACCESSKEY", "APIKEY", "PASSPHRASE", "PASSWD", "PASSWORD", "PRIVATEKEY", "SECRET", "SECRETKEY", "TOKEN"];
    /// Names that contain one of the words, but hold no secret.
    const HARMLESS: [&str; 4] = ["PWD", "OLDPWD", "SSH_AUTH_SOCK", "XAUTHORITY"];
    let is_secret =
        |word: &String| WORDS.contains(&word.as_str()) || ENDINGS.iter().any(|ending| word.ends_with(ending));
    let words = words(name);
    let is_webhook = words.iter().any(|word| word == "WEBHOOK") && words.last().is_some_and(|word| word == "URL");
    !HARMLESS.contains(&name.to_ascii_uppercase().as_str()) && (is_webhook || words.iter().any(is_secret))
}

/// Returns whether a variable with a secret-looking name only describes a secret.
fn is_harmless(name: &str, value: &str) -> bool {
    /// Names with these endings describe a secret, but hold none.
    const ABOUT: [&str; 22] = [
        "ALGORITHM", "COUNT", "DISABLED", "DOMAIN", "ENABLED", "EXPIRATION", "EXPIRES", "EXPIRY", "HOST", "HOSTNAME",
        "LENGTH", "MODE", "NAME", "PORT", "REGION", "SIZE", "TIMEOUT", "TTL", "TYPE", "USERNAME", "VERSION",
        "LIFETIME",
    ];
    match words(name).last().map(String::as_str).unwrap_or_default() {
        "DIR" | "DIRECTORY" | "PATH" | "FILE" => value.contains(['/', '\\']) || !has_token(value),
        "CREDENTIAL" | "CREDENTIALS" => is_path(value) && !has_token(value),
        // A user name, a password or a token may be in it.
        "URL" | "URI" => !value.contains(['@', '?', '#']) && !has_token(value),
        about => ABOUT.contains(&about) && !has_token(value),
    }
}

fn is_path(value: &str) -> bool {
    let has_drive = matches!(value.as_bytes(), [drive, b':', b'/' | b'\\', ..] if drive.is_ascii_alphabetic());
    let is_rooted = ["/", "./", "../", "~/"].iter().any(|start| value.starts_with(start));
    (has_drive || is_rooted) && !value.contains(['+', '=', '\n'])
}

fn has_token(value: &str) -> bool {
    const LENGTH: usize = 20;
    value.split(['/', '\\', '.', ':']).any(|part| {
        part.len() >= LENGTH
            && part.contains(|it: char| it.is_ascii_digit())
            && part.contains(|it: char| it.is_ascii_alphabetic())
    })
}

#[cfg(test)]
mod tests {
    use super::{has_token, holds_secret, is_path, looks_secret, secret_members, secret_parts};

    #[test]
    fn members_of_json_are_secret_by_their_name() {
        let value = r#"{"type":"service_account","private_key":"one\ntwo","auth":{"user":"a","n":1},"key_uri":null}"#;
        assert_eq!(secret_members(value), ["one\ntwo", "a"]);
        assert!(secret_members("not JSON").is_empty() && secret_members("\"alone\"").is_empty());
    }

    #[test]
    fn names_reveal_secrets() {
        for name in [
            "OPENAI_API_KEY",
            "GITHUB_TOKEN",
            "db-password",
            "NPM_AUTH",
            "MY_ACCESSTOKEN",
            "AWS_SECRET_ACCESS_KEY",
            "githubToken",
            "stripe.secretKey",
            "authHeader",
            "PGPASSWORD",
            "MYSQL_PWD",
            "SSH_PASSPHRASE",
            "APP_CREDS",
            "npm_config_//registry.npmjs.org/:_authToken",
            "GH_PAT",
            "SESSION_COOKIE",
            "SLACK_WEBHOOK_URL",
            "key",
        ] {
            assert!(looks_secret(name), "{name}");
        }
        for name in [
            "PATH", "PWD", "OLDPWD", "SSH_AUTH_SOCK", "XAUTHORITY", "KEYBOARD", "MONKEY", "AUTHOR", "PATTERN",
            "TOKENIZERS_PARALLELISM", "COMPASS", "WEBHOOK_PORT", "BASE_URL", "",
        ] {
            assert!(!looks_secret(name), "{name}");
        }
    }

    #[test]
    fn values_reveal_harmless_variables() {
        for (name, value) in [
            ("PASSWORD_STORE_DIR", "/home/me"),
            ("PASSWORD_STORE_DIR", "passwords"),
            ("GOOGLE_APPLICATION_CREDENTIALS", "/home/me/gcp-key.json"),
            ("AUTH_URL", "http://localhost:8080/login"),
            ("COOKIE_DOMAIN", "localhost"),
            ("AUTH_MODE", "disabled"),
            ("TOKEN_EXPIRY", "2026-11-21T10:00:00Z"),
            ("KEY_COUNT", "00000000"),
            ("API_KEY_FILE", "/run/secrets/api_key"),
            ("API_KEY", "1234567"),
            ("DATABASE_URL", "https://alice:s3cr3t-word@db.example/x"),
        ] {
            assert!(!holds_secret(name, value), "{name}");
        }
        for (name, value) in [
            ("AUTH_URL", "https://me:pass@host/"),
            ("AUTH_URL", "https://host/?token=abc"),
            ("TOKEN_URL", "https://hooks.example.com/services/T00/B00/XXXX1234567890abcdefgh"),
            ("GOOGLE_CREDENTIALS", "{\"private_key\": \"x\"}"),
            ("AWS_SECRET_ACCESS_KEY", "/abcdef/ghijk"),
            ("AWS_ACCESS_KEY_ID", "AKIAIOSFODNN7EXAMPLE"),
            ("API_KEY_NAME", "sk-abcdef1234567890abcdef"),
            ("API_KEY", "12345678"),
            ("BACKUP", "-----BEGIN PRIVATE KEY-----\nMIIE"),
        ] {
            assert!(holds_secret(name, value), "{name}");
        }
    }

    #[test]
    fn tokens_cookies_and_named_passwords_are_secret_without_the_rest_of_the_value() {
        for (name, value, parts) in [
            ("AUTH", "Bearer abc", &["abc"][..]),
            ("AUTH", "Authorization: basic YTpi==", &["YTpi=="]),
            ("AUTH", "Proxy-Authorization:token abc", &["abc"]),
            ("AUTH", "Negotiate abc", &[]),
            ("SESSION_COOKIE", "Cookie: sid=a=b; theme=dark", &["a=b", "dark"]),
            ("SESSION", "sid=a; theme=dark", &[]),
            ("DB_SECRET", "Server=db;User Id=me;Password= abc ;Port=1", &["abc"]),
            ("AUTH_URL", "https://host/?user=me&token=abc", &["abc"]),
            ("API_KEY", "abc", &[]),
        ] {
            assert_eq!(secret_parts(name, value).collect::<Vec<_>>(), parts, "{value}");
        }
    }

    #[test]
    fn path_begins_at_a_root_and_has_no_letter_of_base64() {
        for path in ["/a/b", "./a", "../a", "~/a", "C:/a", "c:\\a"] {
            assert!(is_path(path), "{path}");
        }
        for other in ["a/b", "", ":/a", "1:/a", "C:a", "/a+b", "/a=", "/a\nb", "~a"] {
            assert!(!is_path(other), "{other}");
        }
    }

    #[test]
    fn token_is_long_and_has_letters_and_digits() {
        for text in ["0123456789abcdefghij", "/x/0123456789abcdefghij.y"] {
            assert!(has_token(text), "{text}");
        }
        for text in ["0123456789abcdefghi", "01234567890123456789", "abcdefghijklmnopqrst", "0123456789/abcdefghij"] {
            assert!(!has_token(text), "{text}");
        }
    }
}
