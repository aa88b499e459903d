#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""How long does a layer of experts take in PyTorch? The layer of benchmarks/experts.cpp: two experts
a token by index, slots for 1.25 of the choices of each group, float, eager: tokens are copied to
slots by index, multiplied by torch.bmm, and added up by index; and the whole way back. One process
with some threads, or experts and groups split over processes, slots there and back by all-to-all
(torch.distributed over gloo).

  experts_torch.py [--groups 4] [--length 512] [--threads 1] [--steps 20] [--json]
  experts_torch.py --processes 2 [--groups 4]     --groups: of each process

Prints the median, least and greatest time of the forward pass, and of it and the way back.
"""
import argparse
import json
import math
import os
import socket
import statistics
import sys
import time

import torch
import torch.distributed as dist
from torch import nn


class AllToAll(torch.autograd.Function):
    """Equal parts of dim 0 to all processes; its transpose is the same."""

    @staticmethod
    def forward(_, x):
        y = torch.empty_like(x)
        dist.all_to_all_single(y, x.contiguous())
        return y

    @staticmethod
    def backward(_, y):
        return AllToAll.apply(y)


class Experts(nn.Module):
    """(groups, length, width) -> the same. Of all processes: experts are in as many parts."""

    def __init__(self, a):
        super().__init__()
        self.all, self.own, self.processes = a.experts, a.experts // a.processes, a.processes
        self.slots = math.ceil(1.25 * 2 * a.length / a.experts)
        self.router = nn.Parameter(0.05 * torch.randn(a.width, a.experts))
        self.up = nn.Parameter(0.05 * torch.randn(self.own, a.width, a.hidden))
        self.down = nn.Parameter(0.05 * torch.randn(self.own, a.hidden, a.width))

    def route(self, x):
        """Gates (tokens, 2) and slots (tokens, 2): of (experts, groups, slots), or one behind them."""
        groups, length, _ = x.shape
        p = torch.softmax(x.reshape(groups * length, -1) @ self.router, -1)
        top, chosen = p.topk(2, -1)
        gates = top / top.sum(-1, keepdim=True)
        # In the order of tokens, all first choices before the second ones.
        with torch.no_grad():
            line = chosen.view(groups, length, 2).transpose(1, 2).reshape(groups, 2 * length)
            named = nn.functional.one_hot(line, self.all).to(torch.int32)
            place = (named.cumsum(1) - 1).gather(2, line.unsqueeze(-1)).squeeze(-1)
            group = torch.arange(groups).unsqueeze(1)
            slot = (line * groups + group) * self.slots + place
            slot[place >= self.slots] = self.all * groups * self.slots
            slots = slot.view(groups, 2, length).transpose(1, 2).reshape(groups * length, 2)
        return gates, slots

    def forward(self, x):
        groups, length, width = x.shape
        gates, slots = self.route(x)
        rows = self.all * groups * self.slots
        tokens = x.reshape(groups * length, width)
        held = tokens.new_zeros(rows + 1, width)
        twice = tokens.unsqueeze(1).expand(-1, 2, -1).reshape(-1, width)
        held = held.index_add(0, slots.reshape(-1), twice)[:rows]
        if self.processes > 1:  # (processes, own, rows) of each -> of its own experts
            held = AllToAll.apply(held).view(self.processes, self.own, -1, width).transpose(0, 1)
        h = torch.relu(torch.bmm(held.reshape(self.own, -1, width), self.up))
        y = torch.bmm(h, self.down)
        if self.processes > 1:
            y = y.view(self.own, self.processes, -1, width).transpose(0, 1)
            y = AllToAll.apply(y.reshape(rows, width))
        y = torch.cat([y.reshape(rows, width), y.new_zeros(1, width)])
        picked = y.index_select(0, slots.reshape(-1)).view(-1, 2, width)
        return torch.bmm(gates.unsqueeze(1), picked).view(groups, length, width)


def check(a) -> None:
    """The layer beside a loop over tokens, and gradients beside differences."""
    torch.manual_seed(2)
    small = argparse.Namespace(experts=4, processes=1, length=6, width=5, hidden=7)
    layer = Experts(small).double()
    with torch.no_grad():
        for p in layer.parameters():
            p.mul_(10)
    x = torch.randn(2, 6, 5, dtype=torch.double, requires_grad=True)
    want = torch.zeros_like(x)
    for g in range(2):
        p = torch.softmax(x[g] @ layer.router, -1)
        used = [0] * 4
        for k in range(2):
            for t in range(6):
                top, chosen = p[t].topk(2)
                e = int(chosen[k])
                used[e] += 1
                if used[e] <= layer.slots:
                    y = torch.relu(x[g, t] @ layer.up[e]) @ layer.down[e]
                    want[g, t] = want[g, t] + top[k] / top.sum() * y
    if not torch.allclose(layer(x), want):
        sys.exit("experts_torch.py: the layer is not that of the loop over tokens")
    torch.autograd.gradcheck(layer, (x,))


def measure(a, rank: int) -> dict:
    torch.manual_seed(1 + rank)
    layer = Experts(a)
    with torch.no_grad():
        if a.processes > 1:
            dist.broadcast(layer.router, 0)
    x = (torch.rand(a.groups, a.length, a.width) - 0.5).requires_grad_()
    y_bar = torch.rand(a.groups, a.length, a.width) - 0.5
    times = {"forward": [], "both": []}
    for step in range(a.warm_up + a.steps):
        for what, seconds in times.items():
            for p in (x, *layer.parameters()):
                p.grad = None
            if a.processes > 1:
                dist.barrier()
            began = time.perf_counter()
            if what == "forward":
                with torch.no_grad():
                    layer(x)
            else:
                layer(x).backward(y_bar)
                if a.processes > 1:
                    dist.all_reduce(layer.router.grad)
            if step >= a.warm_up:
                seconds.append(1e3 * (time.perf_counter() - began))
    return {
        "program": f"PyTorch {torch.__version__}", "label": a.label, "processes": a.processes,
        "threads": torch.get_num_threads(), "experts": a.experts, "width": a.width,
        "hidden": a.hidden, "tokens": a.groups * a.length * a.processes, "steps": a.steps,
        "rows": a.experts * a.groups * layer.slots * a.processes,
        "ms": {k: [statistics.median(v), min(v), max(v)] for k, v in times.items()},
    }


def show(a, r: dict) -> None:
    if a.json:
        print(json.dumps(r), flush=True)
        return
    print(f"{r['label'] or r['program']:34} {r['tokens']} tokens, {r['processes']} x {r['threads']}  " +
          "  ".join(f"{k} {m:.1f} ms [{least:.0f} {most:.0f}]" for k, (m, least, most) in r["ms"].items()) +
          f"  {r['rows'] * 4 * r['width'] * r['hidden'] / r['ms']['forward'][0] / 1e6:.1f} GFLOP/s",
          flush=True)


def one_of_many(rank: int, a) -> None:
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=str(a.port))
    torch.set_num_threads(a.threads)
    dist.init_process_group("gloo", rank=rank, world_size=a.processes)
    result = measure(a, rank)
    if rank == 0:
        show(a, result)
    dist.barrier()
    dist.destroy_process_group()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    for name, value in (("experts", 8), ("groups", 4), ("length", 512), ("width", 512),
                        ("hidden", 2048), ("threads", 1), ("processes", 1), ("warm-up", 3),
                        ("steps", 20)):
        parser.add_argument(f"--{name}", type=int, default=value, help=f"({value})")
    parser.add_argument("--label", default="", help="what the line is called")
    parser.add_argument("--json", action="store_true", help="a line of JSON instead of text")
    a = parser.parse_args()
    if a.experts % a.processes:
        parser.error("--experts must be a multiple of --processes")
    torch.set_num_threads(a.threads)
    torch.set_flush_denormal(True)
    check(a)
    if a.processes == 1:
        show(a, measure(a, 0))
        return 0
    with socket.socket() as probe:  # a free port
        probe.bind(("127.0.0.1", 0))
        a.port = probe.getsockname()[1]
    torch.multiprocessing.spawn(one_of_many, (a,), nprocs=a.processes)
    return 0


if __name__ == "__main__":
    sys.exit(main())
