import numpy as np
from pluriverse.fleet.batch import lost_batch

SHAPE = (840, 840, 3)


def test_what_is_lost_is_truncated_and_blank_and_takes_no_memory() -> None:
    batch = lost_batch(np.array([3, 4], np.int32), SHAPE)
    assert len(batch) == 2
    assert batch.done.tolist() == batch.lost.tolist() == batch.truncated.tolist() == [True, True]
    assert batch.observation.shape == (2, *SHAPE)
    assert not batch.observation.any()
    assert batch.observation.strides == (0, 0, 0, 0)
