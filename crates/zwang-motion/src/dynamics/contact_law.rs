//! Contacts and friction as a system states them.

/// A unilateral constraint: g(q, t) ≥ 0.
#[derive(Clone, Debug, PartialEq)]
pub struct ContactRow {
    /// Its row on positions.
    pub row: usize,
}

/// Coulomb friction, driven by the normal force of one constraint.
#[derive(Clone, Debug, PartialEq)]
pub struct Friction {
    /// The normal rows: one for a surface, two for a curve in space.
    pub normals: Vec<usize>,
    /// The contact of that row; `None` for a permanent constraint.
    pub contact: Option<usize>,
    /// The rows on velocities that give the slip, three at most.
    pub slip: Vec<usize>,
}

/// A slip, its direction or a force along it: a number for each slip row, then zeros.
pub(crate) type Slip = [f64; 3];

impl Friction {
    /// The one normal row, if it is one: its force has a sign.
    pub(crate) fn single(&self) -> Option<usize> {
        if let [row] = self.normals[..] { Some(row) } else { None }
    }

    /// The λ of the normal rows.
    pub(crate) fn normal_forces(&self, lambda: &[f64]) -> [f64; MOST_NORMALS] {
        let mut normal_forces = [0.0; MOST_NORMALS];
        normal_forces.iter_mut().zip(&self.normals).for_each(|(normal_force, &row)| *normal_force = lambda[row]);
        normal_forces
    }

    /// A value of each slip row.
    pub(crate) fn slips(&self, of_row: impl Fn(usize) -> f64) -> Slip {
        let mut slip = Slip::default();
        slip.iter_mut().zip(&self.slip).for_each(|(s, &row)| *s = of_row(row));
        slip
    }
}

/// The largest number of normal rows at one place: a place has three directions.
pub const MOST_NORMALS: usize = 3;

/// Coulomb's law at a place.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Coulomb {
    /// F by columns: the force at the place for a λ of one in each normal row. The normal force is N = |Fλ|.
    pub forces: [[f64; 3]; MOST_NORMALS],
    /// The static coefficient.
    pub static_mu: f64,
    /// The kinetic coefficient.
    pub kinetic_mu: f64,
}

impl Coulomb {
    /// Fλ.
    pub(crate) fn force(&self, normal_forces: &[f64; MOST_NORMALS]) -> [f64; 3] {
        let component = |k: usize| (0..MOST_NORMALS).map(|i| self.forces[i][k] * normal_forces[i]).sum();
        [component(0), component(1), component(2)]
    }

    /// N = |Fλ|.
    pub(crate) fn normal(&self, normal_forces: &[f64; MOST_NORMALS]) -> f64 {
        length(&self.force(normal_forces))
    }

    /// The row vector uᵀF, by which N grows with λ: u is the direction of the force, or the one a single row gives it.
    pub(crate) fn gradient(
        &self,
        friction: &Friction,
        side: f64,
        normal_forces: &[f64; MOST_NORMALS],
    ) -> [f64; MOST_NORMALS] {
        if friction.single().is_some() {
            return [side * length(&self.forces[0]), 0.0, 0.0];
        }
        let force = self.force(normal_forces);
        let N = length(&force);
        let along = |i: usize| self.forces[i].iter().zip(&force).map(|(f, n)| f * n).sum::<f64>();
        std::array::from_fn(|i| if N > 0.0 { along(i) / N } else { length(&self.forces[i]) })
    }
}

/// |x|.
pub(crate) fn length(x: &[f64]) -> f64 {
    x.iter().map(|x| x * x).sum::<f64>().sqrt()
}

/// x/|x|, where x is not zero.
pub(crate) fn unit_vector(x: Slip) -> Option<Slip> {
    let size = length(&x);
    (size > 0.0).then(|| x.map(|x| x / size))
}
