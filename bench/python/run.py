"""Every claim about the Python package in one table: make bench-python."""

import gradients
import installing
import table
import traced
import training
import vector

if __name__ == "__main__":
    rows = []
    for script in (training, traced, vector, gradients, installing):
        print(script.__name__, flush=True)
        rows += script.measure()
    table.show(rows)
