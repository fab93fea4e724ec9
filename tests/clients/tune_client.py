#!/usr/bin/env python3
"""`teapot tune` on a pretend server whose answer is known, killed in mid-trial on the way.

  tune_client.py TEAPOT [--keep DIR]

Checks: kill -9 of the tuner leaves no process of the server behind, not even one in a session of its own; `resume` goes on to the end; the
verdict on each setting; the files that are written; show, why, export. Exit code 1 with the first thing that isn't as expected.
--keep: where report.html is copied to.
"""
import json
import os
import pathlib
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent


def expect(good, what):
    if not good:
        sys.exit(f"tune_client.py: {what}")


def left_behind(mark):
    """Command lines that name `mark` (the folder of this run) or come from such a process."""
    found = []
    for process in pathlib.Path("/proc").iterdir():
        if not process.name.isdigit() or int(process.name) == os.getpid():
            continue
        try:
            env = (process / "environ").read_bytes()
            line = (process / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
        except OSError:
            continue
        if f"TUNE_TEST={mark}".encode() in env and line and "tune_client" not in line:
            found.append(line)
    return found


def main():
    teapot = pathlib.Path(sys.argv[1]).resolve()
    with tempfile.TemporaryDirectory() as scratch:
        folder = pathlib.Path(scratch) / "session"
        env = {**os.environ, "TUNE_TEST": scratch}
        command = [teapot, "tune", "--catalogue", HERE / "tune_double.yaml", "--fill", f"double={HERE / 'tune_double.py'}", "--model", "none",
                   "--budget", "50pairs", "--parallel", "2", "--load", "32/20", "--requests-per-user", "2", "--max-ttft-harm", "50%",
                   "--seed", "3", "--out", folder]
        first = subprocess.Popen(command, env=env, stderr=subprocess.PIPE, text=True)
        ledger = folder / "ledger.jsonl"
        deadline = time.monotonic() + 120
        while not (ledger.exists() and len(ledger.read_text().splitlines()) > 5):
            expect(first.poll() is None, f"the tuner ended early: {first.stderr.read() if first.poll() is not None else ''}")
            expect(time.monotonic() < deadline, "no trials within two minutes")
            time.sleep(0.05)
        deadline = time.monotonic() + 30
        while not any("sleep" in line for line in left_behind(scratch)):  # in mid-trial, with its helper
            expect(time.monotonic() < deadline, "no server to be seen")
            time.sleep(0.01)
        first.send_signal(signal.SIGKILL)
        first.wait()
        deadline = time.monotonic() + 20
        while left_behind(scratch):
            expect(time.monotonic() < deadline, f"left behind by kill -9: {left_behind(scratch)}")
            time.sleep(0.1)
        killed_at = len(ledger.read_text().splitlines())

        resumed = subprocess.run([teapot, "tune", "resume", folder, "--json"], env=env, capture_output=True, text=True, timeout=1500)
        expect(resumed.returncode == 0, f"resume: exit code {resumed.returncode}: {resumed.stderr}")
        expect(not left_behind(scratch), f"left behind: {left_behind(scratch)}")
        lines = ledger.read_text().splitlines()
        expect(len(lines) > killed_at, "resume added nothing")
        expect([json.loads(line)["trial"] for line in lines[1:]] == list(range(len(lines) - 1)), "trials are not numbered one by one")
        result = json.loads(resumed.stdout)
        expect(result == json.loads((folder / "result.json").read_text()), "result.json is another than the one that was printed")
        verdicts = {}
        for verdict in result["verdicts"]:
            verdicts[verdict["knob"], verdict["value"]] = verdict["verdict"]
        print(json.dumps(result["confirmed"]), verdicts)
        for move, verdict in {("pace", "fast"): "win", ("greedy", "fold"): "broken (text)", ("wall", "crash"): "broken (start)",
                              ("wall", "hang"): "broken (hang)", ("load", "die"): "broken (crash)", ("lamp", "on"): "inert",
                              ("governor", "true"): "refused"}.items():
            expect(verdicts.get(move) == verdict, f"{move}: {verdicts.get(move)}, not {verdict}")
        expect(verdicts["lag", "2"] in ("lose", "screened"), f"lag 2: {verdicts['lag', '2']}")
        expect(result["profile"].get("pace") == "fast" and "lag" not in result["profile"], f"the profile: {result['profile']}")
        expect(result["args"][-2:] == ["--pace", "fast"], f"args: {result['args']}")
        confirmed = result["confirmed"]
        expect(confirmed["low"] < -33 < confirmed["high"] or abs(confirmed["change_percent"] + 33) < 3, f"confirmed: {confirmed}")

        shown = subprocess.run([teapot, "tune", "show", folder, "--json"], capture_output=True, text=True, check=True)
        expect(json.loads(shown.stdout) == result, "show says something else")
        why = subprocess.run([teapot, "tune", "why", "lamp", folder], capture_output=True, text=True, check=True).stdout
        expect("inert" in why and "in force: no" in why, f"why lamp: {why}")
        files = subprocess.run([teapot, "tune", "export", folder, "--port", "8123"], capture_output=True, text=True, check=True).stdout.split()
        expect(len(files) == 4 and all(pathlib.Path(file).exists() for file in files), f"export: {files}")
        script = (folder / "winner.sh").read_text()
        expect("--port 8123" in script and "--pace fast" in script, f"winner.sh: {script}")
        subprocess.run(["sh", "-n", folder / "winner.sh"], check=True)
        database = sqlite3.connect(folder / "ledger.sqlite")
        expect(database.execute("SELECT count(*) FROM trials").fetchone()[0] == len(lines) - 1, "the database has other trials")
        expect(database.execute("SELECT count(*) FROM loads WHERE tpot_ms > 0").fetchone()[0] > 30, "the database has no loads")
        html = (folder / "report.html").read_text()
        expect("pace = fast" in html and "<script>" in html, "the page is empty")
        if len(sys.argv) > 3 and sys.argv[2] == "--keep":
            pathlib.Path(sys.argv[3]).mkdir(parents=True, exist_ok=True)
            shutil.copy(folder / "report.html", sys.argv[3])
    print("tune_client.py: as expected")


main()
