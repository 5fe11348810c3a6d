use super::*;

fn question(parts: Vec<QuestionPart>) -> QuestionNeed {
    QuestionNeed { parts, max_tokens: 1, times: 1, ..QuestionNeed::default() }
}

#[test]
fn output_is_in_the_question_unless_a_secret_in_it_is_masked() {
    let output = |text: &str| Output { text: text.to_owned(), ..Output::default() };
    let parts = vec![QuestionPart::Text("<".to_owned()), QuestionPart::Output, QuestionPart::Text(">".to_owned())];
    assert_eq!(question(parts.clone()).text(Some(&output("no * key"))), Ok("<no * key>".to_owned()));
    let masked = output(&format!("key {MASK_CHARACTER}{MASK_CHARACTER} end"));
    assert!(question(parts.clone()).text(Some(&masked)).is_err_and(|reason| reason.contains("masked")));
    assert!(question(parts).text(None).is_err());
}

#[test]
fn nothing_is_asked_about_an_output_that_is_not_known_whole() {
    let need = question(vec![QuestionPart::Output]);
    let cut = Output { text: "x".to_owned(), cut: true, ..Output::default() };
    assert!(need.text(Some(&cut)).is_err_and(|reason| reason.contains("cut off")));
    let concealed = Output { concealed: MaskingLoss::Everything, ..Output::default() };
    assert!(need.text(Some(&concealed)).is_err_and(|reason| reason.contains("masked")));
}

#[test]
fn nothing_is_asked_about_an_output_that_no_model_reads() {
    let output = Output { text: "x".repeat(MAX_OUTPUT_BYTES + 1), ..Output::default() };
    let reason = question(vec![QuestionPart::Output]).text(Some(&output)).unwrap_err();
    assert!(reason.contains("400000 bytes"), "{reason}");
}
