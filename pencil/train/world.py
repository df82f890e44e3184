"""One process or many: what `torchrun` says, and the few things that processes tell each other."""

import os
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import TypeVar

import torch
from torch import distributed, nn
from torch.nn.parallel import DistributedDataParallel

from pencil.errors import ConfigError

Module = TypeVar("Module", bound=nn.Module)


@dataclass(frozen=True)
class World:
    """This process among all that train one model."""

    rank: int
    size: int
    device: torch.device

    @classmethod
    def join(cls, device: str) -> "World":
        """Alone, or under `torchrun` one of many: gloo on a CPU, nccl on GPUs."""
        rank, size = int(os.environ.get("RANK", "0")), int(os.environ.get("WORLD_SIZE", "1"))
        chosen = _device(device, int(os.environ.get("LOCAL_RANK", "0")))
        if size > 1 and not distributed.is_initialized():
            distributed.init_process_group("nccl" if chosen.type == "cuda" else "gloo")
        return cls(rank, size, chosen)

    def leave(self) -> None:
        """End what `join` started."""
        if distributed.is_initialized():
            distributed.destroy_process_group()

    @property
    def leads(self) -> bool:
        """Whether this process writes files and evaluates."""
        return self.rank == 0

    def share_gradients(self, module: nn.Module) -> nn.Module:
        """The module, its gradients averaged over all processes as they are computed."""
        return DistributedDataParallel(module, broadcast_buffers=False) if self.size > 1 else module

    def sum(self, numbers: Sequence[float]) -> list[float]:
        """Each number summed over all processes."""
        if self.size == 1:
            return list(numbers)
        total = torch.tensor(numbers, dtype=torch.float64, device=self.device)
        distributed.all_reduce(total)
        summed: list[float] = total.tolist()
        return summed

    def wait(self) -> None:
        """Until every process is here."""
        if self.size > 1:
            distributed.barrier()


def _device(name: str, local_rank: int) -> torch.device:
    """A device by name, one GPU for each process."""
    with suppress(RuntimeError):
        device = torch.device(name)
        if device.type == "cpu":
            return device
        if device.type == "cuda" and torch.cuda.is_available():
            return torch.device("cuda", local_rank if device.index is None else device.index)
        if device.type == "mps" and torch.backends.mps.is_available():
            return device
    raise ConfigError(f"found no device {name!r} here; try cpu")
