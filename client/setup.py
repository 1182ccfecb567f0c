"""Builds the native VNC driver where it can be; see pyproject.toml for everything else."""

from setuptools import setup

setup()
