"""Work that others do: the processes of this machine, a Dask cluster or any executor, with results in order."""

from qdecomp.workers.partitions import PartitionKilledError, Pool, PoolLostError, in_order
from qdecomp.workers.pools import ExecutorPool, on_cluster, pool_of

__all__ = [
    "ExecutorPool",
    "PartitionKilledError",
    "Pool",
    "PoolLostError",
    "in_order",
    "on_cluster",
    "pool_of",
]
