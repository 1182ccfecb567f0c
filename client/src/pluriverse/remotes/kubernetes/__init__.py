"""Remotes in a Kubernetes cluster: sandboxes that are claimed from a warm pool, or pods that are free."""

from .engine import KubernetesEngine, KubernetesOptions

__all__ = ["KubernetesEngine", "KubernetesOptions"]
