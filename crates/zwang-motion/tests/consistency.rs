//! Values put on g(x) = 0 with the smallest change.
#![allow(non_snake_case)]
#![allow(clippy::needless_range_loop, reason = "indices are those of the formula")]

use zwang_motion::*;

/// g and a dense Jacobian written as a function.
struct Equations<F> {
    n: usize,
    m: usize,
    f: F,
}

impl<F: FnMut(&[f64], &mut [f64], &mut [f64])> Residual for Equations<F> {
    fn n_unknowns(&self) -> usize {
        self.n
    }

    fn n_rows(&self) -> usize {
        self.m
    }

    fn allocate(&self) -> Matrix {
        Matrix::from_pattern(self.m, self.n, &vec![(0..self.n).collect(); self.m])
    }

    fn fill(&mut self, x: &[f64], g: &mut [f64], jacobian: &mut Matrix) -> Result<(), MotionError> {
        (self.f)(x, g, &mut jacobian.value);
        Ok(())
    }
}

fn put<F: FnMut(&[f64], &mut [f64], &mut [f64])>(m: usize, x: &mut [f64], weight: &[f64], f: F) -> Projection {
    let n = x.len();
    let W: Vec<f64> = (0..n * n).map(|k| if k % (n + 1) == 0 { weight[k / n] } else { 0.0 }).collect();
    let mut equations = Equations { n, m, f };
    project(&mut equations, &Matrix::from_dense(n, n, &W), &vec![true; n], x, &Settings::default()).unwrap()
}

fn circles(radii: &'static [f64]) -> impl FnMut(&[f64], &mut [f64], &mut [f64]) {
    move |x, g, J| {
        for (i, r) in radii.iter().enumerate() {
            g[i] = x[0] * x[0] + x[1] * x[1] - r * r;
            J[2 * i..2 * i + 2].copy_from_slice(&[2.0 * x[0], 2.0 * x[1]]);
        }
    }
}

#[test]
fn the_nearest_point_of_the_circle_is_on_the_radius() {
    for start in [[1.0, 0.1], [0.3, 0.4], [5.0, -12.0], [-1e-3, 1e-3], [0.6, 0.8]] {
        let mut x = start;
        let found = put(1, &mut x, &[1.0, 1.0], circles(&[1.0]));
        let length = start[0].hypot(start[1]);
        assert!(found.converged, "{start:?}: {found:?}");
        for k in 0..2 {
            assert!((x[k] - start[k] / length).abs() < 1e-8, "{start:?}: {x:?}");
        }
        assert!(found.residual[0].abs() < 1e-15 && found.iterations < 60, "{found:?}");
        assert_eq!((found.n_free, found.certificate.len()), (1, 0));
        let free = &found.free[0];
        assert!((free[0] * x[0] + free[1] * x[1]).abs() < 1e-12 && (free[0].hypot(free[1]) - 1.0).abs() < 1e-12);
    }
}

/// In the metric of the masses the heavy coordinate moves less: W (x − x₀) is normal to the circle.
#[test]
fn nearest_is_meant_in_the_metric_of_the_masses() {
    let (start, weight) = ([1.0, 0.6], [1.0, 25.0]);
    let mut x = start;
    assert!(put(1, &mut x, &weight, circles(&[1.0])).converged);
    let (dx, dy) = (weight[0] * (x[0] - start[0]), weight[1] * (x[1] - start[1]));
    assert!((dx * x[1] - dy * x[0]).abs() < 1e-7, "{x:?}");
    assert!((x[0].hypot(x[1]) - 1.0).abs() < 1e-15);
}

#[test]
fn equations_stated_twice_change_nothing() {
    let (mut once, mut twice) = ([1.0, 0.1], [1.0, 0.1]);
    put(1, &mut once, &[1.0, 1.0], circles(&[1.0]));
    let found = put(3, &mut twice, &[1.0, 1.0], circles(&[1.0, 1.0, -1.0]));
    assert!(found.converged && found.n_free == 1);
    assert!((once[0] - twice[0]).abs() < 1e-14 && (once[1] - twice[1]).abs() < 1e-14);
}

/// Circles of radius 1 and 1.2 cannot both hold, and both are named.
#[test]
fn equations_that_fight_are_named() {
    let mut x = [1.0, 0.1];
    let found = put(2, &mut x, &[1.0, 1.0], circles(&[1.0, 1.2]));
    assert!(!found.converged);
    assert!(found.certificate.iter().all(|y| y.abs() > 0.9), "{found:?}");
    assert!((found.certificate[0] + found.certificate[1]).abs() < 1e-6);
    // y = 0 together with y = 0.1, and a third equation that has nothing to do with it
    let mut x = [0.3, 0.2];
    let found = put(3, &mut x, &[1.0, 1.0], |x, g, J| {
        g.copy_from_slice(&[x[1], x[0] - 1.0, 2.0 * x[1] - 0.2]);
        J.copy_from_slice(&[0.0, 1.0, 1.0, 0.0, 0.0, 2.0]);
    });
    assert!(!found.converged);
    assert_eq!(found.certificate[1], 0.0);
    assert!(found.certificate[0] != 0.0 && found.certificate[2] != 0.0);
}

/// Two circles that do not meet: the search ends between them, where their normals oppose each other.
#[test]
fn circles_that_do_not_meet_are_named() {
    let mut x = [0.5, 0.7];
    let found = put(2, &mut x, &[1.0, 1.0], |x, g, J| {
        g[0] = x[0] * x[0] + x[1] * x[1] - 1.0;
        g[1] = (x[0] - 3.0) * (x[0] - 3.0) + x[1] * x[1] - 1.0;
        J.copy_from_slice(&[2.0 * x[0], 2.0 * x[1], 2.0 * (x[0] - 3.0), 2.0 * x[1]]);
    });
    assert!(!found.converged);
    assert!((x[0] - 1.5).abs() < 1e-3 && x[1].abs() < 1e-2, "{x:?}");
    assert!(found.certificate.iter().all(|y| y.abs() > 0.5), "{found:?}");
}

#[test]
fn fixed_values_stay_to_the_bit() {
    let mut equations = Equations {
        n: 3,
        m: 1,
        f: |x: &[f64], g: &mut [f64], J: &mut [f64]| {
            g[0] = x[0] * x[1] + x[2] - 1.0;
            J.copy_from_slice(&[x[1], x[0], 1.0]);
        },
    };
    let start = [0.1 + 0.2, 0.7, 5.0];
    let mut x = start;
    let found =
        project(&mut equations, &Matrix::identity(3), &[false, true, true], &mut x, &Settings::default()).unwrap();
    assert!(found.converged && found.n_free == 1);
    assert_eq!(x[0].to_bits(), start[0].to_bits());
    assert_eq!(found.free[0][0], 0.0);
    let mut x = start;
    let found = project(&mut equations, &Matrix::identity(3), &[false; 3], &mut x, &Settings::default()).unwrap();
    assert!(!found.converged && found.n_free == 0);
    assert_eq!((x, &found.certificate[..]), (start, &[1.0][..]));
}

/// A coordinate without weight moves first; a metric without any weight is the usual one.
#[test]
fn a_singular_metric_is_enough() {
    let sum = |x: &[f64], g: &mut [f64], J: &mut [f64]| {
        g[0] = x[0] + x[1] - 1.0;
        J.fill(1.0);
    };
    let mut x = [0.0, 0.0];
    assert!(put(1, &mut x, &[1.0, 0.0], sum).converged);
    assert!(x[0].abs() < 1e-5 && (x[1] - 1.0).abs() < 1e-5, "{x:?}");
    let mut x = [0.0, 0.0];
    assert!(put(1, &mut x, &[0.0, 0.0], sum).converged);
    assert!((x[0] - 0.5).abs() < 1e-12);
}

/// g is not defined everywhere; steps that leave its domain are shortened.
#[test]
fn steps_stay_in_the_domain() {
    let mut x = [3.0];
    let found = put(1, &mut x, &[1.0], |x, g, J| {
        g[0] = x[0].ln() + 2.0;
        J[0] = 1.0 / x[0];
    });
    assert!(found.converged && (x[0] - (-2f64).exp()).abs() < 1e-14, "{x:?} {found:?}");
    let mut equations =
        Equations { n: 1, m: 1, f: |_: &[f64], g: &mut [f64], J: &mut [f64]| (g[0], J[0]) = (f64::NAN, 1.0) };
    let error = project(&mut equations, &Matrix::identity(1), &[true], &mut [1.0], &Settings::default());
    assert!(matches!(error, Err(MotionError::NotFinite { .. })));
}

/// A double root is reached, slowly; nothing to do and nothing to move are fine.
#[test]
fn degenerate_searches_end() {
    let mut x = [1.0];
    let found = put(1, &mut x, &[1.0], |x, g, J| (g[0], J[0]) = (x[0] * x[0], 2.0 * x[0]));
    assert!(found.converged && x[0].abs() < 1e-5, "{x:?} {found:?}");
    let mut x = [1.0, 2.0];
    let found = put(0, &mut x, &[1.0, 1.0], |_, _, _| ());
    assert!(found.converged && found.n_free == 2 && x == [1.0, 2.0]);
    let found = put(0, &mut [], &[], |_, _, _| ());
    assert!(found.converged && found.n_free == 0);
}

/// A chain of rods with wrong lengths, far from where dense algebra would do.
#[test]
fn a_long_chain_is_put_together() {
    struct Chain(usize);
    impl Residual for Chain {
        fn n_unknowns(&self) -> usize {
            2 * self.0
        }
        fn n_rows(&self) -> usize {
            self.0
        }
        fn allocate(&self) -> Matrix {
            let row = |i: usize| if i == 0 { vec![0, 1] } else { (2 * i - 2..2 * i + 2).collect() };
            Matrix::from_pattern(self.0, 2 * self.0, &(0..self.0).map(row).collect::<Vec<_>>())
        }
        fn fill(&mut self, x: &[f64], g: &mut [f64], jacobian: &mut Matrix) -> Result<(), MotionError> {
            for i in 0..self.0 {
                let (px, py) = if i == 0 { (0.0, 0.0) } else { (x[2 * i - 2], x[2 * i - 1]) };
                let (dx, dy) = (x[2 * i] - px, x[2 * i + 1] - py);
                g[i] = 0.5 * (dx * dx + dy * dy - 1.0);
                let row = jacobian.row_mut(i).1;
                let whole = [-dx, -dy, dx, dy];
                row.copy_from_slice(if i == 0 { &whole[2..] } else { &whole });
            }
            Ok(())
        }
    }
    let k = 3000;
    let mut x: Vec<f64> =
        (0..2 * k).map(|i| if i % 2 == 0 { 0.71 * (i / 2 + 1) as f64 } else { 0.7 * ((i / 2) % 2) as f64 }).collect();
    let started = std::time::Instant::now();
    let found =
        project(&mut Chain(k), &Matrix::identity(2 * k), &vec![true; 2 * k], &mut x, &Settings::default()).unwrap();
    println!("{} steps, {:.0} ms", found.iterations, 1e3 * started.elapsed().as_secs_f64());
    assert!(found.converged);
    assert_eq!((found.n_free, found.free.len()), (k, 8));
    let largest = found.residual.iter().fold(0.0, |top: f64, g| top.max(g.abs()));
    assert!(largest < 1e-9, "{largest:.1e}");
}
