"""CPU seconds of `gnomon --help` and `gnomon list`, as multiples of bare Python. Limits: 5 and
8."""

import argparse
import json
import resource
import subprocess
import sys

LIMITS = {"help": 5.0, "list": 8.0}
COMMANDS = {
    "bare": ["-c", "pass"],
    "help": ["-m", "gnomon", "--help"],
    "list": ["-m", "gnomon", "list"],
}


def cpu_seconds(arguments: list[str]) -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, *arguments], check=True, stdout=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--rounds", type=int, default=15)
    args = parser.parse_args()
    times: dict[str, list[float]] = {name: [] for name in COMMANDS}
    for _ in range(args.rounds):  # interleaved, so that a noisy moment hits all alike
        for name, command in COMMANDS.items():
            times[name].append(cpu_seconds(command))
    median = {name: sorted(found)[len(found) // 2] for name, found in times.items()}
    ratios = {f"{name}_ratio": round(median[name] / median["bare"], 2) for name in LIMITS}
    held = all(ratios[f"{name}_ratio"] <= limit for name, limit in LIMITS.items())
    if args.json:
        print(json.dumps(ratios | {"held": held}))
    else:
        for name, limit in LIMITS.items():
            ratio = ratios[f"{name}_ratio"]
            print(
                f"gnomon {name}: {ratio:.1f} x bare Python ({1000 * median[name]:.0f} ms; limit {limit})"
            )
    return 0 if held else 1


if __name__ == "__main__":
    sys.exit(main())
