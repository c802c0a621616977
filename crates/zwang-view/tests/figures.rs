//! Figures to look at with one's own eyes: `target/tmp/figures/*.svg` and, with the feature `png`, `*.png`.

use zwang_view::{Curve, Figure, Panel, PlotQuantity, panels_by_unit, sketch, svg};

/// Times 0 to `end`.
fn times(n: usize, end: f64) -> Vec<f64> {
    (0..n).map(|k| end * k as f64 / (n - 1) as f64).collect()
}

fn quantity(label: &str, unit: &str, x: &[f64], f: impl Fn(f64) -> f64) -> PlotQuantity {
    PlotQuantity { label: label.into(), unit: unit.into(), x: x.to_vec(), y: x.iter().map(|t| f(*t)).collect() }
}

fn figure(title: &str, panels: Vec<Panel>) -> Figure {
    Figure { title: title.into(), panels }
}

/// The points of a drawn curve, in pixels.
fn pixels(path: &str) -> Vec<[f64; 2]> {
    let data = path.split('"').nth(1).unwrap();
    let numbers = |point: &str| point.split(' ').map(|x| x.parse().unwrap()).collect::<Vec<f64>>();
    data.split(['M', 'L']).skip(1).map(|point| numbers(point).try_into().unwrap()).collect()
}

/// Every curve of more than one point is drawn, and lies inside the picture.
fn curves_are_drawn(name: &str, figure: &Figure, text: &str) {
    let side =
        |side: &str| -> f64 { text.split('"').skip_while(|t| !t.ends_with(side)).nth(1).unwrap().parse().unwrap() };
    let (width, height) = (side(" width="), side(" height="));
    let drawn: Vec<&str> =
        text.lines().filter(|line| line.contains("stroke-width=\"1.6\"") && line.contains('L')).collect();
    let stated = figure.panels.iter().flat_map(|panel| &panel.curves).filter(|curve| curve.x.len() > 1);
    assert_eq!(drawn.len(), stated.count(), "{name}");
    for [x, y] in drawn.iter().flat_map(|path| pixels(path)) {
        assert!((0.0..=width).contains(&x) && (0.0..=height).contains(&y), "{name}: ({x}, {y}) is outside");
    }
}

/// Writes the figure, and checks that its document is complete and shows every panel, its title and its curves.
fn check(name: &str, figure: &Figure) {
    let folder = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("figures");
    std::fs::create_dir_all(&folder).unwrap();
    let text = svg(figure);
    assert!(text.len() < 200_000, "{name} has {} bytes", text.len());
    assert!(text.starts_with("<svg ") && text.ends_with("</svg>\n") && !text.contains("NaN"), "{name}");
    assert!(figure.title.is_empty() || text.contains(&format!("<title>{}</title>", figure.title)), "{name}");
    assert_eq!(text.matches("<g>").count(), figure.panels.len(), "{name}");
    curves_are_drawn(name, figure, &text);
    std::fs::write(folder.join(format!("{name}.svg")), &text).unwrap();
    std::fs::write(folder.join(format!("{name}.txt")), sketch(figure, 78)).unwrap();
    #[cfg(feature = "png")]
    std::fs::write(folder.join(format!("{name}.png")), zwang_view::png(&text).unwrap()).unwrap();
}

#[test]
fn a_pendulum_in_three_units() {
    let t = times(2000, 10.0);
    let decay = |t: f64| (-0.12 * t).exp();
    let quantities = vec![
        quantity("θ", "rad", &t, |t| 1.2 * decay(t) * (3.1 * t).cos()),
        quantity("θ'", "1/s", &t, |t| -3.7 * decay(t) * (3.1 * t).sin()),
        quantity("φ", "rad", &t, |t| 0.8 * decay(t) * (2.2 * t).sin()),
        quantity("λ_1", "N", &t, |t| 9.81 + 4.0 * decay(t).powi(2) * (6.2 * t).cos()),
    ];
    check("pendulum", &figure("Damped double pendulum", panels_by_unit(quantities, "t in s")));
}

#[test]
fn eight_curves_apart_and_eight_that_end_together() {
    let t = times(800, 5.0);
    let bob = |t: f64, k: i32| f64::from(k) + 0.8 * (2.0 * t + f64::from(k)).sin();
    let apart = (0..8).map(|k| quantity(&format!("x[{k}]"), "m", &t, |t| bob(t, k))).collect();
    check("eight", &figure("Eight masses on a string", panels_by_unit(apart, "t in s")));
    let together = (0..8).map(|k| quantity(&format!("ω_{k}"), "1/s", &t, |t| f64::from(k) * (-t).exp())).collect();
    check("together", &figure("Spinning down", panels_by_unit(together, "t in s")));
}

#[test]
fn a_path_with_equal_aspect() {
    let s = times(5000, 40.0);
    let x = s.iter().map(|s| 2.0 * s.cos() * (0.1 * s).cos()).collect();
    let y = s.iter().map(|s| 2.0 * s.cos() * (0.1 * s).sin()).collect();
    let curves = vec![Curve { label: "y".into(), x, y }];
    let (x_label, y_label) = ("x in m".into(), "y in m".into());
    let panel = Panel { curves, x_label, y_label, equal_aspect: true, ..Panel::default() };
    check("path", &figure("Foucault pendulum from above", vec![panel]));
}

#[test]
fn energy_that_hardly_changes() {
    let t = times(3000, 100.0);
    let quantities = vec![
        quantity("E", "J", &t, |t| -4.905 + 2e-11 * (t * 0.7).sin() + 1e-13 * t),
        quantity("res_rod", "m", &t, |t| 3e-13 * (t * 2.0).sin() * (t / 100.0)),
        quantity("p", "kg*m^2/s", &t, |_| 0.25),
    ];
    check("energy", &figure("", panels_by_unit(quantities, "t in s")));
}

#[test]
fn bounces_with_marks_and_a_gap() {
    let (mut t, mut h, mut v, mut marks) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    let (mut start, mut speed) = (0.0, 6.0);
    for k in 0..9 {
        let flight = 2.0 * speed / 9.81;
        for s in times(60, flight) {
            t.push(start + s);
            h.push(speed * s - 4.905 * s * s);
            v.push(if k == 2 && s > 0.3 && s < 0.5 { f64::NAN } else { speed - 9.81 * s });
        }
        start += flight;
        speed *= 0.75;
        marks.push((start, format!("hit {}", k + 1)));
    }
    let height = PlotQuantity { label: "h".into(), unit: "m".into(), x: t.clone(), y: h };
    let velocity = PlotQuantity { label: "h'".into(), unit: "m/s".into(), x: t, y: v };
    let mut panels = panels_by_unit(vec![height, velocity], "t in s");
    panels.iter_mut().for_each(|p| p.marks = marks.clone());
    check("bounces", &figure("A ball that bounces: each hit keeps 75 % of the speed", panels));
}

#[test]
fn large_numbers_and_a_single_point() {
    let t = times(400, 3.2e7);
    let quantities = vec![
        quantity("r", "m", &t, |t| 1.496e11 + 2.5e9 * (t / 5.0e6).cos()),
        quantity("|reaction(left leg of the table)|", "N", &t, |t| 3e22 * (t / 9e6).sin()),
        quantity("|reaction(right leg of the table)|", "N", &t, |t| 3e22 * (t / 7e6).cos()),
    ];
    let mut panels = panels_by_unit(quantities, "t in s");
    panels[1].curves.push(Curve { label: "start".into(), x: vec![1.0e7], y: vec![1.5e22] });
    check("large", &figure("Orbit", panels));
}

#[test]
fn a_phase_portrait_with_a_legend() {
    let s = times(4000, 30.0);
    let turn = |label: &str, size: f64, decay: f64| Curve {
        label: label.into(),
        x: s.iter().map(|s| size * (-decay * s).exp() * s.cos()).collect(),
        y: s.iter().map(|s| -size * (-decay * s).exp() * s.sin()).collect(),
    };
    let curves = vec![turn("no damping", 1.0, 0.0), turn("c = 0.1 kg/s", 0.9, 0.05), turn("c = 0.4 kg/s", 0.8, 0.2)];
    let panel = Panel { curves, x_label: "θ".into(), y_label: "θ' in 1/s".into(), ..Panel::default() };
    check("phase", &figure("Phase portrait", vec![panel]));
}

#[test]
fn two_hundred_thousand_points() {
    let t = times(200_000, 60.0);
    let quantities = vec![
        quantity("a", "m/s^2", &t, |t| (0.5 * t * t).sin() * (-(t - 30.0).powi(2) / 200.0).exp()),
        quantity("b", "m/s^2", &t, |t| 0.4 * (1.1 * t).cos()),
        quantity("θ\u{307}", "1/s", &t, |t| if (t - 41.3).abs() < 1e-4 { 3.0 } else { 0.1 * (900.0 * t).sin() }),
    ];
    let title =
        "A chirp and one sample that stands out, under a title so long that it has to end before the right edge";
    let mut panels = panels_by_unit(quantities, "t in s");
    panels[0].marks = vec![(30.0, "loudest".into()), (60.0, "the clock is stopped here".into())];
    check("many", &figure(title, panels));
}
