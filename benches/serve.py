#!/usr/bin/env python3
"""Measures `omni-run serve` and prints a Markdown table.

    benches/run                               with everything else
    OMNI_RUN=target/release/omni-run benches/serve.py

The server runs in a home of its own. Times are those of a client on loopback with a connection that
stays open, from the first byte sent to the last received. OMNI_BENCH_SECONDS shortens the load of 60 s.
"""

import http.client
import json
import os
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

OMNI = os.environ["OMNI_RUN"]
SECONDS = int(os.environ.get("OMNI_BENCH_SECONDS", "60"))
RATE = 200
CLIENTS = 4


class Client:
    def __init__(self, port, token):
        self.connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
        self.headers = {"Authorization": f"Bearer {token}"}

    def __call__(self, method, path, body=None):
        headers = dict(self.headers)
        if body is not None:
            body = json.dumps(body)
            headers["Content-Type"] = "application/json"
        self.connection.request(method, path, body, headers)
        answer = self.connection.getresponse()
        return answer.status, answer.read()


def status(pid, key):
    """A number of /proc/PID/status."""
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith(key + ":"):
            return int(line.split()[1])
    return 0


def switches(pid):
    """Context switches of all threads."""
    total = 0
    for task in Path(f"/proc/{pid}/task").iterdir():
        for line in (task / "status").read_text().splitlines():
            if "ctxt_switches" in line:
                total += int(line.split()[1])
    return total


def timed(client, path, runs=50):
    times = []
    for _ in range(runs):
        start = time.perf_counter()
        code, body = client("GET", path)
        times.append((time.perf_counter() - start) * 1000)
        assert code == 200, body
    return statistics.median(times), min(times), body


def load(port, token, seconds):
    """RATE requests a second from CLIENTS threads; their times in ms and the codes."""
    paths = ["/healthz", "/project/p1/docs", "/actions?limit=20", "/sessions?limit=20", "/settings"]
    times, codes, lock = [], {}, threading.Lock()
    begin = time.perf_counter() + 0.2

    def one(number):
        client = Client(port, token)
        own, seen = [], {}
        step = CLIENTS / RATE
        for turn in range(int(seconds / step)):
            due = begin + number / RATE + turn * step
            wait = due - time.perf_counter()
            if wait > 0:
                time.sleep(wait)
            start = time.perf_counter()
            # Every twentieth asks for something: that writes to the store.
            if turn % 20 == 19:
                code, _ = client("PATCH", "/settings", {"chip": turn % 2 == 0})
            else:
                code, _ = client("GET", paths[turn % len(paths)])
            own.append((time.perf_counter() - start) * 1000)
            seen[code] = seen.get(code, 0) + 1
        with lock:
            times.extend(own)
            for code, count in seen.items():
                codes[code] = codes.get(code, 0) + count

    threads = [threading.Thread(target=one, args=(number,)) for number in range(CLIENTS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return sorted(times), codes, time.perf_counter() - begin


def main():
    root = Path(tempfile.mkdtemp(prefix="omni-bench-"))
    home = root / "home"
    (root / "run").mkdir(mode=0o700)
    home.mkdir()
    env = {"HOME": str(home), "PATH": "/usr/bin:/bin", "LANG": "C.UTF-8",
           "XDG_RUNTIME_DIR": str(root / "run")}
    for name, count, folder in [("p1", 20, ""), ("many", 1000, ""), ("rag", 1000, "rag")]:
        docs = root / name / ".claude/docs" / folder
        docs.mkdir(parents=True)
        for n in range(count):
            (docs / f"doc-{n:04}.md").write_text(f"# Doc {n}\n\n" + "Some words of a document.\n" * 20)
        subprocess.run([OMNI, "-q", "project", "add", "--id", name, str(root / name)], env=env, check=True)
    server = subprocess.Popen([OMNI, "-q", "serve", "--port", "0"], env=env, cwd=root)
    data = home / ".local/share/omni-run"
    while not (data / "serve-port").exists():
        if server.poll() is not None:
            sys.exit("bench: serve did not start")
        time.sleep(0.01)
    port, token = int((data / "serve-port").read_text()), (data / "api-token").read_text().strip()
    rows = []
    try:
        client = Client(port, token)
        assert client("GET", "/healthz")[0] == 200
        client.connection.close()
        time.sleep(4)  # the workers end after two seconds
        before = switches(server.pid)
        time.sleep(10)
        wakes = switches(server.pid) - before
        rows.append(("idle: memory", f"{status(server.pid, 'VmRSS') / 1024:.1f} MB", "", "≤ 12 MB"))
        rows.append(("idle: context switches in 10 s, all threads", str(wakes), "", "0"))
        for name in ["many", "rag"]:
            median, best, body = timed(client, f"/project/{name}/docs?engine=echo")
            listed = json.loads(body)
            count = len(listed["files"]) + len(listed["ragFiles"])
            what = f"`GET docs`, {count} files" + (" in rag/" if name == "rag" else "")
            rows.append((what, f"{median:.1f} ms", f"{best:.1f} ms", "≤ 10 ms"))
        start = time.perf_counter()
        for n in range(1000):
            code, body = client("POST", "/project/p1/new", {"engine": "echo", "prompt": f"prompt {n}"})
            assert code == 202, body
        each = time.perf_counter() - start
        rows.append(("asking for something, durable (1,000 of them)", f"{each:.2f} ms", "", ""))
        median, best, body = timed(client, "/actions")
        assert len(json.loads(body)["actions"]) == 1000
        rows.append(("`GET /actions`, 1,000 queued", f"{median:.1f} ms", f"{best:.1f} ms", "≤ 20 ms"))
        times, codes, took = load(port, token, SECONDS)
        count = len(times)
        peak = status(server.pid, "VmHWM") / 1024
        cpu = sum(int(x) for x in Path(f"/proc/{server.pid}/stat").read_text().split()[13:15]) / os.sysconf("SC_CLK_TCK")
        rows.append((f"{count / took:.0f} requests/s for {took:.0f} s, answers {codes}",
                     f"{times[count // 2]:.1f} ms", f"p99 {times[count * 99 // 100]:.1f} ms",
                     "200/s, none refused"))
        rows.append(("peak memory of all that", f"{peak:.1f} MB", f"CPU {cpu:.1f} s", "≤ 40 MB"))
    finally:
        server.send_signal(signal.SIGTERM)
        server.wait()
        shutil.rmtree(root)
    print(f"`serve` on {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}:\n")
    print("| what | median | best | target |\n|---|---|---|---|")
    for row in rows:
        print("| " + " | ".join(row) + " |")


main()
