# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Reads a safetensors file, or those of an index, by nothing but Python itself, as any other program
would: prints a line for each tensor, with its elements. Where Python has the package safetensors, that
must read the same.

  read_safetensors.py FILE|INDEX      -> "w F32 [2, 3] 0.0 1.0 2.0 3.0 4.0 5.0"
"""
import json
import pathlib
import struct
import sys

LETTERS = {"BOOL": "?", "I8": "b", "U8": "B", "I16": "h", "U16": "H", "I32": "i", "U32": "I",
           "I64": "q", "U64": "Q", "F16": "e", "F32": "f", "F64": "d"}


def tensors_of(path):
    """name -> (type, shape, elements)"""
    content = path.read_bytes()
    length, = struct.unpack_from("<Q", content)
    header = json.loads(content[8:8 + length])
    data = content[8 + length:]
    tensors = {}
    for name, entry in header.items():
        if name == "__metadata__":
            continue
        begin, end = entry["data_offsets"]
        count = 1
        for extent in entry["shape"]:
            count *= extent
        elements = struct.unpack(f"<{count}{LETTERS[entry['dtype']]}", data[begin:end])
        tensors[name] = entry["dtype"], entry["shape"], elements
    return tensors


def tensors_of_index(path):
    index = json.loads(path.read_text())
    files = {name: tensors_of(path.parent / name) for name in set(index["weight_map"].values())}
    tensors = {name: files[file][name] for name, file in index["weight_map"].items()}
    if sum(map(len, files.values())) != len(tensors):
        sys.exit("the files have tensors that the index does not name")
    size = sum(struct.calcsize(LETTERS[kind]) * len(elements) for kind, _, elements in tensors.values())
    if size != index["metadata"]["total_size"]:
        sys.exit(f"expected {size} bytes in all, found {index['metadata']['total_size']}")
    return tensors


path = pathlib.Path(sys.argv[1])
tensors = tensors_of_index(path) if path.suffix == ".json" else tensors_of(path)
for name, (kind, shape, elements) in sorted(tensors.items()):
    print(name, kind, shape, *elements)
try:
    from safetensors.numpy import load_file
except ImportError:
    print("Python has no package safetensors here: read by Python alone", file=sys.stderr)
else:
    for file in [path] if path.suffix != ".json" else path.parent.glob("*.safetensors"):
        for name, array in load_file(file).items():
            kind, shape, elements = tensors[name]
            if list(array.shape) != shape or array.ravel().tolist() != list(elements):
                sys.exit(f"the package safetensors reads another '{name}'")
