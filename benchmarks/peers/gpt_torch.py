#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""How long does a training step take in PyTorch? The model: a GPT-2-like decoder, float, eager,
AdamW, tied head, no dropout, on random symbols. One process with some threads, or data parallel
(DDP over gloo) with some threads each.

  gpt_torch.py [--length 128] [--threads 1] [--steps 30] [--json]
  gpt_torch.py --processes 2 [--batch 4]     --batch: of all processes together

Prints the median, least and greatest time of a step, and of its parts on one process. The
libraries' settings (AVX-512, OpenBLAS) are run.sh's business.
"""
import argparse
import json
import os
import socket
import statistics
import sys
import time

import torch
import torch.nn.functional as F
from torch import nn


class Block(nn.Module):
    """Pre-norm attention and feed-forward, GELU in its tanh form."""

    def __init__(self, width: int, heads: int, length: int):
        super().__init__()
        self.heads = heads
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)
        hidden = torch.full((length, length), float("-inf")).triu(1)
        self.register_buffer("hidden", hidden, persistent=False)

    def attend(self, x):
        b, t, c = x.shape
        q, k, v = (z.view(b, t, self.heads, c // self.heads).transpose(1, 2)
                   for z in self.qkv(x).split(c, dim=2))
        scores = torch.baddbmm(self.hidden, q.reshape(-1, t, c // self.heads),
                               k.reshape(-1, t, c // self.heads).transpose(1, 2),
                               alpha=(c // self.heads) ** -0.5)
        y = torch.bmm(scores.softmax(-1), v.reshape(-1, t, c // self.heads))
        return self.out(y.view(b, self.heads, t, -1).transpose(1, 2).reshape(b, t, c))

    def forward(self, x):
        x = x + self.attend(self.norm1(x))
        return x + self.down(F.gelu(self.up(self.norm2(x)), approximate="tanh"))


class Gpt(nn.Module):
    """symbols (batch, length) and targets -> mean cross-entropy."""

    def __init__(self, layers: int, heads: int, width: int, symbols: int, length: int):
        super().__init__()
        self.embed, self.place = nn.Embedding(symbols, width), nn.Embedding(length, width)
        self.blocks = nn.ModuleList(Block(width, heads, length) for _ in range(layers))
        self.norm = nn.LayerNorm(width)
        for p in self.parameters():
            if p.dim() > 1:
                nn.init.normal_(p, std=0.02)

    def forward(self, symbols, targets):
        x = self.embed(symbols) + self.place.weight[: symbols.shape[1]]
        for block in self.blocks:
            x = block(x)
        logits = F.linear(self.norm(x), self.embed.weight)
        return F.cross_entropy(logits.flatten(0, 1), targets.flatten())


def flop_per_step(a) -> float:
    """Multiplications and additions of the products, forward and backward, causality not used."""
    per_layer = 24 * a.width**2 + 4 * a.length * a.width
    return 3.0 * a.batch * a.length * (a.layers * per_layer + 2 * a.symbols * a.width)


def measure(a, rank: int) -> dict:
    """Times of all steps after the warm-up, in ms."""
    torch.manual_seed(1)
    model = Gpt(a.layers, a.heads, a.width, a.symbols, a.length)
    parameters = sum(p.numel() for p in model.parameters())
    if a.processes > 1:
        model = nn.parallel.DistributedDataParallel(model, broadcast_buffers=False,
                                                    gradient_as_bucket_view=True)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    rows = a.batch // a.processes
    generator = torch.Generator().manual_seed(2 + rank)
    times, parts, losses = [], [], []
    for step in range(a.warm_up + a.steps):
        text = torch.randint(a.symbols, (rows, a.length + 1), generator=generator)
        if a.processes > 1:
            torch.distributed.barrier()
        t0 = time.perf_counter()
        loss = model(text[:, :-1], text[:, 1:])
        t1 = time.perf_counter()
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        t2 = time.perf_counter()
        optimizer.step()
        t3 = time.perf_counter()
        if step >= a.warm_up:
            times.append(1e3 * (t3 - t0))
            parts.append((1e3 * (t1 - t0), 1e3 * (t2 - t1), 1e3 * (t3 - t2)))
            losses.append(loss.item())
    median = statistics.median(times)
    return {
        "program": f"PyTorch {torch.__version__}", "layers": a.layers, "heads": a.heads,
        "width": a.width, "symbols": a.symbols, "parameters": parameters, "batch": a.batch,
        "length": a.length, "processes": a.processes, "threads": torch.get_num_threads(),
        "label": a.label, "steps": a.steps,
        "ms": median, "ms_min": min(times), "ms_max": max(times),
        "ms_parts": [statistics.median(p) for p in zip(*parts)],
        "gflop_per_s": flop_per_step(a) / median / 1e6,
        "tokens_per_s": 1e3 * a.batch * a.length / median, "last_loss": losses[-1],
    }


def one_of_many(rank: int, a) -> None:
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=str(a.port))
    torch.set_num_threads(a.threads)
    torch.distributed.init_process_group("gloo", rank=rank, world_size=a.processes)
    result = measure(a, rank)
    if rank == 0:
        show(a, result)
    torch.distributed.barrier()
    torch.distributed.destroy_process_group()


def show(a, r: dict) -> None:
    if a.json:
        print(json.dumps(r), flush=True)
        return
    forward, backward, update = r["ms_parts"]
    print(f"{r['label'] or r['program']:34} B={r['batch']} T={r['length']:<4} "
          f"{r['processes']} x {r['threads']}  {r['ms']:7.1f} ms "
          f"[{r['ms_min']:.0f} {r['ms_max']:.0f}]  {r['gflop_per_s']:6.1f} GFLOP/s  "
          f"{r['tokens_per_s']:7.0f} tokens/s  "
          f"(forward {forward:.1f}, backward {backward:.1f}, update {update:.1f})", flush=True)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    for name, value in (("layers", 4), ("heads", 4), ("width", 256), ("symbols", 1024),
                        ("batch", 4), ("length", 128), ("threads", 1), ("processes", 1),
                        ("warm-up", 5), ("steps", 30)):
        parser.add_argument(f"--{name}", type=int, default=value, help=f"({value})")
    parser.add_argument("--label", default="", help="what the line is called")
    parser.add_argument("--json", action="store_true", help="a line of JSON instead of text")
    a = parser.parse_args()
    if a.batch % a.processes:
        parser.error("--batch must be a multiple of --processes")
    torch.set_num_threads(a.threads)
    torch.set_flush_denormal(True)
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
