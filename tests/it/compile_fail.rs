//! What must not compile (S91 and invariant 3), with the compiler's own words as the proof that it
//! fails for the right reason.

#[test]
fn adapters_messages_and_records_that_would_break_an_invariant() {
    let cases = trybuild::TestCases::new();
    cases.compile_fail("tests/it/compile_fail/*.rs");
}
