"""Packaging of qdecomp: the light core; the parsers' environment is requirements.lock."""

from pathlib import Path

from setuptools import find_packages, setup

ROOT = Path(__file__).parent
VERSION: dict[str, str] = {}
exec((ROOT / "qdecomp" / "version.py").read_text(encoding="utf-8"), VERSION)

setup(
    name="qdecomp",
    version=VERSION["VERSION"],
    description="Question decomposition with dependency graphs: parsers, conversions and the LF-EM metric",
    packages=find_packages(include=["qdecomp", "qdecomp.*"]),
    python_requires=">=3.10",
    install_requires=["click", "joblib", "lemminflect", "networkx", "ortools", "rich", "scipy"],
    entry_points={"console_scripts": ["qdecomp=qdecomp.cli:main"]},
)
