//! Models that `zwang new` writes: name, purpose, text.

/// A template: its name, its purpose, its text.
type Template = (&'static str, &'static str, &'static str);

/// All templates; the first is used for names without a template.
pub const TEMPLATES: [Template; 4] = [
    (
        "pendulum",
        "a mass on a rod, in Cartesian coordinates",
        "\
model \"Pendulum in Cartesian coordinates\"

coordinates x, y                        # what moves; y points up
parameter m = 1 kg, l = 1 m from 0.2 m to 3 m \"rod length\", g = 9.81 m/s^2

lagrangian L = m/2*(x'^2 + y'^2) - m*g*y
constraint rod: x^2 + y^2 = l^2         # its kind is found, not declared

start x = l, y = 0                      # velocities not given are zero
run 10 s
output tension = |reaction(rod)| in N
",
    ),
    (
        "knife_edge",
        "a blade on an incline: a constraint on velocities",
        "\
model \"Knife edge on an incline\"

coordinates x \"downhill\", y, φ \"heading\"
parameter m = 1 kg, I = 0.1 kg*m^2, g = 9.81 m/s^2, α = 30 deg

kinetic m/2*(x'^2 + y'^2) + I/2*φ'^2
potential -m*g*sin(α)*x
constraint blade: y'*cos(φ) = x'*sin(φ) # no sliding sideways

start x = 0, y = 0, φ = 0, φ' = 1.5 rad/s
run 4 s
output push = |reaction(blade)| in N
",
    ),
    (
        "rolling",
        "a disk that rolls on a plane, as a rigid body in space",
        "\
model \"Rolling disk\"

coordinates x, y, ψ, θ, φ               # contact point, heading, lean, spin
parameter m = 1 kg, r = 0.3 m, g = 9.81 m/s^2

body disk at (x + r*sin(ψ)*sin(θ), y - r*cos(ψ)*sin(θ), r*cos(θ))
     turned z by ψ, x by θ, y by φ
     with mass m and inertia m*r^2*(1/4, 1/2, 1/4)
gravity (0, 0, -g)

constraint roll: x' = r*φ'*cos(ψ)
constraint grip: y' = r*φ'*sin(ψ)

start ψ = 0, θ = 10 deg, φ = 0, x = 0, y = 0, φ' = 10 rad/s, x' = 3 m/s
run 10 s
",
    ),
    (
        "chain",
        "n masses on rods: families of coordinates, points and constraints",
        "\
model \"Chain of n links, dropped from horizontal\"

let n = 20                              # --set n=5 derives again
coordinates x[1..n], y[1..n]
parameter m = 50 gram, l = 5 cm, g = 9.81 m/s^2

point P[0] = (0, 0)
particle P[i in 1..n] at (x[i], y[i]) with mass m
gravity (0, -g)
constraint link[i in 1..n]: |P[i] - P[i-1]| = l

start P[i in 1..n] = (i*l, 0)
run 5 s
output E = energy() in J
output pull = |reaction(link[1])| in N
",
    ),
];
