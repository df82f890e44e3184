import pytest
import torch

from pencil.errors import ConfigError
from pencil.train.world import World


def test_one_process_is_a_world() -> None:
    world = World.join("cpu")
    module = torch.nn.Linear(2, 2)
    assert world.leads
    assert world.share_gradients(module) is module
    assert world.sum([1, 2.5]) == [1, 2.5]
    world.wait()
    world.leave()


@pytest.mark.parametrize("name", ["tpu-of-mars", "cuda:77"])
def test_a_device_that_is_not_there_is_an_error(name: str) -> None:
    with pytest.raises(ConfigError, match="try cpu"):
        World.join(name)
