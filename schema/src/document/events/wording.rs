//! What the parser found wrong, in words for authors.

use granit_parser::ErrorKind;

/// What is wrong, and what to write instead.
pub(super) fn of(kind: &ErrorKind) -> (&'static str, Option<&'static str>) {
    const QUOTE: Option<&str> = Some("put the text in quotes");
    const INDENT: Option<&str> = Some("indent it deeper than the key above it");
    const SPACES: Option<&str> = Some("indent with spaces");
    match kind {
        ErrorKind::UnclosedFlowCollection { .. }
        | ErrorKind::UnexpectedEofFlowSequence
        | ErrorKind::UnexpectedEofFlowMapping
        | ErrorKind::UnexpectedEofImplicitFlowMapping => ("missing closing bracket or brace", None),
        ErrorKind::MappingValueNotAllowed
        | ErrorKind::InvalidColonPlacement
        | ErrorKind::InvalidMappingValueWhitespace
        | ErrorKind::FlowMappingValueAdjacentCollection => {
            ("a key cannot be here", Some("put a text with a colon in quotes, or begin a new line for the key"))
        }
        ErrorKind::MappingKeyNotAllowed => ("`? ` begins a key, and a key cannot be here", QUOTE),
        ErrorKind::BlockSequenceEntryNotAllowed
        | ErrorKind::BlockEntryInFlowCollection
        | ErrorKind::InvalidBlockEntryWhitespace => {
            ("a list item cannot be here", Some("begin the list on the line below its key"))
        }
        ErrorKind::ExpectedFlowMappingSeparator => ("expected `,` or `}`", None),
        ErrorKind::ExpectedFlowSequenceSeparator => ("expected `,` or `]`", None),
        ErrorKind::ExpectedBlockMappingKey
        | ErrorKind::SimpleKeyExpected
        | ErrorKind::InvalidSimpleKey
        | ErrorKind::UnexpectedEofBlockMapping => ("expected `key: value`", None),
        ErrorKind::ExpectedBlockSequenceEntry | ErrorKind::UnexpectedEofBlockSequence => {
            ("expected a list item", Some("begin it with `- `"))
        }
        ErrorKind::ExpectedNodeContent => ("expected a value", None),
        ErrorKind::MisplacedFlowCollectionEnd | ErrorKind::MismatchedFlowCollectionEnd { .. } => {
            ("this bracket does not close the one before it", None)
        }
        ErrorKind::UnclosedQuotedScalar
        | ErrorKind::UnexpectedEndOfPlainScalar
        | ErrorKind::DocumentIndicatorInQuotedScalar => ("missing closing quote", None),
        ErrorKind::InvalidTrailingSingleQuotedScalar | ErrorKind::InvalidTrailingDoubleQuotedScalar => {
            ("text behind the closing quote", Some("put all of it in quotes"))
        }
        ErrorKind::TabNotAllowed
        | ErrorKind::TabInBlockIndentation
        | ErrorKind::TabInIndentation
        | ErrorKind::TabAtBlockScalarStart
        | ErrorKind::TabInPlainScalar
        | ErrorKind::ExpectedWhitespace => ("tab in the indentation", SPACES),
        ErrorKind::InvalidIndentation
        | ErrorKind::InvalidQuotedScalarIndent
        | ErrorKind::InvalidFlowScalarIndent
        | ErrorKind::InvalidBlockScalarIndent => ("this line is not indented deep enough", INDENT),
        ErrorKind::CommentInterceptedScalar => ("a comment ends the text above it", Some("move the comment")),
        ErrorKind::CommentNotSeparated => ("missing space before `#`", QUOTE),
        ErrorKind::MissingAnchorOrAliasName => ("`&` or `*` without a name", QUOTE),
        ErrorKind::ExpectedTagBang
        | ErrorKind::InvalidTagTerminator
        | ErrorKind::MissingTagUri
        | ErrorKind::UnclosedVerbatimTag
        | ErrorKind::InvalidTagEscape
        | ErrorKind::InvalidTagUtf8LeadingByte
        | ErrorKind::InvalidTagUtf8TrailingByte
        | ErrorKind::InvalidTagUtf8
        | ErrorKind::InvalidGlobalTagCharacter
        | ErrorKind::UndeclaredTagHandle => ("`!` begins a tag, and this is not a valid one", QUOTE),
        ErrorKind::UnknownQuotedScalarEscape
        | ErrorKind::InvalidQuotedScalarHexEscape
        | ErrorKind::InvalidLowSurrogateHexEscape
        | ErrorKind::InvalidLowSurrogate
        | ErrorKind::MissingLowSurrogate
        | ErrorKind::UnpairedLowSurrogate
        | ErrorKind::InvalidUnicodeEscape => {
            ("not a valid escape between double quotes", Some("write `\\\\` for a backslash, or use single quotes"))
        }
        ErrorKind::PlainScalarStartsWithDashFlowIndicator => ("a text cannot begin with `-` and a bracket", QUOTE),
        ErrorKind::InvalidBlockScalarHeader | ErrorKind::ZeroBlockScalarIndent => {
            ("a block text begins on the line below `|` or `>`", None)
        }
        ErrorKind::ExpectedDocumentStart | ErrorKind::InvalidDocumentEnd => {
            ("the document ends above this line", Some("indent the line like its neighbours, or remove it"))
        }
        ErrorKind::UnexpectedCharacter { .. } | ErrorKind::BomInsideDocument => {
            ("a character that YAML does not allow here", QUOTE)
        }
        ErrorKind::DirectiveDisallowed
        | ErrorKind::MissingDirectiveName
        | ErrorKind::InvalidDirectiveName
        | ErrorKind::InvalidDirectiveTerminator
        | ErrorKind::MissingYamlVersion
        | ErrorKind::MissingYamlVersionSeparator
        | ErrorKind::YamlVersionTooLong
        | ErrorKind::DuplicateVersionDirective
        | ErrorKind::UnsupportedYamlMajorVersion
        | ErrorKind::DuplicateTagDirective
        | ErrorKind::ExpectedTagDirectiveBang
        | ErrorKind::InvalidTagDirectiveTerminator
        | ErrorKind::MissingDocumentEndBeforeDirective => {
            ("`%` at the margin begins a directive, and this is not a valid one", Some("remove the line"))
        }
        // The parser's list is open to additions.
        _ => ("this is not valid YAML", None),
    }
}
