//! Decimation without visible change: the extremes of every pixel column remain, straight segments lose inner points.

/// A point in pixels.
pub(crate) type Point = (f64, f64);

/// The largest distance of a removed point from the drawn line, in pixels.
const TOLERANCE: f64 = 0.07;

/// The largest number of points that one straight segment replaces, so that the work remains linear.
const LONGEST_SEGMENT: usize = 64;

/// The points to draw, for columns `column` pixels wide.
pub(crate) fn decimate(points: &[Point], column: f64) -> Vec<Point> {
    let forward = points.windows(2).all(|pair| pair[0].0 <= pair[1].0);
    let few = if forward { extremes(points, column) } else { apart(points, column) };
    straightened(&few)
}

/// The first, lowest, highest and last point of every column, in their order.
fn extremes(points: &[Point], column: f64) -> Vec<Point> {
    let mut out = Vec::new();
    for chunk in points.chunk_by(|a, b| (a.0 / column).floor() == (b.0 / column).floor()) {
        if chunk.len() <= 4 {
            out.extend(chunk);
            continue;
        }
        let by_height = |a: &usize, b: &usize| chunk[*a].1.total_cmp(&chunk[*b].1);
        let low = (0..chunk.len()).min_by(by_height).unwrap_or(0);
        let high = (0..chunk.len()).max_by(by_height).unwrap_or(0);
        let mut kept = vec![0, low, high, chunk.len() - 1];
        kept.sort();
        kept.dedup();
        out.extend(kept.into_iter().map(|k| chunk[k]));
    }
    out
}

/// Points of a path in any direction: those a quarter of a column apart, and those at which it turns back.
fn apart(points: &[Point], column: f64) -> Vec<Point> {
    let far = 0.25 * column;
    let turns = |a: Point, b: Point, c: Point| (b.0 - a.0) * (c.0 - b.0) < 0.0 || (b.1 - a.1) * (c.1 - b.1) < 0.0;
    let mut out: Vec<Point> = Vec::new();
    for (k, &p) in points.iter().enumerate() {
        let is_end = k == 0 || k + 1 == points.len();
        let keep = is_end || {
            let last = out[out.len() - 1];
            let distance = (p.0 - last.0).hypot(p.1 - last.1);
            // turns within a tenth of that distance are noise
            distance >= far || (distance >= 0.1 * far && turns(points[k - 1], p, points[k + 1]))
        };
        if keep {
            out.push(p);
        }
    }
    out
}

/// The points without those that lie on the line between the remaining ones.
fn straightened(points: &[Point]) -> Vec<Point> {
    let mut out = Vec::new();
    let mut anchor = 0;
    for k in 0..points.len() {
        let inner = &points[(anchor + 1).min(k)..k];
        let straight = k + 1 < points.len()
            && k - anchor < LONGEST_SEGMENT
            && points.get(k + 1).is_some_and(|next| {
                inner.iter().chain([&points[k]]).all(|p| distance(*p, points[anchor], *next) <= TOLERANCE)
            });
        if k == 0 || !straight {
            out.push(points[k]);
            anchor = k;
        }
    }
    out
}

/// Distance of a point from the segment a b.
fn distance(p: Point, a: Point, b: Point) -> f64 {
    let (dx, dy) = (b.0 - a.0, b.1 - a.1);
    let length = dx * dx + dy * dy;
    let s = if length > 0.0 { (((p.0 - a.0) * dx + (p.1 - a.1) * dy) / length).clamp(0.0, 1.0) } else { 0.0 };
    (p.0 - a.0 - s * dx).hypot(p.1 - a.1 - s * dy)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn highest(points: &[Point]) -> f64 {
        points.iter().fold(f64::NEG_INFINITY, |m, p| m.max(p.1))
    }

    #[test]
    fn extremes_stay() {
        let mut points: Vec<Point> = (0..100_000).map(|k| (k as f64 * 0.005, 100.0 * (k as f64 * 0.3).sin())).collect();
        points[54_321].1 = 180.0;
        let few = decimate(&points, 1.0);
        assert!(few.len() <= 4 * 501, "{}", few.len());
        assert_eq!(highest(&few), 180.0);
        assert_eq!((few[0], few[few.len() - 1]), (points[0], points[99_999]));
    }

    #[test]
    fn a_straight_line_is_few_points() {
        let points: Vec<Point> = (0..500).map(|k| (k as f64, 0.5 * k as f64)).collect();
        assert!(decimate(&points, 1.0).len() < 20);
        assert_eq!(decimate(&[(1.0, 2.0)], 1.0), [(1.0, 2.0)]);
        assert!(decimate(&[], 1.0).is_empty());
    }

    #[test]
    fn a_path_stays_near_every_point() {
        let points: Vec<Point> = (0..20_000)
            .map(|k| k as f64 * 1e-3)
            .map(|s| (200.0 + 150.0 * (3.0 * s).cos(), 200.0 + 150.0 * (2.0 * s).sin()))
            .collect();
        let few = decimate(&points, 1.0);
        assert!(few.len() < 2500, "{}", few.len());
        for p in points.iter().step_by(37) {
            let nearest = few.windows(2).map(|s| distance(*p, s[0], s[1])).fold(f64::INFINITY, f64::min);
            assert!(nearest < 0.2, "{p:?} is {nearest} px away");
        }
    }

    #[test]
    fn a_jump_stays_upright() {
        let points = [(0.0, 0.0), (10.0, 0.0), (10.0, 50.0), (20.0, 50.0)];
        assert_eq!(decimate(&points, 1.0), points);
    }
}
