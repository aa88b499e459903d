#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""How long does a training step of GPT-2's smallest size take in PyTorch on a device? The model of
benchmarks/device.cpp: 8 rows of 1024 symbols, AdamW (fused), tied head, eager, attention by
scaled_dot_product_attention; in float, and in bfloat16 by autocast.

  gpt_torch_device.py

Prints the median of ten steps.
"""
import statistics
import time

import torch
import torch.nn.functional as F
from torch import nn

ROWS, LENGTH, WIDTH, HEADS, SYMBOLS, LAYERS = 8, 1024, 768, 12, 50304, 12


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
        self.qkv, self.out = nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH)
        self.up, self.down = nn.Linear(WIDTH, 4 * WIDTH), nn.Linear(4 * WIDTH, WIDTH)

    def forward(self, x):
        qkv = self.qkv(self.norm1(x)).view(ROWS, LENGTH, 3, HEADS, WIDTH // HEADS)
        q, k, v = qkv.permute(2, 0, 3, 1, 4)
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.out(y.transpose(1, 2).reshape(ROWS, LENGTH, WIDTH))
        return x + self.down(F.gelu(self.up(self.norm2(x)), approximate="tanh"))


class Gpt(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed, self.place = nn.Embedding(SYMBOLS, WIDTH), nn.Embedding(LENGTH, WIDTH)
        self.blocks = nn.ModuleList(Block() for _ in range(LAYERS))
        self.norm = nn.LayerNorm(WIDTH)

    def forward(self, symbols, targets):
        x = self.embed(symbols) + self.place.weight
        for block in self.blocks:
            x = block(x)
        logits = F.linear(self.norm(x), self.embed.weight)
        return F.cross_entropy(logits.flatten(0, 1), targets.flatten())


def measure(autocast: bool) -> float:
    """Seconds of a step."""
    torch.manual_seed(1)
    model = Gpt().cuda()
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-4, fused=True)
    x, y = (torch.randint(SYMBOLS, (ROWS, LENGTH), device="cuda") for _ in range(2))
    times = []
    for _ in range(14):
        torch.cuda.synchronize()
        start = time.perf_counter()
        with torch.autocast("cuda", dtype=torch.bfloat16, enabled=autocast):
            loss = model(x, y)
        loss.backward()
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
        torch.cuda.synchronize()
        times.append(time.perf_counter() - start)
    return statistics.median(times[4:])


for name, autocast in (("float", False), ("bfloat16", True)):
    seconds = measure(autocast)
    print(f"PyTorch {torch.__version__}, {name}: {1e3 * seconds:.1f} ms, "
          f"{ROWS * LENGTH / seconds:.0f} tokens/s", flush=True)
