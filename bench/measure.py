"""Runs zwang and its peers alternately on the same problems, checks every answer, and writes the table of ratios.

Started by `bench/run`, which pins this process and all it starts to one core.
"""
import argparse
import datetime
import json
import os
import statistics
import subprocess
import sys
import time
from pathlib import Path

os.environ["OPENBLAS_NUM_THREADS"] = "1"
import numpy as np

import peers
import problems
from table import COMPARISON, Row, circumstances, duration, small, table

ROOT = Path(__file__).resolve().parent.parent
ZWANG = os.environ["ZWANG"]
LIMIT = 300  # seconds that one process may take
EXACT = 1e-12  # largest error of one acceleration
STILL = "--no-run"  # where one acceleration is asked for, not a motion

rows, starts, scaling, growth, complaints, spreads = [], [], [], {}, [], []


class Failed(Exception):
    pass


def launch(command, text=None):
    """The JSON object that a program prints, and the CPU seconds of its whole process."""
    begin = peers.children_cpu()
    try:
        done = subprocess.run([str(word) for word in command], input=text, capture_output=True, text=True, timeout=LIMIT)
        return {**json.loads(done.stdout), "process_seconds": peers.children_cpu() - begin}
    except subprocess.TimeoutExpired:
        raise Failed(f"over {LIMIT} s")
    except json.JSONDecodeError:
        raise Failed((done.stderr.strip().splitlines() or [f"exit code {done.returncode}"])[-1][:200])


def zwang(text, *options, command="bench"):
    result = launch([ZWANG, command, "-", "--json", *options], text)
    if "qddot" not in result and "q" not in result:
        raise Failed("; ".join(d["message"] for d in result["diagnostics"] if d["severity"] == "error"))
    return result


def peer(*words):
    return launch([sys.executable, Path(peers.__file__), *words])


def alternate(work, rounds, **sides):
    """Calls the sides in turn, `rounds` times; a list of results for each, empty for one that failed."""
    results = {name: [] for name in sides}
    failed = set()
    for _ in range(rounds):
        for name, side in sides.items():
            if name not in failed:
                try:
                    results[name].append(side())
                except Failed as reason:
                    failed.add(name)
                    complaints.append(f"{work}, {name}: {reason}")
    return {name: [] if name in failed else found for name, found in results.items()}


def median(results, value=lambda r: r["seconds"]):
    if not results:
        return None
    values = [value(r) for r in results]
    middle = statistics.median(values)
    if len(values) > 1:
        spreads.append((max(values) - min(values)) / middle)
    return middle


def in_order(values, names):
    """Numbers of an object by name, or a list as it is."""
    return [values[name] for name in names] if isinstance(values, dict) else values


def check(who, results, measure, limit):
    """The largest error over all results of one side; more than `limit` is complained about."""
    if not results:
        return None
    worst = max(measure(r) for r in results)
    if not worst <= limit:
        complaints.append(f"{who}: error {worst:.1e}, allowed {limit:.0e}")
    return worst


def preparation(r):
    return r["derive_seconds"] + r["compile_seconds"]


def acceleration(r):
    return r["acceleration_ns"] * 1e-9


# ---- the problems

def pendulum(plan):
    """1 and 2: text to machine code, and one acceleration, of the pendulum of n links."""
    for n in plan.pendulum:
        p = problems.pendulum(n)
        hand, given = peers.compile_hand(p, "pendulum", n)
        library = peer("library", "pendulum", n)["path"]
        work = f"pendulum of {n} links"
        found = alternate(
            work, plan.rounds, zwang=lambda: zwang(p.text, STILL),
            heyoka=lambda: peer("derive", "heyoka", n), o0=lambda: peer("derive", "heyoka-o0", n),
            again=lambda: peer("derive", "heyoka-again", n),
            vm=lambda: peer("derive", "casadi-vm", n), c=lambda: peer("derive", "casadi-c", n),
            call=lambda: launch([hand, "casadi", given, library]),
            dense=lambda: launch([hand, "pendulum-dense", given]), linear=lambda: launch([hand, "pendulum-linear", given]))
        off = {name: check(f"{work}, {name}", results,
                           lambda r: problems.error(in_order(r["qddot"], p.names), p.qddot), EXACT)
               for name, results in found.items()}
        for name, label, goal in (("heyoka", "heyoka lagrangian + cfunc", 10), ("o0", "the same, opt_level=0", None),
                                  ("again", "the same, code found on disk", 10),
                                  ("vm", "CasADi, virtual machine", None), ("c", "CasADi, C and gcc -O3", None)):
            rows.append(Row("text to machine code, pendulum", f"{n} links", median(found["zwang"], preparation),
                            label, median(found[name]), goal, off["zwang"], off[name]))
        for name, label, goal in (("call", "CasADi generated C", 1), ("dense", "C by hand, Cholesky", None),
                                  ("linear", "C by hand, O(n)", None)):
            rows.append(Row("one acceleration, pendulum", f"{n} links", median(found["zwang"], acceleration),
                            label, median(found[name]), goal, off["zwang"], off[name]))


def chain(plan):
    """3: one acceleration of n masses on rods, in Cartesian coordinates."""
    for n in plan.chain:
        p = problems.chain(n)
        hand, given = peers.compile_hand(p, "chain", n)
        generated = peer("library", "chain", n)
        work = f"chain of {n} masses"
        found = alternate(work, plan.rounds, zwang=lambda: zwang(p.text, STILL),
                          call=lambda: launch([hand, "casadi", given, generated["path"]]),
                          hand=lambda: launch([hand, "chain", given]))
        off = {name: check(f"{work}, {name}", results,
                           lambda r: problems.error(in_order(r["qddot"], p.names), p.qddot), EXACT)
               for name, results in found.items()}
        for name, label, goal in (("call", "CasADi generated C", 0.5), ("hand", "C by hand, O(n)", None)):
            rows.append(Row("one acceleration, chain", f"{n} masses", median(found["zwang"], acceleration),
                            label, median(found[name]), goal, off["zwang"], off[name]))
        rows.append(Row("text to machine code, chain", f"{n} masses", median(found["zwang"], preparation),
                        "CasADi, C and gcc -O3", generated["seconds"]))


def twice(plan):
    """4: the same with every rod stated twice."""
    goals = {10: 50, 100: 500, 500: 5000}
    for n in plan.chain:
        p = problems.chain(n, twice=True)
        work = f"chain of {n} masses stated twice"
        found = alternate(work, min(plan.rounds, 3), zwang=lambda: zwang(p.text, STILL), pinv=lambda: peer("pinv_chain", n))
        off = {name: check(f"{work}, {name}", results,
                           lambda r: problems.error(in_order(r["qddot"], p.names), p.qddot), EXACT)
               for name, results in found.items()}
        rows.append(Row("one acceleration, chain with every rod twice", f"{n} masses", median(found["zwang"], acceleration),
                        "numpy pinv", median(found["pinv"]), goals[n], off["zwang"], off["pinv"]))


def distance(q, names, right):
    return float(np.max(np.abs(np.array(in_order(q, names)) - right)))


def loosest(goal, error_at, begin):
    """The loosest tolerance, by half powers of ten, with which and with half a power less the goal is met."""
    met = None
    for k in range(round(-2 * np.log10(begin)), 28):
        tolerance = float(f"{10 ** (-k / 2):.3g}")
        if error_at(tolerance) > goal:
            met = None
        elif met:
            return met
        else:
            met = tolerance
    return met or tolerance


def motion(plan, work, text, names, right, goal, peer_at, label, bar, begin, whole_bar=None):
    """Time to the end of a motion, each side with the loosest tolerance that meets the goal."""
    again = [1] if whole_bar else []
    ours = loosest(goal, lambda tol: distance(zwang(text, "--tolerance", tol, command="run")["q"], names, right), 10 * begin)
    theirs = loosest(goal, lambda tol: distance(peer_at(tol)["q"], names, right), begin)
    found = alternate(work, plan.rounds, zwang=lambda: zwang(text, "--tolerance", ours),
                      whole=lambda: zwang(text, "--tolerance", ours, command="run"), peer=lambda: peer_at(theirs, *again))
    off = {name: check(f"{work}, {name}", results, lambda r: distance(r["q"], names, right), goal)
           for name, results in found.items()}
    size = f"to {small(goal)}; tolerances {ours:g}, {theirs:g}"
    rows.append(Row(work, size, median(found["zwang"], lambda r: r["run_seconds"]), label, median(found["peer"]), bar,
                    off["zwang"], off["peer"]))
    if whole_bar:
        whole = median(found["whole"], lambda r: r["process_seconds"])
        for build, how, goal in (("build", "with compilation", whole_bar), ("build_again", "with code found on disk", None)):
            rows.append(Row(work + ", whole process of `zwang run`", size, whole, f"{label}, {how}",
                            median(found["peer"], lambda r: r[build] + r["seconds"]), goal, off["zwang"], off["peer"]))


def double_pendulum(plan):
    """5: double pendulum."""
    motion(plan, "double pendulum, 10 s", problems.DOUBLE_PENDULUM, ["a", "b"], problems.double_pendulum_end(), 1e-10,
           lambda *words: peer("heyoka_double_pendulum", *words), "heyoka Taylor", 1, 1e-8, 50)


def squeezer(plan):
    """6: Andrews' squeezing mechanism."""
    motion(plan, "Andrews' mechanism, 0.03 s", problems.SQUEEZER, problems.SQUEEZER_NAMES, problems.squeezer_end(), 1e-9,
           lambda *words: peer("heyoka_squeezer", *words), "heyoka Taylor, equations by hand", 1, 1e-8, 1)


def parallelogram(plan):
    """7: three cranks with a redundant rod."""
    motion(plan, "redundant parallelogram, 10 s", problems.PARALLELOGRAM, problems.PARALLELOGRAM_NAMES,
           problems.parallelogram_at(10.0), 1e-7, lambda *words: peer("scipy_parallelogram", *words),
           "scipy DOP853 + numpy pinv", 50, 1e-7)


def startup(plan):
    """8: wall time of whole processes."""
    models = ROOT / "models"
    ten = problems.pendulum(10).text
    commands = {"`zwang check`, pendulum of 10 links": ([ZWANG, "check", "-"], ten, 0.010),
                "`zwang check models/chain_of_ten_angles.zw`":
                    ([ZWANG, "check", models / "chain_of_ten_angles.zw"], None, 0.010),
                "`zwang run models/pendulum.zw`": ([ZWANG, "run", models / "pendulum.zw"], None, None),
                "an empty process (`true`)": (["true"], None, None),
                "`python -c 'import heyoka'`": ([sys.executable, "-c", "import heyoka"], None, None),
                "`python -c 'import casadi'`": ([sys.executable, "-c", "import casadi"], None, None)}
    times = {name: [] for name in commands}
    for turn in range(30):
        for name, (command, text, _) in commands.items():
            if "python" in name and turn >= 5:
                continue
            begin = time.perf_counter()
            done = subprocess.run(command, input=text, capture_output=True, text=True)
            times[name].append(time.perf_counter() - begin)
            if done.returncode:
                complaints.append(f"{name}: exit code {done.returncode}")
    for name, (_, _, goal) in commands.items():
        middle = statistics.median(times[name])
        starts.append([name, duration(middle), duration(min(times[name])), "" if goal is None else duration(goal),
                        "" if goal is None else "yes" if middle < goal else "**no**"])


def scale(plan):
    """9: how one acceleration grows with the number of masses."""
    for label, make, sizes in (("chain", problems.chain, plan.scale),
                               ("chain, every rod twice", lambda n: problems.chain(n, twice=True), plan.scale),
                               ("net", problems.net, plan.net)):
        for size in sizes:
            p = make(size)
            work = f"{label}, {len(p.masses)} masses"
            found = alternate(work, 1 if size > 1000 else min(plan.rounds, 3),
                              zwang=lambda: zwang(p.text, "--to", 1e-300))["zwang"]
            check(work + ", start", found, lambda r: problems.error(in_order(r["q"], p.names), p.q), EXACT)
            # rounding of the start alone moves the acceleration of a large net by 1e-12: compare at zwang's own state
            state = [in_order(found[-1][key], p.names) for key in ("q", "qdot")] if found else (p.q, p.qdot)
            right, sparse_seconds = p.at(*state)
            off = check(work, found, lambda r: problems.error(in_order(r["qddot"], p.names), right), EXACT)
            one = median(found, acceleration)
            growth[label, len(p.masses)] = one
            last = found[-1] if found else {}
            scaling.append([label, f"{len(p.masses):,}", f"{len(p.q):,}", f"{p.rows * (2 if 'twice' in label else 1):,}",
                            duration(median(found, preparation)), duration(one),
                            f"{one / len(p.masses) * 1e9:.0f} ns" if one else "", duration(sparse_seconds),
                            f"{last['peak_bytes'] / 2**20:.0f} MiB" if last else "", small(off), last.get("solver", "")])


PROBLEMS = {f.__name__: f for f in (pendulum, chain, twice, double_pendulum, squeezer, parallelogram, startup, scale)}


def report(plan, seconds):
    """Everything as one Markdown page."""
    parts = [f"# Measured {datetime.date.today()}" + (", quick" if plan.quick else ""), circumstances(ZWANG, ROOT),
             f"CPU time on one core, median of {plan.rounds} alternations of zwang and peer; ratio = its time / time of zwang, "
             "so more than 1 means that zwang is faster. How each is measured: [README](../README.md)."]
    if rows:
        works = [r.work for r in rows]
        rows.sort(key=lambda r: works.index(r.work))
        missed = sum(1 for r in rows if r.goal and (r.ratio() or 0) < r.goal)
        parts += ["## Ratios", table(COMPARISON, [r.cells() for r in rows]),
                  f"{sum(1 for r in rows if r.goal)} goals, {missed} missed."]
    if starts:
        parts += ["## Start-up", table(["whole process", "median wall time", "least", "goal", "met"], starts)]
    if scaling:
        parts += ["## One acceleration of many masses",
                  table(["system", "masses", "coordinates", "constraints", "text to machine code", "one acceleration",
                         "per mass", "scipy SuperLU, factor and solve", "peak memory", "error", "solver"], scaling)]
    ten_thousand, ten_times = growth.get(("chain", 10_000)), growth.get(("chain", 100_000))
    if ten_thousand:
        parts.append(f"Goal: a chain of 10,000 masses under 5 ms: {'yes' if ten_thousand < 5e-3 else '**no**'}"
                     + (f"; ten times the masses take {ten_times / ten_thousand:.1f} times as long." if ten_times else "."))
    if spreads:
        parts.append(f"Spread within one side, (largest - least) / median: {100 * statistics.median(spreads):.0f} % in the "
                     f"middle, {100 * max(spreads):.0f} % at most. Took {seconds / 60:.1f} minutes.")
    if complaints:
        parts += ["## Wrong or missing", "\n".join(f"- {c}" for c in complaints)]
    return "\n\n".join(parts) + "\n"


def main():
    words = argparse.ArgumentParser(prog="bench/run", description="Measures zwang beside its peers.")
    words.add_argument("--quick", action="store_true", help="fewer sizes and repetitions, about two minutes")
    words.add_argument("-o", metavar="FILE", help="write the table here")
    words.add_argument("problem", nargs="*", help="only these: " + ", ".join(PROBLEMS))
    plan = words.parse_args()
    for name in plan.problem:
        if name not in PROBLEMS:
            words.error(f"no problem {name}; there are {', '.join(PROBLEMS)}")
    plan.rounds = 3 if plan.quick else 5
    plan.pendulum = [2, 10] if plan.quick else [2, 10, 20]
    plan.chain = [10, 100] if plan.quick else [10, 100, 500]
    plan.scale = [100, 1000] if plan.quick else [10, 100, 1000, 10_000, 100_000]
    plan.net = [10, 32] if plan.quick else [10, 32, 100]
    begin = time.perf_counter()
    for name in plan.problem or PROBLEMS:
        print(f"{time.perf_counter() - begin:6.1f} s  {name}", file=sys.stderr, flush=True)
        try:
            PROBLEMS[name](plan)
        except Failed as reason:
            complaints.append(f"{name}: {reason}")
    page = report(plan, time.perf_counter() - begin)
    print(page)
    target = plan.o or (None if plan.quick or plan.problem else ROOT / "bench" / "results" / f"{datetime.date.today()}.md")
    if target:
        Path(target).write_text(page)
    sys.exit(1 if complaints else 0)


if __name__ == "__main__":
    main()
