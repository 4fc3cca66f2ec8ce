"""Options that several commands share, declared once as the fields of a dataclass."""

import inspect
from collections.abc import Callable
from functools import wraps
from typing import Any

Command = Callable[..., None]


def grouped(**groups: type) -> Callable[[Command], Command]:
    """Replace parameters of a command by the fields of dataclasses, of which it gets instances.

    Parameters
    ----------
    **groups : type
        The dataclass of each parameter.
    """

    def decorate(command: Command) -> Command:
        declared = inspect.signature(command).parameters.values()
        own = [parameter for parameter in declared if parameter.name not in groups]
        fields = {name: inspect.signature(group).parameters for name, group in groups.items()}

        @wraps(command)
        def run(**values: Any) -> None:
            made = {
                name: groups[name](**{field: values.pop(field) for field in of_group})
                for name, of_group in fields.items()
            }
            command(**values, **made)

        parameters = [*own, *(each for of_group in fields.values() for each in of_group.values())]
        run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
        run.__annotations__ = {each.name: each.annotation for each in parameters}
        return run

    return decorate
