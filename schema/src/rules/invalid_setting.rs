//! Problems of values in `speclens.yaml`.

use crate::{
    finding::Finding,
    problem::{Code, Severity},
    rules::wrong_type::as_mapping,
    shape::{Shape, Type},
    validate::{Context, as_fragment, with_article},
    words::listed,
};

/// Reports a finding of another rule as a problem of a setting.
pub(crate) fn in_settings(context: &Context<'_>, finding: Finding) -> Finding {
    let is_about_value = matches!(finding.code(), Code::WrongType | Code::OutOfRange | Code::InvalidValue);
    let shape = is_about_value.then(|| context.member(finding.at())).flatten();
    let finding = finding.reworded(context.node, |words, _| match &shape {
        Some(shape) if words.help.is_none() => words.help(what_to_write(shape)),
        Some(_) | None => words,
    });
    finding.with_code(Code::InvalidSetting).with_severity(Severity::Error)
}

fn what_to_write(shape: &Shape) -> String {
    let values: Vec<String> = shape.values().iter().map(|choice| crate::quoting::choice_label(choice.value)).collect();
    let example = shape.examples().first().map(|example| format!(", such as `{}`", crate::quoting::show(example)));
    let example = example.unwrap_or_default();
    let expected = match shape.kind() {
        _ if !values.is_empty() => listed(values.iter().map(String::as_str)),
        Type::Boolean => "`true` or `false`".to_owned(),
        Type::Integer | Type::Number => {
            let number = with_article(&shape.type_name());
            match shape.bounds() {
                Some(bounds) if bounds.starts_with(|first: char| first.is_ascii_digit()) => {
                    format!("{number} from {bounds}{example}")
                }
                Some(bounds) if bounds.starts_with("a ") => format!("{bounds}{example}"),
                Some(bounds) => format!("{number} of {bounds}{example}"),
                None => format!("{number}{example}"),
            }
        }
        Type::Mapping => return as_mapping(shape),
        Type::List => "it as a list".to_owned(),
        Type::Text | Type::Any => match shape.summary().map(as_fragment) {
            Some(summary) if ["a ", "an ", "the "].iter().any(|article| summary.starts_with(article)) => {
                format!("{summary}{example}")
            }
            Some(summary) => format!("the {summary}{example}"),
            None => format!("{}{example}", with_article(&shape.type_name())),
        },
    };
    format!("write {expected}")
}
