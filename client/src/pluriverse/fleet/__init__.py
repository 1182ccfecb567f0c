"""One learner over many machines: vectors of remotes in actors of a Ray cluster."""

from .batch import Batch, VectorSpec
from .ray_vector import RayVector

__all__ = ["Batch", "RayVector", "VectorSpec"]
