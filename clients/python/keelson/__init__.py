"""A client of Keelson: contribute rows to a study, follow its releases, verify its logs."""
from .contributor import AsyncContributor, Settled
from .errors import KeelsonError
from .numbers import Number, choices_of
from .once import AsyncOnceContributor
from .releases import Chain, verify_log
from .signing import open_seed
from .subscriber import Release, subscribe_async
from .sync import Contributor, OnceContributor, subscribe

__all__ = [
    "AsyncContributor", "AsyncOnceContributor", "Chain", "Contributor", "KeelsonError", "Number",
    "OnceContributor", "Release", "Settled", "choices_of", "open_seed", "subscribe",
    "subscribe_async", "verify_log",
]
