//! Results as JSON: the names of the fields are a contract with other programs.

use serde_json::{Map, Value, json};
use zwang::analysis::{Certainty, Contradiction};
use zwang::diagnostic::{Confidence, Diagnostics, Fix};
use zwang::model::Model;
use zwang::simulate::OutputRange;
use zwang::syntax::line_and_column;
use zwang::{Check, Event, EventKind, Inspection, ModelText, Run, Samples};
use zwang_motion::{Matrix, Scaled};

use crate::lagrangian::lagrangian_json;

/// Every message with its place.
pub fn diagnostics_json(source: &ModelText, diagnostics: &Diagnostics) -> Value {
    let n_lines = source.text[..source.file_length].lines().count();
    let one = |d: &zwang::diagnostic::Diagnostic| {
        let at = d.span.map(|s| (line_and_column(&source.text, s.start), line_and_column(&source.text, s.end)));
        let is_override =
            at.is_some_and(|(start, _)| start.0 > n_lines.max(1)) && source.text.len() > source.file_length;
        let mut object = json!({
            "code": d.code,
            "severity": d.severity.as_str(),
            "message": d.message,
            "line": at.map(|(start, _)| start.0),
            "column": at.map(|(start, _)| start.1),
            "end_line": at.map(|(_, end)| end.0),
            "end_column": at.map(|(_, end)| end.1),
            "source": if is_override { "command line" } else { "model" },
            "label": d.label,
            "notes": d.notes,
            "help": d.help,
        });
        if !d.fixes.is_empty() {
            object["fixes"] = d.fixes.iter().map(fix_json).collect();
        }
        if let Some(found) = &d.contradiction {
            object["contradiction"] = contradiction_json(found);
        }
        object
    };
    Value::Array(diagnostics.iter().map(one).collect())
}

/// Edits that cure a message; places are bytes of the text.
fn fix_json(fix: &Fix) -> Value {
    let edit = |e: &zwang::diagnostic::Edit| json!({ "start": e.span.start, "end": e.span.end, "text": e.text });
    json!({
        "title": fix.title,
        "safe": fix.confidence == Confidence::Safe,
        "edits": fix.edits.iter().map(edit).collect::<Vec<_>>(),
    })
}

/// Constraints that cannot hold together; gaps are lhs − rhs, or its rate at that level, where the other rows hold.
fn contradiction_json(found: &Contradiction) -> Value {
    let gaps: Map<String, Value> = found.clashes.iter().map(|c| (c.name.clone(), json!(c.residual))).collect();
    json!({
        "level": found.unknowns(),
        "constraints": found.clashes.iter().map(|c| c.name.as_str()).collect::<Vec<_>>(),
        "gap": found.clashes.iter().find_map(|c| c.residual).map(f64::abs),
        "gaps": gaps,
        "everywhere": found.everywhere,
        "t": found.t,
        "agrees_at": found.agrees_at,
        "certain": found.surety == Certainty::Certain,
        "minimal": found.minimal,
    })
}

/// `zwang check --json`; without a check only the messages.
pub fn check_json(source: &ModelText, diagnostics: &Diagnostics, check: Option<&Check>) -> Value {
    let mut object = Map::new();
    object.insert("diagnostics".into(), diagnostics_json(source, diagnostics));
    if let Some(check) = check {
        let model = &check.equations.model;
        object.insert("model".into(), json!(model.title));
        object.insert("coordinates".into(), names(model));
        let kinds = check.constraints.iter().map(|c| {
            json!({
                "name": c.name,
                "rows": c.n_rows,
                "kind": c.kind(),
                "time": c.time.as_str(),
                "velocity": c.velocity.map(|v| v.as_str()),
                "ideal": c.ideal,
                "integrable": c.integrable,
                "essential": c.essential,
            })
        });
        object.insert("constraints".into(), kinds.collect());
        object.insert("rank".into(), json!(check.rank));
        object.insert("degrees_of_freedom".into(), json!(check.degrees_of_freedom()));
        let redundant = check.redundant.iter().map(|r| {
            let depends: Map<String, Value> = r.depends_on.iter().map(|(n, c)| (n.clone(), json!(c))).collect();
            let mut row = json!({
                "constraint": r.row,
                "depends_on": depends,
                "formula": r.formula,
                "everywhere": r.everywhere,
                "evidence": r.evidence.as_str(),
                "states": r.evidence.n_states(),
            });
            if let Some(place) = &r.ends_at {
                row["ends_at"] = json!(place);
            }
            row
        });
        object.insert("redundant".into(), redundant.collect());
        object.insert("indeterminate".into(), json!(check.determinacy.rows()));
        let removable = check.removable.iter().map(|c| json!(check.constraints[*c].name));
        object.insert("removable".into(), removable.collect());
        object.insert("determinacy".into(), determinacy(check));
        object.insert("freedom".into(), freedom(check));
        let integrability = &check.integrability;
        object.insert("growth_vector".into(), json!(integrability.growth_vector));
        object.insert("growth_with_time".into(), json!(integrability.with_time));
        let integrals = integrability.integrals.iter().map(|i| {
            // multipliers that vary in an unknown way are null
            let factor = |m: &String| if m.is_empty() { Value::Null } else { json!(m) };
            let rows: Map<String, Value> = i.combination.iter().map(|(name, m)| (name.clone(), factor(m))).collect();
            json!({ "combination": rows, "text": i.text, "value": i.value })
        });
        object.insert("integrals".into(), integrals.collect());
        object.insert("n_integrals".into(), json!(integrability.n_integrals));
        object.insert("integrability".into(), json!(integrability.verdict));
        object.insert("integrability_evidence".into(), json!(integrability.evidence.as_str()));
        object.insert("regular".into(), json!(check.regular));
        object.insert("control".into(), control(check));
        if let Some(side) = &check.lagrangian {
            object.extend(lagrangian_json(side));
        }
    }
    Value::Object(object)
}

/// What is determined and what is not: families of multipliers, and quantities made of them.
fn determinacy(check: &Check) -> Value {
    let sum = |terms: &Vec<(String, f64)>| -> Map<String, Value> {
        terms.iter().map(|(name, c)| (name.clone(), json!(c))).collect()
    };
    let family = |f: &zwang::analysis::Family| {
        json!({
            "rows": f.rows,
            "dimension": f.directions.len(),
            "directions": f.directions.iter().map(sum).collect::<Vec<_>>(),
            "determined": f.determined.iter().map(sum).collect::<Vec<_>>(),
        })
    };
    let quantity = |q: &zwang::analysis::Quantity| json!({ "name": q.name, "here": q.here, "general": q.general });
    json!({
        "families": check.determinacy.families.iter().map(family).collect::<Vec<_>>(),
        "quantities": check.determinacy.quantities.iter().map(quantity).collect::<Vec<_>>(),
    })
}

/// How many freedoms there are, here and in general.
fn freedom(check: &Check) -> Value {
    let freedom = &check.freedom;
    json!({
        "here": freedom.here,
        "general": freedom.general,
        "counted": freedom.counted,
        "mobility": freedom.mobility.as_str(),
        "states": freedom.n_states,
    })
}

/// `zwang inspect --json`.
pub fn inspect_json(source: &ModelText, diagnostics: &Diagnostics, inspection: &Inspection) -> Value {
    let check = &inspection.check;
    let model = &check.equations.model;
    let (given, found) = (&check.snapshot.given, &check.snapshot.found);
    let (n, m) = (check.state.q.len(), given.constraint_rhs.len());
    let regular = check.regular;
    let when_regular = |v: Value| if regular { v } else { Value::Null };
    let routes: Map<String, Value> = inspection
        .routes
        .iter()
        .map(|(name, result)| {
            let value = match result {
                Some(Ok(qddot)) => json!(qddot),
                _ => Value::Null,
            };
            (name.as_str().to_string(), value)
        })
        .collect();
    let outputs: Map<String, Value> = inspection
        .outputs
        .iter()
        .zip(&model.outputs)
        .map(|((name, value), output)| {
            let factor = output.unit.as_ref().map_or(1.0, |u| u.factor());
            (name.clone(), json!(value.map(|v| v / factor)))
        })
        .collect();
    let rows: Vec<&str> = check.equations.rows.iter().map(|r| r.name.as_str()).collect();
    let geometry = inspection.geometry.as_ref();
    json!({
        "model": model.title,
        "t": check.state.t,
        "coordinates": names(model),
        "q": check.state.q,
        "qdot": check.state.qdot,
        "rows": rows,
        "M": matrix(&given.mass_matrix),
        "Q": given.given_force,
        "A": matrix(&given.constraint_matrix),
        "b": given.constraint_rhs,
        "C": found.nonideal_force,
        "a": when_regular(json!(found.unconstrained_acceleration)),
        "e": when_regular(json!(found.defect)),
        "qddot": found.qddot,
        "Qc_ideal": found.constraint_force_ideal,
        "Qc_nonideal": found.constraint_force_nonideal,
        "lambda": found.lambda,
        "lambda_acting": found.lambda_acting,
        "determinacy": determinacy(check),
        "freedom": freedom(check),
        "rank": check.rank,
        "rank_gap": { "kept": found.gap.kept, "dropped": found.gap.dropped },
        "degrees_of_freedom": check.degrees_of_freedom(),
        "modes": check.modes.iter().map(|(name, word)| json!({ "name": name, "mode": word })).collect::<Vec<_>>(),
        "gaussian": when_regular(json!(found.gaussian)),
        "influence": geometry.map(|g| dense(m, m, &g.influence)),
        "P": geometry.map(|g| dense(n, n, &g.P)),
        "N": geometry.map(|g| dense(n, n, &g.N)),
        "scaled": inspection.scaled.as_ref().map(scaled),
        "omega": omega(inspection),
        "energy": inspection.energies.energy,
        "kinetic": inspection.energies.kinetic,
        "potential": inspection.energies.potential,
        "momentum": inspection.energies.momentum,
        "outputs": outputs,
        "routes": routes,
        "disagreement": inspection.disagreement,
        "control": control(check),
        "solver": crate::table::solver_text(inspection),
        "diagnostics": diagnostics_json(source, diagnostics),
    })
}

/// The control targets and the control force; none in a model without controls.
///
/// `force` is u by coordinate, `linear` the part of it that is linear in b_c and `rest` what answers the motion without control.
fn control(check: &Check) -> Value {
    let (model, found) = (&check.equations.model, &check.snapshot.found);
    let Some(asked) = &found.asked else { return Value::Null };
    let name = |k: &usize| model.coordinates[*k].name.clone();
    let rows: Vec<&str> = check.equations.asked.iter().map(|r| r.row.name.as_str()).collect();
    let rest: Vec<f64> = found.control_force.iter().zip(&found.control_linear).map(|(u, part)| u - part).collect();
    let power: f64 = found.control_force.iter().zip(&check.state.qdot).map(|(u, v)| u * v).sum();
    json!({
        "rows": rows,
        "A": matrix(&asked.rows),
        "b": asked.rhs,
        "driven": asked.driven.iter().map(name).collect::<Vec<_>>(),
        "force": by_name(model, &found.control_force),
        "linear": by_name(model, &found.control_linear),
        "rest": by_name(model, &rest),
        "power": power,
        "rank": found.control_rank.0,
        "needed": found.control_rank.1,
        "saturated": found.saturated.iter().map(|&i| name(&asked.driven[i])).collect::<Vec<_>>(),
    })
}

/// `zwang run --json`: the end of the motion and how well it was kept.
pub fn run_json(source: &ModelText, diagnostics: &Diagnostics, run: &Run) -> Map<String, Value> {
    let check = &run.check();
    let model = &check.equations.model;
    let output = |o: &OutputRange| {
        let mut value = match &o.values {
            Some(v) => {
                json!({ "last": v.last, "min": v.min, "max": v.max, "unit": o.unit, "undefined_at_times": o.undefined })
            }
            None => json!({ "last": null, "min": null, "max": null, "unit": o.unit }),
        };
        value["determined"] = json!(!check.determinacy.is_choice(&o.name));
        (o.name.clone(), value)
    };
    let named = |pairs: &[(String, f64)]| -> Map<String, Value> {
        pairs.iter().map(|(name, value)| (name.clone(), json!(value))).collect()
    };
    let passage = |p: &zwang_motion::RankDrop| {
        let rows: Vec<&str> = p.rows.iter().map(|&k| check.equations.rows[k].name.as_str()).collect();
        json!({ "t": p.t, "rank": p.rank, "of": p.of, "constraints": rows, "kappa": p.kappa, "rho": p.rho })
    };
    let momentum = |m: &zwang::simulate::Momentum| (m.name.clone(), json!({ "start": m.start, "drift": m.drift }));
    let row = |f: &zwang::simulate::TrackingError| (f.name.clone(), json!({ "last": f.last, "largest": f.largest }));
    let following: Map<String, Value> = run.audit().following.iter().map(row).collect();
    let control = (!model.controls.is_empty()).then(|| {
        let (force, work) = (named(&run.audit().control_force), named(&run.audit().control_work));
        json!({ "force": force, "work": work, "error": following })
    });
    let energy = &run.audit().energy;
    let counts = &run.cost();
    let value = json!({
        "model": model.title,
        "coordinates": names(model),
        "degrees_of_freedom": run.state().q.len() - run.rank(),
        "rank": run.rank(),
        "outcome": run.end().as_str(),
        "t": run.state().t,
        "q": by_name(model, &run.state().q),
        "qdot": by_name(model, &run.state().qdot),
        "outputs": run.outputs().iter().map(output).collect::<Map<_, _>>(),
        "steps": counts.steps,
        "rejected": counts.rejected,
        "cut_for_formulas": counts.cut_for_formulas,
        "functions_not_bounded": counts.functions_not_bounded,
        "evaluations": counts.evaluations,
        "factorizations": counts.factorizations,
        "wall_seconds": run.seconds().1,
        "compile_seconds": run.seconds().0,
        "method": run.method().as_str(),
        "tolerance": run.tolerance(),
        "drift_control": run.drift().as_str(),
        "correction": counts.largest_correction,
        "residual": named(&run.audit().residuals),
        "control": control,
        "energy": {
            "start": energy.start, "end": energy.end, "work": energy.work, "impacts": energy.impacts, "drift": energy.drift,
        },
        "work": energy.parts.map(|p| json!({ "Qc_ideal": p.ideal, "Qc_nonideal": p.nonideal, "C": p.law })),
        "momentum": run.audit().momenta.iter().map(momentum).collect::<Map<_, _>>(),
        "events": run.events().iter().map(event_json).collect::<Vec<_>>(),
        "passages": run.rank_drops().iter().map(passage).collect::<Vec<_>>(),
        "notes": diagnostics.iter().map(|d| json!({ "code": d.code, "message": d.message })).collect::<Vec<_>>(),
        "diagnostics": diagnostics_json(source, diagnostics),
    });
    match value {
        Value::Object(object) => object,
        _ => Map::new(),
    }
}

/// An event; of a bounded force also which one it is, and its bound from then on.
fn event_json(event: &Event) -> Value {
    let mut value = json!({ "t": event.t, "name": event.name, "kind": event.kind.as_str() });
    if let EventKind::Saturation { coordinate, bound } = &event.kind {
        value["coordinate"] = json!(coordinate);
        value["bound"] = json!(bound.as_str());
    }
    value
}

/// The samples for a `.json` file: `{name: [values]}` and `{name: unit}`.
pub fn samples_json(samples: &Samples) -> (Value, Value) {
    let values: Map<String, Value> = samples.columns.iter().map(|c| (c.name.clone(), json!(c.values))).collect();
    let units: Map<String, Value> = samples.columns.iter().map(|c| (c.name.clone(), json!(c.unit))).collect();
    (Value::Object(values), Value::Object(units))
}

fn by_name(model: &Model, values: &[f64]) -> Map<String, Value> {
    model.coordinates.iter().zip(values).map(|(c, v)| (c.name.clone(), json!(v))).collect()
}

fn names(model: &Model) -> Value {
    json!(model.coordinates.iter().map(|c| c.name.as_str()).collect::<Vec<_>>())
}

/// Above this many rows or columns a matrix is given by its entries.
const MOST_DENSE: usize = 500;

/// Rows of numbers; for a large matrix `{rows, columns, entries: [[i, j, value], …]}` instead.
fn matrix(matrix: &Matrix) -> Value {
    if matrix.n_rows.max(matrix.n_cols) <= MOST_DENSE {
        return dense(matrix.n_rows, matrix.n_cols, &matrix.to_dense());
    }
    let row = |i: usize| {
        let (columns, values) = matrix.row(i);
        columns.iter().zip(values).map(move |(j, x)| json!([i, j, x])).collect::<Vec<_>>()
    };
    let entries: Vec<Value> = (0..matrix.n_rows).flat_map(row).collect();
    json!({ "rows": matrix.n_rows, "columns": matrix.n_cols, "entries": entries })
}

/// M^{1/2}q̈ and its parts.
fn scaled(scaled: &Scaled) -> Value {
    json!({
        "free": scaled.free,
        "qddot": scaled.actual,
        "demanded": scaled.demanded,
        "kept": scaled.kept,
        "pull": scaled.pull,
        "nonideal": scaled.nonideal,
    })
}

/// The matrix of Ω_L in (q, q̇); none for a large system.
fn omega(inspection: &Inspection) -> Option<Value> {
    let snapshot = &inspection.check.snapshot;
    let n = snapshot.state.q.len();
    let legendre = snapshot.legendre.as_ref().filter(|_| 2 * n <= MOST_DENSE)?;
    Some(dense(2 * n, 2 * n, &zwang::two_form(legendre, &snapshot.given.mass_matrix.to_dense(), n)))
}

fn dense(n_rows: usize, n_cols: usize, values: &[f64]) -> Value {
    (0..n_rows).map(|i| json!(values[i * n_cols..(i + 1) * n_cols])).collect()
}
