#!/usr/bin/env python3
"""Measures omni-run's one-shot figures beside its peers and prints a Markdown table.

    benches/run            builds the release binary, gets the peers, measures

Each figure is a whole process: wall time from spawn to reaped (median and best of N), and peak
resident memory as GNU time reads it (a child of Python itself would count Python's own pages).
Peers: files-to-prompt (PyPI) and repomix (npm), which put a folder's files into one text; they know
nothing of budgets, engines or stores. The wrapped session is wrapped.py's.
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

OMNI = os.environ["OMNI_RUN"]
PEERS = Path(os.environ.get("OMNI_BENCH_PEERS", ""))
RUNS = int(os.environ.get("OMNI_BENCH_RUNS", "40"))
PEAKS = 3


def spawn(argv, env, cwd, stdin=None):
    """Runs a process; gives (wall ms, exit code)."""
    source = open(stdin, "rb") if stdin else open(os.devnull, "rb")
    start = time.perf_counter()
    child = subprocess.Popen(argv, env=env, cwd=cwd, stdin=source,
                             stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    code = child.wait()
    wall = (time.perf_counter() - start) * 1000
    source.close()
    return wall, code


def peak(argv, env, cwd, stdin=None):
    """Peak resident memory in MB, the highest of some runs."""
    highest = 0
    for _ in range(PEAKS):
        with tempfile.NamedTemporaryFile() as out:
            spawn(["/usr/bin/time", "-f", "%M", "-o", out.name, *argv], env, cwd, stdin)
            highest = max(highest, int(out.read().split()[-1]) / 1024)
    return highest


def measure(argv, env, cwd, runs=RUNS, stdin=None):
    results = [spawn(argv, env, cwd, stdin) for _ in range(runs)]
    bad = [code for _, code in results if code]
    if bad:
        sys.exit(f"bench: {argv} ended with {bad[0]}")
    walls = [wall for wall, _ in results]
    return statistics.median(walls), min(walls), peak(argv, env, cwd, stdin)


def main():
    root = Path(tempfile.mkdtemp(prefix="omni-bench-"))
    home = root / "home"
    (home / ".config/omni-run").mkdir(parents=True)
    env = {"HOME": str(home), "PATH": f"{root}/bin:/usr/bin:/bin", "LANG": "C.UTF-8",
           "XDG_RUNTIME_DIR": str(root / "run")}
    (root / "run").mkdir(mode=0o700)
    rows = []

    def row(what, target, figures):
        median, best, rss = figures
        rows.append((what, f"{median:.1f} ms", f"{best:.1f} ms", f"{rss:.1f} MB", target))

    row("`omni-run --version`", "≤ 5 ms, ≤ 10 MB", measure([OMNI, "--version"], env, root))

    docs = root / "p40/.claude/docs"
    docs.mkdir(parents=True)
    line = "Some words of a document, as people write them, with a `name` or two.\n"
    for n in range(40):
        (docs / f"doc-{n:02}.md").write_text(f"# Doc {n}\n\n" + line * (12_300 // len(line)))
    total = sum(f.stat().st_size for f in docs.iterdir())
    wide = "[wide]\nname='Wide'\nprograms=['wide']\ninstall='-'\ndefault-window=2000000\n"
    trivial = ("[trivial]\nname='Trivial'\nprograms=['cat']\ninstall='-'\ndefault-window=200000\n"
               "version-args=['--version']\n")
    (home / ".config/omni-run/engines.toml").write_text(wide + trivial)
    row(f"`docs preview`, 40 files, {total // 1000} KB", "≤ 30 ms, ≤ 25 MB",
        measure([OMNI, "docs", "preview", "--engine", "wide", "--project", str(root / "p40")], env, root))
    if PEERS.is_dir():
        row("files-to-prompt, the same folder", "peer",
            measure([str(PEERS / "venv/bin/files-to-prompt"), str(docs)], env, root, 10))
        node = shutil.which("node")
        if node:
            repomix = PEERS / "node_modules/repomix/bin/repomix.cjs"
            row("repomix --stdout, the same folder", "peer",
                measure([node, str(repomix), "--stdout", "--quiet", str(docs)],
                        env | {"PATH": os.environ["PATH"]}, root, 5))

    rag = root / "p10k/.claude/docs/rag"
    rag.mkdir(parents=True)
    for n in range(10_000):
        (rag / f"ref-{n:05}.md").write_text(f"# Reference {n}\n\n{line}")
    row("`docs preview`, 10,000 files in rag/", "≤ 60 ms",
        measure([OMNI, "docs", "preview", "--engine", "wide", "--project", str(root / "p10k")], env, root))

    small = root / "p1/.claude/docs"
    small.mkdir(parents=True)
    (small / "style.md").write_text("# Style\n\nShort words.\n")
    prompt = root / "prompt.txt"
    prompt.write_text("What is the style?")
    launch = [OMNI, "trivial", "-q", "-p", "--prompt-file", str(prompt), "--project", str(root / "p1")]
    spawn(launch, env, root)  # the version is asked once
    bare = measure(["cat"], env, root, RUNS, prompt)
    row("the trivial engine (`cat`) alone", "", bare)
    ours = measure(launch, env, root)
    row("the same through omni-run, store written", "", ours)
    overhead = ours[0] - bare[0]
    rows.append(("launch overhead (medians)", f"{overhead:.1f} ms", f"{ours[1] - bare[1]:.1f} ms", "", "≤ 15 ms"))

    start = time.perf_counter()
    many = [subprocess.Popen(launch, env=env, cwd=root, stdin=subprocess.DEVNULL,
                             stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) for _ in range(50)]
    codes = [child.wait() for child in many]
    wall = (time.perf_counter() - start) * 1000
    listed = subprocess.run([OMNI, "sessions", "ls", "--json", "--limit", "10000"], env=env, cwd=root,
                            capture_output=True, check=True)
    kept = len(json.loads(listed.stdout))
    expected = 1 + RUNS + PEAKS + 50
    rows.append((f"50 launches at once: {kept} of {expected} rows kept, {codes.count(0)} of 50 ended well",
                 f"{wall:.0f} ms in all", "", "", "no row lost"))

    print(f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}, {RUNS} runs each\n")
    print("| what | median | best | peak memory | target |\n|---|---|---|---|---|")
    for cells in rows:
        print("| " + " | ".join(cells) + " |")
    shutil.rmtree(root)
    if kept != expected or any(codes):
        sys.exit("bench: a row was lost")


main()
