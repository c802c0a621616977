//! What there is to draw, as numbers along the motion.

/// Everything to draw: frame k of every thing belongs to `times[k]`.
///
/// A value that is not finite says that there is nothing to draw in that frame.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Scene {
    /// The instants of the frames, increasing; at a jump two of them are equal.
    pub times: Vec<f64>,
    /// 2 or 3; in the plane every z is 0.
    pub dimension: usize,
    /// Unit of lengths, `m` or empty.
    pub length_unit: String,
    /// Unit of forces, `N` or empty.
    pub force_unit: String,
    /// Unit of times, `s` or empty.
    pub time_unit: String,
    /// What moves, in the order in which the user named it.
    pub things: Vec<Thing>,
}

/// One thing to draw.
#[derive(Clone, Debug, PartialEq)]
pub struct Thing {
    /// As the user calls it.
    pub name: String,
    /// What it looks like in every frame.
    pub shape: Frames,
}

/// A position, a direction or a force.
pub type Vector = [f64; 3];

/// The frames of one thing; every vector is as long as [`Scene::times`].
#[derive(Clone, Debug, PartialEq)]
pub enum Frames {
    /// A point, drawn as a ball if it has mass.
    Point {
        /// Where it is.
        place: Vec<Vector>,
        /// Whether it is a particle and not merely a marked place.
        has_mass: bool,
    },
    /// A straight line between two points.
    Rod {
        /// One end.
        from: Vec<Vector>,
        /// The other end.
        to: Vec<Vector>,
    },
    /// An ellipse in the plane; an ellipsoid or a disk in space.
    Body {
        /// Where its centre is.
        place: Vec<Vector>,
        /// Its three axes as unit vectors of space.
        axes: Vec<[Vector; 3]>,
        /// Half-axes along `axes`: two for an ellipse or a disk, three for an ellipsoid.
        radii: Vec<f64>,
    },
    /// The path of a point.
    Trace {
        /// Where the point is.
        place: Vec<Vector>,
    },
    /// An arrow.
    Force {
        /// The point it acts on.
        at: Vec<Vector>,
        /// Its components.
        force: Vec<Vector>,
    },
}
