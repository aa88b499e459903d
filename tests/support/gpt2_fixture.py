#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Prints the logits by which tests/mpi/gpt2.cpp is judged: those of a small GPT-2 in PyTorch, whose
weights and tokens are the formulas below, which the test repeats. Needs torch; run by hand.

  gpt2_fixture.py
"""
import torch
import torch.nn.functional as F

LAYERS, HEADS, HEAD, VOCAB, POSITIONS, BATCH, LENGTH = 2, 2, 4, 11, 9, 2, 6
WIDTH = HEADS * HEAD
HIDDEN = 4 * WIDTH
count = 0


def weight(*shape: int, around: float = 0.0, scale: float = 0.5) -> torch.Tensor:
    """The next tensor: element i of tensor k is a fraction of 2003."""
    global count
    count += 1
    i = torch.arange(torch.Size(shape).numel(), dtype=torch.int64)
    numbers = (i * 7919 + count * 104729) % 2003
    return (around + scale * (numbers.double() / 2003 - 0.5)).float().view(shape)


wte, wpe = weight(VOCAB, WIDTH), weight(POSITIONS, WIDTH)
layers = [{
    "ln_1": (weight(WIDTH, around=1.0), weight(WIDTH)),
    "attn.c_attn": (weight(WIDTH, 3 * WIDTH), weight(3 * WIDTH)),
    "attn.c_proj": (weight(WIDTH, WIDTH), weight(WIDTH)),
    "ln_2": (weight(WIDTH, around=1.0), weight(WIDTH)),
    "mlp.c_fc": (weight(WIDTH, HIDDEN), weight(HIDDEN)),
    "mlp.c_proj": (weight(HIDDEN, WIDTH), weight(WIDTH)),
} for _ in range(LAYERS)]
ln_f = (weight(WIDTH, around=1.0), weight(WIDTH))


def linear(x, p):
    return x @ p[0] + p[1]


def attend(x, layer):
    q, k, v = (z.view(BATCH, LENGTH, HEADS, HEAD).transpose(1, 2)
               for z in linear(x, layer["attn.c_attn"]).split(WIDTH, dim=2))
    scores = q @ k.transpose(2, 3) / HEAD**0.5
    scores = scores.masked_fill(torch.ones(LENGTH, LENGTH).triu(1).bool(), float("-inf"))
    y = (scores.softmax(-1) @ v).transpose(1, 2).reshape(BATCH, LENGTH, WIDTH)
    return linear(y, layer["attn.c_proj"])


ids = torch.tensor([[(5 * b + 3 * i * i) % VOCAB for i in range(LENGTH)] for b in range(BATCH)])
x = wte[ids] + wpe[:LENGTH]
for layer in layers:
    x = x + attend(F.layer_norm(x, (WIDTH,), *layer["ln_1"]), layer)
    h = linear(F.layer_norm(x, (WIDTH,), *layer["ln_2"]), layer["mlp.c_fc"])
    x = x + linear(F.gelu(h, approximate="tanh"), layer["mlp.c_proj"])
logits = F.layer_norm(x, (WIDTH,), *ln_f) @ wte.T
for b, i in ((0, 0), (0, 5), (1, 3), (1, 5)):
    print(f"    // batch {b}, position {i}")
    print("    " + ", ".join(f"{v:.6f}" for v in logits[b, i].tolist()) + ",")
