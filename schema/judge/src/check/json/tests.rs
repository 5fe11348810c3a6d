use proptest::prelude::*;
use serde_json::{Value, json};
use speclens_yaml::{Document, Pointer, ScalarRules};

use super::*;

#[test]
fn the_numbers_that_json_lacks() {
    let document = Document::read("a: .nan\nb: .NaN\nc: .inf\nd: 1e300\n", ScalarRules::Yaml12);
    let value = document.root().unwrap().to_value().unwrap();
    let object = value.as_object().unwrap();
    assert!(!same(&object["a"], &object["b"]) && !matches(&object["a"], &object["a"]));
    assert_eq!(differences(&value, &value).len(), 2);
    assert_eq!(text(&object["a"]), "null");
    let checked = document.root().unwrap().to_checked_value(100).unwrap();
    assert!(checked["a"].is_null() && checked["c"].as_f64().is_some_and(|it| it.fract() != 0.0), "{checked}");
    assert!(document.find(&Pointer::parse("/a")).unwrap().as_str().is_none());
}

#[test]
fn json_accepted_by_javascript_is_accepted() {
    assert_eq!(parse(r#" {"a":1,"b":[true,null,"x"],"a":2} "#).unwrap(), json!({"a": 2, "b": [true, null, "x"]}));
    assert_eq!(parse(r#""\ud83d\ude00 \ud83d \ude00 \u0041""#).unwrap(), json!("😀 \u{fffd} \u{fffd} A"));
    assert_eq!(parse(r#""\\ud800 \"\ud800""#).unwrap(), json!("\\ud800 \"\u{fffd}"));
    assert_eq!(parse("12345678901234567890").unwrap(), json!(12345678901234567890.0));
    assert!(parse("-0").unwrap().as_f64().unwrap().is_sign_negative());
    assert_eq!(parse("2.0").unwrap(), json!(2));
    assert_eq!(parse(r#"[1e400,-1e400,"1e400"]"#).unwrap(), json!([f64::MAX, f64::MIN, "1e400"]));
}

#[test]
fn json_is_read_to_a_thousand_levels() {
    let nested = |levels: usize| format!(r#"{}"a\"]["{}"#, "[".repeat(levels), "]".repeat(levels));
    assert!(parse(&nested(1_000)).is_ok());
    assert_eq!(parse(&nested(1_001)).unwrap_err().kind, JsonErrorKind::Limit);
}

#[test]
fn json_refused_by_javascript_is_refused_with_place() {
    for (text, message) in [
        ("", "EOF while parsing a value at line 1, column 1"),
        ("{\"a\":\n  é}", "expected value at line 2, column 3"),
        ("[1,]", "trailing comma at line 1, column 4"),
        ("{a:1}", "key must be a string at line 1, column 2"),
        ("01", "invalid number at line 1, column 2"),
        ("1.", "EOF while parsing a value at line 1, column 2"),
        ("\"a\nb\"", "control character (\\u0000-\\u001F) found while parsing a string at line 2, column 1"),
        ("\"a", "EOF while parsing a string at line 1, column 2"),
        ("\u{a0}1", "expected value at line 1, column 1"),
        ("NaN", "expected value at line 1, column 1"),
    ] {
        assert_eq!(parse(text).unwrap_err().to_string(), message, "{text:?}");
    }
}

#[test]
fn json_beyond_the_limits_may_be_valid() {
    let in_strings = r#"["]", "#.repeat(200_000);
    for text in ["[".repeat(200_000), "{\"a\":".repeat(1_001), in_strings] {
        assert_eq!(parse(&text).unwrap_err().kind, JsonErrorKind::Limit);
    }
    let nested = format!("{}1{}", "[".repeat(100), "]".repeat(100));
    let value = parse(&nested).unwrap();
    assert!(same(&value, &value.clone()) && matches(&value, &value) && text(&value) == nested);
}

fn ordinary() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        (-1_000_000_000_i64..1_000_000_000).prop_map(Value::from),
        (-1e9..1e9_f64).prop_filter("not whole", |it| it.fract() != 0.0).prop_map(Value::from),
        "[a-zé\\n\"\\\\\u{1}😀]{0,6}".prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 30, 5, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
            prop::collection::vec(("[a-c]{1,2}", inner), 0..5)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

proptest! {
    #[test]
    fn ordinary_values_are_read_as_serde_json_reads_them(value in ordinary(), pretty: bool) {
        let written = if pretty { format!("{value:#}") } else { value.to_string() };
        prop_assert_eq!(parse(&written).unwrap(), value);
    }

    #[test]
    fn both_refuse_the_same_texts(text in r#"[\[\]{}",:0-9a-e.\\ntrufals -]{0,16}"#) {
        prop_assert_eq!(parse(&text).is_ok(), serde_json::from_str::<Value>(&text).is_ok(), "{}", text);
    }
}

#[test]
fn numbers_are_written_as_in_javascript() {
    for (value, expected) in [
        (1.0, "1"),
        (-0.0, "0"),
        (0.1 + 0.2, "0.30000000000000004"),
        (1e21, "1e+21"),
        (123456789012345680000.0, "123456789012345680000"),
        (1e-6, "0.000001"),
        (1e-7, "1e-7"),
        (1.5e-10, "1.5e-10"),
        (-1234.5, "-1234.5"),
        (100.0, "100"),
        (1.2345e22, "1.2345e+22"),
        (f64::INFINITY, "null"),
    ] {
        assert_eq!(number_text(value), expected);
    }
}

#[test]
fn keys_that_are_positions_come_first() {
    let value = json!({"b": [1, {"x": "a\n"}], "10": 1, "2": true, "01": null});
    assert_eq!(text(&value), r#"{"2":true,"10":1,"b":[1,{"x":"a\n"}],"01":null}"#);
}

#[track_caller]
fn check(expected: Value, actual: Value, lines: &[&str]) {
    let found: Vec<String> = differences(&expected, &actual).iter().map(Difference::line).collect();
    assert_eq!(found, lines);
    assert_eq!(matches(&expected, &actual), lines.is_empty());
}

#[test]
fn objects_match_in_part_and_lists_as_a_whole() {
    check(json!({"a": {"b": 1}}), json!({"a": {"b": 1, "c": 2}, "d": 3}), &[]);
    check(json!({}), json!({"a": 1}), &[]);
    check(json!({"l": [{"a": 1}, {}]}), json!({"l": [{"a": 1, "b": 2}, {"c": 3}]}), &[]);
    check(
        json!({"l": [1, 2]}),
        json!({"l": [1, 2, 3]}),
        &["l: expected [1,2], found [1,2,3] (a list of length 3 instead of 2)"],
    );
    check(
        json!({"l": {"0": 1}}),
        json!({"l": [1]}),
        &["l: expected {\"0\":1}, found [1] (a list instead of an object)"],
    );
}

#[test]
fn nothing_is_converted() {
    check(json!({"a": "1"}), json!({"a": 1}), &["a: expected \"1\", found 1 (a number instead of a string)"]);
    check(json!({"a": null}), json!({}), &["a: expected null, but it is missing"]);
    check(json!({"a": 0}), json!({"a": -0.0}), &["a: expected 0, found 0"]);
    check(json!({"a": 1}), json!({"a": 1.0}), &[]);
    check(json!({"a": 9007199254740992_u64}), json!({"a": 9007199254740993_u64}), &[]);
    check(
        json!({"a": {"b": "X"}}),
        json!({"a": {"b": "x"}}),
        &["a.b: expected \"X\", found \"x\" (only the case differs)"],
    );
    check(json!({"__proto__": {}}), json!({}), &["__proto__: expected {}, but it is missing"]);
}
