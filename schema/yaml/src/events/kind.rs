//! The kinds of faults for the parser's errors.

use granit_parser::ErrorKind;

use crate::fault::FaultKind;

/// Returns the kind of fault for an error of the parser.
pub(super) fn of(kind: &ErrorKind) -> FaultKind {
    match kind {
        ErrorKind::UnclosedFlowCollection { .. }
        | ErrorKind::UnexpectedEofFlowSequence
        | ErrorKind::UnexpectedEofFlowMapping
        | ErrorKind::UnexpectedEofImplicitFlowMapping => FaultKind::UnclosedBrackets,
        ErrorKind::MappingValueNotAllowed
        | ErrorKind::InvalidColonPlacement
        | ErrorKind::InvalidMappingValueWhitespace
        | ErrorKind::FlowMappingValueAdjacentCollection => FaultKind::MisplacedKey,
        ErrorKind::MappingKeyNotAllowed => FaultKind::MisplacedComplexKey,
        ErrorKind::BlockSequenceEntryNotAllowed
        | ErrorKind::BlockEntryInFlowCollection
        | ErrorKind::InvalidBlockEntryWhitespace => FaultKind::MisplacedItem,
        ErrorKind::ExpectedFlowMappingSeparator => FaultKind::ExpectedSeparator { close: '}' },
        ErrorKind::ExpectedFlowSequenceSeparator => FaultKind::ExpectedSeparator { close: ']' },
        ErrorKind::ExpectedBlockMappingKey
        | ErrorKind::SimpleKeyExpected
        | ErrorKind::InvalidSimpleKey
        | ErrorKind::UnexpectedEofBlockMapping => FaultKind::ExpectedEntry,
        ErrorKind::ExpectedBlockSequenceEntry | ErrorKind::UnexpectedEofBlockSequence => FaultKind::ExpectedItem,
        ErrorKind::ExpectedNodeContent => FaultKind::ExpectedValue,
        ErrorKind::MisplacedFlowCollectionEnd | ErrorKind::MismatchedFlowCollectionEnd { .. } => {
            FaultKind::MismatchedBracket
        }
        ErrorKind::UnclosedQuotedScalar
        | ErrorKind::UnexpectedEndOfPlainScalar
        | ErrorKind::DocumentIndicatorInQuotedScalar => FaultKind::UnclosedQuotes,
        ErrorKind::InvalidTrailingSingleQuotedScalar | ErrorKind::InvalidTrailingDoubleQuotedScalar => {
            FaultKind::TextBehindQuotes
        }
        ErrorKind::TabNotAllowed
        | ErrorKind::TabInBlockIndentation
        | ErrorKind::TabInIndentation
        | ErrorKind::TabAtBlockScalarStart
        | ErrorKind::TabInPlainScalar
        | ErrorKind::ExpectedWhitespace => FaultKind::Tab,
        ErrorKind::InvalidIndentation
        | ErrorKind::InvalidQuotedScalarIndent
        | ErrorKind::InvalidFlowScalarIndent
        | ErrorKind::InvalidBlockScalarIndent => FaultKind::NotDeepEnough,
        ErrorKind::CommentInterceptedScalar => FaultKind::CommentInText,
        ErrorKind::CommentNotSeparated => FaultKind::MissingSpaceBeforeComment,
        ErrorKind::MissingAnchorOrAliasName => FaultKind::MissingAnchorName,
        ErrorKind::ExpectedTagBang
        | ErrorKind::InvalidTagTerminator
        | ErrorKind::MissingTagUri
        | ErrorKind::UnclosedVerbatimTag
        | ErrorKind::InvalidTagEscape
        | ErrorKind::InvalidTagUtf8LeadingByte
        | ErrorKind::InvalidTagUtf8TrailingByte
        | ErrorKind::InvalidTagUtf8
        | ErrorKind::InvalidGlobalTagCharacter
        | ErrorKind::UndeclaredTagHandle => FaultKind::InvalidTag,
        ErrorKind::UnknownQuotedScalarEscape
        | ErrorKind::InvalidQuotedScalarHexEscape
        | ErrorKind::InvalidLowSurrogateHexEscape
        | ErrorKind::InvalidLowSurrogate
        | ErrorKind::MissingLowSurrogate
        | ErrorKind::UnpairedLowSurrogate
        | ErrorKind::InvalidUnicodeEscape => FaultKind::InvalidEscapes,
        ErrorKind::PlainScalarStartsWithDashFlowIndicator => FaultKind::DashBeforeBracket,
        ErrorKind::InvalidBlockScalarHeader | ErrorKind::ZeroBlockScalarIndent => FaultKind::BlockTextHeader,
        ErrorKind::ExpectedDocumentStart | ErrorKind::InvalidDocumentEnd => FaultKind::BehindDocument,
        ErrorKind::UnexpectedCharacter { .. } | ErrorKind::BomInsideDocument => FaultKind::ForbiddenCharacter,
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
        | ErrorKind::MissingDocumentEndBeforeDirective => FaultKind::InvalidDirective,
        ErrorKind::RecursionLimitExceeded => FaultKind::NestedTooDeep,
        // The parser's list may grow.
        _ => FaultKind::NotYaml,
    }
}
