"""Reads one JSON object a line, as the peers print them, and prints a Markdown table or, with --json, one object."""

import datetime
import importlib.metadata
import json
import os
import statistics
import sys


def machine():
    name = "unknown processor"
    with open("/proc/cpuinfo") as lines:
        for line in lines:
            if line.startswith("model name"):
                name = line.split(":")[1].strip()
                break
    return f"{name}, {len(os.sched_getaffinity(0))} cores"


def summary(row):
    turns = row["turns"]

    def median(value):
        return statistics.median(map(value, turns)) if turns[0]["own"] else None

    short = {key: row[key] for key in ("task", "peer", "period", "substeps", "finite", "compile_gradient_s", "own_startup_s")}
    for kind in ("gradient", "gradient_core", "forward"):
        short[kind] = statistics.median(turn[kind] for turn in turns)
        short[f"own_{kind}"] = median(lambda turn: turn["own"][kind])
        short[f"ratio_{kind}"] = median(lambda turn: turn["own"][kind] / turn[kind])
        short[f"ratios_{kind}"] = sorted(turn["own"][kind] / turn[kind] for turn in turns if turn["own"])
    short["load"] = statistics.median(turn["load"] for turn in turns)
    return short


def markdown(report):
    yield f"{report['date']}, {report['machine']}; " + ", ".join(f"{k} {v}" for k, v in report["versions"].items())
    yield ""
    yield ("| task | peer | substeps × s | gradients/s | ours | ratio (range) | ratio a core | forward/s | ours | ratio "
           "| compile s | ours | load |")
    yield "|" + " --- |" * 13
    number = lambda value, digits=0: "—" if value is None else f"{value:,.{digits}f}".replace(",", " ")  # noqa: E731
    for row in report["rows"]:
        ratios = row["ratios_gradient"]
        spread = f" ({number(ratios[0])}–{number(ratios[-1])})" if ratios else ""
        yield "| " + " | ".join([
            row["task"], row["peer"] + ("" if row["finite"] else " (not finite)"),
            f"{row['substeps']} × {row['period'] / row['substeps']:.3g}",
            number(row["gradient"]), number(row["own_gradient"]), number(row["ratio_gradient"]) + spread,
            number(row["ratio_gradient_core"]),
            number(row["forward"]), number(row["own_forward"]), number(row["ratio_forward"], 1),
            number(row["compile_gradient_s"]), number(row["own_startup_s"], 2), number(row["load"], 1)]) + " |"


def main():
    report = {
        "date": datetime.date.today().isoformat(),
        "machine": machine(),
        "versions": {name: importlib.metadata.version(name) for name in ("brax", "mujoco-mjx", "jax")},
        "rows": [summary(json.loads(line)) for line in sys.stdin if line.startswith("{")],
    }
    print(json.dumps(report, indent=1) if "--json" in sys.argv else "\n".join(markdown(report)))


if __name__ == "__main__":
    main()
