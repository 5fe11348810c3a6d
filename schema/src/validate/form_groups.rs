//! Groups of the forms of a mapping, so that a validator need not compare its tag with that of each of dozens of forms.

use serde_json::{Value, json};

/// Number of forms in a group. Fewer than twice this number are not grouped.
const SIZE: usize = 6;

/// Puts the forms in every `allOf` of a schema into groups, each with a condition for all of its tags. The same
/// documents are valid, with the same errors.
pub(super) fn insert(schema: &mut Value) {
    match schema {
        Value::Object(keywords) => {
            if let Some(Value::Array(forms)) = keywords.get_mut("allOf")
                && let Some(groups) = grouped(forms)
            {
                *forms = groups;
            }
            keywords.values_mut().for_each(insert);
        }
        Value::Array(parts) => parts.iter_mut().for_each(insert),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

fn grouped(forms: &[Value]) -> Option<Vec<Value>> {
    if forms.len() < 2 * SIZE {
        return None;
    }
    let tag = forms[0].pointer("/if/required/0")?.as_str()?;
    let tagged: Vec<(&Value, &Value)> =
        forms.iter().map(|form| Some((value_of(form, tag)?, form))).collect::<Option<_>>()?;
    let group = |forms: &[(&Value, &Value)]| {
        let values: Vec<&Value> = forms.iter().map(|(value, _)| *value).collect();
        let forms: Vec<&Value> = forms.iter().map(|(_, form)| *form).collect();
        json!({ "if": condition(tag, json!({ "enum": values })), "then": { "allOf": forms } })
    };
    Some(tagged.chunks(SIZE).map(group).collect())
}

/// Returns the value of the tag that chooses a form, if the choice depends on nothing else.
fn value_of<'f>(form: &'f Value, tag: &str) -> Option<&'f Value> {
    let value = form.get("if")?.get("properties")?.get(tag)?.get("const")?;
    let is_alone = form.get("if") == Some(&condition(tag, json!({ "const": value }))) && form.get("else").is_none();
    is_alone.then_some(value)
}

fn condition(tag: &str, value: Value) -> Value {
    json!({ "type": "object", "required": [tag], "properties": { tag: value } })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json_schema::SpecFile;

    #[test]
    fn forms_of_assertions_are_grouped_by_their_type() {
        let mut schema = SpecFile::CLAWSPEC_SCENARIOS.schema().clone();
        let forms = schema["$defs"]["Assertion"]["allOf"].as_array().unwrap().clone();
        insert(&mut schema);
        let groups = schema["$defs"]["Assertion"]["allOf"].as_array().unwrap();
        assert_eq!(groups.len(), forms.len().div_ceil(SIZE));
        let found: Vec<Value> =
            groups.iter().flat_map(|group| group["then"]["allOf"].as_array().unwrap().clone()).collect();
        assert_eq!(found, forms);
        assert_eq!(groups[0]["if"]["properties"]["type"]["enum"][1], forms[1]["if"]["properties"]["type"]["const"]);
    }

    #[test]
    fn few_forms_and_forms_with_other_conditions_are_left_as_they_are() {
        let form = |name: usize| json!({ "if": condition("type", json!({ "const": name })), "then": {} });
        let mut other = form(0);
        other["if"]["properties"]["more"] = json!(true);
        let few: Vec<Value> = (1..2 * SIZE).map(form).collect();
        for forms in [few.clone(), [few, vec![other]].concat()] {
            let schema = json!({ "allOf": forms });
            let mut grouped = schema.clone();
            insert(&mut grouped);
            assert_eq!(grouped, schema);
        }
    }
}
