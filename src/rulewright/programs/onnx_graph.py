"""The parts of an ONNX graph as they are added: operations, and constants that are stored once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike

MAX_OPERATIONS = 200_000
"""More take runtimes minutes to load."""

OPSETS = {"": 18, "ai.onnx.ml": 3}
IR_VERSION = 8


def onnx_package() -> Any:
    """Import the package that makes ONNX files, or say how to install it."""
    try:
        import onnx  # noqa: PLC0415 - heavy, and only needed here
    except ImportError:
        raise ImportError(
            "writing ONNX needs the package onnx: pip install rulewright[onnx]"
        ) from None
    return onnx


class OnnxGraph:
    """Operations of an ONNX graph in the order in which they are computed."""

    def __init__(self) -> None:
        self._onnx = onnx_package()
        self._nodes: list[Any] = []
        self._stored: dict[tuple[Any, ...], str] = {}
        self._initializers: list[Any] = []
        self.inputs: list[Any] = []
        self.outputs: list[Any] = []

    def add(self, operation: str, *values: str, domain: str = "", **attributes: Any) -> str:
        """Add an operation on values and return the name of its result."""
        if len(self._nodes) >= MAX_OPERATIONS:
            raise ValueError(
                f"the ONNX graph of this model has more than {MAX_OPERATIONS:,} operations: its "
                "rules are too many or too long; export a model of fewer rules"
            )
        name = f"/rule/{len(self._nodes)}"
        self._nodes.append(
            self._onnx.helper.make_node(operation, values, [name], domain=domain, **attributes)
        )
        return name

    def constant(self, values: ArrayLike, dtype: Any = np.float64) -> str:
        """Store numbers, truth values or text and return their name."""
        array = np.asarray(values, dtype=dtype)
        content = tuple(array.ravel()) if array.dtype == object else array.tobytes()
        key = (array.dtype, array.shape, content)
        if key not in self._stored:
            name = self._stored[key] = f"/constant/{len(self._stored)}"
            if array.dtype == object:
                texts = [text.encode() for text in array.ravel()]
                kind = self._onnx.TensorProto.STRING
                tensor = self._onnx.helper.make_tensor(name, kind, array.shape, texts)
            else:
                tensor = self._onnx.numpy_helper.from_array(array, name)
            self._initializers.append(tensor)
        return self._stored[key]

    def cast(self, value: str, dtype: Any) -> str:
        """Convert a value to another type."""
        return self.add("Cast", value, to=self.type_of(dtype))

    def type_of(self, dtype: Any) -> int:
        """Return what ONNX calls a type of NumPy; objects are text."""
        if np.dtype(dtype) == object:
            return int(self._onnx.TensorProto.STRING)
        return int(self._onnx.helper.np_dtype_to_tensor_dtype(np.dtype(dtype)))

    def take_input(self, name: str, dtype: Any) -> str:
        """Declare a column of rows."""
        helper = self._onnx.helper
        self.inputs.append(helper.make_tensor_value_info(name, self.type_of(dtype), ["rows", 1]))
        return name

    def give_output(self, name: str, value: str, dtype: Any, shape: Sequence[Any]) -> None:
        """Give a value under a name."""
        helper = self._onnx.helper
        self._nodes.append(helper.make_node("Identity", [value], [name]))
        self.outputs.append(helper.make_tensor_value_info(name, self.type_of(dtype), shape))

    def serialise(self) -> bytes:
        """Return the content of an ONNX file, after its checks."""
        helper = self._onnx.helper
        graph = helper.make_graph(
            self._nodes, "rulewright", self.inputs, self.outputs, self._initializers
        )
        opsets = [helper.make_opsetid(domain, version) for domain, version in OPSETS.items()]
        model = helper.make_model(graph, opset_imports=opsets, producer_name="rulewright")
        model.ir_version = IR_VERSION
        self._onnx.checker.check_model(model)
        content: bytes = model.SerializeToString()
        return content
