"""Parameters of learners, declared once: default, domain and documentation.

From the declarations come `__init__` with its signature, the checks of `fit`, the section
"Parameters" of the docstring, and what ``--set`` of the command line offers and reads.
"""

from __future__ import annotations

import ast
import inspect
import math
import numbers
import textwrap
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import Field, dataclass, field, fields
from functools import wraps
from typing import Any, ClassVar, Protocol, cast, dataclass_transform

import numpy as np

from rulewright.data import offer_names


class Domain(Protocol):
    """Allowed values of a parameter."""

    def accepts(self, value: object) -> bool:
        """Return whether the value is allowed."""
        ...

    def parse(self, text: str) -> object:
        """Read a value from the command line; NotImplementedError if text cannot express it."""
        ...


@dataclass(frozen=True)
class Integer:
    """A whole number of at least `low`, one of `words`, or None when `optional`."""

    low: int
    optional: bool = False
    words: tuple[str, ...] = ()

    def accepts(self, value: object) -> bool:
        """Return whether the value is allowed."""
        if value is None:
            return self.optional
        if isinstance(value, str):
            return value in self.words
        if isinstance(value, bool) or not isinstance(value, numbers.Integral):
            return False
        return int(value) >= self.low

    def parse(self, text: str) -> object:
        """Read a value from the command line."""
        if text in self.words:
            return text
        return None if text == "none" else int(text)

    def __str__(self) -> str:
        others = [*self.words, *(["none"] if self.optional else [])]
        return " or ".join([f"a whole number >= {self.low}", *others])


@dataclass(frozen=True)
class Real:
    """A number from `low` to `high`, without `low` when `above`; `words` or None are others."""

    low: float
    high: float = math.inf
    above: bool = False
    optional: bool = False
    words: tuple[str, ...] = ()

    def accepts(self, value: object) -> bool:
        """Return whether the value is allowed."""
        if value is None:
            return self.optional
        if isinstance(value, str):
            return value in self.words
        if isinstance(value, bool) or not isinstance(value, numbers.Real):
            return False
        try:
            number = float(value)
        except OverflowError:
            return False
        enough = number > self.low if self.above else number >= self.low
        return enough and number <= self.high and math.isfinite(number)

    def parse(self, text: str) -> object:
        """Read a value from the command line."""
        if text in self.words:
            return text
        return None if self.optional and text == "none" else float(text)

    def __str__(self) -> str:
        least = f"> {self.low:g}" if self.above else f">= {self.low:g}"
        most = "" if self.high == math.inf else f" and <= {self.high:g}"
        others = [*self.words, *(["none"] if self.optional else [])]
        return " or ".join([f"a number {least}{most}", *others])


@dataclass(frozen=True)
class Reals:
    """Numbers of at least `low`; None is allowed, too."""

    low: float

    def accepts(self, value: object) -> bool:
        """Return whether the value is allowed."""
        if value is None:
            return True
        listed = not isinstance(value, str) and isinstance(value, Iterable)
        return listed and all(map(Real(self.low).accepts, cast("Iterable[object]", value)))

    def parse(self, text: str) -> object:
        """Read a value from the command line."""
        return None if text == "none" else [float(part) for part in text.split(",")]

    def __str__(self) -> str:
        return f"numbers >= {self.low:g}, with commas between them, or none"


@dataclass(frozen=True)
class Choice:
    """One of a few words; None is allowed when `optional`."""

    words: tuple[str, ...]
    optional: bool = False

    def accepts(self, value: object) -> bool:
        """Return whether the value is allowed."""
        if value is None:
            return self.optional
        return isinstance(value, str) and value in self.words

    def parse(self, text: str) -> object:
        """Read a value from the command line."""
        return None if self.optional and text == "none" else text

    def __str__(self) -> str:
        return "one of " + ", ".join(self.words) + (" or none" if self.optional else "")


@dataclass(frozen=True)
class Named:
    """A word that stands for an object, such an object, or one of `words`.

    On the command line a word may have settings: ``window(size=10, most_bad=8)``.
    """

    makers: Mapping[str, Callable[..., Any]]
    kind: type
    words: tuple[str, ...] = ()
    optional: bool = False

    def accepts(self, value: object) -> bool:
        """Return whether the value is allowed."""
        if value is None:
            return self.optional
        if isinstance(value, str):
            return value in self.words or value in self.makers
        return isinstance(value, self.kind)

    def make(self, value: Any) -> Any:
        """Return the object that an allowed value stands for."""
        return self.makers[value]() if isinstance(value, str) else value

    def parse(self, text: str) -> object:
        """Read a value from the command line."""
        if "(" not in text:
            none = self.optional and text == "none" and text not in self.makers
            return None if none else text
        call = ast.parse(text, mode="eval").body
        if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Name) or call.args:
            raise ValueError(text)
        return self.makers[call.func.id](**{str(k.arg): _literal(k.value) for k in call.keywords})

    def __str__(self) -> str:
        words = ", ".join((*self.words, *self.makers))
        return f"one of {words} or a {self.kind.__name__}" + (" or none" if self.optional else "")


def _literal(node: ast.expr) -> object:
    """Read a value inside brackets; a bare name is a text."""
    if isinstance(node, ast.Name):
        return {"none": None, "true": True, "false": False}.get(node.id, node.id)
    return ast.literal_eval(node)


@dataclass(frozen=True)
class Flag:
    """True, False or one of `words`."""

    words: tuple[str, ...] = ()

    def accepts(self, value: object) -> bool:
        """Return whether the value is allowed."""
        return isinstance(value, bool) or (isinstance(value, str) and value in self.words)

    def parse(self, text: str) -> object:
        """Read a value from the command line."""
        return text if text in self.words else {"true": True, "false": False}[text.lower()]

    def __str__(self) -> str:
        return ", ".join((*self.words, "true or false"))


@dataclass(frozen=True)
class Splitting:
    """A number of folds, at least 2, a splitter of scikit-learn, or the splits themselves."""

    optional: bool = False

    def accepts(self, value: object) -> bool:
        """Return whether the value is allowed."""
        if value is None or isinstance(value, str):
            return self.optional and value is None
        splits = callable(getattr(value, "split", None)) or isinstance(value, Iterable)
        return Integer(2).accepts(value) or splits

    def parse(self, text: str) -> object:
        """Read a value from the command line."""
        return int(text)

    def __str__(self) -> str:
        return f"a whole number >= 2{',' if self.optional else ' or'} a splitter" + (
            " or None" if self.optional else ""
        )


@dataclass(frozen=True)
class OrderDomain:
    """Whether classes have an order, or the classes from low to high."""

    def accepts(self, value: object) -> bool:
        """Return whether the value is allowed."""
        return isinstance(value, bool | list | tuple | np.ndarray)

    def parse(self, text: str) -> object:
        """Read a value from the command line: true, false or ``low<medium<high``."""
        if "<" in text:
            return [label.strip() for label in text.split("<")]
        return Flag().parse(text)

    def __str__(self) -> str:
        return "true, false or the classes from low to high"


@dataclass(frozen=True)
class CheckedByFit:
    """A value with no simple domain: `fit` checks it, and the command line cannot set it."""

    text: str

    def accepts(self, value: object) -> bool:
        """Accept everything."""
        return True

    def parse(self, text: str) -> object:
        """Raise an error: text cannot express such a value."""
        raise NotImplementedError

    def __str__(self) -> str:
        return self.text


def Parameter(  # noqa: N802 - reads like a type in the declarations
    domain: Domain, doc: str, *, default: Any, kw_only: bool = True
) -> Any:
    """Declare a parameter in the body of a learner: ``name: type = Parameter(...)``.

    Parameters
    ----------
    domain : Domain
        What it may be.
    doc : str
        What it does, for the docstring of the learner.
    default : object
        Its default.
    kw_only : bool
        Whether it can only be given by name.
    """
    return field(default=default, kw_only=kw_only, metadata={"domain": domain, "doc": doc})


@dataclass_transform(eq_default=False, kw_only_default=True, field_specifiers=(Parameter,))
class Parameterised:
    """Base of learners: a subclass declares parameters, which precede the inherited ones.

    Fitted attributes must not be annotated in the body of a subclass: `__init__` would take them.
    """

    DOMAINS: ClassVar[Mapping[str, Domain]] = {}
    """The domain of each parameter, in the order of the documentation."""

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        own = any(isinstance(value, Field) for value in vars(cls).values())
        inherited = {name for base in cls.__bases__ for name in getattr(base, "DOMAINS", ())}
        if not own and inherited <= cls.DOMAINS.keys():
            return
        dataclass(eq=False, repr=False, kw_only=True)(cls)
        declared = {one.name: one for one in fields(cast("Any", cls))}
        order = _own_first(cls, declared)
        cls.DOMAINS = {name: declared[name].metadata["domain"] for name in order}
        # Positional parameters come first, as in the signature.
        listed = sorted((declared[name] for name in order), key=lambda one: bool(one.kw_only))
        cls.__doc__ = _document(inspect.cleandoc(cls.__doc__ or ""), listed)
        init = cast("Any", _check_names(cls.__init__, order))
        cls.__init__ = init  # type: ignore[method-assign]
        known = inspect.signature(init).parameters
        parameters = sorted((known[name] for name in ("self", *order)), key=lambda one: one.kind)
        init.__signature__ = inspect.Signature(parameters, return_annotation=None)

    @classmethod
    def documentation(cls) -> dict[str, str]:
        """Return what each parameter does."""
        return {one.name: one.metadata["doc"] for one in fields(cast("Any", cls))}

    @classmethod
    def settable(cls) -> dict[str, Domain]:
        """Return the parameters that the command line can set."""
        return {
            name: domain
            for name, domain in cls.DOMAINS.items()
            if not isinstance(domain, CheckedByFit)
        }


def _check_names(init: Callable[..., None], names: Sequence[str]) -> Callable[..., None]:
    """Return an `__init__` that suggests the parameter that a mistyped name means."""

    @wraps(init)
    def checked(self: object, *values: Any, **options: Any) -> None:
        for name in options.keys() - set(names):
            kind = type(self).__name__
            raise TypeError(f"{kind} has no parameter {name!r}. {offer_names(name, names)}")
        init(self, *values, **options)

    return checked


def _own_first(cls: type, declared: Iterable[str]) -> list[str]:
    """Order parameters by the class that introduces them, common bases last."""
    places = {
        name: place
        for place, part in enumerate(cls.__mro__)
        for name in vars(part).get("__annotations__", {})
    }
    listed = dict.fromkeys(
        name for part in cls.__mro__ for name in vars(part).get("__annotations__", {})
    )
    known = set(declared)
    return sorted((name for name in listed if name in known), key=places.__getitem__)


def _document(doc: str, declared: Iterable[Field[Any]]) -> str:
    """Put the section "Parameters" before the section "Attributes", or at the end."""
    lines = ["Parameters", "----------"]
    for one in declared:
        lines.append(f"{one.name} : {one.metadata['domain']}, default={one.default!r}")
        lines.append(textwrap.indent(textwrap.fill(one.metadata["doc"], 92), "    "))
    before, attributes, after = doc.partition("Attributes\n----------\n")
    section = "\n".join(lines)
    return f"{before.rstrip()}\n\n{section}\n\n{attributes}{after}".rstrip()


def to_plain_data(value: object) -> object:
    """Return a parameter as plain data: NumPy numbers become Python's, objects their text."""
    if isinstance(value, np.generic):
        return value.item()
    return value if value is None or isinstance(value, str | int | float) else repr(value)


def check_parameters(
    estimator: str, values: Mapping[str, object], domains: Mapping[str, Domain]
) -> None:
    """Raise a ValueError for the first parameter outside its domain."""
    for name, domain in domains.items():
        if not domain.accepts(values[name]):
            raise ValueError(f"{estimator}: {name}={values[name]!r} must be {domain}")


def parse_settings(
    estimator: str, settings: Mapping[str, str], domains: Mapping[str, Domain]
) -> dict[str, Any]:
    """Read ``name=value`` settings of the command line by the domains of an estimator."""
    parsed: dict[str, Any] = {}
    for name, text in settings.items():
        if name not in domains:
            offer = offer_names(name, sorted(domains))
            raise ValueError(f"{estimator} has no parameter {name!r}. {offer}")
        try:
            parsed[name] = domains[name].parse(text)
        except (ValueError, KeyError, TypeError, SyntaxError):
            raise ValueError(f"{estimator}: {name}={text} must be {domains[name]}") from None
        check_parameters(estimator, parsed, {name: domains[name]})
    return parsed
