"""Specs of tensors: shape, dtype and bounds."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import ArrayLike

from pluriverse.errors import ActionError, ConfigurationError

from . import tensors
from .tensors import Array, Nest, Tensor, tree

Dims = Sequence[int]

# Enough for missions, scores, and most pages' summaries; what is longer is cut.
TEXT_BYTES: Final = 1024


class TensorSpec:
    """The shape and the dtype of a tensor, without batch dimensions: methods take those as ``outer_dims``.

    Elements are floats if ``is_continuous``, else integers or truth values (``is_discrete``); ``dtype_str`` is NumPy's
    name of their dtype. Specs that differ only in ``name`` are equal.
    """

    def __init__(self, shape: Dims, dtype: Any = "float32", name: str | None = None) -> None:
        """``dtype``: NumPy's or torch's, or its name."""
        self.shape: tuple[int, ...] = tuple(int(side) for side in shape)
        self.numpy_dtype = np.dtype(str(dtype).removeprefix("torch.") if type(dtype).__module__ == "torch" else dtype)
        self.dtype_str = self.numpy_dtype.name
        self.name = name
        self.is_continuous: bool = self.numpy_dtype.kind == "f"
        self.is_discrete: bool = not self.is_continuous

    @property
    def dtype(self) -> Any:
        """The dtype: torch's where torch is installed, else NumPy's."""
        return tensors.tensor(self.numpy_zeros()).dtype

    def contains(self, value: ArrayLike | Tensor, outer_dims: Dims = ()) -> bool:
        """Return whether an array or a tensor is of this shape and dtype, and within the bounds."""
        array = tensors.as_array(value)
        return array.shape == (*outer_dims, *self.shape) and array.dtype == self.numpy_dtype

    def numpy_zeros(self, outer_dims: Dims = ()) -> Array:
        """Return an array of zeros."""
        return np.zeros((*outer_dims, *self.shape), self.numpy_dtype)

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        return self.shape == other.shape and self.numpy_dtype == other.numpy_dtype

    def __hash__(self) -> int:
        return hash((self.shape, self.numpy_dtype))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.shape}, {self.dtype_str!r}, name={self.name!r})"


class BoundedTensorSpec(TensorSpec):
    """A spec whose elements are at least ``minimum`` and at most ``maximum``, arrays that broadcast to the shape."""

    def __init__(
        self,
        shape: Dims,
        dtype: Any = "float32",
        minimum: ArrayLike = 0,
        maximum: ArrayLike = 1,
        name: str | None = None,
    ) -> None:
        """Bounds of floats may be infinite; raise ``ConfigurationError`` if there is nothing between them."""
        super().__init__(shape, dtype, name)
        try:
            low, high = np.array(minimum, self.numpy_dtype), np.array(maximum, self.numpy_dtype)
            self.minimum: Array = np.broadcast_to(low, self.shape)
            self.maximum: Array = np.broadcast_to(high, self.shape)
        except (ValueError, OverflowError) as error:
            raise ConfigurationError(f"bounds {minimum!r:.80} and {maximum!r:.80} don't fit {self.shape}") from error
        if not (self.minimum <= self.maximum).all():
            raise ConfigurationError(f"the minimum {minimum!r:.80} is above the maximum {maximum!r:.80}")

    def contains(self, value: ArrayLike | Tensor, outer_dims: Dims = ()) -> bool:
        """Return whether it is of this shape and dtype, and within the bounds."""
        array = tensors.as_array(value)
        if not super().contains(array, outer_dims):
            return False
        return bool((array >= self.minimum).all() and (array <= self.maximum).all())

    def sample(self, outer_dims: Dims = (), rng: np.random.Generator | None = None) -> Tensor:
        """Return a random tensor; see ``numpy_sample``."""
        return tensors.tensor(self.numpy_sample(outer_dims, rng))

    def numpy_sample(self, outer_dims: Dims = (), rng: np.random.Generator | None = None) -> Array:
        """Return a random array: uniform between finite bounds; where one is infinite, normal, and clipped.

        Without ``rng`` it follows ``numpy.random.seed``.
        """
        # NumPy's old generator draws no wide integers between bounds that are arrays, but the seed of one that does.
        rng = rng or np.random.default_rng(np.random.randint(2**31, size=4))
        shape = (*outer_dims, *self.shape)
        low, high = np.broadcast_to(self.minimum, shape), np.broadcast_to(self.maximum, shape)
        if self.is_discrete:
            return np.asarray(rng.integers(low, high, shape, self.numpy_dtype, endpoint=True))
        finite = np.isfinite(low) & np.isfinite(high)
        share = rng.random(shape)
        with np.errstate(all="ignore"):
            between = low.astype(float) * (1 - share) + high.astype(float) * share
        drawn = np.where(finite, between, rng.standard_normal(shape)).astype(self.numpy_dtype)
        # Rounding to the dtype may leave the bounds by a hair.
        return np.clip(drawn, low, high)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, BoundedTensorSpec) or not super().__eq__(other):
            return False
        return np.array_equal(self.minimum, other.minimum) and np.array_equal(self.maximum, other.maximum)

    __hash__ = TensorSpec.__hash__

    def __repr__(self) -> str:
        bounds = f"{self.minimum.tolist()!r:.60}, {self.maximum.tolist()!r:.60}"
        return f"{type(self).__name__}({self.shape}, {self.dtype_str!r}, {bounds}, name={self.name!r})"


def text_spec() -> BoundedTensorSpec:
    """Return the spec of a text: UTF-8 in a row of uint8, (``TEXT_BYTES``,), with zeros behind it."""
    return BoundedTensorSpec((TEXT_BYTES,), "uint8", 0, 255, "text")


def encode_text(text: str) -> Array:
    """Return a text in the form of ``text_spec``; a longer one is cut between two characters."""
    cut = text.encode("utf-8", "replace")[:TEXT_BYTES].decode("utf-8", "ignore").encode()
    return np.frombuffer(cut.ljust(TEXT_BYTES, b"\0"), np.uint8).copy()


def decode_text(row: Tensor) -> str:
    """Return the text of an encoded row."""
    return bytes(tensors.as_array(row)).rstrip(b"\0").decode("utf-8", "replace")


def as_action(spec: Nest, action: Nest, outer_dims: Dims = ()) -> Nest:
    """Return a nest of new arrays that ``spec`` contains, of a nest of tensors, arrays or (lists of) numbers.

    Integers and floats may be of another size, as long as they are the same in the spec's. Raise ``ActionError`` if it
    is no action of this spec.
    """

    def convert(part: TensorSpec, value: object) -> Array:
        array = tensors.as_array(value)
        if array.dtype.kind in ("biuf" if part.is_continuous else "biu"):
            # A copy: it becomes a prev_action, and agents write their next action where the last one was.
            if array.dtype == part.numpy_dtype:
                cast = array.copy()
            else:
                with np.errstate(all="ignore"):
                    cast = array.astype(part.numpy_dtype)
            # An integer that another size of integers can't hold has become another number.
            exact = part.is_continuous or array.dtype == part.numpy_dtype or (cast == array).all()
            if exact and part.contains(cast, outer_dims):
                return cast
        batch = f" behind {tuple(outer_dims)}" if outer_dims else ""
        raise ActionError(f"the action is {value!r:.120}; expected {part}{batch}")

    if not tree.is_nested(spec):
        return convert(spec, action)
    try:
        # A list may stand for an array, and for a tuple.
        return tree.map_structure_up_to(spec, convert, spec, action)
    except ActionError:
        raise
    except (TypeError, ValueError) as error:
        raise ActionError(f"the action is {action!r:.120}; expected {spec!r:.240}") from error
