//! Markdown about a key or a value, for completion and hover.

use speclens_runner::report::plain;
use speclens_schema::{
    problem::Code,
    quoting::show,
    shape::{Choice, Field, Need, Shape, Type, Variant},
    words::listed,
};

/// Returns one line: whether the key is required, its type, its default.
pub(crate) fn detail(shape: &Shape, need: &Need) -> String {
    let mut parts = Vec::new();
    match need {
        Need::Required => parts.push("required".to_owned()),
        Need::OneOf(names) if names.len() > 3 => {}
        Need::OneOf(names) | Need::AnyOf(names) => parts.push(format!("one of {} required", names.join(", "))),
        Need::Optional => {}
    }
    parts.push(shape.type_label().replace('`', ""));
    if let Some(default) = default(shape) {
        parts.push(format!("default {default}"));
    }
    parts.join(" · ")
}

pub(crate) fn field(name: &str, shape: &Shape, need: &Need) -> String {
    let mut head = format!("{} · {}", bold(name), shape.type_label());
    if let Some(default) = default(shape) {
        head.push_str(&format!(" · default `{default}`"));
    }
    match need {
        Need::Required => head.push_str(" · required"),
        Need::OneOf(names) if names.len() > 3 => {}
        Need::OneOf(names) => {
            let names: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
            head.push_str(&format!(" · exactly one of {} is required", names.join(" and ")));
        }
        Need::AnyOf(names) => {
            head.push_str(&format!(" · at least one of {} is required", listed(names.iter().copied())))
        }
        Need::Optional => {}
    }
    let mut parts = vec![head];
    parts.extend(shape.docs().map(str::to_owned));
    // The docs of the type are added unless the field's own are longer.
    if let Some(more) = shape.type_docs()
        && shape.docs().is_none_or(|own| !own.contains("```") && shape.kind() == Type::Mapping)
    {
        parts.push(more.to_owned());
    }
    parts.extend(choices(&shape.values()));
    let examples: Vec<String> = shape.examples().into_iter().map(|value| format!("`{}`", show(value))).collect();
    if !examples.is_empty() {
        parts.push(format!("Example: {}", examples.join(", ")));
    }
    parts.join("\n\n")
}

/// Returns the keys of a mapping in short, optional ones with a `?`; `None` for any other shape.
pub(crate) fn signature(shape: &Shape) -> Option<String> {
    const MAX_KEYS: usize = 16;
    let fields = shape.fields(None);
    let is_one = shape.kind() == Type::Mapping && !fields.is_empty() && fields.len() <= MAX_KEYS;
    is_one.then(|| format!("`{{ {} }}`", keys(&fields)))
}

pub(crate) fn signature_of_form(variant: &Variant) -> Option<String> {
    let (key, _) = variant.tag?;
    let fields: Vec<Field> = variant.shape.fields(None).into_iter().filter(|field| field.name != key).collect();
    match fields.is_empty() {
        true => Some("no other keys".to_owned()),
        false => Some(format!("`{}`", keys(&fields))),
    }
}

fn keys(fields: &[Field]) -> String {
    let names = fields.iter().map(|field| match field.need {
        Need::Required => field.name.to_owned(),
        Need::OneOf(_) | Need::AnyOf(_) | Need::Optional => format!("{}?", field.name),
    });
    names.collect::<Vec<_>>().join(", ")
}

pub(crate) fn choice(choice: &Choice) -> String {
    let name = show(choice.value);
    match choice.docs {
        Some(docs) => format!("{} · {docs}", bold(&name)),
        None => bold(&name),
    }
}

pub(crate) fn code(code: Code) -> String {
    format!("**{}** · {}\n\n{}", code.as_str(), code.severity().as_str(), code.docs().trim())
}

pub(crate) fn source(text: &str) -> String {
    const MAX_LINES: usize = 12;
    let mut lines: Vec<&str> = text.lines().take(MAX_LINES).collect();
    if text.lines().count() > MAX_LINES {
        lines.push("# …");
    }
    let fence = fence(text);
    format!("{fence}yaml\n{}\n{fence}", lines.join("\n"))
}

pub(crate) fn verbatim(text: &str, language: &str) -> String {
    let fence = fence(text);
    format!("{fence}{language}\n{text}\n{fence}")
}

/// Returns a name in bold. Whatever it contains, it is shown as written and is no markup.
pub(crate) fn bold(name: &str) -> String {
    let (name, rest) = one_line(name);
    format!("**{}{rest}**", escaped(&name))
}

/// Returns a sentence with names in backticks, which remain code. Nothing else in it is markup.
pub(crate) fn text(sentence: &str) -> String {
    let mut parts = sentence.split('`').enumerate().peekable();
    let mut text = String::new();
    while let Some((index, part)) = parts.next() {
        let is_closed = index % 2 == 1 && parts.peek().is_some();
        text.push_str(&match (index % 2, is_closed) {
            (1, true) => inline(part),
            (1, false) => format!("\\`{}", escaped(part)),
            _ => escaped(part),
        });
    }
    text
}

/// Returns a text on one line, as it is shown: no link, no image, no HTML.
pub(crate) fn escaped(text: &str) -> String {
    let letters: Vec<char> = plain::line(text).chars().collect();
    let mut escaped = String::with_capacity(letters.len());
    for (index, &letter) in letters.iter().enumerate() {
        let is_word = |at: Option<usize>| at.and_then(|at| letters.get(at)).is_some_and(|it| it.is_alphanumeric());
        let is_markup = match letter {
            '_' => !(is_word(index.checked_sub(1)) && is_word(Some(index + 1))),
            // Addresses become links by themselves.
            '.' => letters[..index].ends_with(&['w', 'w', 'w']) || letters[..index].ends_with(&['W', 'W', 'W']),
            ':' => letters.get(index + 1) == Some(&'/'),
            '#' => index == 0,
            '\\' | '`' | '*' | '[' | ']' | '<' | '&' | '~' | '@' => true,
            _ => false,
        };
        if is_markup {
            escaped.push('\\');
        }
        escaped.push(letter);
    }
    escaped
}

pub(crate) fn without_breaks(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Returns the beginning of a text on one line without characters that change how the others are shown, and `…` if
/// there is more.
fn one_line(text: &str) -> (String, &'static str) {
    const MAX_CHARACTERS: usize = 200;
    let is_blank = |letter: char| letter.is_control();
    let line: String =
        text.chars().take(MAX_CHARACTERS).map(|letter| if is_blank(letter) { ' ' } else { letter }).collect();
    (plain::line(&line), if text.chars().count() > MAX_CHARACTERS { "…" } else { "" })
}

/// Returns a text as inline code; one that does not fit is cut.
pub(crate) fn inline(text: &str) -> String {
    let (line, rest) = one_line(text);
    if line.is_empty() {
        return "the empty string".to_owned();
    }
    let ticks = "`".repeat(longest_run(&line) + 1);
    let blank = if line.starts_with('`') || line.ends_with('`') { " " } else { "" };
    format!("{ticks}{blank}{line}{rest}{blank}{ticks}")
}

pub(crate) fn fence(text: &str) -> String {
    "`".repeat(longest_run(text).max(2) + 1)
}

fn longest_run(text: &str) -> usize {
    text.split(|letter| letter != '`').map(str::len).max().unwrap_or(0)
}

fn choices(values: &[Choice]) -> Option<String> {
    if values.iter().all(|choice| choice.docs.is_none()) {
        return None;
    }
    let lines: Vec<String> = values
        .iter()
        .map(|choice| match choice.docs {
            Some(docs) => format!("- `{}`: {}", show(choice.value), docs.replace('\n', " ")),
            None => format!("- `{}`", show(choice.value)),
        })
        .collect();
    Some(lines.join("\n"))
}

/// Returns the default if it is informative: an empty section is not.
fn default(shape: &Shape) -> Option<String> {
    let default = shape.default()?;
    let is_empty = default.as_object().is_some_and(|members| members.is_empty() || shape.kind() == Type::Mapping)
        || default.as_array().is_some_and(Vec::is_empty)
        || default.as_str().is_some_and(str::is_empty);
    (!is_empty).then(|| show(default))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_in_a_line_survives_backticks_and_line_breaks() {
        assert_eq!(inline("a\nb"), "`a b`");
        assert_eq!(inline("`a`"), "`` `a` ``");
        assert_eq!(inline(""), "the empty string");
    }

    #[test]
    fn name_is_shown_as_written_and_is_no_markup() {
        for name in ["max_total_tokens", "a.b-c/d", "{{x}} y", "$ref", "1, 2"] {
            assert_eq!(bold(name), format!("**{name}**"));
        }
        for (name, expected) in [
            ("![x](https://evil.example/a.png)", r"!\[x\](https\://evil.example/a.png)"),
            ("[x](command:a?%22)", r"\[x\](command:a?%22)"),
            ("<img src=x>", r"\<img src=x>"),
            ("a** `b` _c_", r"a\*\* \`b\` \_c\_"),
            ("www.evil.example me@evil.example", r"www\.evil.example me\@evil.example"),
            ("&lt; \\", r"\&lt; \\"),
            ("# a\n(b)\u{202e}", "\\# a (b)\u{fffd}"),
        ] {
            assert_eq!(bold(name), format!("**{expected}**"), "{name}");
        }
    }

    #[test]
    fn a_block_is_fenced_longer_than_what_it_holds() {
        assert_eq!(verbatim("```", ""), "````\n```\n````");
    }
}
