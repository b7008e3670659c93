"""A simulator of one's own that moves the robot of an MJCF file, for crane.toml:

    cgpo train examples/external/crane.toml --allow-command

What it shows is the robot's state, positions and then velocities in the order of the file; its action is what the
actuators get. Reward and costs are said in the task file, so there are none here. It knows the crane by its equations of
motion, and something that the file does not: the air brakes the load.
"""

import cgpo_simulator  # first: it keeps what others print away from the pipe

import argparse
import math
import random

TROLLEY, LOAD, INERTIA = 2.0, 1.0, 0.004  # kg, kg, kg m^2
ROPE, GRAVITY = 1.0, 9.81  # m, m/s^2
RAIL_DAMPING, SWING_DAMPING, GEAR = 2.0, 0.02, 10.0
PERIOD, SUBSTEPS = 0.05, 10


class Crane:
    """State: place of the trolley, angle of the rope, and their velocities."""

    def __init__(self, drag):
        self.drag = drag  # of the load in the air, N s/m

    def reset(self, seed):
        draw = random.Random(seed)
        self.state = [draw.uniform(-0.05, 0.05) for _ in range(4)]
        return self.state

    def step(self, control):
        x, angle, speed, rate = self.state
        dt = PERIOD / SUBSTEPS
        for _ in range(SUBSTEPS):
            sine, cosine = math.sin(angle), math.cos(angle)
            wind = -self.drag * (speed - ROPE * rate * cosine)
            push = GEAR * control[0] - RAIL_DAMPING * speed - LOAD * ROPE * sine * rate * rate + wind
            swing = -LOAD * GRAVITY * ROPE * sine - SWING_DAMPING * rate - ROPE * cosine * wind
            mass, coupling, inertia = TROLLEY + LOAD, -LOAD * ROPE * cosine, LOAD * ROPE * ROPE + INERTIA
            determinant = mass * inertia - coupling * coupling
            speed += dt * (inertia * push - coupling * swing) / determinant
            rate += dt * (mass * swing - coupling * push) / determinant
            x += dt * speed
            angle += dt * rate
        self.state = [x, angle, speed, rate]
        return self.state, 0.0, [], False


parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("--drag", type=float, default=0.1, help="of the load in the air, N s/m")
arguments = parser.parse_args()

cgpo_simulator.serve(lambda: Crane(arguments.drag), observations=4, actions=1, horizon=80, dt=PERIOD, name="crane")
