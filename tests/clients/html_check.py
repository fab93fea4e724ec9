#!/usr/bin/env python3
"""Opens one-file reports in headless Chromium, wide and narrow, light and dark, and fails on any message in the
console: errors, exceptions, warnings.

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

VIEWS = [(1280, 3600, "light"), (390, 6000, "light"), (390, 6000, "dark")]
SCHEMES = {"dark": 0, "light": 1}  # Blink's numbers
# "[1234:1234:0102/030405.678:INFO:CONSOLE(12)] "Uncaught TypeError: ...", source: file:///... (12)"
CONSOLE = re.compile(r'CONSOLE[:(]\d+\)?\] "(?P<text>.*)", source:')


def find_chromium():
    for name in ("chromium", "chromium-browser", "google-chrome"):
        if path := shutil.which(name):
            return path
    return None


def check(chromium, page, view, shot):
    """What is wrong: lines of the page's console, a picture that was not made."""
    width, height, scheme = view
    with tempfile.TemporaryDirectory() as profile:
        command = [chromium, "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", f"--user-data-dir={profile}",
                   "--enable-logging=stderr", "--v=0", f"--window-size={width},{height}", f"--screenshot={shot}",
                   f"--blink-settings=preferredColorScheme={SCHEMES[scheme]}",
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
            for view in VIEWS:
                messages = check(chromium, page, view, shots.resolve() / f"{page.stem}-{view[0]}-{view[2]}.png")
                failed = failed or bool(messages)
                print(f"{page} at {view[0]} px, {view[2]}: {'ok' if not messages else 'console: ' + '; '.join(messages)}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
