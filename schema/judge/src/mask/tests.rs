use super::{Secrets, merged, pattern};
use crate::evidence::Capture;

fn secrets(environment: &[(&str, &str)], named: &[&str], patterns: &[&str]) -> Secrets {
    let named: Vec<String> = named.iter().map(|it| (*it).to_owned()).collect();
    let patterns: Vec<String> = patterns.iter().map(|it| (*it).to_owned()).collect();
    assert!(patterns.iter().all(|source| pattern(source).is_ok()));
    Secrets::new(environment.iter().copied(), &named, &patterns)
}

#[test]
fn secrets_keep_their_length_as_stars() {
    let secrets = secrets(&[("API_KEY", "sk-é12345"), ("HOME", "/home/someone")], &[], &[]);
    assert_eq!(secrets.mask("key=sk-é12345!"), "key=*********!");
    assert_eq!(secrets.mask("/home/someone"), "/home/someone");
    assert!(secrets.contains_secret("xsk-é12345x") && !secrets.contains_secret("sk-"));
}

#[test]
fn short_values_count_only_when_they_are_named() {
    let guessed = secrets(&[("TOKEN", "1234567")], &[], &[]);
    assert!(!guessed.contains_secret("1234567"));
    let named = secrets(&[("CUSTOMER", "x"), ("EMPTY", "")], &["CUSTOMER", "EMPTY"], &[]);
    assert_eq!(named.mask("axb"), "a*b");
}

#[test]
fn overlapping_secrets_leave_nothing_behind() {
    let secrets = secrets(&[("A_KEY", "abcdefgh"), ("B_KEY", "efghijkl")], &[], &["kl-\\d+"]);
    assert_eq!(secrets.mask("abcdefghijkl-42."), "***************.");
}

#[test]
fn secrets_are_found_in_json_too() {
    let secrets = secrets(&[("A_KEY", "ab\"cd\\ef")], &[], &[]);
    assert_eq!(secrets.mask(r#"{"x":"ab\"cd\\ef"}"#), r#"{"x":"**********"}"#);
    assert_eq!(secrets.mask("ab\"cd\\ef"), "********");
}

#[test]
fn secrets_are_found_as_any_program_escapes_them() {
    let secrets = secrets(&[("A_KEY", "abc/def+ghi<jkl&mno/9"), ("B_KEY", "pässword😀1")], &[], &[]);
    for written in [
        r"abc\/def+ghi<jkl&mno\/9",
        r"abc/def+ghi\u003cjkl\u0026mno/9",
        r"abc\u002fdef\u002Bghi\u003Cjkl\u0026mno\/9",
        r"p\u00e4ssword\ud83d\ude001",
        r"p\u00E4ssword\uD83D\uDE001",
    ] {
        let masked = secrets.mask(&format!("\"{written}\""));
        assert_eq!(masked, format!("\"{}\"", "*".repeat(written.len())));
    }
    assert_eq!(secrets.names_in(&["x", r"abc\/def+ghi<jkl&mno\/9"]), ["A_KEY"]);
    assert_eq!(secrets.cover("x pässword😀1 y").len(), "x pässword😀1 y".len());
}

#[test]
fn a_value_that_overlaps_itself_is_masked_whole() {
    let secrets = secrets(&[("A_KEY", "abababab")], &[], &[]);
    assert_eq!(secrets.mask("xabababababx"), "x**********x");
}

#[test]
fn line_ends_inside_a_secret_stay() {
    let secrets = secrets(&[("DEPLOY_KEY", "line one\nline two")], &[], &[]);
    assert_eq!(secrets.mask("line one\nline two"), "********\n********");
}

#[test]
fn a_pattern_that_cannot_be_read_says_why() {
    let errors = ["(", "a(?=b)", "(a)\\1", "a{9999999}"].map(|source| pattern(source).unwrap_err());
    let reasons = errors.map(|error| format!("{}: {}", error.reason, error.help));
    assert_eq!(
        reasons,
        [
            "unclosed group: escape each character that you mean literally, such as `\\[`",
            "look-around is not supported: write the pattern without look-around or back-references",
            "back-references are not supported: write the pattern without look-around or back-references",
            "it is too large when it is compiled: lower the numbers of repetitions",
        ]
    );
    assert_eq!(Secrets::new([], &[], &["(".to_owned()]), Secrets::new([], &[], &[]));
}

#[test]
fn lines_of_a_secret_are_masked_alone_if_they_are_long() {
    let key = "-----BEGIN KEY-----\nshort line\n  MIIEvQIBADANBgkq\r\nhkiG9w0BAQEFAASC\n";
    let masked = "**************** **************** short line";
    for key in [key.to_owned(), key.replace('\n', "\\n")] {
        let secrets = secrets(&[("DEPLOY_KEY", &key)], &[], &[]);
        assert_eq!(secrets.mask("MIIEvQIBADANBgkq hkiG9w0BAQEFAASC short line"), masked);
        assert!(!secrets.mask("short line\nMIIEvQIBADANBgkq").contains("MII"));
        assert_eq!(secrets.mask(key.trim()).replace(['*', '\n'], ""), "");
    }
}

#[test]
fn password_in_a_url_is_masked_and_nothing_around_it() {
    let none = secrets(&[], &[], &[]);
    for (text, masked) in [
        ("see https://me:pa$$wörd@host/x", "see https://me:********@host/x"),
        ("redis://:p@host https://a:b@c.d", "redis://:*@host https://a:*@c.d"),
        (r"https:\/\/me:pass@host", r"https:\/\/me:****@host"),
        ("https://me:p@ss@host/x@y", "https://me:****@host/x@y"),
    ] {
        assert_eq!(none.mask(text), masked);
        assert_eq!(none.mask(masked), masked);
        assert!(none.contains_secret(text) && !none.contains_secret(masked));
    }
    for text in ["https://me:$PASS@host", "http://host:80/a@b", "http://h:80?a@b", "http://h:1 a@b", "git@h:x", "a:b@c"]
    {
        assert_eq!(none.mask(text), text);
    }
    assert_eq!(Secrets::none().mask("https://me:pass@host"), "https://me:pass@host");
    assert!(Secrets::none().is_empty() && !none.is_empty());
}

#[test]
fn password_in_the_url_of_a_variable_is_masked_wherever_it_appears() {
    let secrets = secrets(&[("DATABASE_URL", "postgres://app:s3cr%2Ft-word@db/x"), ("B", "x://u:short@h")], &[], &[]);
    assert_eq!(secrets.mask("s3cr/t-word s3cr%2Ft-word short db"), "*********** ************* short db");
    assert_eq!(secrets.names_in(&["s3cr/t-word", "short"]), ["DATABASE_URL"]);
}

#[test]
fn encoded_secret_is_masked_with_its_whole_encoding() {
    let secrets = secrets(&[("API_TOKEN", "s3cr3t/+word")], &[], &[]);
    assert_eq!(secrets.mask("q=s3cr3t%2F%2Bword&x"), "q=****************&x");
    assert_eq!(secrets.mask("Basic dTpzM2NyM3QvK3dvcmQ="), "Basic dT*****************=");
    assert_eq!(secrets.cover("s3cr3t\\/+word"), "*************");
}

#[test]
fn white_space_around_a_match_stays_and_stars_that_match_are_masked_once() {
    let secrets = secrets(&[], &[], &["\\s+tok-\\d+\\s*", "[*]+", "q*"]);
    let found = secrets.mask_capture(&Capture::whole("ab  tok-12  cd ***")).unwrap();
    assert_eq!((found.text.as_str(), &found.masked[..]), ("ab  ******  cd ***", &[(4, 10), (15, 18)][..]));
    assert_eq!(secrets.mask_capture(&found), None);
    assert_eq!(secrets.mask(" tok-1"), " *****");
}

#[test]
fn secrets_are_equal_if_they_mask_the_same() {
    let one = secrets(&[("A_KEY", "abcdefgh")], &[], &["x+"]);
    assert_eq!(one, secrets(&[("B_KEY", "abcdefgh")], &[], &["x+"]));
    assert_ne!(one, secrets(&[("A_KEY", "abcdefgh")], &[], &["y+"]));
    assert_ne!(one, secrets(&[("A_KEY", "ijklmnop")], &[], &["x+"]));
    assert_ne!(Secrets::none(), secrets(&[], &[], &[]));
}

#[test]
fn value_is_kept_once_with_the_first_variable_that_has_it() {
    let mut secrets = secrets(&[("A_KEY", " abcdefgh\n"), ("B_KEY", "abcdefgh"), ("C_KEY", "ijklmnop")], &[], &[]);
    assert_eq!(secrets.names_in(&["abcdefgh", "ijklmnop"]), ["A_KEY", "C_KEY"]);
    assert_eq!(secrets.mask("later-added"), "later-added");
    secrets.add("later-added");
    assert_eq!(secrets.mask("later-added abcdefgh"), "*********** ********");
    assert_eq!(secrets.names_in(&["later-added"]), [""; 0]);
}

#[test]
fn beginning_of_a_secret_is_masked_where_a_text_was_cut() {
    let secrets = secrets(&[("A_KEY", "ab-defgh"), ("B_KEY", "fgh-ijkl")], &[], &[]);
    for (text, masked) in [("x ab-d", "x ****"), ("ab-", "ab-"), ("ab-defgh", "********"), ("ab-defgh-i", "**********")]
    {
        let cut = Capture { text: text.to_owned(), cut: true, ..Capture::default() };
        let found = secrets.mask_capture(&cut).unwrap_or(cut.clone());
        assert_eq!(found.text, masked);
        assert_eq!(secrets.mask_capture(&found), None, "masking again changes nothing");
        assert_eq!(secrets.mask_capture(&Capture::whole("x ab-d")), None);
    }
}

#[test]
fn password_is_masked_where_its_url_was_cut() {
    let secrets = secrets(&[], &[], &[]);
    for (text, masked) in [("see https://me:pass", "see https://me:****"), ("https://me:pass x", "https://me:pass x")] {
        let cut = Capture { text: text.to_owned(), cut: true, ..Capture::default() };
        assert_eq!(secrets.mask_capture(&cut).unwrap_or(cut).text, masked);
        assert_eq!(secrets.mask_capture(&Capture::whole(text)), None);
    }
}

#[test]
fn value_is_masked_with_its_keys_and_numbers() {
    let secrets = secrets(&[("PIN", "4711")], &["PIN"], &[]);
    let mut value = serde_json::json!({ "4711": [4711, 1.5, null, "x4711"], "a": { "b": 14711 } });
    secrets.mask_value(&mut value);
    assert_eq!(value.to_string(), r#"{"****":["****",1.5,null,"x****"],"a":{"b":"1****"}}"#);
}

#[test]
fn ranges_that_touch_or_overlap_are_merged_in_order() {
    assert_eq!(merged(vec![(8, 9), (4, 6), (0, 2), (2, 3), (5, 7), (4, 5)]), [(0, 3), (4, 7), (8, 9)]);
    assert_eq!(merged(vec![(0, 9), (1, 2), (9, 10)]), [(0, 10)]);
    assert_eq!(merged(Vec::new()), []);
}

#[test]
fn masked_text_that_matches_a_pattern_is_masked_again_and_then_stays() {
    let secrets = secrets(&[("A_KEY", "abcdefgh")], &[], &["\\*+-\\d+", "[*]+!"]);
    assert_eq!(secrets.mask("abcdefgh-12!"), "************");
    assert_eq!(secrets.mask("************"), "************");
}
