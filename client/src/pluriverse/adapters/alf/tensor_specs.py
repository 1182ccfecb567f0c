"""What tensors look like before there are any: shape, dtype, and what values they take."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import ArrayLike

from pluriverse.errors import ActionError, ConfigurationError, Misuse

from . import nest, tensors
from .tensors import Array, Tensor

_RANDOM: Final = np.random.default_rng()


class TensorSpec:
    """Tensors of a shape and a dtype. ``name`` is for people; specs of different names are equal."""

    def __init__(self, shape: Sequence[int], dtype: Any = "float32", name: str | None = None) -> None:
        """``dtype``: NumPy's or torch's, or the name of one.

        Raises:
            ConfigurationError: the shape or the dtype is none.
        """
        self._shape = tuple(int(side) for side in shape)
        if any(side < 0 for side in self._shape):
            raise ConfigurationError(f"the shape is {self._shape}; expected sides of 0 or more")
        self._dtype = np.dtype(tensors.dtype_name(dtype))
        self.name = name

    @classmethod
    def from_array(cls, array: Any, from_dim: int = 0) -> TensorSpec:
        """The spec of an array, a number or a tensor, without its first ``from_dim`` dimensions."""
        values = tensors.as_array(array)
        return TensorSpec(values.shape[from_dim:], values.dtype)

    from_tensor = from_array

    @classmethod
    def is_bounded(cls) -> bool:
        """Whether it says what values there are."""
        return False

    @property
    def shape(self) -> tuple[int, ...]:
        """Without the batch dimension."""
        return self._shape

    @property
    def ndim(self) -> int:
        """How many dimensions there are."""
        return len(self._shape)

    @property
    def numel(self) -> int:
        """How many numbers there are."""
        return int(np.prod(self._shape))

    @property
    def dtype(self) -> Any:
        """The tensors' dtype, of the library in use."""
        return tensors.chosen().dtype(self._dtype.name)

    @property
    def dtype_str(self) -> str:
        """NumPy's name of it."""
        return self._dtype.name

    @property
    def numpy_dtype(self) -> np.dtype[Any]:
        """NumPy's dtype."""
        return self._dtype

    @property
    def is_continuous(self) -> bool:
        """Whether they are floats."""
        return self._dtype.kind == "f"

    @property
    def is_discrete(self) -> bool:
        """Whether they are integers or truth values."""
        return not self.is_continuous

    def contains(self, value: Any, outer_dims: Sequence[int] = ()) -> bool:
        """Whether an array or a tensor is of this shape, behind ``outer_dims``, and this dtype."""
        array = tensors.as_array(value)
        return array.shape == (*outer_dims, *self._shape) and array.dtype == self._dtype

    def zeros(self, outer_dims: Sequence[int] = ()) -> Tensor:
        """A tensor of zeros, with ``outer_dims`` in front."""
        return tensors.chosen().tensor(self.numpy_zeros(outer_dims))

    def ones(self, outer_dims: Sequence[int] = ()) -> Tensor:
        """A tensor of ones, with ``outer_dims`` in front."""
        return self.constant(1, outer_dims)

    def constant(self, value: Any, outer_dims: Sequence[int] = ()) -> Tensor:
        """A tensor of one value, with ``outer_dims`` in front."""
        return tensors.chosen().tensor(self.numpy_constant(value, outer_dims))

    def numpy_zeros(self, outer_dims: Sequence[int] = ()) -> Array:
        """An array of zeros, with ``outer_dims`` in front."""
        return np.zeros((*outer_dims, *self._shape), self._dtype)

    def numpy_constant(self, value: Any, outer_dims: Sequence[int] = ()) -> Array:
        """An array of one value, with ``outer_dims`` in front."""
        return np.full((*outer_dims, *self._shape), value, self._dtype)

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        return self._shape == other._shape and self._dtype == other._dtype

    def __hash__(self) -> int:
        return hash((self._shape, self._dtype))

    def __repr__(self) -> str:
        named = f", name={self.name!r}" if self.name else ""
        return f"{type(self).__name__}({self._shape}, {self.dtype_str!r}{self._limits()}{named})"

    def _limits(self) -> str:
        return ""


class BoundedTensorSpec(TensorSpec):
    """Tensors whose values are at least ``minimum`` and at most ``maximum``."""

    def __init__(
        self,
        shape: Sequence[int],
        dtype: Any = "float32",
        minimum: ArrayLike = 0,
        maximum: ArrayLike = 1,
        name: str | None = None,
    ) -> None:
        """The bounds are numbers or arrays that broadcast to the shape; floats' may be infinite.

        Raises:
            ConfigurationError: a bound doesn't broadcast, isn't of the dtype, or the minimum is above the maximum.
        """
        super().__init__(shape, dtype, name)
        self.minimum = self._bound("minimum", minimum)
        self.maximum = self._bound("maximum", maximum)
        if not (self.minimum <= self.maximum).all():
            raise ConfigurationError(f"the minimum {minimum!r:.80} is above the maximum {maximum!r:.80}")

    def _bound(self, name: str, value: ArrayLike) -> Array:
        given = np.asarray(value)
        with np.errstate(all="ignore"):
            bound = np.array(given, self._dtype)
        try:
            np.broadcast_to(bound, self._shape)
        except ValueError:
            raise ConfigurationError(f"{name} is {value!r:.80}; expected the shape {self._shape} or less") from None
        if self.is_discrete and not (bound == given).all():
            raise ConfigurationError(f"{name} is {value!r:.80}, which {self.dtype_str} can't hold")
        bound.setflags(write=False)
        return bound

    @classmethod
    def is_bounded(cls) -> bool:
        """Whether it says what values there are."""
        return True

    def contains(self, value: Any, outer_dims: Sequence[int] = ()) -> bool:
        """Whether an array or a tensor is of this shape and dtype, and within the bounds."""
        array = tensors.as_array(value)
        return super().contains(array, outer_dims) and bool(((array >= self.minimum) & (array <= self.maximum)).all())

    def sample(self, outer_dims: Sequence[int] = (), rng: np.random.Generator | None = None) -> Tensor:
        """A random tensor, with ``outer_dims`` in front; see ``numpy_sample``."""
        return tensors.chosen().tensor(self.numpy_sample(outer_dims, rng))

    def numpy_sample(self, outer_dims: Sequence[int] = (), rng: np.random.Generator | None = None) -> Array:
        """A random array: uniform between finite bounds, and where one is infinite, normal around 0 or the other."""
        rng = rng if rng is not None else _RANDOM
        shape = (*outer_dims, *self._shape)
        low, high = np.broadcast_to(self.minimum, shape), np.broadcast_to(self.maximum, shape)
        if self.is_discrete:
            # NumPy draws truth values and integers of all sizes alike, both bounds included.
            return np.asarray(rng.integers(low, high, shape, self._dtype, endpoint=True))
        share = np.asarray(rng.random(shape))
        beyond = np.asarray(rng.standard_normal(shape))
        finite_low, finite_high = np.isfinite(low), np.isfinite(high)
        with np.errstate(all="ignore"):
            within = low.astype(float) * (1 - share) + high.astype(float) * share
            anchored = np.where(finite_low, low + np.abs(beyond), np.where(finite_high, high - np.abs(beyond), beyond))
        # Rounding to the dtype may leave the bounds by a hair.
        return np.clip(np.where(finite_low & finite_high, within, anchored).astype(self._dtype), low, high)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, BoundedTensorSpec):
            return NotImplemented
        return super().__eq__(other) is True and all(
            np.array_equal(np.broadcast_to(mine, self._shape), np.broadcast_to(theirs, self._shape))
            for mine, theirs in ((self.minimum, other.minimum), (self.maximum, other.maximum))
        )

    def __hash__(self) -> int:
        return super().__hash__()

    def _limits(self) -> str:
        return f", {self.minimum.tolist()!r:.60}, {self.maximum.tolist()!r:.60}"


def as_action(spec: nest.Nest, action: nest.Nest, outer_dims: Sequence[int] = ()) -> nest.Nest:
    """A nest of arrays that ``spec`` contains, of a nest of tensors, arrays or (lists of) numbers.

    Integers and floats may be of another size, as long as they are the same in the spec's.

    Raises:
        ActionError: it is no action of this spec; says what was expected.
    """

    def convert(part: TensorSpec, value: Any) -> Array:
        array = tensors.as_array(value)
        wanted = part.numpy_dtype
        if array.dtype.kind in "biu" or (array.dtype.kind == "f" and wanted.kind == "f"):
            with np.errstate(all="ignore"):
                # A copy: it becomes a prev_action, and agents write their next action where the last one was.
                cast = array.astype(wanted)
            # An integer that another size of integers can't hold has become another number.
            if (part.is_continuous or (cast == array).all()) and part.contains(cast, outer_dims):
                return cast
        batch = f" behind {tuple(outer_dims)}" if outer_dims else ""
        raise ActionError(f"the action is {value!r:.120}; expected {part}{batch}")

    try:
        return nest.map_up_to(convert, spec, action)
    except Misuse as error:
        raise ActionError(f"the action is {action!r:.120}; expected {spec!r:.240}") from error


def zero_where(first: Array, array: Array) -> Array:
    """The actions of a batch, with zeros for those that began an episode: they did nothing with theirs."""
    zeroed = array.copy()
    zeroed[first] = 0
    return zeroed
