//! Results of inverse dynamics, as text and as JSON.

use serde_json::{Map, Value, json};
use zwang::ModelText;
use zwang::diagnostic::Diagnostics;
use zwang::inverse::{Excess, Inverse, Peak};
use zwang::quantity::rounded;

use crate::json::diagnostics_json;

/// A summary in a few lines: the interval of time, the largest forces, and the feasibility of the path.
pub fn inverse_table(file: &str, path: &str, inverse: &Inverse) -> String {
    let times = inverse.samples.columns.first();
    let (first, last) = times
        .map_or((0.0, 0.0), |t| (t.values.first().copied().unwrap_or(0.0), t.values.last().copied().unwrap_or(0.0)));
    let unit = times.map_or(String::new(), |t| if t.unit.is_empty() { String::new() } else { format!(" {}", t.unit) });
    let mut out = format!(
        "{file} along {path}\n  {} rows, t = {} to {}{unit}\n",
        inverse.samples.n_rows(),
        rounded(first, 6),
        rounded(last, 6)
    );
    let width = inverse.forces.iter().map(|peak| peak.name.chars().count()).max().unwrap_or(0);
    for Peak { name, unit, value, t, .. } in &inverse.forces {
        let unit = if unit.is_empty() { String::new() } else { format!(" {unit}") };
        let padding = " ".repeat(width - name.chars().count());
        let (value, t) = (rounded(*value, 6), rounded(*t, 6));
        out.push_str(&format!("  force on {name}{padding}  up to {value}{unit} at t = {t}\n"));
    }
    out.push_str(match (inverse.left.is_empty(), inverse.deviations.is_empty(), inverse.exceeded.is_empty()) {
        (true, true, true) => "  these forces produce the path, and the constraints allow it\n",
        (false, _, _) => "  the path leaves the constraints\n",
        (true, false, _) => "  these forces do not produce the path\n",
        (true, true, false) => "  these forces produce the path, but some exceed their limits\n",
    });
    out
}

/// The results of inverse dynamics as JSON, with every row.
pub fn inverse_json(source: &ModelText, diagnostics: &Diagnostics, inverse: &Inverse) -> Value {
    let peaks = |peaks: &[Peak]| -> Value {
        let one =
            |p: &Peak| (p.name.clone(), json!({ "largest": p.value, "t": p.t, "unit": p.unit, "level": p.level }));
        Value::Object(peaks.iter().map(one).collect::<Map<_, _>>())
    };
    let excess = |e: &Excess| {
        let Peak { name, unit, value, t, .. } = &e.peak;
        (name.clone(), json!({ "largest": value, "t": t, "unit": unit, "limit": e.limit, "spans": e.spans }))
    };
    let (samples, units) = crate::samples_json(&inverse.samples);
    json!({
        "possible": inverse.is_possible(),
        "forces": peaks(&inverse.forces),
        "left": peaks(&inverse.left),
        "missed": peaks(&inverse.deviations),
        "exceeded": inverse.exceeded.iter().map(excess).collect::<Map<_, _>>(),
        "rank": { "reached": inverse.rank.0, "needed": inverse.rank.1 },
        "samples": samples,
        "units": units,
        "diagnostics": diagnostics_json(source, diagnostics),
    })
}
