#!/usr/bin/env python3
"""Runs a program that stands still again and again, as on a machine that others keep busy: for up to 60 ms, after up to 10 ms.

stall.py SEED PROGRAM [ARGUMENT...]

Ends as the program does.
"""

import random
import signal
import subprocess
import sys
import time

RUNS_MAX = 0.010
STALL_MAX = 0.060


def main() -> int:
    seed, *command = sys.argv[1:]
    chance = random.Random(seed)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    with subprocess.Popen(command) as program:
        try:
            while program.poll() is None:
                time.sleep(chance.uniform(0, RUNS_MAX))
                program.send_signal(signal.SIGSTOP)
                # Mostly short, now and then long.
                time.sleep(chance.random() ** 3 * STALL_MAX)
                program.send_signal(signal.SIGCONT)
        finally:
            program.kill()
    return program.returncode if program.returncode >= 0 else 128 - program.returncode


if __name__ == "__main__":
    sys.exit(main())
