//! An approval cannot be forged, copied, written down or spent twice: programs that must not compile.
//!
//! Owns the list of attempts, one file each in `forge/`, with what the compiler answers. Start there.

#[test]
fn an_approval_cannot_be_forged_copied_or_used_twice() {
    trybuild::TestCases::new().compile_fail("tests/forge/*.rs");
}
