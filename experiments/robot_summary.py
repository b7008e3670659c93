"""The README's table of robots, from the rows of docs/results/generated/robots.md and the paper's own numbers.
usage: python3 experiments/robot_summary.py [docs/results/generated/robots.md]"""
import re
import sys

# Conv. Steps and Vio. Ratio of CGPO in the paper's Table 1.
PAPER = {"cartpole": ("1.77e6", "3.96"), "reacher": ("1.15e6", "14.29"), "halfcheetah": ("2.02e6", "7.31"), "ant": ("8.52e6", "6.44")}

page = sys.argv[1] if len(sys.argv) > 1 else "docs/results/generated/robots.md"
rows = {}
with open(page) as lines:
    for line in lines:
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        if len(cells) == 10 and cells[0] in PAPER:
            number = [float(re.match(r"-?[\d.]+(e\d+)?", cell).group()) if cell[:1] in "-0123456789" and cell != "-" else None for cell in cells[1:]]
            rows.setdefault(cells[0], []).append(number)


def mean(values):
    return sum(values) / len(values)


print("| task | seeds | return: mean (worst) | cost: mean (worst) | limit | updates over the limit | of those near it | the paper's | steps until converged, strictly | the paper's |")
print("| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |")
for task, seeds in rows.items():
    returns, costs, limit = [row[1] for row in seeds], [row[2] for row in seeds], seeds[0][3]
    over, near, steps = [row[5] for row in seeds], [row[6] for row in seeds if row[6] is not None], [row[7] for row in seeds if row[7] is not None]
    paper_steps, paper_over = PAPER[task]
    print(f"| {task} | {len(seeds)} | {mean(returns):.1f} ({min(returns):.1f}) | {mean(costs):.1f} ({max(costs):.1f}) | {limit:g} | {mean(over):.1f} % | {mean(near):.1f} % | {paper_over} % "
          f"| {mean(steps) / 1e6:.2f}e6{'' if len(steps) == len(seeds) else f' ({len(steps)} of {len(seeds)})'} | {paper_steps} |")
