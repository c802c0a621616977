//! Pages of made-up motions, to look at: `cargo run -p zwang-view --example pages -- target/pages`.

use std::f64::consts::PI;
use zwang::equations::Equations;
use zwang::scene::{Frames, Scene, Thing, Vector};
use zwang_view::{Page, PagePlot, equations_sections, page};

/// The picture shows the axes as they are.
const AXES: [[f64; 3]; 3] = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];

fn main() -> std::io::Result<()> {
    let folder = std::env::args().nth(1).unwrap_or_else(|| "target/pages".into());
    std::fs::create_dir_all(&folder)?;
    for (name, text) in [
        ("double_pendulum", double_pendulum()),
        ("rolling_disk", rolling_disk()),
        ("chain", chain()),
        ("bodies", bodies()),
        ("empty", empty()),
    ] {
        let path = format!("{folder}/{name}.html");
        println!("{path} {} kB", text.len() / 1024);
        std::fs::write(path, text)?;
    }
    Ok(())
}

fn instants(n: usize, end: f64) -> Vec<f64> {
    (0..n).map(|k| end * k as f64 / (n - 1) as f64).collect()
}

fn scene(times: Vec<f64>, dimension: usize, things: Vec<(&str, Frames)>) -> Scene {
    let things = things.into_iter().map(|(name, shape)| Thing { name: name.to_string(), shape }).collect();
    let unit = |u: &str| u.to_string();
    Scene { times, dimension, length_unit: unit("m"), force_unit: unit("N"), time_unit: unit("s"), things }
}

fn lines(text: &str) -> Vec<String> {
    text.lines().map(|l| l.trim().to_string()).filter(|l| !l.is_empty()).collect()
}

fn plot(y_label: &str, unit: &str, t: &[f64], curves: Vec<(&str, Vec<f64>)>) -> PagePlot {
    let curves = curves.into_iter().map(|(name, v)| (name.to_string(), v)).collect();
    PagePlot { y_label: y_label.into(), unit: unit.into(), t: t.to_vec(), curves }
}

fn equations_of(model_text: &str) -> Vec<(String, Vec<String>)> {
    let model = zwang::read(model_text, &Default::default()).model;
    model.map(|m| equations_sections(&mut Equations::derive(m))).unwrap_or_default()
}

fn facts() -> Vec<(String, String)> {
    [
        ("energy drift", "1.4e-11 J, 7.1e-13 of the largest energy"),
        ("largest residual of rod1", "3.1e-15 m"),
        ("largest residual of rod2", "4.4e-15 m"),
        ("rank of A", "2 of 2 all the way"),
        ("steps", "1482 accepted, 37 rejected"),
    ]
    .map(|(a, b)| (a.to_string(), b.to_string()))
    .to_vec()
}

const G: f64 = 9.81;

/// Accelerations of the planar double pendulum with unit masses and lengths.
fn pendulum_rates([a, b, u, v]: [f64; 4]) -> [f64; 4] {
    let (s, c) = (a - b).sin_cos();
    let below = 2.0 - c * c;
    let du = (-2.0 * G * a.sin() + G * b.sin() * c - u * u * s * c - v * v * s) / below;
    let dv = (2.0 * G * a.sin() * c - 2.0 * G * b.sin() + 2.0 * u * u * s + v * v * s * c) / below;
    [u, v, du, dv]
}

fn double_pendulum() -> String {
    let times = instants(601, 12.0);
    let mut state = [1.9, 2.4, 0.0, 0.0];
    let mut states = vec![state];
    for _ in 1..times.len() {
        for _ in 0..10 {
            let h = 12.0 / 6000.0;
            let ahead = |k: [f64; 4], f: f64| std::array::from_fn(|i| state[i] + f * k[i]);
            let k1 = pendulum_rates(state);
            let k2 = pendulum_rates(ahead(k1, h / 2.0));
            let k3 = pendulum_rates(ahead(k2, h / 2.0));
            let k4 = pendulum_rates(ahead(k3, h));
            state = std::array::from_fn(|i| state[i] + h / 6.0 * (k1[i] + 2.0 * k2[i] + 2.0 * k3[i] + k4[i]));
        }
        states.push(state);
    }
    let first: Vec<Vector> = states.iter().map(|s| [s[0].sin(), -s[0].cos(), 0.0]).collect();
    let second: Vec<Vector> =
        states.iter().zip(&first).map(|(s, p)| [p[0] + s[1].sin(), p[1] - s[1].cos(), 0.0]).collect();
    let pivot = vec![[0.0; 3]; times.len()];
    // the lower rod pulls with m (a·e + g·e) along itself
    let pull: Vec<f64> = states
        .iter()
        .map(|s| {
            let r = pendulum_rates(*s);
            s[3] * s[3] + s[2] * s[2] * (s[0] - s[1]).cos() - r[2] * (s[0] - s[1]).sin() + G * s[1].cos()
        })
        .collect();
    let force: Vec<Vector> = states.iter().zip(&pull).map(|(s, f)| [-f * s[1].sin(), f * s[1].cos(), 0.0]).collect();
    let weight = vec![[0.0, -G, 0.0]; times.len()];
    let plots = [
        plot(
            "angles",
            "rad",
            &times,
            vec![("θ1", states.iter().map(|s| s[0]).collect()), ("θ2", states.iter().map(|s| s[1]).collect())],
        ),
        plot(
            "rates",
            "rad/s",
            &times,
            vec![("θ1'", states.iter().map(|s| s[2]).collect()), ("θ2'", states.iter().map(|s| s[3]).collect())],
        ),
        plot("tension", "N", &times, vec![("tension", pull.clone())]),
    ];
    let scene = scene(
        times,
        2,
        vec![
            ("", Frames::Trace { place: second.clone() }),
            ("rod1", Frames::Rod { from: pivot.clone(), to: first.clone() }),
            ("rod2", Frames::Rod { from: first.clone(), to: second.clone() }),
            ("", Frames::Point { place: pivot, has_mass: false }),
            ("P", Frames::Point { place: first, has_mass: true }),
            ("Q", Frames::Point { place: second.clone(), has_mass: true }),
            ("rod2", Frames::Force { at: second.clone(), force }),
            ("weight", Frames::Force { at: second, force: weight }),
        ],
    );
    let equations = [
        (
            "Lagrangian".to_string(),
            lines(
                r"
            L &= \frac{m_{1} \, \left({\dot{x}_{1}}^{2} + {\dot{y}_{1}}^{2}\right)}{2} + \frac{m_{2} \, \left({\dot{x}_{2}}^{2} + {\dot{y}_{2}}^{2}\right)}{2} - m_{1} \, g \, y_{1} - m_{2} \, g \, y_{2}
        ",
            ),
        ),
        (
            "Matrices".to_string(),
            lines(
                r"
            M &= \begin{bmatrix} m_{1} & 0 & 0 & 0 \\ 0 & m_{1} & 0 & 0 \\ 0 & 0 & m_{2} & 0 \\ 0 & 0 & 0 & m_{2} \end{bmatrix} \\
            A &= \begin{bmatrix} 2 \, x_{1} & 2 \, y_{1} & 0 & 0 \\ -2 \, \left(x_{2} - x_{1}\right) & -2 \, \left(y_{2} - y_{1}\right) & 2 \, \left(x_{2} - x_{1}\right) & 2 \, \left(y_{2} - y_{1}\right) \end{bmatrix} \\
            b &= \begin{bmatrix} -2 \, {\dot{x}_{1}}^{2} - 2 \, {\dot{y}_{1}}^{2} \\ -2 \, {\left(\dot{x}_{2} - \dot{x}_{1}\right)}^{2} - 2 \, {\left(\dot{y}_{2} - \dot{y}_{1}\right)}^{2} \end{bmatrix}
        ",
            ),
        ),
        (
            "Explicit equations of motion".to_string(),
            lines(
                r"
            M \ddot q = Q + A^{\mathsf T} \lambda, \qquad A \ddot q = b
            \lambda_{\text{rod\_1}} &= \frac{m \, \left(g \, y - {\dot{x}}^{2} - {\dot{y}}^{2}\right)}{2 \, \left({x}^{2} + {y}^{2}\right)} \\
            \ddot{\theta}_{1} &= \frac{-2 \, g \, \sin \theta_{1} + g \, \sin \theta_{2} \, \cos\left(\theta_{1} - \theta_{2}\right) - {\dot{\theta}_{2}}^{2} \, \sin\left(\theta_{1} - \theta_{2}\right)}{2 - \cos^{2}\left(\theta_{1} - \theta_{2}\right)} \\
            \ddot{\theta}_{2} &= k_{65} \, k_{76} - k_{58} - k_{71} \, k_{77} + \frac{\left(k_{63} \, k_{21} + k_{64} \, k_{22}\right) \, k_{76}}{m} + \cos \psi \, \left(r \, \dot{\theta} \, \cos \theta \, k_{7} + \dot{\psi} \, k_{11}\right) + k_{42} \, k_{19} + k_{43} \, k_{23} - \sin \psi \, \left(\dot{\psi} \, k_{8} - r \, \dot{\theta} \, \cos \theta \, k_{9}\right) - \sqrt{{x}^{2} + 6.6 \cdot 10^{-11}} + \operatorname{atan2}\left(y, x\right) + \mathit{damping} \, \dot{x} \\
            f &= \begin{cases} k \, x & x < \frac{1}{2} \\ 0 & \text{otherwise} \end{cases}
            \broken{
        ",
            ),
        ),
    ];
    page(&Page {
        title: "Double pendulum in Cartesian coordinates",
        model_text: "model \"Double pendulum in Cartesian coordinates\"\ncoordinates x1, y1, x2, y2\nparameter m = 1 kg, l = 1 m \"length of both rods\", g = 9.81 m/s^2\nlagrangian L = m/2*(x1'^2 + y1'^2 + x2'^2 + y2'^2) - m*g*(y1 + y2)\nconstraint rod1: x1^2 + y1^2 = l^2\nconstraint rod2: (x2 - x1)^2 + (y2 - y1)^2 = l^2     # the lower one\nstart x1 = 0.95, x2 = 1.6\nrun 12 s\n",
        summary: "Double pendulum in Cartesian coordinates: 4 coordinates, 2 constraints, 2 degrees of freedom\n12 s in 1482 steps, largest residual 4.4e-15, energy kept to 7.1e-13\n",
        equations: &equations,
        scene: &scene,
        axes: AXES,
        plots: &plots,
        events: &[(1.234567, "rod1 is horizontal".into()), (7.5, "rod2 is slack".into())],
        facts: &facts(),
        paths: &[],
        geometry: None,
    })
}

/// Matrix of a turn about one of the axes.
fn turn(axis: usize, angle: f64) -> [Vector; 3] {
    let (s, c) = angle.sin_cos();
    let (j, k) = ((axis + 1) % 3, (axis + 2) % 3);
    let mut out = [[0.0; 3]; 3];
    out[axis][axis] = 1.0;
    (out[j][j], out[j][k], out[k][j], out[k][k]) = (c, -s, s, c);
    out
}

fn product(a: [Vector; 3], b: [Vector; 3]) -> [Vector; 3] {
    std::array::from_fn(|i| std::array::from_fn(|j| (0..3).map(|k| a[i][k] * b[k][j]).sum()))
}

/// Columns of a matrix: the axes of the body.
fn columns(a: [Vector; 3]) -> [Vector; 3] {
    std::array::from_fn(|j| std::array::from_fn(|i| a[i][j]))
}

fn rolling_disk() -> String {
    let times = instants(601, 10.0);
    let (r, spin) = (0.3, 7.0);
    let angle = |t: f64| (0.9 * t + 0.2 * (1.3 * t).sin(), 0.35 + 0.18 * (2.1 * t).sin(), spin * t);
    let (mut x, mut y) = (0.0, 0.0);
    let (mut contact, mut centre, mut axes, mut push) = (vec![], vec![], vec![], vec![]);
    for &t in &times {
        let (psi, theta, phi) = angle(t);
        contact.push([x, y, 0.0]);
        centre.push([x + r * psi.sin() * theta.sin(), y - r * psi.cos() * theta.sin(), r * theta.cos()]);
        axes.push(columns(product(product(turn(2, psi), turn(0, theta)), turn(1, phi))));
        push.push([-2.0 * psi.sin() * theta, 2.0 * psi.cos() * theta, 9.81 + 3.0 * (4.2 * t).sin()]);
        let step = times[1] * r * spin;
        (x, y) = (x + step * psi.cos(), y + step * psi.sin());
    }
    let lean: Vec<f64> = times.iter().map(|t| angle(*t).1.to_degrees()).collect();
    let heading: Vec<f64> = times.iter().map(|t| angle(*t).0).collect();
    let height: Vec<f64> = centre.iter().map(|p| p[2]).collect();
    let plots = [
        plot("lean", "deg", &times, vec![("lean", lean)]),
        plot("heading", "rad", &times, vec![("ψ", heading)]),
        plot("height of the centre", "m", &times, vec![("z", height)]),
    ];
    let scene = scene(
        times,
        3,
        vec![
            ("contact", Frames::Trace { place: contact.clone() }),
            ("disk", Frames::Body { place: centre, axes, radii: vec![r, 0.0, r] }),
            ("ground", Frames::Force { at: contact, force: push }),
        ],
    );
    page(&Page {
        title: "Rolling disk",
        model_text: include_str!("../../../models/rolling_disk.zw"),
        summary: "Rolling disk: 5 coordinates, 2 constraints, 3 degrees of freedom\n",
        equations: &equations_of(include_str!("../../../models/rolling_disk.zw")),
        scene: &scene,
        axes: AXES,
        plots: &plots,
        events: &[],
        facts: &facts(),
        paths: &[],
        geometry: None,
    })
}

fn chain() -> String {
    let n = 40;
    let times = instants(401, 80.0);
    let joint = |k: usize, t: f64| -> Vector {
        let s = k as f64 / n as f64;
        let swing = 0.35 * (PI * s).sin() * (0.8 * t).sin() + 0.22 * (3.0 * PI * s).sin() * (2.3 * t).cos();
        [4.0 * s, -1.2 * (1.0 - (2.0 * s - 1.0).powi(2)) + swing, 0.0]
    };
    let path = |k: usize| times.iter().map(|t| joint(k, *t)).collect::<Vec<_>>();
    let names: Vec<String> = (0..=n).map(|k| format!("P[{k}]")).collect();
    let mut things = Vec::new();
    for (k, name) in names.iter().enumerate().take(n) {
        things.push((name.as_str(), Frames::Rod { from: path(k), to: path(k + 1) }));
    }
    for (k, name) in names.iter().enumerate() {
        things.push((name.as_str(), Frames::Point { place: path(k), has_mass: k > 0 && k < n }));
    }
    // one ball flies away and is then gone
    let far = |t: &f64| if *t > 60.0 { [f64::NAN; 3] } else { [2.0 + t * t, t * t * t, 0.0] };
    things.push(("ball", Frames::Point { place: times.iter().map(far).collect(), has_mass: true }));
    let middle: Vec<f64> = times.iter().map(|t| joint(n / 2, *t)[1]).collect();
    let gap =
        times.iter().zip(&middle).map(|(t, y)| if (30.0..35.0).contains(t) { f64::NAN } else { 2.0 * y }).collect();
    let events: Vec<(f64, String)> = (1..25).map(|k| (3.2 * k as f64, format!("joint {k} crosses the line"))).collect();
    let plots = [plot("y of the middle", "m", &times, vec![("y", middle), ("twice, with a gap", gap)])];
    let scene = scene(times, 2, things);
    page(&Page {
        title: "A chain of forty rods </script><b>not bold</b>",
        model_text: "model \"Chain\"\n",
        summary: "",
        equations: &[],
        scene: &scene,
        axes: AXES,
        plots: &plots,
        events: &events,
        facts: &[],
        paths: &[],
        geometry: None,
    })
}

fn bodies() -> String {
    let times = instants(301, 0.5);
    let centre = vec![[0.0, 0.0, 0.4]; times.len()];
    let axes = times.iter().map(|t| columns(product(product(turn(2, 4.0 * t), turn(0, 0.5)), turn(2, 30.0 * t))));
    let tip: Vec<Vector> = times.iter().map(|t| [(4.0 * t).sin() * 0.19, -(4.0 * t).cos() * 0.19, 0.75]).collect();
    let at = |p: f64| times.iter().map(|t| [p, 0.1 - p, 0.8 + 0.3 * (20.0 * t + p).sin()]).collect::<Vec<_>>();
    let things = vec![
        ("top", Frames::Body { place: centre.clone(), axes: axes.collect(), radii: vec![0.25, 0.25, 0.12] }),
        ("axis", Frames::Rod { from: vec![[0.0; 3]; times.len()], to: tip.clone() }),
        ("tip", Frames::Point { place: tip.clone(), has_mass: false }),
        ("", Frames::Trace { place: tip }),
        ("A", Frames::Point { place: at(0.6), has_mass: true }),
        ("B", Frames::Point { place: at(-0.5), has_mass: true }),
        ("spring", Frames::Rod { from: at(0.6), to: at(-0.5) }),
    ];
    let scene = scene(times, 3, things);
    page(&Page {
        title: "Spinning top",
        model_text: "",
        summary: "half a second, shown in ten",
        equations: &[],
        scene: &scene,
        axes: AXES,
        plots: &[],
        events: &[],
        facts: &[],
        paths: &[],
        geometry: None,
    })
}

fn empty() -> String {
    page(&Page {
        title: "Nothing moves",
        model_text: "model \"Nothing\"",
        summary: "nothing to see",
        equations: &[],
        scene: &Scene::default(),
        axes: AXES,
        plots: &[],
        events: &[],
        facts: &[],
        paths: &[],
        geometry: None,
    })
}
