# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Which functions write elements in a loop, and do not begin by saying so?

A compiler may take such a function for one that writes nothing, and drop its calls: rule and proof
in docs/decisions/0010-kernels-say-that-they-write.md. `silent_kernels(text)` gives the lines of
functions, member functions and lambdas of a header

  - with a loop, or std::fill, fill_n, copy, copy_n, or an `omp simd`, and
  - with a store through a pointer to what is not const (any store, of an `omp simd`), and
  - without a writes_memory or writes_arrays of their own, which their callers would get, too: what
    an enclosing function says is lost on a lambda that is not made part of it.

Functions that are constant expressions, or always inlined, are left out. It reads text, as
clang-format leaves it, and no C++: stores through references and iterators it does not see.
"""
import re

CONTROL = re.compile(r"(?:for|if|else|while|do|switch|try|catch)\b")
LAMBDA = re.compile(r"(?:^|[^\w\])])\[[^\[\]]*\]\s*(?:<[^{}()]*>\s*)?"
                    r"(?:\((?:[^()]|\([^()]*\))*\)\s*)?(?:mutable|noexcept)?\s*(?:->[\w:<>&*, ]+)?$")
TYPE = re.compile(r"\b(?:struct|class|union|enum|namespace)\b[^()]*$")
FUNCTION = re.compile(r"\)[^()=]*$|\)\s*(?:const\s*)?(?:noexcept\s*)?:\s.*$", re.S)
LOOP = re.compile(r"\b(?:for|while) \(|\bstd::(?:fill|fill_n|copy|copy_n)\(")
LOOP_OR_SIMD = re.compile(rf"{LOOP.pattern}|#pragma omp simd")
POINTER = re.compile(r"(?<![\w:<])((?:const )?[\w:]+(?:<[^<>;()]*>)?)\s*\*\s*(?:const )?(\w+)"
                     r"(?=\s*[,;)=({])")
POINTERS = re.compile(r"(?<!const )\b[A-Z]\w* \*const \w+[^;]*;")  # T *const a = .., *const b = ..
ARRAY = re.compile(r"\w[*&]? (\w+)\[[^\]]+\](?=[^=;]*[;={,])")  # of the function's own
SAYS_SO = re.compile(r"\bwrites_(?:memory|arrays) \w+;")
LEFT_OUT = re.compile(r"\bconst(?:expr|eval)\b|FORCEINLINE")


class Unit:
    """A function, a lambda or a type: its head, and its text without the units within it."""

    def __init__(self, kind: str, head: str, parent: "Unit | None", at: int):
        self.kind, self.head, self.parent, self.at, self.text = kind, head, parent, at, ""

    def pointers(self) -> set[str]:
        names = set() if self.parent is None else self.parent.pointers()
        text = f"{self.head};{self.text}"
        names |= {name for of, name in POINTER.findall(text)
                  if not of.startswith("const ") and of != "return"}
        for several in POINTERS.findall(text):
            names |= set(re.findall(r"\*const (\w+)", several))
        return names

    def says_so(self) -> bool:
        """Before its first loop, whatever way led there."""
        first = LOOP_OR_SIMD.search(self.text)
        before = self.text[:first.start()] if first else self.text
        said = SAYS_SO.search(before)
        if not said:
            return False
        around = before[:said.start()]
        return around.count("{") == around.count("}") or "if constexpr" in around

    def is_silent(self) -> bool:
        if self.says_so() or LEFT_OUT.search(self.head):
            return False
        if "#pragma omp simd" in self.text:
            return True
        names = "|".join(sorted(self.pointers() - set(ARRAY.findall(self.text))))
        if not LOOP.search(self.text) or not names:
            return False
        place = rf"(?:(?<![\w.])(?:{names})|data<\w+>\(\))\[[^;=]*\]|[;{{}})]\s*\*(?:{names})(?:\+\+)?"
        return re.search(rf"(?:{place})\s*(?:[-+*/|&^]|<<|>>)?=(?!=)|\+\+(?:{names})\[|(?<![\w.])(?:{names})\[[^;=]*\]\+\+|\bmemcpy\((?:{names})\b"
                         rf"|std::(?:fill|fill_n)\((?:{names})\b|std::copy(?:_n)?\([^;]*,\s*(?:{names})(?: \+[^,;]*)?\);",
                         self.text) is not None


def blanked(text: str) -> str:
    """Comments, strings and directives but `omp simd` become spaces; lines stay where they are."""
    def spaces(match: re.Match) -> str:
        return re.sub(r"[^\n]", " ", match[0])
    text = re.sub(r"//[^\n]*", spaces, text)
    text = re.sub(r'"(?:[^"\\\n]|\\.)*"', lambda m: '"' + " " * (len(m[0]) - 2) + '"', text)
    text = re.sub(r"'[(){};\[\]\"]'", "' '", text)
    return re.sub(r"^ *#(?!pragma omp simd)(?:[^\n]*\\\n)*[^\n]*", spaces, text, flags=re.M)


def units_of(text: str) -> list[Unit]:
    unit = Unit("type", "", None, 0)
    found, stack, depth, start = [], [], 0, 0
    for at, c in enumerate(text):
        depth += {"(": 1, ")": -1}.get(c, 0)
        if c == ";" and depth == 0:
            start = at + 1
        elif c == "{":
            head = text[start:at].strip()
            stack.append((unit, depth))
            depth, start = 0, at + 1
            if LAMBDA.search(head):
                kind = "lambda"
            elif TYPE.search(head):
                kind = "type"
            elif unit.kind == "type" and not CONTROL.match(head) and FUNCTION.search(head):
                kind = "function"
            else:
                unit.text += c
                continue
            unit = Unit(kind, head, unit, at)
            found.append(unit)
            continue
        elif c == "}" and stack:
            unit, depth = stack.pop()
            if depth == 0:
                start = at + 1
        unit.text += c
    return found


def silent_kernels(text: str) -> list[int]:
    text = blanked(text)
    return [text.count("\n", 0, unit.at) + 1 for unit in units_of(text)
            if unit.kind != "type" and unit.is_silent()]


# A reader of text that no longer sees anything would say nothing: two functions and a lambda that
# are at fault, and the same as they should be.
AT_FAULT = """namespace dimesh::local {
template <class T> void scale(index_t n, T* x) {
  for (index_t i = 0; i < n; ++i) x[i] *= 2;
}
struct sums {
  float* to;
  void clear(index_t n) const {
    const dimesh::detail::opened memory;
    std::fill_n(to, n, 0.0f);
  }
};
inline void each(index_t n, const float* from, float* to) {
  const dimesh::detail::writes_memory kernel;
  in_rows(n, [=](index_t row, index_t m) {
    for (index_t i = 0; i < m; ++i) to[row + i] = from[row + i];
  });
}
}"""


# Said too late, or on one way only; and stores of other forms.
TOO_LATE = ["for (index_t i = 0; i < n; ++i) x[i] = 0; const writes_memory kernel;",
            "if (n > 3) { const writes_memory kernel; } for (index_t i = 0; i < n; ++i) x[i] = 2;",
            "for (index_t i = 0; i < n; ++i) *x++ = 0;", "for (index_t i = 0; i < n; ++i) x[i]++;",
            "for (index_t i = 0; i < n; ++i) std::memcpy(x + i, y, 4);"]


def self_test() -> None:
    for body in TOO_LATE:
        text = f"namespace a {{\ninline void f(index_t n, float* x, const float* y) {{\n  {body}\n}}\n}}"
        assert silent_kernels(text) == [2], body
    good = re.sub(r"\b(scale\(.*|row, index_t m\)) \{", r"\g<0> const writes_memory kernel;", AT_FAULT)
    good = good.replace("opened memory", "writes_memory kernel")
    assert silent_kernels(AT_FAULT) == [2, 7, 14], silent_kernels(AT_FAULT)
    assert silent_kernels(good) == [], silent_kernels(good)
