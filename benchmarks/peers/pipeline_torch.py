#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""How long does a step of a two-stage pipeline take in PyTorch? The model of benchmarks/pipeline.cpp:
feed-forward layers with residuals, half of them in each of two processes, float, eager; activations
and cotangents go by torch.distributed's isend and recv (gloo), gradients add up in place.

  pipeline_torch.py [--schedule 1f1b|gpipe] [--micros 32] [--steps 12]

Prints the least and the median time of a step, slowest process, and that of the whole model in one
process (both at once, each for itself).
"""
import argparse
import os
import socket
import statistics
import time

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
import torch.nn.functional as F
from torch import nn

ROWS, WIDTH, INSIDE, DEPTH = 32, 256, 1024, 8


class Block(nn.Module):
    """x + relu(x up + bias) down"""

    def __init__(self):
        super().__init__()
        self.up, self.down = nn.Linear(WIDTH, INSIDE), nn.Linear(INSIDE, WIDTH, bias=False)

    def forward(self, x):
        return x + self.down(F.relu(self.up(x)))


def operations(schedule: str, rank: int, micros: int):
    """(forward?, micro-batch) of a rank, in order."""
    if schedule == "gpipe":
        return [(True, i) for i in range(micros)] + [(False, i) for i in range(micros)]
    warm = min(micros, 1 - rank)
    order = [(True, i) for i in range(warm)]
    for i in range(micros):
        if warm + i < micros:
            order.append((True, warm + i))
        order.append((False, i))
    return order


def pipeline_step(stage, rank: int, inputs, order):
    """One step; sends are started and waited for at the end."""
    kept, sent = {}, []
    for forward, micro in order:
        if forward:
            if rank == 0:
                x = inputs[micro]
            else:
                x = torch.empty(ROWS, WIDTH)
                dist.recv(x, 0)
                x.requires_grad_()
            y = stage(x)
            if rank == 0:
                sent.append((dist.isend(y.detach(), 1), y))
            else:
                y = (y * y).sum() / len(inputs)
            kept[micro] = (x, y)
        else:
            x, y = kept.pop(micro)
            if rank == 1:
                y.backward()
                sent.append((dist.isend(x.grad, 0), x.grad))
            else:
                bar = torch.empty(ROWS, WIDTH)
                dist.recv(bar, 1)
                y.backward(bar)
    for request, _ in sent:
        request.wait()


def whole_step(model, inputs):
    for x in inputs:
        y = model(x)
        ((y * y).sum() / len(inputs)).backward()


def work(rank: int, a, port: int):
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port))
    torch.set_num_threads(1)
    dist.init_process_group("gloo", rank=rank, world_size=2)
    torch.manual_seed(1)
    model = nn.Sequential(*(Block() for _ in range(DEPTH)))
    stage = model[: DEPTH // 2] if rank == 0 else model[DEPTH // 2 :]
    inputs = [torch.randn(ROWS, WIDTH) for _ in range(a.micros)]

    def timed(step):
        times = []
        for i in range(a.steps + 2):
            for p in model.parameters():
                p.grad = None
            dist.barrier()
            begin = time.perf_counter()
            step()
            t = torch.tensor([time.perf_counter() - begin])
            dist.all_reduce(t, dist.ReduceOp.MAX)
            if i >= 2:
                times.append(t.item())
        return times

    rows = [("one process", timed(lambda: whole_step(model, inputs)))]
    for schedule in [a.schedule] if a.schedule else ["1f1b", "gpipe"]:
        order = operations(schedule, rank, a.micros)
        rows.append((schedule, timed(lambda: pipeline_step(stage, rank, inputs, order))))
    if rank == 0:
        for name, times in rows:
            print(f"{name:12} least {1e3 * min(times):8.1f} ms  median "
                  f"{1e3 * statistics.median(times):8.1f} ms")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--schedule", choices=["1f1b", "gpipe"])
    parser.add_argument("--micros", type=int, default=32)
    parser.add_argument("--steps", type=int, default=12)
    a = parser.parse_args()
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        port = s.getsockname()[1]
    mp.spawn(work, args=(a, port), nprocs=2)


if __name__ == "__main__":
    main()
