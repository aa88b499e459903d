#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What does the compiler pay? Seconds of processor time and peak memory of translation units that
use the library, beside one that includes Kokkos, MPI and Boost.Hana alone. Contestants take turns;
the least of several runs counts, since other work on the machine only ever adds.

  benchmarks/compile/measure.py [--build build/bench] [--runs 3] [--compilers g++ clang++-19]
                                [--headers] [--headers-only]
                                [--only main experts language_model pipelines]

Programs link dimesh::compiled, unless --headers-only says that they compile everything themselves.
"""

import argparse
import json
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile

root = pathlib.Path(__file__).resolve().parents[2]
include = root / "include"
network = "benchmarks/compile/network.cpp"
experts = "benchmarks/compile/experts.cpp"

base = "#define OMPI_SKIP_MPICXX 1\n#define MPICH_SKIP_MPICXX 1\n" \
       "#include <Kokkos_Core.hpp>\n#include <mpi.h>\n#include <boost/hana.hpp>\n"
layers = ["layout/fault", "dim", "axis", "mesh", "layout/shape", "layout", "layout/block", "layout/cotangent"]


# What the compiler must work out to know the type of the loss.
TYPES = """#include "layouts.hpp"
template <class C> using ids = dm::rebind_layout<nn::tokens<C, form>, dm::shaped>;
template <class P> using type_of = decltype(loss<P>{}(
    std::declval<const nn::language_model_parameters<dm::shaped<typename P::storage>, form>&>(),
    std::declval<const ids<typename P::compute>&>(),
    std::declval<const ids<typename P::compute>&>()));
"""


def flags_of(build):
    """Where the headers of others are, from what CMake found."""
    commands = json.loads((build / "compile_commands.json").read_text())
    words = shlex.split(commands[0]["command"])
    flags = [w for w in words if w.startswith("-I") and "/include" in w]
    for i, w in enumerate(words):
        if w == "-isystem":
            flags += [w, words[i + 1]]
    return ["-std=c++20", "-O2", "-fopenmp-simd", "-DOMPI_SKIP_MPICXX", f"-I{include}"] + flags


def code_of(file):
    """Bytes of code in an object or a program; and with what else is read only, which `size` calls text."""
    def size(*options):
        told = subprocess.run(["size", *options, file], capture_output=True, text=True, check=True).stdout
        return [line.split() for line in told.splitlines()]
    return sum(int(words[1]) for words in size("-A") if words and words[0].startswith(".text")), int(size()[1][0])


def compile_once(compiler, flags, source):
    """User seconds, MB and code_of one compilation; None where it fails. Flags win over the
    optimisation."""
    with tempfile.TemporaryDirectory() as folder:
        pid = os.fork()
        if pid == 0:
            null = os.open(os.devnull, os.O_WRONLY)
            os.dup2(null, 1)
            os.dup2(null, 2)
            os.execvp(compiler, [compiler, *flags, "-c", source, "-o", f"{folder}/out.o"])
        _, status, used = os.wait4(pid, 0)
        if status != 0:
            return None
        made = pathlib.Path(folder) / "out.o"
        return used.ru_utime, used.ru_maxrss / 1024, code_of(made) if made.exists() else (0, 0)


def best(compiler, flags, units, runs):
    """The least of several rounds over all units: {name: (seconds, MB, code_of)}."""
    found = {}
    for _ in range(runs):
        for name, (more, source) in units.items():
            got = compile_once(compiler, flags + more, source)
            if got is None:
                sys.exit(f"{compiler}: {name} does not compile")
            found[name] = min(found.get(name, got), got)
    return found


def line(name, got, note=""):
    print(f"  {name:46} {got[0]:6.2f} s {got[1]:6.0f} MB   {note}", flush=True)


def verdict(value, bar, unit=""):
    return f"{value:.2f}{unit} <= {bar}{unit} {'PASS' if value <= bar else 'short'}"


def main_table(compiler, flags, runs, folder):
    def written(name, text):
        path = pathlib.Path(folder) / f"{name}.cpp"
        path.write_text(text)
        return str(path)

    units = {
        "Kokkos, MPI, Hana": ([], written("base", base)),
        "dimesh.hpp": ([], written("umbrella", "#include <dimesh/dimesh.hpp>\n")),
        "L0 to L2 alone": ([], written("layers", "".join(f"#include <dimesh/{h}.hpp>\n" for h in layers))),
    }
    for n in range(1, 5):
        units[f"network and gradient, {n} layout{'s' * (n > 1)}"] = ([f"-DLAYOUTS={n}"], str(root / network))
    units["the same, 1 layout on 64 x 64 ranks"] = (["-DLAYOUTS=1", "-DSIZE=64"], str(root / network))
    got = best(compiler, flags, units, runs)
    names = list(units)
    print(f"{compiler} ({subprocess.run([compiler, '--version'], capture_output=True, text=True).stdout.splitlines()[0]}), -O2")
    line(names[0], got[names[0]])
    line(names[1], got[names[1]], verdict(got[names[1]][0] / got[names[0]][0], 1.3, " x"))
    line(names[2], got[names[2]], verdict(got[names[2]][0], 0.3, " s"))
    headers = got[names[1]][0]
    line(names[3], got[names[3]], verdict(got[names[3]][0] / headers, 2.2, " x"))
    for i in range(4, 7):
        line(names[i], got[names[i]])
    more = (got[names[6]][0] - got[names[3]][0]) / 3
    print(f"  {'a further layout':46} {more:6.2f} s             {verdict(more / headers, 0.3, ' x')}")
    code, all_of_it = ((got[names[6]][2][i] - got[names[3]][2][i]) / 3 / 1024 for i in range(2))
    print(f"  {'its code':46} {code:6.1f} KB            {verdict(code, 8, ' KB')}, {all_of_it:.1f} KB with constants")
    line(names[7], got[names[7]], f"{got[names[7]][0] / got[names[3]][0]:.2f} of 2 x 2")


def layer_of_experts(compiler, flags, runs):
    """One program for all ranks: neither their number nor that of experts is to cost anything."""
    units = {f"{e} experts on {r} ranks": ([f"-DRANKS={r}", f"-DEXPERTS={e}"], str(root / experts))
             for r, e in ((8, 4), (2048, 4), (8, 64), (2048, 2048))}
    got = best(compiler, flags, units, runs)
    print("a layer of experts and its gradient")
    first = next(iter(got.values()))[0]
    for name, one in got.items():
        line(name, one, verdict(one[0] / first, 1.1, " of the first"))


def with_one_layout(example, folder):
    """A copy of the example that knows the layout `data` alone."""
    shutil.copytree(example, folder / "language_model")
    shutil.copytree(example.parent / "common", folder / "common")
    folder /= "language_model"
    text, found = re.subn(r"layout_set<[^>]*> layouts\{[^}]*\}", 'layout_set<data> layouts{"data"}',
                          (folder / "layouts.hpp").read_text())
    if found != 1:
        sys.exit("measure.py: layouts.hpp does not list the layouts any more as this script knows them; mend it")
    (folder / "layouts.hpp").write_text(text)
    return folder


def size_of_example(build):
    """The program as the default preset builds it, with all its layouts and what examples share."""
    for folder in (root / "build/default", build):
        file = folder / "examples/language_model"
        if not file.is_file():
            continue
        megabytes = code_of(file)[1] / 1e6
        print(f"  {f'program in build/{folder.name}':46} {megabytes:6.2f} MB            "
              f"{verdict(megabytes, 1.5, ' MB')}")


def language_model(compiler, flags, runs, folder):
    """The example's translation units, with all its layouts; and what layers and layouts cost."""
    example = root / "examples" / "language_model"
    names = ["data", "by_model", "hybrid", "sequence", "zero"]
    include = [f"-I{example}", f"-I{root / 'support/census'}"]
    if "clang" not in compiler:
        include.append("--param=ggc-min-heapsize=1000000")  # as cmake/dimesh_binaries.cmake says
    of_its_own = {"main.cpp": ["-Os"], "train.cpp": ["-Os"]}  # as examples/CMakeLists.txt says
    units = {p.name: (include + of_its_own.get(p.name, []), str(p))
             for p in sorted(example.glob("*.cpp"))}
    own = list(units)
    shared = [p.name for p in sorted((example.parent / "common").glob("*.cpp"))]
    units |= {name: (include + ["-Os"], str(example.parent / "common" / name)) for name in shared}
    shallow = pathlib.Path(folder) / "language_model"
    shallow.mkdir(exist_ok=True)
    shutil.copytree(example.parent / "common", pathlib.Path(folder) / "common", dirs_exist_ok=True)
    if "layers = 4;" not in (example / "model.hpp").read_text():
        sys.exit("measure.py: the language model has not four layers any more; mend this script")
    for p in example.glob("*.?pp"):
        (shallow / p.name).write_text(p.read_text().replace("layers = 4;", "layers = 1;"))
    one_layer = "train.cpp, one layer in place of four"
    units[one_layer] = (include[1:] + of_its_own["train.cpp"], str(shallow / "train.cpp"))
    types = {n: f"types of the whole model, {n} layout{'s' * (n > 1)}" for n in (1, 5)}
    for n, name in types.items():
        path = pathlib.Path(folder) / f"types_{n}.cpp"
        path.write_text(TYPES + "".join(f"using type_{k} = type_of<{k}>;\n" for k in names[:n]))
        units[name] = (include + ["-fsyntax-only"], str(path))
    alone = with_one_layout(example, pathlib.Path(folder) / "alone")
    units |= {f"{name}, one layout": (include[1:] + of_its_own.get(name, []), str(alone / name))
              for name in own}
    got = best(compiler, flags, units, runs)
    print("examples/language_model, six layouts")
    for name in own:
        line(name, got[name], f"{got[name + ', one layout'][0]:.2f} s of one layout alone")
    for name in shared:
        line(f"common/{name}", got[name], "once for all examples")
    together = sum(got[name][0] for name in own)
    all_of_it = together + sum(got[name][0] for name in shared)
    print(f"  {'together':46} {together:6.2f} s             {verdict(together, 25, ' s')}")
    print(f"  {'with what examples share':46} {all_of_it:6.2f} s")
    further = (together - sum(got[name + ", one layout"][0] for name in own)) / 5
    print(f"  {'one further layout of everything':46} {further:6.2f} s             {verdict(further, 1.2, ' s')}")
    four, one = got["train.cpp"][0], got[one_layer][0]
    line(one_layer, got[one_layer], f"four layers cost {four / one:.2f} of it")
    line(types[1], got[types[1]])
    more = (got[types[5]][0] - got[types[1]][0]) / 4
    line(types[5], got[types[5]], "one more: " + verdict(more, 0.2, " s"))


def pipelines(compiler, flags, runs):
    """A step of a pipeline: what further layers of one form and further schedules cost."""
    source = str(root / "benchmarks/compile/pipeline.cpp")
    units = {"pipeline of 4 layers": ([], source), "the same of 24 layers": (["-DLAYERS=24"], source),
             "the same by three schedules": (["-DSCHEDULES=3"], source)}
    got = best(compiler, flags, units, runs)
    four, many, three = (got[name] for name in units)
    names = list(units)
    line(names[0], four)
    line(names[1], many, verdict(many[0] / four[0], 1.2, " x"))
    line(names[2], three, "one more: " + verdict((three[0] - four[0]) / 2, 0.5, " s"))


def other_units(compiler, flags, runs, folder):
    units = {}
    for header in sorted(include.rglob("*.hpp")):
        name = str(header.relative_to(include))
        if "/detail/" not in name:
            path = pathlib.Path(folder) / (re.sub(r"\W", "_", name) + ".cpp")
            path.write_text(f"#include <{name}>\n")
            units[name] = ([], str(path))
    for example in sorted((root / "examples").glob("*.cpp")) + [root / "examples/fashion_mnist/main.cpp"]:
        more = [f"-I{root / 'support/census'}", f"-I{example.parent}"]
        units[str(example.relative_to(root))] = (more, str(example))
    for name, got in best(compiler, flags, units, runs).items():
        line(name, got)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, default=root / "build/bench")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--compilers", nargs="+", default=["g++"])
    parser.add_argument("--headers", action="store_true", help="each public header and example alone, too")
    parser.add_argument("--headers-only", action="store_true", help="programs without dimesh::compiled")
    parts = ["main", "experts", "language_model", "pipelines"]
    parser.add_argument("--only", nargs="+", choices=parts, default=parts, help="these tables alone")
    options = parser.parse_args()
    flags = flags_of(options.build)
    if not options.headers_only:
        flags += ["-DDIMESH_COMPILED=1", "-DDIMESH_COMPILED_FILES=1"]
    with tempfile.TemporaryDirectory() as folder:
        for compiler in options.compilers:
            if "main" in options.only:
                main_table(compiler, flags, options.runs, folder)
            if "experts" in options.only:
                layer_of_experts(compiler, flags, options.runs)
            if "language_model" in options.only:
                language_model(compiler, flags, options.runs, folder)
                size_of_example(options.build)
            if "pipelines" in options.only:
                pipelines(compiler, flags, options.runs)
            if options.headers:
                other_units(compiler, flags, 1, folder)


if __name__ == "__main__":
    main()
