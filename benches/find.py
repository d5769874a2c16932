#!/usr/bin/env python3
"""Measures `search`, `sessions` and a launch on a store of 1,000,000 messages, and prints a Markdown
table.

    benches/run            builds the release binary and runs this with the others

The store is made by messages.py, the same on every machine, with the schema from before the index:
the first figures are the first launch on it, which makes the tables, and the first search, which fills
the index. Each other figure is a whole
process: wall time from spawn to reaped, median and best of N, and the median of its CPU time; the
disk's cache is warm.
OMNI_BENCH_MESSAGES makes fewer messages, OMNI_BENCH_STORE keeps the store in that folder for the next
time.
"""

import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
import messages  # noqa: E402

OMNI = os.environ["OMNI_RUN"]
RUNS = int(os.environ.get("OMNI_BENCH_RUNS", "20"))
COUNT = int(os.environ.get("OMNI_BENCH_MESSAGES", "1000000"))
KEPT = os.environ.get("OMNI_BENCH_STORE")

LAUNCH = [OMNI, "trivial", "-q", "-p", "What is the style of this project, and where is it written?"]
SEARCHES = [
    ("a rare word", ["quokkasaurus"]),
    ("the most frequent word", ["the"]),
    ("two frequent words", ["the of"]),
    ("frequent words of two languages, rarely together", ["the 的是"]),
    ("a rare phrase", ['"the purple wombat sings"']),
    ("a frequent phrase", ['"in the"']),
    ("a phrase of frequent words that is nowhere", ['"to be or not to be"']),
    ("a prefix", ["conf*"]),
    ("the widest prefix", ["c*"]),
    ("one character, Chinese", ["的"]),
    ("2 characters, rare", ["龘龘"]),
    ("2 characters, frequent", ["的是"]),
    ("4 characters, Japanese", ["検索機能"]),
    ("a frequent word of a small project", ["the", "--project", "p40"]),
    ("a frequent word of a rare engine", ["the", "--engine", "pi"]),
    ("a frequent word in a week of last year", ["the", "--since", "2025-11-03", "--until", "2025-11-09"]),
    ("`OR`, exclusion, replies only", ["retry OR lock -cache", "--role", "reply"]),
    ("the newest first", ["the", "--newest"]),
    ("a word that is nowhere", ["zzzunknownzzz"]),
]
LISTS = [
    ("`sessions ls`", []),
    ("`sessions ls --project p40`", ["--project", "p40"]),
    ("`sessions ls --engine pi --failed`", ["--engine", "pi", "--failed"]),
    ("`sessions ls --until 2025-11-09`", ["--until", "2025-11-09"]),
]


def spawn(argv, env, cwd, codes=(0,)):
    """Runs a process; gives its wall time and its CPU time in ms."""
    start = time.perf_counter()
    child = subprocess.Popen(argv, env=env, cwd=cwd, stdin=subprocess.DEVNULL,
                             stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(child.pid, 0)
    wall = (time.perf_counter() - start) * 1000
    code = child.returncode = os.waitstatus_to_exitcode(status)
    if code not in codes:
        sys.exit(f"bench: {argv} ended with {code}")
    return wall, (usage.ru_utime + usage.ru_stime) * 1000


def figures(runs):
    """Median and best wall time, median CPU time."""
    walls = [wall for wall, _ in runs]
    return statistics.median(walls), min(walls), statistics.median(cpu for _, cpu in runs)


def measure(argv, env, cwd, codes=(0,)):
    return figures([spawn(argv, env, cwd, codes) for _ in range(RUNS)])


def launches(env, cwd):
    """Launches with `cat` as the engine: the figures, and the slowest of many, because the index
    merges from time to time."""
    runs = [spawn(LAUNCH, env, cwd) for _ in range(RUNS * 4)]
    return figures(runs), max(wall for wall, _ in runs)


def main():
    root = Path(tempfile.mkdtemp(prefix="omni-find-"))
    home = root / "home"
    (home / ".config/omni-run").mkdir(parents=True)
    (home / ".config/omni-run/engines.toml").write_text(
        "[trivial]\nname='Trivial'\nprograms=['cat']\ninstall='-'\ndefault-window=200000\n"
        "version-args=['--version']\n")
    (root / "run").mkdir(mode=0o700)
    env = {"HOME": str(home), "PATH": "/usr/bin:/bin", "LANG": "C.UTF-8", "TZ": "UTC",
           "XDG_RUNTIME_DIR": str(root / "run")}
    rows = []

    def row(what, figures, target=""):
        rows.append((what, *(f"{figure:.1f} ms" for figure in figures), target))

    launches(env, root)
    row("a launch, store nearly empty", launches(env, root)[0])
    folder = Path(KEPT) if KEPT else root / "store"
    env["OMNI_RUN_DATA_DIR"] = str(folder)
    if not (folder / "omni-run.db").exists():
        print(f"bench: making {COUNT:,} messages in {folder}", file=sys.stderr)
        messages.make(folder, COUNT)
        before = (folder / "omni-run.db").stat().st_size
        wall, cpu = spawn(LAUNCH, env, root)
        rows.append(("the first launch on an old store, once", f"{wall / 1000:.1f} s", "", f"{cpu / 1000:.1f} s", ""))
        row("a launch, the index still empty", launches(env, root)[0])
        wall, cpu = spawn([OMNI, "search", "the"], env, root)
        size = (folder / "omni-run.db").stat().st_size
        rows.append((f"the first search: the index, once ({before / 1e6:.0f} MB grow to {size / 1e6:.0f} MB)",
                     f"{wall / 1000:.0f} s", "", f"{cpu / 1000:.0f} s", ""))
    spawn([OMNI, "search", "the"], env, root)
    for what, words in SEARCHES:
        row(f"`search`: {what}", measure([OMNI, "search", *words], env, root, (0, 1)), "≤ 50 ms")
    for what, options in LISTS:
        row(what, measure([OMNI, "sessions", "ls", *options], env, root), "≤ 20 ms")
    launch, worst = launches(env, root)
    row(f"a launch, {COUNT:,} messages in the store (slowest {worst:.0f} ms)", launch)
    listed = json.loads(subprocess.run([OMNI, "sessions", "ls", "--json", "--limit", str(RUNS)], env=env,
                                       cwd=root, capture_output=True, check=True).stdout)
    removals = [spawn([OMNI, "sessions", "rm", "--yes", session["id"]], env, root) for session in listed]
    row("`sessions rm` of one", figures(removals))

    print(f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}, {RUNS} runs each\n")
    print("| what | median | best | CPU | target |\n|---|---|---|---|---|")
    for cells in rows:
        print("| " + " | ".join(cells) + " |")
    shutil.rmtree(root)


main()
