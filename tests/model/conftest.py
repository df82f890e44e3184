"""Small models gain nothing from threads, and wait for each other on a busy machine."""

import pytest
import torch


@pytest.fixture(autouse=True, scope="session")
def one_thread() -> None:
    torch.set_num_threads(1)
