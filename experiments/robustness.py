"""Do the defaults still work when the task changes? One training for each change: limit 40 % lower and higher, half and twice the
episodes, 100 steps more. Prints a Markdown table.
usage: experiments/robustness.py [PROGRAM] [FOLDER] [TASK …]"""
import json
import subprocess
import sys

program = sys.argv[1] if len(sys.argv) > 1 else "build/bin/cgpo"
folder = sys.argv[2] if len(sys.argv) > 2 else "runs/robustness"
tasks = sys.argv[3:] or ["cartpole", "reacher", "halfcheetah"]
listed = json.loads(subprocess.run([program, "tasks", "--json"], capture_output=True, check=True, text=True).stdout)["tasks"]
specs = {task["name"]: task for task in listed}

print("| task | change | return | cost | limit | updates over the limit |")
print("| --- | --- | --- | --- | --- | --- |")
for task in tasks:
    limit, horizon = specs[task]["costs"][0]["limit"], specs[task]["horizon"]
    environments = 256 if task == "ant" else 128
    changes = {
        "limit 40 % lower": [f"limits=[{limit - 0.4 * abs(limit)}]"],
        "limit 40 % higher": [f"limits=[{limit + 0.4 * abs(limit)}]"],
        "half the episodes": [f"environments={environments // 2}"],
        "twice the episodes": [f"environments={2 * environments}"],
        "100 steps more": [f"horizon={horizon + 100}"],
    }
    for change, sets in changes.items():
        out = f"{folder}/{task}-{change.replace(' ', '-').replace('%', 'percent')}"
        subprocess.run([program, "train", task, "--seed", "0", "--out", out, "--force", *(word for key in sets for word in ("--set", key))],
                       capture_output=True, check=True)
        with open(f"{out}/log.jsonl") as lines:
            log = [json.loads(line) for line in lines]
        bound = log[-1]["limits"][0]
        mean = lambda values: sum(values) / len(values)
        over = mean([entry["costs"][0] > bound + 0.01 * max(abs(bound), 1.0) for entry in log])
        print(f"| {task} | {change} | {mean([entry['return'] for entry in log[-5:]]):.1f} | {mean([entry['costs'][0] for entry in log[-5:]]):.1f} "
              f"| {bound:g} | {100 * over:.1f} % |", flush=True)
