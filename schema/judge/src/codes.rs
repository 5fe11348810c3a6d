//! Enumerations whose variants are words in reports.

/// Declares such an enumeration: the word of each variant, and its meaning, which is also its doc comment.
macro_rules! codes {
    (
        $(#[$attribute:meta])* pub enum $codes:ident;
        $($(#[doc = $doc:literal])+ $variant:ident = $name:literal;)+
    ) => {
        $(#[$attribute])*
        pub enum $codes {
            $($(#[doc = $doc])+ $variant,)+
        }

        impl $codes {
            /// All variants, in the order of the reference.
            pub const ALL: &'static [$codes] = &[$($codes::$variant,)+];

            /// Returns the word in reports.
            pub fn as_str(self) -> &'static str {
                match self { $($codes::$variant => $name,)+ }
            }

            /// Returns the meaning and the remedy, as Markdown in one line.
            pub fn docs(self) -> &'static str {
                match self { $($codes::$variant => concat!($($doc,)+),)+ }
            }
        }
    };
}

pub(crate) use codes;
