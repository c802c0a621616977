"""Measurements as Markdown."""
import importlib.metadata
import os
import platform
import re
import subprocess
from dataclasses import dataclass


@dataclass
class Row:
    """One piece of work done by zwang and by a peer; times in seconds. `goal` is the ratio to reach."""
    work: str
    size: str
    ours: float
    peer: str
    theirs: float
    goal: float = None
    our_error: float = None
    their_error: float = None

    def ratio(self):
        return self.theirs / self.ours if self.ours and self.theirs else None

    def cells(self):
        ratio = self.ratio()
        met = "" if self.goal is None or ratio is None else "yes" if ratio >= self.goal else "**no**"
        return [self.work, self.size, duration(self.ours), self.peer, duration(self.theirs),
                "–" if ratio is None else f"**{two_digits(ratio)}**", "" if self.goal is None else f"{self.goal:g}", met,
                small(self.our_error), small(self.their_error)]


COMPARISON = ["work", "size", "zwang", "peer", "its time", "ratio", "goal", "met", "error, zwang", "error, peer"]


def two_digits(x):
    return f"{x:.0f}" if x >= 99.5 else f"{x:.2g}"


def small(x):
    return "" if x is None else "0" if x == 0 else f"{x:.0e}".replace("e-0", "e-")


def duration(seconds):
    if seconds is None:
        return "failed"
    for unit, size in (("s", 1), ("ms", 1e-3), ("µs", 1e-6), ("ns", 1e-9)):
        if seconds >= size or unit == "ns":
            return f"{seconds / size:.3g} {unit}"


def table(columns, rows):
    lines = [columns, ["---"] * len(columns), *rows]
    return "\n".join("| " + " | ".join(map(str, line)) + " |" for line in lines)


def first_line(*command, at=None):
    try:
        return subprocess.run(command, capture_output=True, text=True, cwd=at).stdout.splitlines()[0]
    except (OSError, IndexError):
        return "unknown"


def circumstances(zwang, root):
    """The machine and the versions, without names of hosts or folders."""
    info = open("/proc/cpuinfo").read()
    field = lambda name: (re.search(rf"^{name}\s*: (.*)$", info, re.M) or [0, "?"])[1]
    cpu = f"{field('model name')} (family {field('cpu family')}, model {field('model')})"
    gib = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    versions = [f"{first_line(zwang, '--version')} at {first_line('git', 'rev-parse', '--short', 'HEAD', at=root)}"]
    versions += [f"{name} {importlib.metadata.version(name)}" for name in ("heyoka", "casadi", "scipy", "numpy")]
    versions += [f"gcc {first_line('gcc', '-dumpfullversion')}", first_line("rustc", "--version").split(" (")[0],
                 f"Python {platform.python_version()}"]
    return (f"Machine: {cpu}, {os.cpu_count()} cores, {gib:.0f} GiB; one core used.\n"
            f"Versions: {', '.join(versions)}.")
