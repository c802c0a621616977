//! Bodies thrown on a rough floor in space, until they lie: every run ends as it must.

mod common;

use std::fmt::Write;

use common::{Random, close, times, told_at};
use zwang::Run;
use zwang::simulate::Ended;

const CUBE: [[i32; 3]; 8] =
    [[-1, -1, -1], [-1, -1, 1], [-1, 1, -1], [-1, 1, 1], [1, -1, -1], [1, -1, 1], [1, 1, -1], [1, 1, 1]];

/// Every other corner of the cube.
const TETRAHEDRON: [[i32; 3]; 4] = [[-1, -1, -1], [-1, 1, 1], [1, -1, 1], [1, 1, -1]];

/// A body of 1 kg with rough corners at ±0.1 m, thrown from half a metre: its velocity, and how fast it begins to turn.
fn thrown(corners: &[[i32; 3]], e: f64, mu: f64, v: [f64; 3], spin: [f64; 3], end: f64) -> String {
    let mut text = format!(
        "model \"thrown\"\ncoordinates x, y, z, e0, e1, e2, e3\nparameter w = 0.1, μ = {mu}, e = {e}\n\
         body B at (x, y, z) turned by quaternion e0, e1, e2, e3 with mass 1 and inertia 2/3*w^2*(1, 1, 1)\n\
         gravity (0, 0, -9.81)\n"
    );
    for (k, [a, b, c]) in corners.iter().enumerate() {
        let _ = writeln!(text, "point K{k} = B.point({a}*w, {b}*w, {c}*w)");
        let _ = writeln!(text, "contact k{k}: K{k}.z >= 0 with friction μ and restitution e and at K{k}");
    }
    let all = |part: &str| (0..corners.len()).map(|k| part.replace('#', &k.to_string())).collect::<Vec<_>>();
    let lowest = all("K#.z").into_iter().reduce(|x, y| format!("min({x}, {y})")).unwrap_or_default();
    let _ = writeln!(text, "output N = {}\noutput low = {lowest}", all("lambda(k#)").join(" + "));
    let _ = writeln!(text, "start x = 0, y = 0, z = 0.5, e0 = 1, e1 = 0, e2 = 0, e3 = 0");
    let _ = writeln!(text, "start x' = {}, y' = {}, z' = {}", v[0], v[1], v[2]);
    let _ = writeln!(text, "start e0' = 0, e1' = {}, e2' = {}, e3' = {}", spin[0], spin[1], spin[2]);
    text + &format!("run {end}\n")
}

/// The account is closed, nothing makes energy, nothing is entered, and what lies is carried.
fn mind_the_laws(text: &str, run: &Run) {
    let account = &run.audit.energy;
    let size = account.start.abs() + account.work.abs() + 1.0;
    assert!(account.impacts <= 1e-10 * size, "{text}\n{account:?}");
    if let Some(parts) = account.parts {
        assert!(parts.nonideal <= 1e-9 * size && parts.ideal.abs() <= 1e-8 * size, "{text}\n{parts:?}");
    }
    // a contact that closes within the tolerance moves the body by as much
    assert!(account.drift.abs() <= 1e-7 * size, "{text}\n{account:?}");
    let [push, low] = [0, 1].map(|k| run.outputs[k].values.unwrap());
    assert!(low.min >= -2e-9, "{text}\n{low:?}");
    let lies = run.ended == Ended::Finished && run.state.qdot.iter().all(|v| v.abs() < 1e-9);
    if lies {
        close(push.last, 9.81, 1e-8);
    }
}

/// Where one rough corner slides, friction may only raise its own force without bound above
///
/// min (1 + m ρ²/J)/(m ρ h/J) over ρ² + h² = 3 w², with J = 2/3 m w²: Painlevé's coefficient of the cube.
fn painleve() -> f64 {
    let of = |x: f64| (1.0 + 1.5 * x) / (1.5 * (x * (3.0 - x)).sqrt());
    (1..3000).map(|k| of(k as f64 / 1000.0)).fold(f64::INFINITY, f64::min)
}

/// Every run of a thrown body ends when it shall; with more friction than Painlevé's some may have no motion, and say so.
#[test]
fn thrown_bodies_come_to_rest() {
    let paradox = painleve();
    assert!((1.0..1.1).contains(&paradox), "{paradox}");
    let mut n_lie = 0;
    for seed in 0..24 {
        let mut random = Random(4000 + seed);
        let mut any = |size: f64| size * random.next();
        let e = [0.0, 0.3, 0.5, 0.8][seed as usize % 4];
        let mu = 0.75 * (1.0 + any(1.0));
        let (v, spin) = ([any(2.0), any(2.0), any(1.0)], [any(5.0), any(5.0), any(5.0)]);
        let corners: &[[i32; 3]] = if seed % 3 == 2 { &TETRAHEDRON } else { &CUBE };
        let text = thrown(corners, e, mu, v, spin, 3.0);
        let (found, diagnostics) = told_at(&text, 1e-9);
        mind_the_laws(&text, &found);
        let is_paradox = mu > paradox && diagnostics.iter().any(|d| d.code == "Z610");
        assert!(found.ended == Ended::Finished || is_paradox, "{text}\n{:?}\n{diagnostics:#?}", found.ended);
        n_lie += usize::from(found.state.qdot.iter().all(|v| v.abs() < 1e-9));
    }
    assert!(n_lie > 12, "{n_lie}");
}

/// Feet that touch within the tolerance do not lie quite in a plane, blows along a floor may leave them hardly sliding, and feet that
/// slide stop together: cubes that each come to rest through one of these.
#[test]
fn cubes_come_to_rest_through_blows_on_several_feet() {
    for (e, mu, v, spin) in [
        (0.5, 1.0, [1.743, 0.008, 0.802], [3.71, -1.36, 4.318]),
        (0.8, 0.8, [1.567, 0.103, 0.121], [-2.639, -4.761, -1.749]),
        (0.8, 0.3, [1.014, -0.42, -0.757], [-3.782, -4.195, 3.501]),
        (0.5, 0.8, [-1.31, -0.852, -0.688], [4.867, 4.689, -0.763]),
        (0.0, 0.8, [-0.535, 0.077, 0.843], [1.105, -2.104, 4.835]),
        (0.0, 0.8, [-1.76, 0.549, -0.073], [3.895, 1.136, -4.947]),
        (0.0, 0.16, [-1.845, 1.851, -0.523], [2.046, -2.43, 3.237]),
        (0.3, 0.96, [-0.001, 0.65, -0.085], [-2.218, 4.977, 4.957]),
        (0.8, 0.57, [0.08, 0.689, 0.433], [3.419, 1.248, -1.797]),
    ] {
        let text = thrown(&CUBE, e, mu, v, spin, 6.0);
        let (found, diagnostics) = told_at(&text, 1e-9);
        assert_eq!(found.ended, Ended::Finished, "{text}\n{diagnostics:#?}");
        mind_the_laws(&text, &found);
        assert!(found.state.qdot.iter().all(|v| v.abs() < 1e-9), "{text}\n{:?}", found.state);
    }
}

/// Where a corner that sticks reaches its cone it slides, however roughly that moment is known.
#[test]
fn what_sticks_lets_go_at_every_tolerance() {
    for tolerance in [1e-6, 1e-7, 1e-8, 1e-10] {
        for (v, spin) in
            [([-0.535, 0.077, 0.843], [1.105, -2.104, 4.835]), ([-1.76, 0.549, -0.073], [3.895, 1.136, -4.947])]
        {
            let text = thrown(&CUBE, 0.0, 0.8, v, spin, 0.8);
            let (found, diagnostics) = told_at(&text, tolerance);
            assert_eq!(found.ended, Ended::Finished, "{tolerance}: {diagnostics:#?}");
        }
    }
}

/// A box that rocks from foot to foot without sliding keeps (1 − 3/2 sin² α)² of its energy at every blow (Housner), and swings from
/// foot to foot in a time that is an integral. So the time at which it stands is known, whatever the friction, if it is enough.
#[test]
fn a_box_rocks_to_rest_on_very_rough_feet() {
    let (alpha, tilt, g) = (0.4f64, 0.1f64, 9.81f64);
    // 2/3 θ'² = g (cos(α − θ₁) − cos(α − θ)) with θ₁ the largest tilt; θ = θ₁ (1 − s²) takes the zero at θ₁ out
    let quarter = |most: f64| {
        const PARTS: usize = 2000;
        let speed = |s: f64| {
            // cos x − cos y = 2 sin((x + y)/2) sin((y − x)/2)
            let rise = 2.0 * (alpha - most * (1.0 - 0.5 * s * s)).sin() * (0.5 * most * s * s).sin();
            (1.5 * g * rise).sqrt()
        };
        let part = |k: usize| {
            let s = (k as f64 + 0.5) / PARTS as f64;
            2.0 * most * s / speed(s) / PARTS as f64
        };
        (0..PARTS).map(part).sum::<f64>()
    };
    let kept = (1.0 - 1.5 * alpha.sin().powi(2)).powi(2);
    let mut rise = (alpha - tilt).cos() - alpha.cos();
    let mut end = quarter(tilt);
    for _ in 0..120 {
        rise *= kept;
        // cos(α − θ₁) − cos α again, solved for θ₁
        let mut most = rise / alpha.sin();
        for _ in 0..60 {
            most = 2.0 * (0.5 * rise / (alpha - 0.5 * most).sin()).asin();
        }
        end += 2.0 * quarter(most);
    }
    for mu in [1.2, 2.0, 5.0] {
        let text = format!(
            "model \"rocking\"\ncoordinates x, y, a\nparameter R = 1, al = {alpha}, μ = {mu}\nlet w = R*sin(al)\n\
             let h = R*cos(al)\nbody B at (x, y) turned by a with mass 1 and inertia R^2/3\ngravity (0, -{g})\n\
             point L = B.point(-w, -h)\npoint Q = B.point(w, -h)\ncontact l: L.y >= 0 with friction μ and at L\n\
             contact q: Q.y >= 0 with friction μ and at Q\nstart a = -{tilt}, L ~ (-R, 0.2), Q = (0, 0)\nrun 10\n\
             output push = lambda(l) + lambda(q)\n"
        );
        let (found, diagnostics) = told_at(&text, 1e-9);
        assert_eq!(found.ended, Ended::Finished, "{mu}: {diagnostics:#?}");
        close(*times(&found, "rest").last().unwrap(), end, 1e-6);
        close(found.outputs[0].values.unwrap().last, g, 1e-9);
        assert!(found.state.qdot.iter().all(|v| v.abs() < 1e-12), "{:?}", found.state);
    }
}
