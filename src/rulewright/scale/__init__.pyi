from .fitting import fit_partitions as fit_partitions
from .wrapper import OnDask as OnDask
from .wrapper import on_dask as on_dask
