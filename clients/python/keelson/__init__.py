"""Keelson: answers about data at hand; contribute to a study, follow its releases, verify them."""
from . import analysis
from .analysis import Answer, Plan, Session, choose, estimate, plan
from .contributor import AsyncContributor, Settled
from .errors import KeelsonError
from .numbers import GroupDifference, Number, choices_of, compare_groups
from .once import AsyncOnceContributor
from .releases import Chain, verify_log
from .signing import open_seed
from .subscriber import Release, subscribe_async
from .sync import Contributor, OnceContributor, subscribe

__all__ = [
    "Answer", "AsyncContributor", "AsyncOnceContributor", "Chain", "Contributor",
    "GroupDifference", "KeelsonError", "Number", "OnceContributor", "Plan", "Release", "Session",
    "Settled", "analysis", "choices_of", "choose", "compare_groups", "estimate", "open_seed", "plan",
    "subscribe", "subscribe_async", "verify_log",
]
