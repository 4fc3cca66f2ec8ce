from .fitting import OnDask as OnDask
from .fitting import fit_partitions as fit_partitions
from .fitting import on_dask as on_dask
