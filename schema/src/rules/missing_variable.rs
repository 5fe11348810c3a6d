use crate::{
    finding::{Finding, Report, Rule, Site, Words},
    problem::{Code, Fix, Severity},
    spot::Spot,
    template::{Placeholder, trimmed_placeholders},
    words::nearest,
};

pub(crate) mod clawspec;
pub(crate) mod cli_bench;
pub(crate) mod gateway;
pub(crate) mod kindlm;

page! {
    /// A template variable has no value: the run breaks, or the text is used unchanged.
    "missing-variable", Error
}

/// A placeholder with a name that nothing has.
#[derive(Debug)]
struct Unknown {
    /// The placeholder as it is written.
    written: String,
    /// The name that is most like it.
    near: Option<String>,
    /// The names that there are.
    names: Vec<String>,
    /// The consequence.
    note: &'static str,
}

/// `{today}` where `{{today}}` is meant.
#[derive(Debug)]
struct HalfWritten {
    written: String,
    name: String,
}

/// Returns a placeholder in a text, with a name that is none of these. `note`: what happens because of it.
pub(crate) fn unknown(spot: &Spot<'_>, placeholder: &Placeholder<'_>, names: &[&str], note: &'static str) -> Finding {
    let rule = Unknown {
        written: placeholder.text.to_owned(),
        near: nearest(placeholder.name, names.iter().copied()).map(str::to_owned),
        names: names.iter().map(|name| (*name).to_owned()).collect(),
        note,
    };
    Finding::new(rule, spot.at.clone(), spot.part(placeholder.text, 0))
}

/// Looks for `{today}` where `{{today}}` is meant.
pub(crate) fn check_half_written(spot: &Spot<'_>, text: &str, names: &[&str], report: &mut Report) {
    let mut rest = text.to_owned();
    for found in trimmed_placeholders(text) {
        rest.replace_range(found.at..found.at + found.text.len(), &" ".repeat(found.text.len()));
    }
    for name in names {
        for (at, _) in rest.match_indices(name) {
            let before = rest[..at].len() - rest[..at].trim_end_matches(['{', '$']).len();
            let behind = rest[at + name.len()..].len() - rest[at + name.len()..].trim_start_matches('}').len();
            if before == 0 || behind == 0 || !rest[at - before..at].contains('{') {
                continue;
            }
            let written = &text[at - before..at + name.len() + behind];
            let rule = HalfWritten { written: written.to_owned(), name: (*name).to_owned() };
            report.push(Finding::new(rule, spot.at.clone(), spot.part(written, 0)));
        }
    }
}

/// Returns the fix that writes a placeholder instead of another part of a text.
fn placeholder(site: &Site<'_>, written: &str, name: &str, title: &str) -> Option<Fix> {
    let edits = site.spot()?.with_part(site.range, written, format!("{{{{{name}}}}}"))?;
    Some(Fix::guess(title, edits))
}

impl Rule for Unknown {
    const CODE: Code = Code::MissingVariable;

    fn words(&self, site: &Site<'_>) -> Words {
        let words = Words::new(format!("unknown variable `{}`", self.written)).note(self.note);
        if let Some(near) = &self.near {
            let help = format!("change it to `{{{{{near}}}}}`");
            return words.fix(placeholder(site, &self.written, near, &help)).help(help);
        }
        let names: Vec<String> = self.names.iter().map(|name| format!("`{{{{{name}}}}}`")).collect();
        let one_of = if names.len() > 1 { "one of " } else { "" };
        words.help(format!("use {one_of}{}", names.join(", ")))
    }
}

impl Rule for HalfWritten {
    const CODE: Code = Code::MissingVariable;
    const SEVERITY: Severity = Severity::Warning;

    fn words(&self, site: &Site<'_>) -> Words {
        let HalfWritten { written, name } = self;
        let help = format!("write `{{{{{name}}}}}`");
        Words::new(format!("`{written}` is not expanded, so the text is used as written"))
            .fix(placeholder(site, written, name, &help))
            .help(help)
    }
}
