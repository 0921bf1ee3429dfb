# The commands of the project; `make help` lists them.

# The interpreter that .venv is built with: by default the Python 3.11 that is found.
PYTHON ?=
# What pip installs as torch: by default the version in requirements.lock, as a CPU build if there is one.
TORCH ?=
# How many processes run the tests.
WORKERS ?= 2

# How large the experiments are (smoke, cpu or paper), which of them (all if none is named), and further options.
SIZE ?= smoke
EXPERIMENTS ?=
OPTIONS ?=

# Where the programs of the environment are. If you name another place, nothing is installed.
BIN ?= .venv/bin
PYTEST = $(BIN)/python -m pytest -q -n $(WORKERS) --dist loadfile

# torchvision warns that it cannot read images, which it need not, and torch warns about a call in AllenNLP.
export PYTHONWARNINGS := ignore::UserWarning:torchvision.io.image,ignore::FutureWarning:allennlp.training.gradient_descent_trainer

.DEFAULT_GOAL := help
.PHONY: adapters help install demo experiments test slow lint check docs clean

help: ## List these commands
	@sed -n 's/^\([a-z]*\):.*## \(.*\)/make \1\t\2/p' Makefile | expand -t 16

install: ## Build .venv from requirements.lock; does nothing if it is up to date
	@[ "$(BIN)" != .venv/bin ] || sh scripts/install.sh "$(PYTHON)" "$(TORCH)"

demo: install ## Run the main job on the sample data in data/; writes below out/demo
	@$(BIN)/python scripts/demo.py

experiments: install ## Run the paper's experiments; SIZE=smoke, cpu or paper, EXPERIMENTS="length agreement", see docs/experiments.md
	@$(BIN)/python -m experiments --size $(SIZE) $(OPTIONS) $(EXPERIMENTS)

test: install ## Run the tests that one waits for
	@$(PYTEST) -m "not slow and not stress"

slow: install ## Run the slow tests: kills, trainings, browser, cluster, documents
	@$(PYTEST) -m "slow and not stress"

lint: install ## Check format, lint, types and layers
	@$(BIN)/ruff format --check .
	@$(BIN)/ruff check .
	@$(BIN)/mypy
	@$(BIN)/lint-imports --no-cache

check: lint test slow ## What a change must pass: lint, and all tests

adapters: install ## Install the frameworks that have adapters into .venv, and test the adapters
	@$(BIN)/pip install --quiet --no-deps --requirement requirements-adapters.txt
	@$(BIN)/python -m pytest -q tests/integrations tests/service/test_mcp.py

docs: .venv-docs/.installed ## Build the documentation site into out/site, in a separate environment (.venv-docs)
	@NO_MKDOCS_2_WARNING=1 .venv-docs/bin/mkdocs build --quiet --strict --clean
	@echo "out/site/index.html (to use its search, serve it: python3 -m http.server --directory out/site)"

.venv-docs/.installed: requirements-docs.txt
	@rm -rf .venv-docs
	@$(or $(PYTHON),python3) -m venv .venv-docs
	@.venv-docs/bin/pip install --quiet --no-deps --requirement requirements-docs.txt
	@touch $@

clean: ## Remove what the demo, the tests and the builds left; .venv and everything else in out/ stay
	@rm -rf out/demo build *.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis
	@find . -name __pycache__ -type d -not -path './.venv/*' -prune -exec rm -rf {} +
