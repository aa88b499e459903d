#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""How fast does PyTorch write? The model of gpt_torch.py with a cache of keys and values that is
made once and written in place; a prompt of 16 symbols, then the likeliest ones, one after the other.

  generation_torch.py [--threads 1] [--batch 1] [--count 224] [--rounds 15]

Prints a line as benchmarks/generation does.
"""
import argparse
import statistics
import time

import torch
import torch.nn.functional as F

from gpt_torch import Gpt


class Writer:
    """A model and what it keeps: keys and values of each layer [batch * heads, length, head]."""

    def __init__(self, model: Gpt, batch: int, length: int, width: int):
        self.model, self.batch = model, batch
        self.heads = model.blocks[0].heads
        self.head = width // self.heads
        size = (batch * self.heads, length, self.head)
        self.kept = [(torch.zeros(size), torch.zeros(size)) for _ in model.blocks]
        self.filled = 0

    def attend(self, block, x, kept):
        b, t, c = x.shape
        q, k, v = (z.view(b, t, self.heads, self.head).transpose(1, 2).reshape(-1, t, self.head)
                   for z in block.qkv(x).split(c, dim=2))
        keys, values = kept
        end = self.filled + t
        keys[:, self.filled:end] = k
        values[:, self.filled:end] = v
        scores = torch.bmm(q, keys[:, :end].transpose(1, 2)) * self.head ** -0.5
        if t > 1:
            scores += block.hidden[self.filled:end, :end]
        y = torch.bmm(scores.softmax(-1), values[:, :end])
        return block.out(y.view(b, self.heads, t, -1).transpose(1, 2).reshape(b, t, c))

    def feed(self, symbols):
        """symbols (batch, t) -> logits of what follows the last one (batch, symbols)."""
        t = symbols.shape[1]
        m = self.model
        x = m.embed(symbols) + m.place.weight[self.filled:self.filled + t]
        for block, kept in zip(m.blocks, self.kept):
            x = x + self.attend(block, block.norm1(x), kept)
            x = x + block.down(F.gelu(block.up(block.norm2(x)), approximate="tanh"))
        self.filled += t
        return F.linear(m.norm(x[:, -1]), m.embed.weight)


def write(model, prompts, count: int, length: int, width: int) -> float:
    """Seconds."""
    start = time.perf_counter()
    with torch.inference_mode():
        writer = Writer(model, prompts.shape[0], length, width)
        text = [prompts]
        last = prompts
        for _ in range(count):
            last = writer.feed(last).argmax(-1, keepdim=True)
            text.append(last)
        assert torch.cat(text, 1).shape[1] == prompts.shape[1] + count
    return time.perf_counter() - start


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    for name, value in (("layers", 4), ("heads", 4), ("width", 256), ("symbols", 1024),
                        ("batch", 1), ("length", 256), ("threads", 1), ("count", 224),
                        ("rounds", 15)):
        parser.add_argument(f"--{name}", type=int, default=value, help=f"({value})")
    a = parser.parse_args()
    torch.set_num_threads(a.threads)
    torch.set_flush_denormal(True)
    torch.manual_seed(1)
    model = Gpt(a.layers, a.heads, a.width, a.symbols, a.length).eval()
    prompts = torch.tensor([[(b * 131 + i * 17) % a.symbols for i in range(16)]
                            for b in range(a.batch)])
    write(model, prompts, 8, a.length, a.width)
    seconds = statistics.median(write(model, prompts, a.count, a.length, a.width)
                                for _ in range(a.rounds))
    print(f"generation  batch {a.batch:2}  threads {a.threads}  "
          f"{a.batch * a.count / seconds:8.0f} tokens/s  {1e3 * seconds / a.count:7.3f} ms a step",
          flush=True)


if __name__ == "__main__":
    main()
