#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes docs/reference/: a page for each public header, made of its comments, so that the two cannot differ, and
one of all names.

    scripts/make_reference.py           writes the pages
    scripts/make_reference.py --check   fails if they are not what it would write
"""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
INCLUDE = ROOT / "include" / "dimesh"
PAGES = ROOT / "docs" / "reference"
# Every folder with headers, in reading order, and its title; None: what it holds is no user's business.
FOLDERS = {"": "What everybody includes", "layout": "Layouts, specs, faults", "element": "Element types",
           "reflect": "Structs of tensors", "random": "Random numbers", "op": "Operations", "grad": "Gradients and costs",
           "ledger": "Costs and times", "nn": "Layers and models", "nn/moe": "Mixtures of experts",
           "nn/generate": "Writing text", "optim": "Optimizers", "train": "Training runs", "pipeline": "Pipelines",
           "plan": "Choosing layouts", "show": "Pictures and prints", "io": "Files", "io/data": "Input pipelines",
           "io/checkpoint": "Checkpoints", "interop": "Existing codes", "core": None, "nn/moe/parts": None,
           "op/parts": None, "op/refusals": None, "plan/parts": None, "detail": None, "local": None, "memory": None, "collective": None}
# Headers of a room that no user needs.
PRIVATE = {"layout": {"table", "draft", "dim_facts", "layout_types", "join", "route", "box", "cyclic"},
           "reflect": {"hana", "members", "leaves"}, "random": {"places"}, "show": {"picture", "picture_svg", "picture_text"},
           "io/data": {"rows", "read_ahead", "pair_counts", "loading"}, "train": {"checksum"},
           "interop": {"scalapack_agree", "scalapack_moves"}}


def opening(lines):
    """The comment that opens a header: prose, and the example lines that stand apart in it."""
    text = []
    for line in lines[1:]:
        if not line.startswith("//"):
            break
        text.append(line[2:].removeprefix(" "))
    out, code = [], False
    for line in text:
        is_code = line.startswith("  ")
        if is_code and not code:
            out += ["", "```text"] if out and out[-1] else ["```text"]
        if code and not is_code and line.strip():
            out.append("```")
            out.append("")
        code = is_code or (code and not line.strip())
        if not (code and not line.strip()):
            out.append(line[2:] if is_code else line)
    if code:
        out.append("```")
    return out


def strip_private(text):
    """The header without its private namespaces and private members."""
    text = re.sub(r"\nnamespace detail \{\n[^{}]*\n\}\n", "\n", text)  # short ones say nothing at their end
    text = re.sub(r"\nnamespace (?:\w+::)*detail(?:::\w+)* \{.*?\n\}  // namespace (?:\w+::)*detail(?:::\w+)*\n",
                  "\n", text, flags=re.S)
    return text


def matching(text, at):
    """The place of the bracket that closes the one at `at`."""
    closing, depth = {"(": ")", "{": "}", "[": "]"}[text[at]], 0
    for i in range(at, len(text)):
        depth += (text[i] == text[at]) - (text[i] == closing)
        if depth == 0:
            return i
    return len(text) - 1


def starts_requirement(head):
    """Is the brace after this text that of a requires-expression, with parameters or without?"""
    head = head.rstrip()
    if head.endswith(")"):
        opened = next((i for i in range(len(head) - 1, -1, -1)
                       if head[i] == "(" and matching(head, i) == len(head) - 1), 0)
        head = head[:opened].rstrip()
    return re.search(r"\brequires$", head) is not None


def declaration(lines, at):
    """The declaration that starts at a line, without its body, and the lines of that body."""
    text = re.sub(r"[ ]*//.*", "", "\n".join(lines[at:at + 400]))
    initial = None  # the place of a variable's `=`
    i, end, body = 0, len(text), ""
    while i < len(text):
        c = text[i]
        if c == ";":
            end = i
            break
        if c == "{" and starts_requirement(text[:i]):
            i = matching(text, i)  # a requires-expression
        elif c == "{":
            end, body = i, text[i + 1:matching(text, i)]
            break
        elif c in "([":
            if initial is not None and re.fullmatch(r"\s*", text[initial + 1:i]) and c == "[":
                end = initial  # a lambda as a variable's value
                break
            i = matching(text, i)
        elif c == "=" and re.match(r"[^=]*$", text[max(0, i - 1):i]) and text[i + 1] == " " and initial is None:
            initial = i
        elif c == ":" and text[i + 1] != ":" and text[i - 1] != ":" and ")" in text[:i]:
            end = i  # the initialisers of a constructor's members
            break
        i += 1
    text = text[:end].rstrip()
    text = "\n".join(line.rstrip() for line in text.splitlines() if line.strip())
    indent = min((len(x) - len(x.lstrip()) for x in text.splitlines()), default=0)
    return "\n".join(x[indent:] for x in text.splitlines()), body.splitlines()


FIELD = re.compile(r"  (?=\w)(?!using |static |friend |template|return |explicit |constexpr |typename |#)"
                   r"[\w:<>, *]+ (?:\w+|\(\*\w+\)\([^;]*\))(?: = [^;]*|\{[^;]*\})?;")


def fields(lines, at):
    """The public data of the struct that starts at a line: each with the comment behind it, which may go on
    in lines of its own."""
    out = []
    for line in lines[at + 1:]:
        if line.startswith("}") or re.match(r" (private|protected):", line):
            break
        code, _, comment = line.partition("///<")
        if comment and not code.strip():
            if out:
                out[-1][1] += " " + comment.strip()
        elif "detail::" not in code and FIELD.fullmatch(code.split("//")[0].rstrip()):
            out.append([code.split("//")[0].rstrip(), comment.strip()])
    return [f"{code}  // {comment}" if comment else code for code, comment in out]


def entities(text):
    """(comment, declaration, is it no member) of all that a /// comment documents; structs with their fields."""
    lines, out, i = strip_private(text).splitlines(), [], 0
    private = False
    while i < len(lines):
        line = lines[i].strip()
        if re.match(r"^ (private|protected):", lines[i]):
            private = True
        if re.match(r"^ public:", lines[i]) or lines[i].startswith("}"):
            private = False
        if line.startswith("///") and not line.startswith("///<") and not private:
            comment, outside = [], lines[i].startswith("///")
            while i < len(lines) and lines[i].strip().startswith("///"):
                comment.append(lines[i].strip()[3:].strip())
                i += 1
            if i < len(lines) and lines[i].strip():
                code, body = declaration(lines, i)
                inside = fields(lines, i) if re.match(r"(template <.*> *)?struct \w+", code) and body else []
                out.append((" ".join(comment), "\n".join([code + " {", *inside, "};"]) if inside else code + ";",
                            outside))
            continue
        i += 1
    return out


def page(path):
    text = path.read_text()
    lines = text.splitlines()
    name = path.relative_to(INCLUDE)
    out = [f"# {name}", "", f"`#include <dimesh/{name}>`", ""] + opening(lines)
    found = entities(text)
    if found:
        out += ["", "## What it offers"]
    for comment, code, _ in found:
        out += ["", "```text", code, "```", "", comment]
    return "\n".join(out).rstrip() + "\n"


def name_of(code):
    """What a declaration at the left margin declares; nothing where it is an operator, or a specialization."""
    if code.startswith("template"):
        at = depth = 0
        for at, c in enumerate(code):
            depth += (c == "<") - (c == ">")
            if c == ">" and depth == 0:
                break
        # A clause of requirements is indented, and what follows it is not.
        code = re.sub(r"^\s*\n(?:[ ]+.*\n)*|^ ", "", code[at + 1:])
    code = re.sub(r"\[\[.*?\]\] ?", "", code, flags=re.S)
    if match := re.match(r"(?:class|struct|concept|using|enum class|enum|namespace) (\w+)(<?)", code):
        return "" if match.group(2) or match.group(1) == "detail" else match.group(1)
    match = re.match(r"[^(]*?(operator\S*|\w+)\s*(?:\(|=|;|\{|$)", code)
    return "" if match is None or match.group(1).startswith("operator") else match.group(1)


def names_page(headers):
    """All that the public headers declare, and where."""
    where = {}
    for h in headers:
        for _, code, outside in entities(h.read_text()):
            if outside and (name := name_of(code)):
                where.setdefault(name, []).append(h.relative_to(INCLUDE).with_suffix(""))
    out = ["# Names", "", "Which header has it? All of these are in `namespace dimesh`, those of `nn/`, `io/data/` and `pipeline/` mostly in a",
           "namespace of their own within; `dimesh.hpp` includes those in **bold**.", "", "| name | header |", "|---|---|"]
    umbrella = set(re.findall(r'#include "dimesh/([\w/]+)\.hpp"', (INCLUDE / "dimesh.hpp").read_text()))
    for name in sorted(where, key=lambda n: (n.lower(), n)):
        links = ", ".join(f"[{'**' if str(h) in umbrella else ''}{h}{'**' if str(h) in umbrella else ''}]({h}.md)"
                          for h in sorted(set(where[name])))
        out.append(f"| `{name}` | {links} |")
    return "\n".join(out) + "\n"


def first_question(path):
    text = " ".join(x[2:].strip() for x in path.read_text().splitlines()[1:6] if x.startswith("//"))
    match = re.match(r"(.*?\?)", text)
    return match.group(1) if match else ""


def pages():
    headers = sorted(INCLUDE.rglob("*.hpp"))
    out, shown = {}, []
    index = ["# Reference", "", "A page for each header, made from its comments by `scripts/make_reference.py`.", "",
             "What is right by all of these rules and may not be what was meant:",
             "[what types cannot tell](../what_types_cannot_tell.md).", "", "Which header has a name that you know? [Names](names.md)."]
    known = {h: folder for h in headers for folder in FOLDERS
             if h.relative_to(INCLUDE).parent.as_posix() == (folder or ".")
             or (FOLDERS[folder] is None and folder in h.relative_to(INCLUDE).parts)}
    unknown = sorted({str(h.parent.relative_to(INCLUDE)) for h in headers if h not in known})
    if unknown:
        sys.exit(f"make_reference: say of {', '.join(unknown)} in FOLDERS what it is, or that it is private")
    for folder, title in FOLDERS.items():
        mine = [h for h in headers if known[h] == folder and h.stem not in PRIVATE.get(folder, ())]
        if not mine:
            sys.exit(f"make_reference: FOLDERS lists '{folder}', which holds no header")
        if title is None:
            continue
        index += ["", f"## {title}", "", "| header | the question it answers |", "|---|---|"]
        shown += mine
        for h in mine:
            name = h.relative_to(INCLUDE).with_suffix(".md")
            out[str(name)] = page(h)
            index.append(f"| [{h.relative_to(INCLUDE)}]({name}) | {first_question(h)} |")
    out["names.md"] = names_page(shown)
    out["README.md"] = "\n".join(index) + "\n"
    return out


def main():
    wanted = pages()
    there = {str(p.relative_to(PAGES)): p.read_text() for p in PAGES.rglob("*.md")} if PAGES.exists() else {}
    if "--check" in sys.argv:
        wrong = sorted(k for k in wanted.keys() | there.keys() if wanted.get(k) != there.get(k))
        for name in wrong:
            print(f"docs/reference/{name} is not what the header says; run scripts/make_reference.py")
        return 1 if wrong else 0
    for name in there.keys() - wanted.keys():
        (PAGES / name).unlink()
    for name, text in wanted.items():
        (PAGES / name).parent.mkdir(parents=True, exist_ok=True)
        (PAGES / name).write_text(text)
    print(f"{len(wanted)} pages")
    return 0


if __name__ == "__main__":
    sys.exit(main())
