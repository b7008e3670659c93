"""One row of the table of robot_seeds.sh: task, seed, folder of the run, seconds."""
import json
import sys

task, seed, folder, seconds = sys.argv[1:5]
result = json.load(open(f"{folder}/eval.json"))
log = [json.loads(line) for line in open(f"{folder}/log.jsonl")]
cost = result["costs"][0]
limit = cost["limit"]
margin = 0.01 * max(abs(limit), 1.0)
over = sum(entry["costs"][0] > limit + margin for entry in log)
near = sum(entry["costs"][0] > limit - 0.1 * max(abs(limit), 1.0) for entry in log)  # the critical area
critical = f"{100 * over / near:.1f} %" if near else "–"

# Strict convergence: a full window of a tenth of the run follows in which the return stays within 5 % of the run's range
# of where it is, it is feasible, and within 5 % of the range of the best feasible return.
returns = [entry["return"] for entry in log]
feasible = [entry["costs"][0] <= limit + margin for entry in log]
tolerance = 0.05 * (max(returns) - min(returns))
best = max((r for r, ok in zip(returns, feasible) if ok), default=float("inf"))
window = max(1, len(log) // 10)
converged = "–"
for i in range(len(log) - window):
    if feasible[i] and returns[i] >= best - tolerance and all(
        abs(r - returns[i]) <= tolerance for r in returns[i + 1 : i + 1 + window]
    ):
        converged = f"{log[i]['steps'] / 1e6:.2f}e6"
        break
print(
    f"| {task} | {seed} | {result['return']['mean']:.1f} ± {result['return']['se']:.1f} "
    f"| {cost['mean']:.1f} ± {cost['se']:.1f} | {limit:g} | {result['episode_length']:.0f} "
    f"| {100 * over / len(log):.1f} % | {critical} | {converged} | {float(seconds):.0f} |",
    flush=True,
)
