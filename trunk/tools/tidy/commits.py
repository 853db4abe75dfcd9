#!/usr/bin/env python3
"""Checks the form of the commits that a branch adds: the subject is `room: change in the imperative` of at most 72 characters, and a body with the reason.

    commits.py [BASE]     the commits after BASE; default: the branch's upstream, else origin/main, else main
"""

import re
import subprocess
import sys
from pathlib import Path

SUBJECT_CHARACTERS_MAX = 72
SUBJECT = re.compile(r"^[\w/.*,{} +-]+: \S")
# Third person, past and progressive forms that are mistaken for an imperative.
NOT_IMPERATIVE = re.compile(r"^[\w/.*,{} +-]+: (?:adds|added|adding|fixes|fixed|fixing|removes|removed|changes|changed|makes|made|updates|updated|is|are|was|the|a)\b", re.IGNORECASE)
REPOSITORY = Path(__file__).resolve().parents[3]


def problems_of(subject, body):
    """Sentences about one commit; none if its form is right."""
    if len(subject) > SUBJECT_CHARACTERS_MAX:
        yield f"the subject has {len(subject)} characters, {SUBJECT_CHARACTERS_MAX} are allowed"
    if not SUBJECT.match(subject):
        yield "the subject has no room: use `room: change in the imperative`"
    elif NOT_IMPERATIVE.match(subject):
        yield "the subject is not in the imperative"
    if not body.strip():
        yield "there is no body: it says why, and the measurements"


def git(*arguments):
    done = subprocess.run(["git", "-C", str(REPOSITORY), "-c", "safe.directory=*", *arguments], capture_output=True, check=False)
    return done.stdout.decode(errors="replace") if done.returncode == 0 else None


def find_base():
    for name in ("@{upstream}", "origin/main", "main"):
        found = git("rev-parse", "--verify", "--quiet", name + "^{commit}")
        if found:
            return found.strip()
    return None


def main(arguments):
    base = arguments[1] if len(arguments) > 1 else find_base()
    log = git("log", "--no-merges", "--format=%h%x1f%s%x1f%b%x1e", f"{base}..HEAD") if base else None
    if log is None:
        print("commits: no base to compare with, nothing is checked")
        return 0
    failed = False
    for record in filter(None, (part.strip("\n") for part in log.split("\x1e"))):
        name, subject, body = record.split("\x1f")
        for text in problems_of(subject, body):
            failed = True
            print(f"commit {name}: {text}: {subject}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
