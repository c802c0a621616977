"""Standard systems, each stated once: the same text is the zwang model and the input of SymPy's derivation."""
import re
from dataclasses import dataclass, field


@dataclass
class System:
    title: str
    coordinates: list
    parameters: dict
    lagrangian: str
    constraints: dict = field(default_factory=dict)
    forces: dict = field(default_factory=dict)

    def model(self):
        """The model in zwang's language."""
        values = ", ".join(f"{name} = {value}" for name, value in self.parameters.items())
        lines = [f'model "{self.title}"', "coordinates " + ", ".join(self.coordinates), "parameter " + values,
                 f"lagrangian {self.lagrangian}"]
        lines += [f"force {name}: {value}" for name, value in self.forces.items()]
        lines += [f"constraint {name}: {text}" for name, text in self.constraints.items()]
        return "\n".join(lines) + "\n"


def translated(text):
    """A formula of zwang as one of Python: x' is x_dot, ^ is **."""
    return re.sub(r"(\w+)'", r"\1_dot", text).replace("^", "**")


G = {"g": 9.81}
SYSTEMS = {
    "pendulum": System(
        "Pendulum in Cartesian coordinates", ["x", "y"], {"m": 1.3, "l": 0.7, **G},
        "m*(x'^2 + y'^2)/2 - m*g*y", {"rod": "x^2 + y^2 = l^2"}),
    "hoop": System(
        "Bead on a hoop that turns", ["theta"], {"m": 0.4, "r": 0.6, "Omega": 5, **G},
        "m*r^2*(theta'^2 + Omega^2*sin(theta)^2)/2 + m*g*r*cos(theta)"),
    "elastic": System(
        "Elastic pendulum", ["r", "theta"], {"m": 1.1, "k": 40, "l": 0.8, **G},
        "m*(r'^2 + r^2*theta'^2)/2 + m*g*r*cos(theta) - k*(r - l)^2/2"),
    "spherical": System(
        "Spherical pendulum in angles", ["theta", "phi"], {"m": 0.9, "l": 1.2, **G},
        "m*l^2*(theta'^2 + sin(theta)^2*phi'^2)/2 + m*g*l*cos(theta)"),
    "cart": System(
        "Pendulum on a cart", ["x", "theta"], {"M": 2, "m": 0.5, "l": 0.6, **G},
        "M*x'^2/2 + m*((x' + l*theta'*cos(theta))^2 + (l*theta'*sin(theta))^2)/2 + m*g*l*cos(theta)"),
    "double": System(
        "Double pendulum", ["a", "b"], {"m1": 1.1, "m2": 0.7, "l1": 0.9, "l2": 0.6, **G},
        "(m1 + m2)*l1^2*a'^2/2 + m2*l2^2*b'^2/2 + m2*l1*l2*a'*b'*cos(a - b)"
        " + (m1 + m2)*g*l1*cos(a) + m2*g*l2*cos(b)"),
    "arm": System(
        "Two-link arm with torques", ["a", "b"],
        {"m1": 1.4, "m2": 0.8, "J1": 0.05, "J2": 0.02, "l": 0.5, "c1": 0.25, "c2": 0.2, "u1": 0.3, "u2": -0.2, **G},
        "(m1*c1^2 + J1)*a'^2/2 + m2*((l*a'*cos(a) + c2*(a' + b')*cos(a + b))^2"
        " + (l*a'*sin(a) + c2*(a' + b')*sin(a + b))^2)/2 + J2*(a' + b')^2/2"
        " - m1*g*c1*sin(a) - m2*g*(l*sin(a) + c2*sin(a + b))",
        forces={"a": "u1", "b": "u2"}),
    "top": System(
        "Heavy symmetric top", ["phi", "theta", "psi"], {"J": 0.02, "K": 0.01, "m": 0.5, "h": 0.1, **G},
        "J*(theta'^2 + phi'^2*sin(theta)^2)/2 + K*(psi' + phi'*cos(theta))^2/2 - m*g*h*cos(theta)"),
    "sleigh": System(
        "Chaplygin sleigh", ["x", "y", "theta"], {"m": 2, "J": 0.5, "a": 0.3},
        "m*((x' - a*theta'*sin(theta))^2 + (y' + a*theta'*cos(theta))^2)/2 + J*theta'^2/2",
        {"edge": "y'*cos(theta) = x'*sin(theta)"}),
    "disk": System(
        "Rolling disk", ["x", "y", "psi", "theta", "phi"], {"m": 1, "r": 0.3, **G},
        "m*((x' + r*psi'*cos(psi)*sin(theta) + r*theta'*sin(psi)*cos(theta))^2"
        " + (y' + r*psi'*sin(psi)*sin(theta) - r*theta'*cos(psi)*cos(theta))^2 + (r*theta'*sin(theta))^2)/2"
        " + m*r^2*(theta'^2/4 + (psi'*cos(theta))^2/4 + (phi' + psi'*sin(theta))^2/2)/2 - m*g*r*cos(theta)",
        {"roll": "x' = r*phi'*cos(psi)", "grip": "y' = r*phi'*sin(psi)"}),
    "crank": System(
        "Slider crank", ["a", "b", "x"], {"m": 1, "M": 0.5, "l": 0.4, "k": 0.9, **G},
        "m*l^2*a'^2/6 + m*((2*l*a'*sin(a) + k*b'*sin(b))^2 + (2*l*a'*cos(a) + k*b'*cos(b))^2)/8"
        " + m*k^2*b'^2/24 + M*x'^2/2 - m*g*l*sin(a)/2 - m*g*(l*sin(a) + k*sin(b)/2)",
        {"along": "l*cos(a) + k*cos(b) = x", "across": "l*sin(a) + k*sin(b) = 0"}),
    "rods": System(
        "Double pendulum in Cartesian coordinates", ["x1", "y1", "x2", "y2"],
        {"m1": 1.1, "m2": 0.7, "l1": 0.9, "l2": 0.6, **G},
        "m1*(x1'^2 + y1'^2)/2 + m2*(x2'^2 + y2'^2)/2 - m1*g*y1 - m2*g*y2",
        {"first": "x1^2 + y1^2 = l1^2", "second": "(x2 - x1)^2 + (y2 - y1)^2 = l2^2"}),
}
