#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""How long do a convolution and its gradients take in PyTorch? The shapes of
benchmarks/convolution.cpp, float, each with images in the order of PyTorch (channels first) and
with channels last; forward also with tensors kept in oneDNN's own order.

  convolution_torch.py [--threads 1] [--seconds 0.5] [--json]

Prints tenth percentiles, in microseconds, of the fastest order.
"""
import argparse
import json
import sys
import time

import torch
import torch.nn.functional as F

SHAPES = [  # images, size, channels, filters, taps, stride
    (32, 28, 1, 32, 3, 1), (32, 28, 32, 32, 3, 1), (32, 28, 32, 64, 3, 2),
    (32, 14, 64, 64, 3, 1), (32, 14, 64, 128, 1, 2), (32, 7, 128, 128, 3, 1)]


def microseconds(f, seconds: float) -> float:
    f()
    f()
    took = []
    end = time.perf_counter() + seconds
    while time.perf_counter() < end or len(took) < 25:
        start = time.perf_counter()
        f()
        took.append(time.perf_counter() - start)
    return sorted(took)[len(took) // 10] * 1e6


def measure(shape, seconds: float) -> dict:
    """The fastest order of each: (microseconds, order)."""
    n, size, c, f, taps, stride = shape
    around = taps // 2  # as many results as padding::same gives; it pads one less at stride 2
    best = {}

    def run(what, order, call):
        best[what] = min(best.get(what, (float("inf"), "")), (microseconds(call, seconds), order))

    for order, form in (("channels first", torch.contiguous_format),
                        ("channels last", torch.channels_last)):
        x = torch.randn(n, c, size, size).to(memory_format=form)
        w = torch.randn(f, c, taps, taps).to(memory_format=form)
        y = torch.randn_like(F.conv2d(x, w, stride=stride, padding=around))

        def forward():
            return F.conv2d(x, w, stride=stride, padding=around)

        def gradient(array: bool):
            return torch.ops.aten.convolution_backward(
                y, x, w, None, [stride, stride], [around, around], [1, 1], False, [0, 0], 1,
                [array, not array, False])

        run("forward", order, forward)
        run("gradient of the array", order, lambda: gradient(True))
        run("forward and gradient of the filter", order, lambda: (forward(), gradient(False)))
    if torch.backends.mkldnn.is_available():
        x, w = torch.randn(n, c, size, size).to_mkldnn(), torch.randn(f, c, taps, taps).to_mkldnn()
        run("forward, kept in oneDNN's order", "oneDNN's",
            lambda: F.conv2d(x, w, stride=stride, padding=around))
    return best


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--threads", type=int, default=1, help="(1)")
    parser.add_argument("--seconds", type=float, default=0.5, help="for each measurement (0.5)")
    parser.add_argument("--label", default="", help="what the lines are called")
    parser.add_argument("--json", action="store_true", help="lines of JSON instead of text")
    a = parser.parse_args()
    torch.set_num_threads(a.threads)
    torch.set_flush_denormal(True)
    torch.manual_seed(1)
    with torch.no_grad():
        for shape in SHAPES:
            n, size, c, f, taps, stride = shape
            best = measure(shape, a.seconds)
            if a.json:
                print(json.dumps({"label": a.label, "shape": shape, "us": best}), flush=True)
                continue
            print(f"{n} x {size}x{size}x{c} -> {f}, {taps}x{taps} taps, stride {stride}  {a.label}")
            for what, (us, order) in best.items():
                print(f"  {what:36} {us:10.1f} us  {order}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
