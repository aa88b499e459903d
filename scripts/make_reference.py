#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes docs/reference/: a page for each public header, made of its comments, so that the two cannot differ.

    scripts/make_reference.py           writes the pages
    scripts/make_reference.py --check   fails if they are not what it would write
"""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
INCLUDE = ROOT / "include" / "dimesh"
PAGES = ROOT / "docs" / "reference"
PRIVATE = {"detail", "local", "collective"}
FOLDERS = [("", "Names, layouts, tensors"), ("op", "Operations"), ("grad", "Gradients and costs"),
           ("optim", "Optimizers"), ("io", "Files and pictures")]


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
    text = re.sub(r"\nnamespace (?:dimesh::)?detail(?:::\w+)? \{.*?\n\}  // namespace (?:dimesh::)?detail(?:::\w+)?\n",
                  "\n", text, flags=re.S)
    return text


def declaration(lines, at):
    """The declaration that starts at a line, up to its body."""
    out, depth = [], 0
    for line in lines[at:at + 14]:
        out.append(line)
        bare = re.sub(r"//.*", "", line)
        depth += bare.count("(") - bare.count(")")
        if depth <= 0 and ("{" in bare or ";" in bare):
            break
    text = "\n".join(out)
    if "{" in text:
        head = text[:text.index("{")]
        # A body in braces, or an initialiser that belongs to the declaration.
        text = head.rstrip() + ";"
    if re.search(r"\)\s*(const)?\s*:\s", text):
        text = re.sub(r"\)\s*(const)?\s*:\s.*", r") \1", text, flags=re.S).rstrip() + ";"
    indent = min((len(x) - len(x.lstrip()) for x in text.splitlines() if x.strip()), default=0)
    return "\n".join(x[indent:] for x in text.splitlines())


def entities(text):
    """(comment, declaration) of all that a /// comment documents."""
    lines, out, i = strip_private(text).splitlines(), [], 0
    private = False
    while i < len(lines):
        line = lines[i].strip()
        if re.match(r"^ (private|protected):", lines[i]):
            private = True
        if re.match(r"^ public:", lines[i]) or lines[i].startswith("}"):
            private = False
        if line.startswith("///") and not private:
            comment = []
            while i < len(lines) and lines[i].strip().startswith("///"):
                comment.append(lines[i].strip()[3:].strip())
                i += 1
            if i < len(lines) and lines[i].strip():
                out.append((" ".join(comment), declaration(lines, i)))
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
    for comment, code in found:
        out += ["", "```text", code, "```", "", comment]
    return "\n".join(out).rstrip() + "\n"


def first_question(path):
    text = " ".join(x[2:].strip() for x in path.read_text().splitlines()[1:6] if x.startswith("//"))
    match = re.match(r"(.*?\?)", text)
    return match.group(1) if match else ""


def pages():
    headers = [h for h in sorted(INCLUDE.rglob("*.hpp")) if not PRIVATE & set(h.relative_to(INCLUDE).parts)]
    out = {}
    index = ["# Reference", "", "A page for each header, made from its comments by `scripts/make_reference.py`."]
    for folder, title in FOLDERS:
        mine = [h for h in headers if h.parent == INCLUDE / folder]
        if not mine:
            continue
        index += ["", f"## {title}", "", "| header | the question it answers |", "|---|---|"]
        for h in mine:
            name = h.relative_to(INCLUDE).with_suffix(".md")
            out[str(name)] = page(h)
            index.append(f"| [{h.relative_to(INCLUDE)}]({name}) | {first_question(h)} |")
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
