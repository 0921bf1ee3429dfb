"""The packaging is described in pyproject.toml."""

from setuptools import setup

setup()
