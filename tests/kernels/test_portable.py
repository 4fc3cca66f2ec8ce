"""Native code is standard C++20; what only some compilers have is in one header."""

import re
from pathlib import Path

import pytest

NATIVE = Path(__file__).parents[2] / "native"
HEADER = NATIVE / "base" / "portable.hpp"
FILES = [path for path in sorted(NATIVE.rglob("*.[ch]pp")) if path != HEADER]
COMMENT = re.compile(r"//.*")
STRANGE = re.compile(
    r"\b__\w+"  # __builtin_..., __attribute__, __int128, __x86_64__
    r"|\[\[(?:gnu|clang|msvc)::"
    r"|^ *# *(?:if|ifdef|ifndef|define|pragma (?!once))\b.*"
    r"|\b_MSC_VER\b|\b_WIN32\b|\btypeof\b|\basm\b|\bssize_t\b|\bM_PI\b"
    r"|<(?:\w*intrin|unistd|pthread|sys/\w+)\.h>",
    re.MULTILINE,
)


def strange_words(code):
    """Give what standard C++ does not have, and conditions of the preprocessor."""
    return STRANGE.findall(COMMENT.sub("", code))


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(NATIVE)))
def test_native_code_is_standard(path):
    """Everything that depends on the compiler or the processor goes through base/portable.hpp."""
    assert not strange_words(path.read_text())


def test_what_is_not_standard_is_noticed():
    """Built-in functions, attributes, wide integers, conditions and system headers."""
    for code in (
        "x = __builtin_clzll(y);",
        "__int128 x;",
        "[[gnu::always_inline]] int f();",
        "#ifdef NDEBUG",
        "#pragma omp parallel",
        "#include <immintrin.h>",
        "#include <sys/mman.h>",
    ):
        assert strange_words(code), code
    assert not strange_words("#pragma once\n#include <bit>\n[[nodiscard]] int f();  // not __this")
