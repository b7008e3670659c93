"""Rows of src/tasks/unconstrained.csv from the runs of experiments/unconstrained.sh: mean over seeds of the last five iterations."""
import glob
import json
import math
import sys

folder, tasks = sys.argv[1], sys.argv[2:]
print("task,cost,algorithm,seeds,steps,mean,se")
for task in tasks:
    ends = []
    for log in sorted(glob.glob(f"{folder}/{task}/ppo-*/log.jsonl")):
        with open(log) as lines:
            last = [json.loads(line) for line in lines][-5:]
        ends.append(sum(line["costs"][0] for line in last) / len(last))
        steps = last[-1]["steps"]
    mean = sum(ends) / len(ends)
    variance = sum((end - mean) ** 2 for end in ends) / (len(ends) - 1)
    print(f"{task},speed,ppo,{len(ends)},{steps},{mean:.1f},{math.sqrt(variance / len(ends)):.1f}")
