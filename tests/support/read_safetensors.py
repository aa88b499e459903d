# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Reads a safetensors file by nothing but Python itself, as any other program would: prints a line
for each tensor, with its elements.

  read_safetensors.py FILE      -> "w F32 [2, 3] 0.0 1.0 2.0 3.0 4.0 5.0"
"""
import json
import struct
import sys

LETTERS = {"BOOL": "?", "I8": "b", "U8": "B", "I16": "h", "U16": "H", "I32": "i", "U32": "I",
           "I64": "q", "U64": "Q", "F16": "e", "F32": "f", "F64": "d"}

with open(sys.argv[1], "rb") as file:
    content = file.read()
length, = struct.unpack_from("<Q", content)
header = json.loads(content[8:8 + length])
data = content[8 + length:]
for name, entry in sorted(header.items()):
    if name == "__metadata__":
        continue
    begin, end = entry["data_offsets"]
    count = 1
    for extent in entry["shape"]:
        count *= extent
    elements = struct.unpack(f"<{count}{LETTERS[entry['dtype']]}", data[begin:end])
    print(name, entry["dtype"], entry["shape"], *elements)
