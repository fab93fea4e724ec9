#!/usr/bin/env python3
"""Opens one-file reports in headless Chromium, wide and narrow, and fails on any console message of level error or warning.

usage: html_check.py [--shots DIR] FILE.html...

Without a Chromium it says that it skips, and exits 0.
"""
import argparse
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

SIZES = [(1280, 3400), (390, 5600)]
# "[1234:1234:0102/030405.678:INFO:CONSOLE(12)] "Uncaught TypeError: ...", source: file:///... (12)"
CONSOLE = re.compile(r'CONSOLE[:(]\d+\)?\] "(?P<text>.*)", source:')


def find_chromium():
    for name in ("chromium", "chromium-browser", "google-chrome"):
        if path := shutil.which(name):
            return path
    return None


def check(chromium, page, size, shot):
    """Lines of the page's console, and whether a picture was made."""
    width, height = size
    with tempfile.TemporaryDirectory() as profile:
        command = [chromium, "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", f"--user-data-dir={profile}",
                   "--enable-logging=stderr", "--v=0", f"--window-size={width},{height}", f"--screenshot={shot}",
                   "--virtual-time-budget=5000", page.resolve().as_uri()]
        done = subprocess.run(command, capture_output=True, text=True, errors="replace", timeout=120, check=False)
    messages = [match["text"] for line in done.stderr.splitlines() if (match := CONSOLE.search(line))]
    if done.returncode != 0:
        messages.append(f"chromium ended with {done.returncode}: {done.stderr[-500:]}")
    if not shot.exists() or shot.stat().st_size == 0:
        messages.append("no picture was made")
    return messages


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("pages", nargs="+", type=pathlib.Path, metavar="FILE.html")
    parser.add_argument("--shots", type=pathlib.Path, help="folder that keeps the pictures")
    options = parser.parse_args()
    chromium = find_chromium()
    if chromium is None:
        print("skipped: there is no chromium here")
        return 0
    failed = False
    with tempfile.TemporaryDirectory() as scratch:
        shots = options.shots or pathlib.Path(scratch)
        shots.mkdir(parents=True, exist_ok=True)
        for page in options.pages:
            for size in SIZES:
                messages = check(chromium, page, size, shots.resolve() / f"{page.stem}-{size[0]}.png")
                failed = failed or bool(messages)
                print(f"{page} at {size[0]} px: {'ok' if not messages else 'console: ' + '; '.join(messages)}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
