//! What large sparse systems cost, per mass: `cargo bench -p zwang --bench large [-- MOST [LEAST]] [check]`.

use std::time::Instant;
use zwang::{Evaluator, LoadOptions, derive, load};
use zwang_motion::{Dynamics, RouteName, RouteSolution, Settings, route};

/// A plane chain of n masses on rods, every rod stated once or twice.
fn chain(n: usize, twice: bool) -> String {
    let again = if twice { "constraint again[i in 1..n]: |P[i] - P[i-1]|^2 = l^2\n" } else { "" };
    format!(
        "let n = {n}\ncoordinates x[1..n], y[1..n]\nparameter m = 50 gram, l = 5 cm, g = 9.81 m/s^2\n\
         point P[0] = (0, 0)\nparticle P[i in 1..n] at (x[i], y[i]) with mass m\ngravity (0, -g)\n\
         constraint rod[i in 1..n]: |P[i] - P[i-1]|^2 = l^2\n{again}\
         start x[i in 1..n] = 0.6*i*l, y[i in 1..n] = -0.8*i*l\n"
    )
}

/// A square net of k by k masses in space, knots tied to their neighbours, hung up along one edge.
fn net(k: usize) -> String {
    let n = k * k;
    let mut text = format!(
        "coordinates x[1..{n}], y[1..{n}], z[1..{n}]\nparameter m = 1 gram, l = 1 cm, g = 9.81 m/s^2\n\
         particle P[i in 1..{n}] at (x[i], y[i], z[i]) with mass m\ngravity (0, 0, -g)\n\
         constraint held[i in 1..{k}]: P[i] = (i*l, 0, 0)\n\
         constraint down[i in 1..{}]: |P[i+{k}] - P[i]|^2 = l^2\n",
        n - k
    );
    for row in 1..k {
        let (first, last) = (row * k + 1, row * k + k - 1);
        text += &format!("constraint across{row}[i in {first}..{last}]: |P[i+1] - P[i]|^2 = l^2\n");
    }
    for row in 0..k {
        let (first, last) = (row * k + 1, row * k + k);
        let rows = format!("[i in {first}..{last}]");
        text += &format!("start x{rows} = (i - {})*l, y{rows} = 0.6*{row}*l, z{rows} = -0.8*{row}*l\n", row * k);
    }
    text
}

/// The shortest of several runs, in seconds.
fn shortest(n_runs: usize, mut work: impl FnMut()) -> f64 {
    let one = |_| {
        let start = Instant::now();
        work();
        start.elapsed().as_secs_f64()
    };
    (0..n_runs).map(one).fold(f64::INFINITY, f64::min)
}

fn main() {
    let most = std::env::args().filter_map(|a| a.parse().ok()).next().unwrap_or(10_000);
    let whole = std::env::args().any(|a| a == "check");
    println!("{:<22}{:>10}{:>10}{:>10}{:>10}{:>10}", "ns per mass", "derive", "compile", "check", "fill", "solve");
    let least = std::env::args().filter_map(|a| a.parse().ok()).nth(1).unwrap_or(0);
    let sizes = [100, 500, 1000, 10_000, 100_000];
    let mut models: Vec<(String, usize, String)> = Vec::new();
    for &n in sizes.iter().filter(|&&n| least <= n && n <= most) {
        models.push((format!("chain {n}"), n, chain(n, false)));
        models.push((format!("chain {n} twice"), n, chain(n, true)));
    }
    for k in [10, 32, 100].into_iter().filter(|k| least <= k * k && k * k <= most) {
        models.push((format!("net {k} x {k}"), k * k, net(k)));
    }
    for (name, n, text) in models {
        let start = Instant::now();
        let mut equations = derive(&text, &LoadOptions::default()).expect("a model without errors").equations;
        let derivation = start.elapsed().as_secs_f64();
        let start = Instant::now();
        let mut system =
            Evaluator::compile(&mut equations, false, zwang::JitPolicy::Never).expect("a model that compiles");
        let compile = start.elapsed().as_secs_f64();
        let check = match whole {
            true => shortest(1, || {
                let system = load(&text).expect("a model without errors");
                system.check().expect("a model that starts");
            }),
            false => f64::NAN,
        };
        let mut state = zwang_motion::State::zero(system.size().coordinates);
        for start in equations.model.start.iter() {
            let value = equations.model.constants(&[start.value])[0];
            if let Some(k) = start.coordinate {
                state.q[k] = value;
            }
        }
        // a motion that no symmetry helps
        (0..state.q.len()).for_each(|i| state.qdot[i] = 0.01 * (i as f64).sin());
        let mut given = system.allocate();
        let n_runs = (2_000_000 / n).clamp(20, 2000);
        let fill = shortest(n_runs, || system.fill(&state, &mut given).expect("finite"));
        let mut route = route(RouteName::GeneralizedInverse, &Settings::default());
        let mut solution = RouteSolution::default();
        let first = shortest(1, || route.solve(&given, None, &[], &mut solution).expect("a solution"));
        let solve = shortest(n_runs, || route.solve(&given, None, &[], &mut solution).expect("a solution"));
        let per_mass = |seconds: f64| seconds * 1e9 / n as f64;
        print!("{name:<22}{:>10.0}{:>10.0}", per_mass(derivation), per_mass(compile));
        print!("{:>10.0}{:>10.1}{:>10.1}", per_mass(check), per_mass(fill), per_mass(solve));
        println!("   first {:.0}, rank {}", per_mass(first), solution.rank);
    }
}
