//! Contacts that leave no admissible place: who they are, and from when on.

use zwang::diagnostic::{Diagnostic, Severity};
use zwang::{At, load};

use crate::common::messages;

/// The messages of `check` with code Z301.
fn contradictions(text: &str) -> Vec<Diagnostic> {
    let system = load(text).unwrap_or_else(|error| panic!("{error}"));
    let all = match system.check() {
        Ok(check) => check.notes.clone(),
        Err(error) => messages(&error),
    };
    all.iter().filter(|d| d.code == "Z301").cloned().collect()
}

/// x ≥ t² and x ≤ −t² leave x = 0 at t = 0 alone; a factor and other coordinates change nothing.
#[test]
fn contacts_that_exclude_each_other_from_the_start_are_an_error() {
    for contacts in [
        "contact left: x >= t^2\ncontact right: x <= -t^2",
        "contact left: 2*x + y*x >= t\ncontact right: -6*x - 3*x*y >= 0",
        "contact left: sin(x)^2 - y >= t^3\ncontact right: y + cos(x)^2 >= 1",
    ] {
        let text = format!("coordinates x, y\nmass x, y: 1\n{contacts}\nstart x = 0, y = 0\nrun 1\n");
        let found = contradictions(&text);
        let [d] = &found[..] else { panic!("{contacts}: {found:?}") };
        assert_eq!(d.severity, Severity::Error);
        assert!(
            d.message.starts_with("contact `left` and contact `right` exclude each other from t = 0 on"),
            "{}",
            d.message
        );
        let inspected = load(&text).unwrap().inspect(At::Start).err().expect("no motion is possible").to_string();
        assert!(inspected.contains("`left`") && inspected.contains("`right`"), "{inspected}");
    }
}

/// x ≥ t − 1 and x ≤ 1 − t meet at t = 1.
#[test]
fn contacts_that_meet_later_are_a_warning_with_the_time() {
    let text = "coordinates x\nmass x: 1\ncontact left: x >= t - 1\ncontact right: x <= 1 - t\nstart x = 0\n";
    let found = contradictions(&format!("{text}run 3\n"));
    let [d] = &found[..] else { panic!("{found:?}") };
    assert_eq!(d.severity, Severity::Warning);
    assert!(d.message.contains("`left` and contact `right` exclude each other from t = 1 on"), "{}", d.message);
    // not within the run
    assert!(contradictions(&format!("{text}run 0.5\n")).is_empty());
}

#[test]
fn contacts_with_room_between_them_are_left_alone() {
    for contacts in [
        "contact left: x >= t^2\ncontact right: x <= 2 + t^2",
        "contact left: x >= t^2\ncontact right: y <= -t^2",
        "contact left: x >= t^2\ncontact right: 2*x >= -t^2",
        "contact left: x >= t^2\ncontact right: x^2 <= 4",
    ] {
        let text = format!("coordinates x, y\nmass x, y: 1\n{contacts}\nstart x = 0, y = 0\nrun 1\n");
        assert!(contradictions(&text).is_empty(), "{contacts}");
    }
}

/// Three contacts of which no two exclude each other: what cannot move is named all the same.
#[test]
fn inspect_names_contacts_that_allow_no_motion() {
    let text =
        "coordinates x, y\nmass x, y: 1\ncontact left: x >= t^2\ncontact below: y >= t^2\ncontact corner: x + y <= 0
start x = 0, y = 0\nrun 1\n";
    let said = load(text).unwrap().inspect(At::Start).err().expect("no motion is possible").to_string();
    assert!(said.contains("Z301") && said.contains("exclude each other") && !said.contains("row 0"), "{said}");
}
