//! The picture of the scaled accelerations, read back from its SVG: right angles, true lengths, gaps.

use zwang::{At, LoadOptions, load, load_with, scaled_accelerations};
use zwang_motion::{Given, Matrix, Scaled, Settings, scaled};
use zwang_view::{GeometryNames, geometry_svg, reading};

type Point = [f64; 2];

/// What stands between `name="` and the next quote.
fn attribute<'a>(element: &'a str, name: &str) -> &'a str {
    let at = element.find(&format!("{name}=\"")).unwrap_or_else(|| panic!("{name} is missing: {element}"));
    element[at..].split('"').nth(1).unwrap()
}

fn point(element: &str, name: &str) -> Point {
    let mut numbers = attribute(element, name).split(' ').map(|x| x.parse::<f64>().unwrap());
    [numbers.next().unwrap(), numbers.next().unwrap()]
}

/// The picture as numbers.
struct AnimateItem {
    svg: String,
    /// Pixels for a scaled acceleration of one.
    scale: f64,
}

impl AnimateItem {
    fn new(scaled: &Scaled, names: &GeometryNames) -> AnimateItem {
        let svg = geometry_svg(scaled, names);
        let bar = svg.lines().find(|l| l.contains("class=\"scale\"")).unwrap();
        let number = |name| attribute(bar, name).parse::<f64>().unwrap();
        let scale = number("data-pixels") / number("data-length");
        AnimateItem { svg, scale }
    }

    /// From where to where an arrow goes, in pixels; none if it is too short to be drawn.
    fn arrow(&self, name: &str) -> Option<(Point, Point)> {
        let line = self.svg.lines().find(|l| l.contains(&format!("data-name=\"{name}\"")))?;
        Some((point(line, "data-from"), point(line, "data-to")))
    }

    fn vector(&self, name: &str) -> Point {
        self.arrow(name).map_or([0.0, 0.0], |(a, b)| [b[0] - a[0], b[1] - a[1]])
    }

    fn elements(&self, class: &str) -> Vec<&str> {
        self.svg.lines().filter(|l| l.contains(&format!("class=\"{class}\""))).collect()
    }
}

fn length(v: Point) -> f64 {
    v[0].hypot(v[1])
}

fn norm(v: &[f64]) -> f64 {
    v.iter().map(|x| x * x).sum::<f64>().sqrt()
}

fn random(n: usize, seed: &mut u64) -> Vec<f64> {
    let mut next = || {
        *seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (*seed >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    };
    (0..n).map(|_| next()).collect()
}

/// M = RRᵀ + I, Q, and m rows of which the last repeats the first where `is_redundant`.
fn problem(n: usize, m: usize, is_redundant: bool, seed: &mut u64) -> Given {
    let root = random(n * n, seed);
    let mass: Vec<f64> = (0..n * n)
        .map(|at| {
            let (i, j) = (at / n, at % n);
            (0..n).map(|k| root[i * n + k] * root[j * n + k]).sum::<f64>() + f64::from(u8::from(i == j))
        })
        .collect();
    let mut rows = random(m * n, seed);
    let mut b = random(m, seed);
    if is_redundant && m > 1 {
        for k in 0..n {
            rows[(m - 1) * n + k] = 3.0 * rows[k];
        }
        b[m - 1] = 3.0 * b[0];
    }
    Given {
        mass_matrix: Matrix::from_dense(n, n, &mass),
        given_force: random(n, seed),
        constraint_matrix: Matrix::from_dense(m, n, &rows),
        constraint_rhs: b,
    }
}

/// Pixels are written with six decimals.
const PIXELS: f64 = 1e-5;

/// UK95: q̈ₛ = B⁺b + N aₛ, the two at right angles, and the pull B⁺e at right angles to N aₛ; all in true lengths.
#[test]
fn right_angles_and_lengths_are_true() {
    let mut seed = 7;
    let mut n_right_angles = 0;
    for n in 2..8 {
        for m in 1..=n {
            let given = problem(n, m, m % 2 == 0, &mut seed);
            let found = scaled(&given, &[], &Settings::default()).unwrap();
            let drawn = AnimateItem::new(&found, &GeometryNames::default());
            let [demanded, kept, pull, motion] = ["demanded", "kept", "pull", "motion"].map(|name| drawn.vector(name));
            let vectors =
                [(demanded, &found.demanded), (kept, &found.kept), (pull, &found.pull), (motion, &found.actual)];
            for (arrow, vector) in vectors {
                if length(arrow) > 0.0 {
                    let wanted = drawn.scale * norm(vector);
                    assert!((length(arrow) - wanted).abs() < PIXELS * 10.0, "{n} {m}: {} {wanted}", length(arrow));
                } else {
                    // an arrow that is not drawn is shorter than it could be seen
                    assert!(drawn.scale * norm(vector) < 3.0);
                }
            }
            let dot = |a: Point, b: Point| a[0] * b[0] + a[1] * b[1];
            let size = length(motion).max(length(pull));
            assert!(dot(demanded, kept).abs() < PIXELS * size, "{n} {m}");
            assert!(dot(pull, kept).abs() < PIXELS * size, "{n} {m}");
            if length(demanded) > 0.0 && length(kept) > 0.0 {
                let square = |v| dot(v, v);
                assert!((square(motion) - square(demanded) - square(kept)).abs() < 10.0 * PIXELS * size);
                n_right_angles += 1;
            }
        }
    }
    assert!(n_right_angles > 15);
}

/// The arrows meet: N aₛ begins where B⁺b ends, and N aₛ, B⁺e and q̈ₛ end at one point, on the line.
#[test]
fn arrows_meet_where_the_theory_says() {
    let mut seed = 21;
    for n in 2..7 {
        let given = problem(n, 1, false, &mut seed);
        let found = scaled(&given, &[], &Settings::default()).unwrap();
        let drawn = AnimateItem::new(&found, &GeometryNames::default());
        let near = |a: Point, b: Point| length([a[0] - b[0], a[1] - b[1]]) < 1e-4;
        let [free, demanded, kept, pull, motion] =
            ["free", "demanded", "kept", "pull", "motion"].map(|name| drawn.arrow(name).unwrap());
        assert!(near(free.0, motion.0) && near(kept.0, demanded.1) && near(pull.0, free.1), "{n}");
        assert!(near(kept.1, motion.1) && near(pull.1, motion.1), "{n}");
        let [line] = drawn.elements("allowed")[..] else { panic!("{n}: one row, one line") };
        let (a, b) = (point(line, "data-from"), point(line, "data-to"));
        let along =
            [(b[0] - a[0]) / length([b[0] - a[0], b[1] - a[1]]), (b[1] - a[1]) / length([b[0] - a[0], b[1] - a[1]])];
        for end in [motion.1, demanded.1] {
            let off = (end[0] - a[0]) * along[1] - (end[1] - a[1]) * along[0];
            assert!(off.abs() < 1e-3, "{n}: {off}");
        }
    }
}

/// In the plane of two coordinates the arrows have the components themselves.
#[test]
fn two_coordinates_are_drawn_as_they_are() {
    let mut seed = 5;
    let given = problem(2, 1, false, &mut seed);
    let found = scaled(&given, &[], &Settings::default()).unwrap();
    let drawn = AnimateItem::new(&found, &GeometryNames::default());
    for (name, vector) in [("free", &found.free), ("motion", &found.actual), ("pull", &found.pull)] {
        let [x, y] = drawn.vector(name);
        // y of a picture goes down
        assert!((x - drawn.scale * vector[0]).abs() < 1e-4 && (y + drawn.scale * vector[1]).abs() < 1e-4, "{name}");
    }
}

/// |B⁺e|² = G where constraints are ideal, |q̈ₛ|² = q̈·M q̈ and |aₛ|² = a·Q, over the gallery.
#[test]
fn scaled_lengths_are_those_of_the_snapshot() {
    let models = concat!(env!("CARGO_MANIFEST_DIR"), "/../../models");
    let mut n_met = 0;
    for entry in std::fs::read_dir(models).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|e| e != "zw") {
            continue;
        }
        let open = |name: &str| std::fs::read_to_string(format!("{models}/{name}")).map_err(|e| e.to_string());
        let text = std::fs::read_to_string(&path).unwrap();
        let system = load_with(&text, &LoadOptions { files: &open, ..LoadOptions::default() }).unwrap();
        let Ok(check) = system.check() else { continue };
        let Some(scaled) = scaled_accelerations(&check, &Settings::default()) else { continue };
        let (given, found) = (&check.snapshot.given, &check.snapshot.found);
        let mass: f64 =
            (0..found.qddot.len()).map(|k| found.qddot[k] * given.mass_matrix.row_times(k, &found.qddot)).sum();
        let free: f64 = found.unconstrained_acceleration.iter().zip(&given.given_force).map(|(a, q)| a * q).sum();
        let size = mass.max(free).max(found.gaussian);
        // a control acts as a given force does, so that the free acceleration drawn contains it
        let is_steered = found.control_force.iter().any(|u| *u != 0.0);
        let name = path.display();
        let square = |v: &[f64]| v.iter().map(|x| x * x).sum::<f64>();
        assert!((square(&scaled.actual) - mass).abs() <= 1e-8 * size, "{name}");
        assert!(is_steered || (square(&scaled.free) - free).abs() <= 1e-8 * size, "{name}");
        if !is_steered && found.nonideal_force.iter().all(|c| *c == 0.0) {
            assert!((square(&scaled.pull) - found.gaussian).abs() <= 1e-8 * size, "{name}");
        }
        // every picture can be drawn, and says what it shows
        let names = GeometryNames::of(&check.equations);
        let svg = geometry_svg(&scaled, &names);
        assert!(!svg.contains("NaN") && !svg.contains("inf"), "{name}");
        assert!(reading(&scaled, &names).ends_with('.'), "{name}");
        n_met += 1;
    }
    assert!(n_met > 30, "{n_met}");
}

/// Two rows that ask for 1 and 2 along the same direction of length √2 leave lines 1/√2 apart.
#[test]
fn a_contradiction_is_drawn_as_a_gap() {
    let text = |third: &str| {
        format!(
            "coordinates x, y{third}\nmass x, y: 1\nforce x: 3\nforce y: 1\n\
             constraint slow: x'' + y'' = 1\nconstraint fast: x'' + y'' = 2\nstart x = 0, y = 0\n"
        )
    };
    for (text, n_lines) in [
        (text(""), 2),
        (text(", z").replace("mass x, y: 1", "mass x, y, z: 1").replace("y = 0\n", "y = 0, z = 0\n"), 3),
    ] {
        let system = load(&text).unwrap();
        let (scaled, equations) = (system.scaled_start().unwrap(), system.equations());
        let drawn = AnimateItem::new(&scaled, &GeometryNames::of(&equations));
        let gaps = drawn.elements("gap");
        assert_eq!((gaps.len(), drawn.elements("allowed").len()), (2, n_lines));
        let ends: Vec<Point> = gaps.iter().map(|g| point(g, "data-to")).collect();
        let apart = length([ends[0][0] - ends[1][0], ends[0][1] - ends[1][1]]);
        let wanted = drawn.scale / 2f64.sqrt();
        assert!((apart - wanted).abs() < 1e-4, "{apart} instead of {wanted}");
        let words = reading(&scaled, &GeometryNames::of(&equations));
        assert!(words.contains("`slow`") && words.contains("`fast`"), "{words}");
    }
}

/// The nonideal part stays inside the allowed set: next to the line, of true length.
#[test]
fn nonideal_forces_move_along_the_line() {
    let mut seed = 3;
    for n in 2..6 {
        let given = problem(n, 1, false, &mut seed);
        let found = scaled(&given, &random(n, &mut seed), &Settings::default()).unwrap();
        let drawn = AnimateItem::new(&found, &GeometryNames::default());
        let (nonideal, pull) = (drawn.vector("nonideal"), drawn.vector("pull"));
        assert!((length(nonideal) - drawn.scale * norm(&found.nonideal)).abs() < 1e-4);
        assert!((nonideal[0] * pull[0] + nonideal[1] * pull[1]).abs() < 1e-3 * length(pull).max(1.0), "{n}");
        assert!(found.rows[0].iter().zip(&found.nonideal).map(|(x, y)| x * y).sum::<f64>().abs() < 1e-14);
    }
}

/// The page of the inspection: `inspect` offers the same numbers.
#[test]
fn an_inspection_carries_the_scaled_accelerations() {
    let text = "coordinates x, y\nmass x, y: 4\nforce y: -8\nconstraint c: x = 0\nstart x = 0, y = 0\n";
    let inspection = load(text).unwrap().inspect(At::Start).unwrap();
    let scaled = inspection.scaled.unwrap();
    // √4 · (0, −2)
    assert!(scaled.free.iter().zip([0.0, -4.0]).all(|(x, y)| (x - y).abs() < 1e-15));
    assert!(norm(&scaled.pull) < 1e-15 && scaled.rank == 1);
}
