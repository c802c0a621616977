"""SymPy's side of bench/sizes: one system, `derive_sympy.py NAME LIMIT`, one JSON object per line as results come.

It derives M, Q, A, b from the Lagrangian and the constraints, solves q'' = a + M⁻¹Aᵀ(A M⁻¹Aᵀ)⁻¹(b - A a) with the
multipliers, and simplifies in the ways a user would try: `simplify` for LIMIT seconds at most, the others for a tenth of
that. Times are CPU seconds without imports, and nothing is remembered from one way to the next. What takes longer has
the time `null`.
"""
import json
import signal
import sys
import time

import sympy
from sympy import Matrix, Symbol, symbols
from sympy.physics.mechanics import LagrangesMethod, dynamicsymbols

from systems import SYSTEMS, translated


def stated(system):
    """The Lagrangian, forces and constraints as SymPy expressions of dynamicsymbols."""
    t = dynamicsymbols._t
    q = [dynamicsymbols(name) for name in system.coordinates]
    names = {**{p: Symbol(p) for p in system.parameters}, **dict(zip(system.coordinates, q)),
             **{f"{name}_dot": x.diff(t) for name, x in zip(system.coordinates, q)}}
    read = lambda text: sympy.sympify(translated(text), locals=names, rational=True)
    rows = [text.split("=") for text in system.constraints.values()]
    rows = [(read(left) - read(right), "'" in left + right) for left, right in rows]
    forces = {name: read(value) for name, value in system.forces.items()}
    return q, read(system.lagrangian), rows, forces


def equations(system):
    """M, Q, A, b, as LagrangesMethod gives them."""
    q, L, rows, forces = stated(system)
    t = dynamicsymbols._t
    qdot, qddot = Matrix(q).diff(t), Matrix(q).diff(t, 2)
    holonomic = [row for row, is_rate in rows if not is_rate]
    rates = [row for row, is_rate in rows if is_rate]
    lm = LagrangesMethod(L, q, hol_coneqs=holonomic or None, nonhol_coneqs=rates or None)
    lm.form_lagranges_equations()
    n = len(q)
    M = lm.mass_matrix[:, :n]
    Q = lm.forcing + Matrix([forces.get(name, 0) for name in system.coordinates])
    if not rows:
        return q, qdot, M, Q, None, None
    speeds = Matrix([row.diff(t) if row in holonomic else row for row in holonomic + rates])
    A = speeds.jacobian(qdot)
    b = -(speeds.diff(t).subs(dict(zip(qddot, [0]*n))))
    return q, qdot, M, Q, A, b


def solved(M, Q, A, b):
    """q'' and the multipliers."""
    a = M.LUsolve(Q)
    if A is None:
        return a, Matrix(0, 1, [])
    columns = M.LUsolve(A.T)
    lam = (A * columns).LUsolve(b - A * a)
    return a + columns * lam, lam


def plain(expressions, q, qdot, system):
    """Expressions with plain symbols for coordinates and velocities, so that only operations are counted."""
    names = dict(zip(qdot, symbols([f"{name}_dot" for name in system.coordinates])))
    names |= dict(zip(q, symbols(system.coordinates)))
    return [e.xreplace(names) for e in expressions]


def count(expressions):
    return int(sum(sympy.count_ops(e, visual=False) for e in expressions))


WAYS = {
    "as it is": lambda e: e,
    "factor": sympy.factor,
    "trigsimp": sympy.trigsimp,
    "simplify": sympy.simplify,
    "simplify, then factor": lambda e: sympy.factor(sympy.simplify(e)),
    "simplify, then trigsimp": lambda e: sympy.trigsimp(sympy.simplify(e)),
}


class OutOfTime(BaseException):
    """Not an Exception, which SymPy might catch."""


def out_of_time(*_):
    raise OutOfTime


def main(name, limit):
    system = SYSTEMS[name]
    begin = time.process_time()
    q, qdot, M, Q, A, b = equations(system)
    qddot, lam = solved(M, Q, A, b)
    derived = time.process_time() - begin
    found = list(qddot) + list(lam)
    signal.signal(signal.SIGPROF, out_of_time)
    for way, shorten in WAYS.items():
        sympy.core.cache.clear_cache()
        begin = time.process_time()
        signal.setitimer(signal.ITIMER_PROF, limit if way.startswith("simplify") else limit / 10)
        try:
            short = [shorten(e) for e in found]
        except OutOfTime:
            print(json.dumps(dict(way=way, seconds=None)), flush=True)
            if way == "simplify":
                break  # the ways that begin with it would only wait again
            continue
        finally:
            signal.setitimer(signal.ITIMER_PROF, 0)
        seconds = time.process_time() - begin
        short = plain(short, q, qdot, system)
        print(json.dumps(dict(way=way, seconds=derived + seconds, each=[count([e]) for e in short],
                              expressions=[str(e) for e in short])), flush=True)


if __name__ == "__main__":
    main(sys.argv[1], float(sys.argv[2]))
