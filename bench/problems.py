"""The problems: each as a zwang model text, and its answer found without zwang.

Answers come from closed forms, from numpy and scipy, and from extrapolation in long double.
"""
import re
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

MODELS = Path(__file__).resolve().parent.parent / "models"
GRAVITY = 9.81


@dataclass
class Problem:
    """A model, the names of its coordinates in the order of q, its start, and what the peers need of it."""
    text: str
    names: list
    q: np.ndarray
    qdot: np.ndarray
    masses: np.ndarray
    lengths: np.ndarray = None
    qddot: np.ndarray = None  # the right acceleration at the start
    rows: int = 0  # constraints that are independent
    at: Callable = None  # the right acceleration at any (q, qdot), and scipy's CPU seconds to factor and solve once


def error(found, right):
    """Largest deviation of an acceleration or position, relative to its own size where that is above 1."""
    found, right = np.asarray(found, float), np.asarray(right, float)
    if found.shape != right.shape or not np.isfinite(found).all():
        return float("inf")
    return float(np.max(np.abs(found - right) / np.maximum(np.abs(right), 1)))


# ---- pendulum of n links, absolute angles

PENDULUM = """\
model "Pendulum of n links"
let n = {n}
coordinates θ[1..n]
let g = 9.81
let m[i in 1..n] = 1 + 0.1*(i - 1)
let l[i in 1..n] = 0.5 + 0.05*(i - 1)
let u[0] = 0
let v[0] = 0
let h[0] = 0
let u[i in 1..n] = u[i-1] + l[i]*cos(θ[i])*θ[i]'
let v[i in 1..n] = v[i-1] + l[i]*sin(θ[i])*θ[i]'
let h[i in 1..n] = h[i-1] - l[i]*cos(θ[i])
lagrangian L = sum(i in 1..n: m[i]/2*(u[i]^2 + v[i]^2) - m[i]*g*h[i])
start θ[i in 1..n] = 0.3 + 0.1*(i - 1), θ[i in 1..n]' = 0.2 - 0.05*(i - 1)
run 1
"""


def pendulum(n):
    i = np.arange(n)
    m, l, q, v = 1 + 0.1 * i, 0.5 + 0.05 * i, 0.3 + 0.1 * i, 0.2 - 0.05 * i
    # M_ij = μ_max(i,j) l_i l_j cos(θ_i - θ_j), μ_i the mass that hangs on rod i
    m, l, q, v = (a.astype(np.longdouble) for a in (m, l, q, v))
    mu = np.cumsum(m[::-1])[::-1]
    w = mu[np.maximum.outer(i, i)] * np.outer(l, l)
    d = np.subtract.outer(q, q)
    M, Q = w * np.cos(d), -(w * np.sin(d)) @ v**2 - mu * GRAVITY * l * np.sin(q)
    qddot = 0 * Q
    for _ in range(4):  # refined until the residual in long double is at rounding level
        qddot = qddot + np.linalg.solve(M.astype(float), (Q - M @ qddot).astype(float))
    return Problem(PENDULUM.format(n=n), [f"θ[{k + 1}]" for k in i], *(a.astype(float) for a in (q, v, m, l, qddot)))


# ---- masses on rods, Cartesian coordinates

CHAIN = """\
model "Chain of n masses on rods"
let n = {n}
coordinates x[1..n], y[1..n]
parameter g = 9.81, ω = 2
let S[i in 0..n] = (0.1*sin(2*i), -i/2)
let m[i in 1..n] = 1 + 0.5*sin(i)^2
let l[i in 1..n] = |S[i] - S[i-1]|
point P[0] = (0, 0)
particle P[i in 1..n] at (x[i], y[i]) with mass m[i]
gravity (0, -g)
constraint rod[i in 1..n]: |P[i] - P[i-1]|^2 = l[i]^2
start P[i in 1..n] = S[i], P[i in 1..n]' = ω*(-S[i].y, S[i].x)
run 1
"""
AGAIN = "constraint again[i in 1..n]: |P[i] - P[i-1]| = l[i]\n"


def chain(n, twice=False):
    """A zigzag hanging chain that turns about its anchor; `twice`: also every length, not only its square."""
    i = np.arange(n + 1)
    P = np.stack([0.1 * np.sin(2 * i), -i / 2], axis=1)
    V = 2 * np.stack([-P[:, 1], P[:, 0]], axis=1)
    m = 1 + 0.5 * np.sin(i[1:]) ** 2
    text = CHAIN.format(n=n).replace("start", AGAIN + "start") if twice else CHAIN.format(n=n)
    p = on_rods(text, "xy", P, V[1:], m, np.stack([i[:-1], i[1:]], axis=1), lambda v: m[:, None] * np.array([0, -GRAVITY]))
    p.lengths = np.linalg.norm(np.diff(P, axis=0), axis=1)
    return p


NET = """\
model "Hanging net of n masses, rolled to a tube of k meshes, in the wind"
let k = {k}
let n = {n}
coordinates x[1..n], y[1..n], z[1..n]
parameter g = 9.81, c = 0.1
let S[p in 1-k..n] = (k/12 + 0.2*sin(2*p))*(cos(2*pi*p/k), sin(2*pi*p/k), 0) - (0, 0, (p + k)/(2*k))
let m[p in 1..n] = 1 + 0.5*sin(p)^2
point P[p in 1-k..0] = S[p]
particle P[p in 1..n] at (x[p], y[p], z[p]) with mass m[p]
gravity (0, 0, -g)
force P[p in 1..n]: c*((3, 1, 0) - P[p]')
constraint around[p in 1..n]: |P[p] - P[p-1]|^2 = |S[p] - S[p-1]|^2
constraint down[p in 1..n]: |P[p] - P[p-k]|^2 = |S[p] - S[p-k]|^2
start P[p in 1..n] = S[p], P[p in 1..n]' = (0, 0, 0)
run 1
"""


def net(k):
    """k x k masses on a helix of k per turn; each on a rod to the one before and to the one above: 3 k^2 coordinates,
    2 k^2 independent constraints, and the fill-in of a square grid."""
    p = np.arange(1 - k, k * k + 1)
    turn = 2 * np.pi * p / k
    P = (k / 12 + 0.2 * np.sin(2 * p))[:, None] * np.stack([np.cos(turn), np.sin(turn), 0 * turn], axis=1)
    P[:, 2] -= (p + k) / (2 * k)
    m = 1 + 0.5 * np.sin(p[k:]) ** 2
    i = np.arange(k, k + k * k)
    rods = np.concatenate([np.stack([i - 1, i], axis=1), np.stack([i - k, i], axis=1)])
    force = lambda v: 0.1 * (np.array([3, 1, 0]) - v) - m[:, None] * np.array([0, 0, GRAVITY])
    return on_rods(NET.format(k=k, n=k * k), "xyz", P, 0 * P[k:], m, rods, force)


def on_rods(text, axes, P, V, m, rods, force):
    """Masses m at the last points of P with velocities V; the points before them are fixed."""
    n, fixed = len(m), P[:-len(m)]

    def at(q, qdot):
        q, v = np.reshape(q, V.shape), np.reshape(qdot, V.shape)
        return held_by_rods(np.concatenate([fixed, q]), np.concatenate([0 * fixed, v]), m, force(v), rods)
    q, qdot = P[-n:].ravel(), V.ravel()
    return Problem(text, [f"{c}[{i + 1}]" for i in range(n) for c in axes], q, qdot, m, None, at(q, qdot)[0], len(rods), at)


def held_by_rods(P, V, m, force, rods):
    """Acceleration of masses at the last points of P, the points before them fixed, and CPU seconds of scipy to find it.

    M q̈ - Aᵀλ = Q, A q̈ = b by sparse LU, refined until residuals in long double are at rounding level.
    """
    import scipy.sparse as sp
    import scipy.sparse.linalg as sl
    P, V = P.astype(np.longdouble), V.astype(np.longdouble)
    dim, fixed, c = P.shape[1], len(P) - len(m), len(rods)
    nq = dim * len(m)
    e, de = P[rods[:, 1]] - P[rods[:, 0]], V[rods[:, 1]] - V[rods[:, 0]]
    row = np.repeat(np.arange(c), dim)
    col = lambda end: (dim * (rods[:, end] - fixed)[:, None] + np.arange(dim)).ravel()
    row, col, val = np.tile(row, 2), np.concatenate([col(0), col(1)]), np.concatenate([-e.ravel(), e.ravel()])
    row, col, val = row[col >= 0], col[col >= 0], val[col >= 0]
    diagonal = np.arange(nq)
    I = np.concatenate([diagonal, nq + row, col])
    J = np.concatenate([diagonal, col, nq + row])
    K = np.concatenate([np.repeat(m, dim).astype(np.longdouble), val, -val])
    rhs = np.concatenate([force.ravel(), -(de * de).sum(axis=1)])
    matrix = sp.csc_matrix((K.astype(float), (I, J)), shape=(nq + c, nq + c))
    begin = time.process_time()
    factor = sl.splu(matrix)
    factor.solve(rhs.astype(float))
    seconds = time.process_time() - begin
    z = np.zeros(nq + c, np.longdouble)
    for _ in range(4):
        product = np.zeros_like(z)
        np.add.at(product, I, K * z[J])
        z += factor.solve((rhs - product).astype(float))
    return z[:nq].astype(float), seconds


# ---- motions

DOUBLE_PENDULUM = """\
model "Double pendulum"
coordinates a, b
let g = 9.81
lagrangian L = a'^2 + b'^2/2 + cos(a - b)*a'*b' + 2*g*cos(a) + g*cos(b)
start a = 1, b = 1.5, a' = 0, b' = 0
run 10
"""


def double_pendulum_end():
    """Angles after 10 s, by extrapolation in long double."""
    def f(y):
        a, b, u, v = y
        s, c = np.sin(a - b), np.cos(a - b)
        f1, f2 = -s * v * v - 2 * g * np.sin(a), s * u * u - g * np.sin(b)
        return np.array([u, v, (f1 - c * f2) / (2 - c * c), (2 * f2 - c * f1) / (2 - c * c)])
    g = np.longdouble("9.81")
    return extrapolate(f, np.array([1, 1.5, 0, 0], np.longdouble), 10, 250)[:2].astype(float)


def extrapolate(f, y, T, steps, columns=8):
    """Gragg's modified midpoint rule, extrapolated to order 2 `columns` in every one of equal steps."""
    H = np.longdouble(T) / steps
    for _ in range(steps):
        table = []
        for j in range(columns):
            n = 2 * (j + 1)
            h = H / n
            before, now = y, y + h * f(y)
            for _ in range(n - 1):
                before, now = now, before + 2 * h * f(now)
            table.append((before + now + h * f(now)) / 2)
        # Aitken and Neville in h²; the rule with the smoothing step has an even expansion
        for k in range(1, columns):
            for j in range(columns - 1, k - 1, -1):
                table[j] = table[j] + (table[j] - table[j - 1]) / (np.longdouble(j + 1) ** 2 / (j + 1 - k) ** 2 - 1)
        y = table[-1]
    return y


PARALLELOGRAM = """\
model "Three cranks on a coupler, one rod more than it needs"
coordinates x[1..3], y[1..3]
parameter g = 9.81
point A[i in 1..3] = (i - 1, 0)
particle P[i in 1..3] at (x[i], y[i]) with mass 1
gravity (0, -g)
constraint crank[i in 1..3]: |P[i] - A[i]|^2 = 1
constraint coupler[i in 2..3]: |P[i] - P[i-1]|^2 = 1
constraint whole: |P[3] - P[1]|^2 = 4
start P[i in 1..3] = A[i] + (sin(1), -cos(1)), P[i in 1..3]' = (0, 0)
run 10
"""
PARALLELOGRAM_NAMES = ["x[1]", "y[1]", "x[2]", "y[2]", "x[3]", "y[3]"]
ANCHORS = np.array([[0.0, 0.0], [1.0, 0.0], [2.0, 0.0]])


def parallelogram_at(t):
    """The cranks move as one pendulum: sin(θ/2) = k cd(ωt), k = sin(1/2)."""
    from scipy.special import ellipj
    k = np.sin(0.5)
    _, cn, dn, _ = ellipj(np.sqrt(GRAVITY) * t, k * k)
    theta = 2 * np.arcsin(k * cn / dn)
    return (ANCHORS + [np.sin(theta), -np.cos(theta)]).ravel()


SQUEEZER = (MODELS / "squeezer.zw").read_text()
SQUEEZER_NAMES = "β θ γ Φ δ Ω ε".split()


def squeezer_end():
    """Angles at t = 0.03 s from the gallery's reference file (extrapolation with 39 digits)."""
    at_end = (MODELS / "reference" / "squeezer.txt").read_text().split("t = 0.03")[1]
    value = dict(re.findall(r"^(\S+) = (\S+)$", at_end, re.M))
    return np.array([float(value[name]) for name in SQUEEZER_NAMES])
