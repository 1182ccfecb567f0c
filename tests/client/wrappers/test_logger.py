from __future__ import annotations

import logging

import pytest
from pluriverse.wrappers import Logger
from support.scripted import ScriptedEnv


def test_line_is_logged_each_period(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    logger = Logger(ScriptedEnv(), period_s=0.0)
    logger.reset()
    for _ in range(3):
        logger.step([[]])
    assert len(caplog.messages) == 3
    assert "1/1 remotes" in caplog.messages[0]
