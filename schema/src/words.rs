//! Words: field types that say what a text means. A word is validated, completed, linked and looked up
//! wherever it stands, because it carries its meaning into the JSON Schema as a keyword:
//!
//! | keyword | value | the text is |
//! |---|---|---|
//! | `x-file` | `json-schema` or `any` | a path, relative to the suite's directory, with `/` |
//! | `x-pattern` | `ecmascript` | a regular expression, written without delimiters or flags |
//! | `x-template` | `vars` | text in which `{{name}}` stands for a value |
//! | `x-refers` | `prompts`, `models`, `providers` | a name defined elsewhere in the file |
//! | `x-defines` | the same | the name of the thing it stands in; at a map, each of its keys is one |
//!
//! Two more keywords stand at objects and fields: `x-claims` (an unknown key below here is a claim that
//! vanishes) and `x-only` (the sibling key without which the field has no effect).

use std::{borrow::Cow, fmt, marker::PhantomData, ops::Deref};

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};

/// Declares a word that is a text with a schema of its own.
macro_rules! word {
    ($(#[$doc:meta])* $name:ident, $schema:tt) => {
        $(#[$doc])*
        #[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(pub String);

        impl JsonSchema for $name {
            fn schema_name() -> Cow<'static, str> {
                stringify!($name).into()
            }

            fn inline_schema() -> bool {
                true
            }

            fn json_schema(_: &mut SchemaGenerator) -> Schema {
                json_schema!($schema)
            }
        }

        impl Deref for $name {
            type Target = str;

            fn deref(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str(&self.0)
            }
        }

        impl From<&str> for $name {
            fn from(text: &str) -> $name {
                $name(text.to_owned())
            }
        }
    };
}

word! {
    /// A text that must not be empty.
    Name, { "type": "string", "minLength": 1 }
}

word! {
    /// A path below the suite's directory. What kind of file it leads to stands at the field.
    FilePath, { "type": "string", "x-file": "any" }
}

word! {
    /// A regular expression as ECMAScript reads it, without delimiters and flags.
    Pattern, { "type": "string", "x-pattern": "ecmascript" }
}

word! {
    /// A text that must not be empty, in which `{{name}}` stands for the value of a variable.
    Template, { "type": "string", "minLength": 1, "x-template": "vars" }
}

word! {
    /// An address that begins with a scheme, such as `https:`.
    Url, { "type": "string", "pattern": "^\\s*(?:(?:[hH][tT][tT][pP][sS]?|[wW][sS][sS]?|[fF][tT][pP]):[/\\\\]*[^/\\\\\\s?#]|(?![hH][tT][tT][pP][sS]?:|[wW][sS][sS]?:|[fF][tT][pP]:)[A-Za-z][A-Za-z0-9+.\\-]*:)" }
}

/// A kind of thing that has a name.
pub trait Kind {
    /// The plural, as in the file: `models`.
    const PLURAL: &'static str;
}

/// Declares a kind of named thing.
macro_rules! kind {
    ($(#[$doc:meta])* $name:ident = $plural:literal) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name;

        impl Kind for $name {
            const PLURAL: &'static str = $plural;
        }
    };
}

kind! {
    /// Prompts, named by their key.
    Prompts = "prompts"
}
kind! {
    /// Models, named by their `id`.
    Models = "models"
}
kind! {
    /// Tests, named by their `name`.
    Tests = "tests"
}
kind! {
    /// Turns of a conversation, named by their `turn`.
    Turns = "turns"
}

/// The name of something that is defined elsewhere in the file.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Refers<K> {
    /// The name.
    pub name: String,
    #[serde(skip)]
    kind: PhantomData<K>,
}

/// The name that the thing it stands in has from now on.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Defines<K> {
    /// The name.
    pub name: String,
    #[serde(skip)]
    kind: PhantomData<K>,
}

/// Both words of names differ only in their keyword.
macro_rules! name_word {
    ($name:ident, $keyword:literal, $least:expr) => {
        impl<K: Kind> JsonSchema for $name<K> {
            fn schema_name() -> Cow<'static, str> {
                format!("{}-{}", stringify!($name), K::PLURAL).into()
            }

            fn inline_schema() -> bool {
                true
            }

            fn json_schema(_: &mut SchemaGenerator) -> Schema {
                let mut schema = json_schema!({ "type": "string", $keyword: K::PLURAL });
                if $least > 0 {
                    schema.insert("minLength".to_owned(), $least.into());
                }
                schema
            }
        }

        impl<K> Deref for $name<K> {
            type Target = str;

            fn deref(&self) -> &str {
                &self.name
            }
        }

        impl<K> From<&str> for $name<K> {
            fn from(name: &str) -> $name<K> {
                $name { name: name.to_owned(), kind: PhantomData }
            }
        }

        impl<K> fmt::Display for $name<K> {
            fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str(&self.name)
            }
        }
    };
}

name_word!(Refers, "x-refers", 0);
name_word!(Defines, "x-defines", 1);
