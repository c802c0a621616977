"""Lengths of printed equations, zwang beside SymPy, on the systems of systems.py.

Operations are counted by SymPy's own count_ops on both sides, in all accelerations and multipliers. SymPy may take the
shortest form that any of several ways gives, while only its `simplify` is timed. Both sides are evaluated at random
states and must agree. zwang's time is that of a whole process; SymPy's is given without and with its imports.
"""
import argparse
import importlib.util
import json
import os
import platform
import random
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import sympy
from sympy import Symbol

from systems import SYSTEMS

HERE = Path(__file__).resolve().parent
ZWANG = os.environ["ZWANG"]
# the time that a reader would wait, in seconds of CPU
LIMIT = 600
# runs of a whole process of zwang, of which the median counts
RUNS = 9
# relative: SymPy evaluates in double precision what it derived exactly
AGREE = 1e-9


def derived_by_sympy(name, limit, again):
    """What derive_sympy.py printed, one dict for each way to simplify; kept, as it takes long and does not change."""
    kept = Path(os.environ["ZWANG_BENCH_CACHE"]) / "sizes" / f"{name}-{sympy.__version__}-{limit}.json"
    if again or not kept.exists():
        kept.parent.mkdir(parents=True, exist_ok=True)
        command = [sys.executable, HERE / "derive_sympy.py", name, str(limit)]
        lines = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout
        kept.write_text(lines)
    return [json.loads(line) for line in kept.read_text().splitlines()]


def zwang_process(model, *arguments):
    """CPU seconds of a whole process, and what it wrote."""
    before = resources()
    text = subprocess.run([ZWANG, "equations", model, *arguments], capture_output=True, text=True, check=True).stdout
    return resources() - before, text


def resources():
    import resource
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def derived_by_zwang(name, folder):
    """Median time of a process, and the accelerations and multipliers in plain symbols."""
    system = SYSTEMS[name]
    model = folder / f"{name}.zw"
    model.write_text(system.model())
    seconds = statistics.median(zwang_process(model)[0] for _ in range(RUNS))
    module = folder / f"{name}_sympy.py"
    module.write_text(zwang_process(model, "--format", "sympy")[1])
    spec = importlib.util.spec_from_file_location(module.stem, module)
    p = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(p)
    names = dict(zip(p.qdot, (Symbol(f"{c}_dot") for c in system.coordinates)))
    names |= dict(zip(p.q, (Symbol(c) for c in system.coordinates)))
    names |= {x: Symbol(str(x)) for x in p.parameters}
    found = list(p.qddot) + list(getattr(p, "lam", []))
    parts = list(getattr(p, "parts", []))
    short = [e.xreplace(names) for e in found + [value for _, value in parts]]
    whole = [p.unfold(e).xreplace(names) for e in found] if parts else short
    return dict(seconds=seconds, each=[count(e) for e in short], whole=whole, n_parts=len(parts))


def count(e):
    return int(sympy.count_ops(e, visual=False))


def disagreement(ours, theirs, system, seed=1):
    """Largest relative difference at random states."""
    names = system.coordinates + [f"{c}_dot" for c in system.coordinates] + list(system.parameters)
    draw = random.Random(seed)
    worst = 0.0
    f, g = (sympy.lambdify([Symbol(x) for x in names], list(e), modules="math") for e in (ours, theirs))
    for _ in range(5):
        state = [draw.uniform(0.2, 1.3) for _ in range(2 * len(system.coordinates))]
        a, b = (h(*state, *system.parameters.values()) for h in (f, g))
        worst = max(worst, *(abs(x - y) / max(1e-3, max(map(abs, b))) for x, y in zip(a, b)))
    return worst


def row(name, limit, again, folder):
    system = SYSTEMS[name]
    ours = derived_by_zwang(name, folder)
    ways = [way for way in derived_by_sympy(name, limit, again) if way["seconds"] is not None]
    simplified = next((way for way in ways if way["way"] == "simplify"), None)
    best = min(ways, key=lambda way: sum(way["each"]))
    shortest = sum(map(min, zip(*(way["each"] for way in ways))))
    names = {x: Symbol(x) for x in system.coordinates + [f"{c}_dot" for c in system.coordinates]}
    names |= {x: Symbol(x) for x in system.parameters}
    theirs = [sympy.sympify(e, locals=names) for e in best["expressions"]]
    off = disagreement(ours["whole"], theirs, system)
    assert off < AGREE, f"{name}: {off}"
    return dict(name=name, title=system.title, ours=sum(ours["each"]), n_parts=ours["n_parts"], theirs=shortest,
                way=best["way"], seconds=ours["seconds"], off=off,
                simplify=simplified["seconds"] if simplified else None)


def span(seconds):
    return f"{seconds*1e3:.3g} ms" if seconds < 1 else f"{seconds:.3g} s"


def import_seconds():
    """CPU seconds of a Python process that only imports what the derivation needs."""
    used = []
    for _ in range(5):
        before = resources()
        subprocess.run([sys.executable, "-c", "import sympy, sympy.physics.mechanics"], check=True)
        used.append(resources() - before)
    return statistics.median(used)


def table(rows, limit, imports):
    lines = ["| system | operations, zwang | operations, SymPy | shortest by | zwang | SymPy | ratio | with imports | difference |",
             "| --- | --- | --- | --- | --- | --- | --- | --- | --- |"]
    shorter, faster, faster_whole = 0, 0, 0
    for r in rows:
        over = "" if r["simplify"] else "> "
        theirs = r["simplify"] or limit
        ratio, whole = theirs / r["seconds"], (theirs + imports) / r["seconds"]
        ours = f"{r['ours']}, {r['n_parts']} parts" if r["n_parts"] else r["ours"]
        lines.append(f"| {r['title']} | {ours} | {r['theirs']} | {r['way']} | {span(r['seconds'])} | {over}{span(theirs)} "
                     f"| {over}{ratio:.0f} | {over}{whole:.0f} | {r['off']:.0e} |")
        shorter += r["ours"] <= r["theirs"]
        faster += ratio >= 100
        faster_whole += whole >= 100
    lines += ["", f"As short or shorter in {shorter} of {len(rows)}; at least 100 times faster in {faster}, process beside "
              f"process in {faster_whole}: a process that only imports SymPy takes {span(imports)}."]
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--quick", action="store_true", help="give SymPy one minute for each system")
    parser.add_argument("--again", action="store_true", help="also derive again what SymPy derived before")
    parser.add_argument("-o", metavar="FILE", help="write the table there")
    parser.add_argument("systems", nargs="*", metavar="SYSTEM", help=", ".join(SYSTEMS))
    wishes = parser.parse_args()
    limit = 60 if wishes.quick else LIMIT
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for name in wishes.systems or SYSTEMS:
            rows.append(row(name, limit, wishes.again, Path(folder)))
            print(json.dumps({k: v for k, v in rows[-1].items()}), file=sys.stderr, flush=True)
    version = subprocess.run([ZWANG, "--version"], capture_output=True, text=True).stdout.strip()
    head = (f"# Lengths of printed equations, measured {time.strftime('%Y-%m-%d')}\n\n"
            f"{version}, SymPy {sympy.__version__}, Python {platform.python_version()}. "
            "How it is measured: [README](../README.md).\n\n")
    text = head + table(rows, limit, import_seconds())
    Path(wishes.o).write_text(text) if wishes.o else print(text)


if __name__ == "__main__":
    main()
