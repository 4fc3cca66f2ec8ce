"""Options that several commands share, declared once as the fields of a dataclass."""

import inspect
from collections.abc import Callable
from functools import wraps
from typing import Any

Command = Callable[..., None]


def group_options(**groups: type) -> Callable[[Command], Command]:
    """Replace parameters of a command by the fields of dataclasses, of which it gets instances.

    The fields stand where the parameter stood; options are in the help in this order.

    Parameters
    ----------
    **groups : type
        The dataclass of each parameter.
    """

    def decorate(command: Command) -> Command:
        declared = inspect.signature(command).parameters
        fields = {name: inspect.signature(group).parameters for name, group in groups.items()}

        @wraps(command)
        def run(**values: Any) -> None:
            made = {
                name: groups[name](**{field: values.pop(field) for field in of_group})
                for name, of_group in fields.items()
            }
            command(**values, **made)

        parameters = [
            each.replace(kind=inspect.Parameter.KEYWORD_ONLY)
            for name, own in declared.items()
            for each in (fields[name].values() if name in fields else (own,))
        ]
        run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
        run.__annotations__ = {each.name: each.annotation for each in parameters}
        return run

    return decorate
