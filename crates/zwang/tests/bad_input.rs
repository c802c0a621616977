//! Wrong input of every kind: a message, never a panic, never unbounded work.

use crate::common::{checked, options};
use zwang::{Budget, LoadOptions, Overrides, derive};

/// Checks a text that must be refused, and says with which codes.
fn refused(text: &str) -> Vec<&'static str> {
    let (check, diagnostics) = checked(text, &Overrides::default());
    assert!(check.is_none(), "accepted: {:.80}", text);
    assert!(diagnostics.has_errors(), "refused without an error: {:.80}", text);
    diagnostics.iter().filter(|d| d.is_error()).map(|d| d.code).collect()
}

#[test]
fn nothing_is_not_a_model() {
    assert_eq!(refused(""), ["Z009"]);
    assert_eq!(refused("# only a comment\n"), ["Z009"]);
}

#[test]
fn garbage_is_refused_with_few_messages() {
    let garbage: String = (0..200_000).map(|k| char::from_u32(33 + k * 7919 % 9000).unwrap_or('x')).collect();
    assert!(refused(&garbage).len() <= 100);
    let lines: String = (0..50_000).map(|k| format!("nonsense {k}\n")).collect();
    assert!(refused(&lines).len() <= 100);
}

#[test]
fn deep_nesting_is_refused() {
    for (open, close) in [
        ("(", ")"),
        ("|", "|"),
        ("sin(", ")"),
        ("(x, ", ")"),
        ("-(", ")"),
        ("x^", "2"),
        ("der(", ")"),
        ("", " '"),
        ("", ".a"),
        ("", "[1]"),
    ] {
        let text = format!("coordinates x\nforce x: {}x{}\n", open.repeat(100_000), close.repeat(100_000));
        refused(&text);
    }
    refused(&format!("coordinates x\nmass x: 1\nstart {}x = 1\n", "der(".repeat(100_000)));
    let ifs = format!("coordinates x\nforce x: {} 1\n", "if x < 1 then 1 else ".repeat(50_000));
    assert_eq!(refused(&ifs), ["Z005"]);
}

#[test]
fn long_is_not_deep() {
    let sum = format!("coordinates x\nmass x: 1\nforce x: {}\nstart x = 0\n", vec!["x"; 20_000].join(" + "));
    let (check, diagnostics) = checked(&sum, &Overrides::default());
    assert!(check.is_some(), "{diagnostics:#?}");
}

#[test]
fn endless_families_and_sums_are_refused() {
    assert_eq!(refused("coordinates x[1..1e9]\n"), ["Z009"]);
    assert_eq!(refused("coordinates x\nmass x: 1\nforce x: sum(i in 1..1e12: i*x)\nstart x = 0\n"), ["Z009"]);
    let blow_up: String = (1..60).map(|k| format!("let f{k}(s) = f{}(s) + f{}(2*s)\n", k - 1, k - 1)).collect();
    assert_eq!(refused(&format!("coordinates x\nmass x: 1\nlet f0(s) = s\n{blow_up}force x: f59(x)\n")), ["Z009"]);
}

#[test]
fn circles_and_bottomless_chains_are_refused() {
    assert_eq!(refused("coordinates x\nmass x: a\nlet a = b\nlet b = c\nlet c = a\n"), ["Z105"]);
    assert_eq!(refused("coordinates x\nparameter a = b, b = a\nmass x: a\nstart x = 0\n"), ["Z105"]);
    let chain: String = (0..20_000).map(|k| format!("let a{k} = a{} + 1\n", k + 1)).collect();
    assert_eq!(refused(&format!("coordinates x\nmass x: 1\n{chain}let a20000 = 1\nforce x: a0\n")), ["Z005"]);
}

#[test]
fn a_long_family_may_lean_on_its_earlier_members() {
    let text = "coordinates x\npoint P[0] = (x, 0)\npoint P[i in 1..20000] = P[i-1] + (1, 0)\n\
                particle Q at P[20000] with mass 1\nstart x = 0\n";
    let (check, diagnostics) = checked(text, &Overrides::default());
    assert!(check.is_some(), "{diagnostics:#?}");
}

#[test]
fn numbers_out_of_range_are_refused() {
    assert_eq!(refused("coordinates x\nmass x: 1e999\n"), ["Z006"]);
    assert_eq!(refused("coordinates x\nparameter a = 1/0\nmass x: 1\nstart x = 0\n"), ["Z402"]);
    assert_eq!(refused("coordinates x\nmass x: 1\nstart x = 0/0\n"), ["Z402"]);
    assert_eq!(refused("coordinates x\nmass x: 1\nforce x: 10^300*10^300\nstart x = 0\n"), ["Z402"]);
    // whatever the state, so that no start is needed to tell
    for never in ["1/0", "x/(x - x)", "sqrt(-1)", "0^(-1)", "log(1 - 1)", "x'*asin(2)"] {
        assert_eq!(refused(&format!("coordinates x\nmass x: 1\nforce x: {never}\n")), ["Z402"], "{never}");
    }
    // a branch that no member of a sum takes
    let guarded = "sum(k in 1..3: if k > 1 then x/(k - 1) else 0)";
    let text = format!("coordinates x\nmass x: 1\nforce x: {guarded}\nstart x = 1\n");
    assert!(checked(&text, &Overrides::default()).0.is_some());
}

/// Every prefix of every model, and every model with one line left out: never a panic.
#[test]
fn torn_models_never_panic() {
    for (_, text) in crate::common::gallery() {
        let lines: Vec<&str> = text.lines().collect();
        for left_out in 0..lines.len() {
            let torn: Vec<&str> = (0..lines.len()).filter(|k| *k != left_out).map(|k| lines[k]).collect();
            checked(&torn.join("\n"), &Overrides::default());
        }
        let ends: Vec<usize> = text.char_indices().map(|(k, _)| k).step_by(7).collect();
        // read and not derived
        let budget = Budget { nodes: 0, ..Budget::default() };
        let options = LoadOptions { budget, ..options(&Overrides::default()) };
        for end in ends {
            assert!(derive(&text[..end], &options).is_err());
        }
    }
}
