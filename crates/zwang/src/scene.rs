//! The scene of an animation, as numbers along the motion.

/// All items to draw; frame k of every item belongs to `times[k]`.
///
/// A value that is not finite means that the item is not drawn in that frame.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Scene {
    /// The times of the frames, not decreasing; at a jump two of them are equal.
    pub times: Vec<f64>,
    /// 2 or 3; in the plane every z is 0.
    pub dimension: usize,
    /// Unit of lengths, `m` or empty.
    pub length_unit: String,
    /// Unit of forces, `N` or empty.
    pub force_unit: String,
    /// Unit of times, `s` or empty.
    pub time_unit: String,
    /// The items, in the order in which the user named them.
    pub things: Vec<SceneItem>,
}

/// One item to draw.
#[derive(Clone, Debug, PartialEq)]
pub struct SceneItem {
    /// The user's name.
    pub name: String,
    /// The shape in every frame.
    pub shape: Frames,
}

/// A position, a direction or a force.
pub type Vector = [f64; 3];

/// The frames of one item; every vector is as long as [`Scene::times`].
#[derive(Clone, Debug, PartialEq)]
pub enum Frames {
    /// A point, drawn as a ball if it has mass.
    Point {
        /// The position.
        place: Vec<Vector>,
        /// `true` if it is a particle and not only a marked place.
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
        /// The position of its centre.
        place: Vec<Vector>,
        /// Its three axes as unit vectors of space.
        axes: Vec<[Vector; 3]>,
        /// Half-axes along `axes`: two for an ellipse or a disk, three for an ellipsoid.
        radii: Vec<f64>,
    },
    /// The path of a point.
    Trace {
        /// The position of the point.
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
