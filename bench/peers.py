"""The peers' side. Each measurement is a fresh process, `peers.py NAME ARGUMENTS`, that prints one JSON object.

Times are CPU seconds of the process and of the compilers it started.
"""
import json
import os
import resource
import statistics
import subprocess
import sys
import time
from pathlib import Path

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
import numpy as np

import problems
from problems import GRAVITY

HERE = Path(__file__).resolve().parent
BUILD = Path(os.environ["ZWANG_BENCH_CACHE"]) / "build"
CFLAGS = ["-O3", "-march=native", "-fno-math-errno"]


def children_cpu():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def cpu():
    return time.process_time() + children_cpu()


def per_call(f, sample=0.02, samples=5):
    """Median CPU seconds of one call."""
    f()
    calls, spent = 1, 0.0
    while True:
        begin = time.process_time()
        for _ in range(calls):
            f()
        spent = time.process_time() - begin
        if spent >= sample:
            break
        calls = max(2 * calls, int(calls * sample / max(spent, 1e-6)))
    times = [spent / calls]
    for _ in range(samples - 1):
        begin = time.process_time()
        for _ in range(calls):
            f()
        times.append((time.process_time() - begin) / calls)
    return statistics.median(times)


# ---- hand-written C and generated C

def compile_c(source, target, *flags):
    subprocess.run(["gcc", *CFLAGS, *flags, str(source), "-o", str(target), "-lm", "-ldl"], check=True)
    return target


def compile_hand(problem, kind, n):
    """The program of hand.c for this n, and its input."""
    BUILD.mkdir(parents=True, exist_ok=True)
    np.concatenate([problem.masses, problem.lengths, problem.q, problem.qdot]).tofile(BUILD / f"{kind}{n}.in")
    program = compile_c(HERE / "hand.c", BUILD / f"hand{n}", "-ffast-math", f"-DN={n}")
    return program, BUILD / f"{kind}{n}.in"


def generate_c(function, name):
    """CasADi's C for a function, as a shared library."""
    BUILD.mkdir(parents=True, exist_ok=True)
    cwd = os.getcwd()
    os.chdir(BUILD)  # CasADi writes here only
    function.generate(name + ".c")
    os.chdir(cwd)
    return compile_c(BUILD / (name + ".c"), BUILD / (name + ".so"), "-shared", "-fPIC")


def library(kind, n):
    begin = cpu()
    path = generate_c({"pendulum": casadi_pendulum, "chain": casadi_chain}[kind](n), f"{kind}{n}")
    return dict(seconds=cpu() - begin, path=str(path))


# ---- pendulum of n links

def pendulum_lagrangian(q, v, m, l, sin, cos):
    """The same recursion as in the model text, in any algebra."""
    T = V = u = w = h = 0.0
    for i in range(len(m)):
        u = u + l[i] * cos(q[i]) * v[i]
        w = w + l[i] * sin(q[i]) * v[i]
        h = h - l[i] * cos(q[i])
        T = T + 0.5 * m[i] * (u * u + w * w)
        V = V + m[i] * GRAVITY * h
    return T - V


def heyoka(disk_cache=False):
    """heyoka keeps compiled code on disk and finds it again in a later process; here only where that is measured."""
    import heyoka as hy
    hy.llvm_state.set_diskcache_path(str(BUILD / "heyoka"))
    hy.llvm_state.set_diskcache_enabled(disk_cache)
    hy.llvm_state.clear_memcache()
    return hy


def heyoka_pendulum(n, disk_cache=False, **options):
    hy = heyoka(disk_cache)
    p = problems.pendulum(n)
    q, v = ([hy.expression(f"{c}{i}") for i in range(n)] for c in "qv")
    L = pendulum_lagrangian(q, v, p.masses.tolist(), p.lengths.tolist(), hy.sin, hy.cos)
    return hy.cfunc([e for _, e in hy.lagrangian(L, q, v)[n:]], q + v, **options)


def casadi_pendulum(n):
    import casadi as ca
    p = problems.pendulum(n)
    x = ca.SX.sym("x", 2 * n)
    q, v = x[:n], x[n:]
    L = pendulum_lagrangian(ca.vertsplit(q), ca.vertsplit(v), p.masses.tolist(), p.lengths.tolist(), ca.sin, ca.cos)
    momentum = ca.gradient(L, v)
    D, LT, order = ca.ldl(ca.jacobian(momentum, v))
    a = ca.ldl_solve(ca.gradient(L, q) - ca.jtimes(momentum, q, v), D, LT, order)
    return ca.Function("acceleration", [x], [a], {"cse": True})


def derive(peer, n):
    """From the Lagrangian to a function that can be called."""
    import casadi as ca
    make = {"heyoka": heyoka_pendulum,
            "heyoka-o0": lambda n: heyoka_pendulum(n, opt_level=0),
            "heyoka-again": lambda n: heyoka_pendulum(n, disk_cache=True),
            "casadi-vm": casadi_pendulum,
            "casadi-c": lambda n: ca.external("acceleration", str(generate_c(casadi_pendulum(n), f"derive{n}")))}[peer]
    make(n)  # zwang's times are of repeated calls, too
    p = problems.pendulum(n)
    begin = cpu()
    f = make(n)
    seconds = cpu() - begin
    return dict(seconds=seconds, qddot=np.array(f(np.concatenate([p.q, p.qdot]))).ravel().tolist())


# ---- chain of n masses on rods

def casadi_chain(n):
    """From L and φ: A and b by differentiation, then the sparse LDL' of A M⁻¹ Aᵀ."""
    import casadi as ca
    p = problems.chain(n)
    x = ca.SX.sym("x", 4 * n)
    q, v = x[:2 * n], x[2 * n:]
    phi, L, X, Y = [], 0, 0, 0
    for i in range(n):
        x1, y1 = q[2 * i], q[2 * i + 1]
        phi.append(((x1 - X)**2 + (y1 - Y)**2 - p.lengths[i]**2) / 2)
        L += p.masses[i] * ((v[2 * i]**2 + v[2 * i + 1]**2) / 2 - GRAVITY * y1)
        X, Y = x1, y1
    phi = ca.vertcat(*phi)
    M = ca.jacobian(ca.gradient(L, v), v)
    inverse = ca.SX(M.sparsity(), 1 / ca.vertcat(*M.nonzeros()))
    free = inverse @ ca.gradient(L, q)
    A = ca.jacobian(phi, q)
    b = -ca.jtimes(ca.jtimes(phi, q, v), q, v)
    D, LT, order = ca.ldl(ca.mtimes([A, inverse, A.T]))
    a = free + inverse @ (A.T @ ca.ldl_solve(b - A @ free, D, LT, order))
    return ca.Function("acceleration", [x], [a], {"cse": True})


def pinv_chain(n):
    """q̈ = a + M^-½ (A M^-½)⁺ (b - A a) with numpy, every rod stated twice: |d|² = l² and |d| = l."""
    p = problems.chain(n)
    r = np.arange(n)

    def acceleration():
        d = np.diff(p.q.reshape(n, 2), axis=0, prepend=0.0)
        dv = np.diff(p.qdot.reshape(n, 2), axis=0, prepend=0.0)
        A = np.zeros((n, 2 * n))
        A[r, 2 * r], A[r, 2 * r + 1] = d.T
        A[r[1:], 2 * r[1:] - 2], A[r[1:], 2 * r[1:] - 1] = -d[1:].T
        b = -(dv * dv).sum(axis=1)
        A, b = np.concatenate([2 * A, A / p.lengths[:, None]]), np.concatenate([2 * b, b / p.lengths])
        w = np.repeat(1 / np.sqrt(p.masses), 2)
        free = np.tile([0.0, -GRAVITY], n)
        return free + w * (np.linalg.pinv(A * w) @ (b - A @ free))
    return dict(seconds=per_call(acceleration, samples=3 if n > 100 else 5), qddot=acceleration().tolist())


# ---- motions

def taylor(system, y0, T, tolerance, positions, again):
    """heyoka's Taylor integrator: CPU seconds to build it, to build it again with its code on disk, and to run it."""
    def build(disk_cache=False):
        begin = cpu()
        hy = heyoka(disk_cache)
        return hy.taylor_adaptive(system(hy), list(y0), tol=tolerance, fast_math=True), cpu() - begin
    hy = heyoka()
    x = hy.make_vars("x")
    hy.taylor_adaptive([(x, -x)], [1.0])  # what a first call loads is not counted
    integrator, seconds = build()
    if again:
        build(disk_cache=True)

    def go():
        integrator.time = 0.0
        integrator.state[:] = y0
        integrator.propagate_until(T)
    return dict(seconds=per_call(go), build=seconds, build_again=build(disk_cache=True)[1] if again else None,
                q=integrator.state[:positions].tolist())


def heyoka_double_pendulum(tolerance, again=False):
    def system(hy):
        a, b, u, v = hy.make_vars("a", "b", "u", "v")
        L = u * u + 0.5 * v * v + hy.cos(a - b) * u * v + 2 * GRAVITY * hy.cos(a) + GRAVITY * hy.cos(b)
        return hy.lagrangian(L, [a, b], [u, v])
    return taylor(system, [1.0, 1.5, 0.0, 0.0], 10.0, tolerance, 2, again)


def heyoka_squeezer(tolerance, again=False):
    def system(hy):
        q, v = ([hy.expression(f"{c}{i}") for i in range(7)] for c in "qv")
        return list(zip(q + v, v + squeezer_acceleration(q, v, hy.sin, hy.cos, hy.sqrt)))
    start = [-0.06171389001427645, 0.0, 0.45527981916307038, 0.22266839016588588, 0.48736497954384255,
             -0.22266839016588588, 1.23054744454982119]
    return taylor(system, start + [0.0] * 7, 0.03, tolerance, 7, again)


def squeezer_acceleration(q, v, sin, cos, sqrt):
    """Andrews' mechanism by hand (Test Set for IVP Solvers): M⁻¹ of its blocks, then the 6x6 LDL' of A M⁻¹ Aᵀ."""
    m1, m2, m3, m4, m5, m6, m7 = .04325, .00365, .02373, .00706, .07050, .00706, .05498
    i1, i2, i3, i4, i5, i6, i7 = 2.194e-6, 4.410e-7, 5.255e-6, 5.667e-7, 1.169e-5, 5.667e-7, 1.912e-5
    xb, yb, xc, yc, c0, l0, torque = -.03635, .03273, .014, .072, 4530., .07785, .033
    d, da, e, ea, rr, ra = .028, .0115, .02, .01421, .007, .00092
    ss, sa, sb, sc, sd, ta, tb = .035, .01874, .01043, .018, .02, .02308, .00916
    u, ua, ub, zf, zt, fa = .04, .01228, .00449, .02, .04, .01421
    be, th, ga, ph, de, om, ep = q
    dbe, dth, dga, dph, dde, dom, dep = v
    g4, g6 = e - ea, zf - fa
    M11 = m1 * ra**2 + m2 * (rr**2 + da**2 - 2 * da * rr * cos(th)) + i1 + i2
    M21, M22 = m2 * (da**2 - da * rr * cos(th)) + i2, m2 * da**2 + i2
    M33 = m3 * (sa**2 + sb**2) + i3
    M44, M54 = m4 * g4**2 + i4, m4 * (g4**2 + zt * g4 * sin(ph)) + i4
    M55 = m4 * (zt**2 + 2 * zt * g4 * sin(ph) + g4**2) + m5 * (ta**2 + tb**2) + i4 + i5
    M66, M76 = m6 * g6**2 + i6, m6 * (g6**2 - u * g6 * sin(om)) + i6
    M77 = m6 * (g6**2 - 2 * u * g6 * sin(om) + u**2) + m7 * (ua**2 + ub**2) + i6 + i7
    blocks = {(0, 1): (M11, M21, M22), (3, 4): (M44, M54, M55), (5, 6): (M66, M76, M77)}
    inverse = {(2, 2): 1 / M33}
    for (i, j), (p, r, s) in blocks.items():
        det = p * s - r * r
        inverse[i, i], inverse[j, j], inverse[i, j], inverse[j, i] = s / det, p / det, -r / det, -r / det

    sg, cg = sin(ga), cos(ga)
    rx, ry = sd * cg + sc * sg + xb - xc, sd * sg - sc * cg + yb - yc
    L = sqrt(rx * rx + ry * ry)
    F = -c0 * (L - l0) / L
    k2, k4, k6 = m2 * da * rr, m4 * zt * g4, m6 * u * g6
    force = [torque - k2 * dth * (dth + 2 * dbe) * sin(th), k2 * dbe * dbe * sin(th),
             F * (rx * (sc * cg - sd * sg) + ry * (sd * cg + sc * sg)),
             k4 * dde * dde * cos(ph), -k4 * dph * (dph + 2 * dde) * cos(ph),
             -k6 * dep * dep * cos(om), k6 * dom * (dom + 2 * dep) * cos(om)]

    sp, cp, so, co = sin(ph + de), cos(ph + de), sin(om + ep), cos(om + ep)
    w, s1, s2 = dbe + dth, dph + dde, dom + dep
    x1, x2 = -rr * sin(be) + d * sin(be + th), d * sin(be + th)
    y1, y2 = rr * cos(be) - d * cos(be + th), -d * cos(be + th)
    bx = rr * cos(be) * dbe * dbe - d * cos(be + th) * w * w
    by = rr * sin(be) * dbe * dbe - d * sin(be + th) * w * w
    # rows of A without their zeros
    A = [{0: x1, 1: x2, 2: -ss * cg}, {0: y1, 1: y2, 2: -ss * sg},
         {0: x1, 1: x2, 3: -e * cp, 4: -e * cp + zt * sin(de)}, {0: y1, 1: y2, 3: -e * sp, 4: -e * sp - zt * cos(de)},
         {0: x1, 1: x2, 5: zf * so, 6: zf * so - u * cos(ep)}, {0: y1, 1: y2, 5: -zf * co, 6: -zf * co - u * sin(ep)}]
    b = [bx - ss * sg * dga * dga, by + ss * cg * dga * dga,
         bx - e * sp * s1 * s1 - zt * cos(de) * dde * dde, by + e * cp * s1 * s1 - zt * sin(de) * dde * dde,
         bx - zf * co * s2 * s2 - u * sin(ep) * dep * dep, by - zf * so * s2 * s2 + u * cos(ep) * dep * dep]

    def times_inverse(row):
        out = {}
        for (i, j), value in inverse.items():
            if j in row:
                out[i] = out[i] + value * row[j] if i in out else value * row[j]
        return out

    def dot(row, other):
        return sum(row[i] * other[i] for i in row if i in other)
    free = times_inverse(dict(enumerate(force)))
    W = [times_inverse(row) for row in A]
    lam = [b[i] - dot(A[i], free) for i in range(6)]
    R, D = [[None] * 6 for _ in range(6)], [None] * 6
    for j in range(6):
        D[j] = dot(A[j], W[j]) - sum(R[j][k] * R[j][k] * D[k] for k in range(j))
        for i in range(j + 1, 6):
            R[i][j] = (dot(A[i], W[j]) - sum(R[i][k] * R[j][k] * D[k] for k in range(j))) / D[j]
    for i in range(6):
        lam[i] = lam[i] - sum(R[i][k] * lam[k] for k in range(i))
    for i in reversed(range(6)):
        lam[i] = lam[i] / D[i] - sum(R[k][i] * lam[k] for k in range(i + 1, 6))
    return [free[j] + sum(W[i][j] * lam[i] for i in range(6) if j in W[i]) for j in range(7)]


def scipy_parallelogram(tolerance):
    """DOP853 on q̈ = a + A⁺ (b - A a), unit masses, as a user of numpy writes it."""
    from scipy.integrate import solve_ivp
    rods = [(0, 3), (1, 4), (2, 5), (3, 4), (4, 5), (3, 5)]  # points 0, 1, 2 are fixed
    free = np.tile([0.0, -GRAVITY], 3)

    def f(t, y):
        P = np.concatenate([problems.ANCHORS, y[:6].reshape(3, 2)])
        V = np.concatenate([np.zeros((3, 2)), y[6:].reshape(3, 2)])
        A, b = np.zeros((6, 12)), np.zeros(6)
        for row, (i, j) in enumerate(rods):
            d, dv = P[j] - P[i], V[j] - V[i]
            A[row, 2 * j:2 * j + 2], A[row, 2 * i:2 * i + 2] = d, -d
            b[row] = -dv @ dv
        A = A[:, 6:]
        return np.concatenate([y[6:], free + np.linalg.pinv(A, rcond=1e-8) @ (b - A @ free)])
    start = np.concatenate([problems.parallelogram_at(0.0), np.zeros(6)])
    go = lambda: solve_ivp(f, (0, 10), start, method="DOP853", rtol=tolerance, atol=tolerance)
    return dict(seconds=per_call(go, samples=3), q=go().y[:6, -1].tolist())


if __name__ == "__main__":
    name, *words = sys.argv[1:]
    print(json.dumps(globals()[name](*(word if word[0].isalpha() else json.loads(word) for word in words))))
