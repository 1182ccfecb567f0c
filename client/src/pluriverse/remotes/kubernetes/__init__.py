"""Remotes in a Kubernetes cluster: pods that are free."""

from .engine import KubernetesEngine, KubernetesOptions

__all__ = ["KubernetesEngine", "KubernetesOptions"]
