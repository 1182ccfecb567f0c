"""Specs of tensors: shape, dtype and bounds."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from pluriverse.errors import ActionError, Misuse

from . import nest, tensors
from .nest import Nest
from .tensors import Array, Refused, Tensor

Dims = Sequence[int] | None
torch_dtype_to_str = tensors.dtype_name


class TensorSpec:
    """The shape and the dtype of a tensor, without batch dimensions: methods take those as ``outer_dims``.

    Elements, of which there are ``numel``, are floats if ``is_continuous``, else integers or truth values
    (``is_discrete``); ``dtype_str`` is NumPy's name of their dtype. Specs that differ only in ``name`` are equal.
    """

    def __init__(self, shape: Sequence[int], dtype: Any = "float32", name: str | None = None) -> None:
        """``dtype``: NumPy's or torch's, or its name; raise ``Refused`` if it or the shape is none."""
        self.shape: tuple[int, ...] = tuple(int(side) for side in shape)
        if min(self.shape, default=0) < 0:
            raise Refused(f"the shape is {self.shape}; expected sides of 0 or more")
        self.dtype_str: str = tensors.dtype_name(dtype)
        self.numpy_dtype: np.dtype[Any] = np.dtype(self.dtype_str)
        self.name = name
        self.ndim: int = len(self.shape)
        self.numel: int = int(np.prod(self.shape))
        self.is_continuous: bool = self.numpy_dtype.kind == "f"
        self.is_discrete: bool = not self.is_continuous

    @classmethod
    def from_spec(cls, spec: TensorSpec) -> TensorSpec:
        """Return the same spec, without the bounds that it may have."""
        return TensorSpec(spec.shape, spec.dtype_str, spec.name)

    @classmethod
    def from_array(cls, array: ArrayLike | Tensor, from_dim: int = 0) -> TensorSpec:
        """Return the spec of an array, a number or a tensor, without its first ``from_dim`` dimensions."""
        values = tensors.as_array(array)
        return TensorSpec(values.shape[from_dim:], values.dtype)

    @classmethod
    def from_tensor(cls, tensor: Tensor, from_dim: int = 0) -> TensorSpec:
        """Return the spec of a tensor; see ``from_array``."""
        return cls.from_array(tensor, from_dim)

    def replace(self, shape: Dims = None, dtype: Any = None) -> TensorSpec:
        """Return the spec with another shape or dtype."""
        return TensorSpec(self.shape if shape is None else shape, dtype or self.dtype_str, self.name)

    @classmethod
    def is_bounded(cls) -> bool:
        """Return whether it has bounds."""
        return False

    @property
    def dtype(self) -> Any:
        """The dtype, of the library in use."""
        return tensors.chosen().dtype(self.dtype_str)

    def contains(self, value: ArrayLike | Tensor, outer_dims: Dims = None) -> bool:
        """Return whether an array or a tensor is of this shape and dtype, and within the bounds."""
        array = tensors.as_array(value)
        return array.shape == self._shape(outer_dims) and array.dtype == self.numpy_dtype

    def zeros(self, outer_dims: Dims = None) -> Tensor:
        """Return a tensor of zeros."""
        return self.constant(0, outer_dims)

    def ones(self, outer_dims: Dims = None) -> Tensor:
        """Return a tensor of ones."""
        return self.constant(1, outer_dims)

    def constant(self, value: ArrayLike, outer_dims: Dims = None) -> Tensor:
        """Return a tensor filled with ``value``."""
        return tensors.chosen().tensor(self.numpy_constant(value, outer_dims))

    def rand(self, outer_dims: Dims = None) -> Tensor:
        """Return a tensor of random numbers of at least 0 and below 1, of NumPy's own generator."""
        return self.constant(np.random.random(self._shape(outer_dims)), outer_dims)

    def randn(self, outer_dims: Dims = None) -> Tensor:
        """Return a tensor of normally distributed random numbers, of NumPy's own generator."""
        return self.constant(np.random.standard_normal(self._shape(outer_dims)), outer_dims)

    def numpy_zeros(self, outer_dims: Dims = None) -> Array:
        """Return an array of zeros."""
        return np.zeros(self._shape(outer_dims), self.numpy_dtype)

    def numpy_constant(self, value: ArrayLike, outer_dims: Dims = None) -> Array:
        """Return an array filled with ``value``."""
        return np.full(self._shape(outer_dims), value, self.numpy_dtype)

    def _shape(self, outer_dims: Dims) -> tuple[int, ...]:
        return (*(outer_dims or ()), *self.shape)

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        return self.shape == other.shape and self.numpy_dtype == other.numpy_dtype

    def __hash__(self) -> int:
        return hash((self.shape, self.numpy_dtype))

    def __repr__(self) -> str:
        named = f", name={self.name!r}" if self.name else ""
        return f"{type(self).__name__}({self.shape}, {self.dtype_str!r}{self._bounds_repr()}{named})"

    def _bounds_repr(self) -> str:
        return ""


class BoundedTensorSpec(TensorSpec):
    """A spec whose elements are at least ``minimum`` and at most ``maximum``, arrays that broadcast to the shape."""

    def __init__(
        self,
        shape: Sequence[int],
        dtype: Any = "float32",
        minimum: ArrayLike = 0,
        maximum: ArrayLike = 1,
        name: str | None = None,
    ) -> None:
        """Bounds of floats may be infinite; raise ``Refused`` if they don't broadcast, or aren't of the dtype."""
        super().__init__(shape, dtype, name)
        self.minimum: Array = self._bound("minimum", minimum)
        self.maximum: Array = self._bound("maximum", maximum)
        if not (self.minimum <= self.maximum).all():
            raise Refused(f"the minimum {minimum!r:.80} is above the maximum {maximum!r:.80}")

    def _bound(self, name: str, value: ArrayLike) -> Array:
        given = np.asarray(value)
        with np.errstate(all="ignore"):
            bound = np.array(given, self.numpy_dtype)
        try:
            np.broadcast_to(bound, self.shape)
        except ValueError:
            raise Refused(f"{name} is {value!r:.80}; expected the shape {self.shape} or less") from None
        if self.is_discrete and not (bound == given).all():
            raise Refused(f"{name} is {value!r:.80}, which {self.dtype_str} can't hold")
        bound.setflags(write=False)
        return bound

    @classmethod
    def from_spec(cls, spec: TensorSpec) -> BoundedTensorSpec:
        """Return the same spec; raise ``Refused`` if it has no bounds."""
        if not isinstance(spec, BoundedTensorSpec):
            raise Refused(f"{spec} has no bounds")
        return spec.replace()

    def replace(
        self, shape: Dims = None, dtype: Any = None, minimum: ArrayLike | None = None, maximum: ArrayLike | None = None
    ) -> BoundedTensorSpec:
        """Return the spec with another shape, dtype or bounds."""
        low, high = self.minimum if minimum is None else minimum, self.maximum if maximum is None else maximum
        return BoundedTensorSpec(self.shape if shape is None else shape, dtype or self.dtype_str, low, high, self.name)

    @classmethod
    def is_bounded(cls) -> bool:
        """Return True."""
        return True

    def contains(self, value: ArrayLike | Tensor, outer_dims: Dims = None) -> bool:
        """Return whether it is of this shape and dtype, and within the bounds."""
        array = tensors.as_array(value)
        return super().contains(array, outer_dims) and bool(((array >= self.minimum) & (array <= self.maximum)).all())

    def sample(self, outer_dims: Dims = None, rng: Any = np.random) -> Tensor:
        """Return a random tensor; see ``numpy_sample``."""
        return tensors.chosen().tensor(self.numpy_sample(outer_dims, rng))

    def numpy_sample(self, outer_dims: Dims = None, rng: Any = np.random) -> Array:
        """Return a random array: uniform between finite bounds; where one is infinite, normal around 0 or the other.

        ``rng``: a ``Generator`` or a ``RandomState`` of NumPy's; else that of ``numpy.random.seed``.
        """
        if not isinstance(rng, np.random.Generator):
            # It draws no wide integers between bounds that are arrays, but the seed of one that does.
            rng = np.random.default_rng(rng.randint(2**31, size=4))
        shape = self._shape(outer_dims)
        low, high = np.broadcast_to(self.minimum, shape), np.broadcast_to(self.maximum, shape)
        if self.is_discrete:
            # NumPy draws truth values and integers of all sizes alike, both bounds included.
            return np.asarray(rng.integers(low, high, shape, self.numpy_dtype, endpoint=True))
        share, beyond = rng.random(shape), rng.standard_normal(shape)
        finite_low, finite_high = np.isfinite(low), np.isfinite(high)
        with np.errstate(all="ignore"):
            between = low.astype(float) * (1 - share) + high.astype(float) * share
            anchored = np.where(finite_low, low + np.abs(beyond), np.where(finite_high, high - np.abs(beyond), beyond))
        # Rounding to the dtype may leave the bounds by a hair.
        return np.clip(np.where(finite_low & finite_high, between, anchored).astype(self.numpy_dtype), low, high)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, BoundedTensorSpec):
            return NotImplemented
        return super().__eq__(other) is True and all(
            np.array_equal(np.broadcast_to(mine, self.shape), np.broadcast_to(theirs, self.shape))
            for mine, theirs in ((self.minimum, other.minimum), (self.maximum, other.maximum))
        )

    def __hash__(self) -> int:
        return super().__hash__()

    def _bounds_repr(self) -> str:
        return f", {self.minimum.tolist()!r:.60}, {self.maximum.tolist()!r:.60}"


def as_action(spec: Nest, action: Nest, outer_dims: Dims = None) -> Nest:
    """Return a nest of new arrays that ``spec`` contains, of a nest of tensors, arrays or (lists of) numbers.

    Integers and floats may be of another size, as long as they are the same in the spec's. Raise ``ActionError`` if it
    is no action of this spec.
    """

    def convert(part: TensorSpec, value: object) -> Array:
        array = tensors.as_array(value)
        if array.dtype.kind in ("biuf" if part.is_continuous else "biu"):
            with np.errstate(all="ignore"):
                # A copy: it becomes a prev_action, and agents write their next action where the last one was.
                cast = array.astype(part.numpy_dtype)
            # An integer that another size of integers can't hold has become another number.
            same = part.is_continuous or array.dtype == part.numpy_dtype or (cast == array).all()
            if same and part.contains(cast, outer_dims):
                return cast
        batch = f" behind {tuple(outer_dims)}" if outer_dims else ""
        raise ActionError(f"the action is {value!r:.120}; expected {part}{batch}")

    try:
        # A list may stand for an array, and for a tuple.
        return nest.map_structure_up_to(spec, convert, spec, action, check_types=False)
    except Misuse as error:
        raise ActionError(f"the action is {action!r:.120}; expected {spec!r:.240}") from error


def zero_where(first: Tensor, action: Nest) -> Nest:
    """Return the action, or those of a batch, with zeros where an episode began: that step did nothing with its own."""
    first = tensors.as_array(first)

    def zero(array: Array) -> Array:
        return np.where(first.reshape(first.shape + (1,) * (array.ndim - first.ndim)), array.dtype.type(0), array)

    return nest.map_structure(zero, action) if first.any() else action


def concat_specs(specs: Nest) -> TensorSpec:
    """Return the spec of all leaves flat behind each other; refuse several dtypes, or bounds of only some."""
    flat: list[Any] = nest.flatten(specs)
    if len({(spec.is_bounded(), spec.dtype_str) for spec in flat}) != 1:
        raise Refused(f"{specs!r:.240} can't be concatenated; expected specs of one dtype, all with bounds or none")
    shape, dtype = (int(sum(spec.numel for spec in flat)),), flat[0].dtype_str
    if not flat[0].is_bounded():
        return TensorSpec(shape, dtype)
    bounds = ([np.broadcast_to(each, spec.shape).ravel() for each in (spec.minimum, spec.maximum)] for spec in flat)
    low, high = map(np.concatenate, zip(*bounds, strict=True))
    return BoundedTensorSpec(shape, dtype, low, high)
