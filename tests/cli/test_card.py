"""The card of a bundle says what its own training says, and what it gets wrong."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

from qdecomp.cli.bundle import Answer, section_of
from qdecomp.cli.card import card_of, renew_section, with_section
from qdecomp.parsers.bundle import BUNDLED, CARD, read_config

SCORE = {"mean": 0.4, "low": 0.3, "high": 0.5, "questions": 20}
SCORES: dict[str, Any] = {
    "gold": "test.csv",
    "questions": 20,
    "valid": 1.0,
    "lf_em": SCORE,
    "exact_match": SCORE,
    "sari": SCORE,
    "lf_em_by_source": {"shop": SCORE, "desk": SCORE | {"mean": 0.6}},
    "lf_em_by_steps": {"2": SCORE},
    "metric_version": "2",
    "questions_a_second": 50.0,
    "median_milliseconds": 20.0,
    "hardware": "2 cores",
}


def params(train: Path, initializer: dict[str, Any] | None = None) -> dict[str, Any]:
    """The part of a training's config that the card reads."""
    return {
        "random_seed": 7,
        "train_data_path": str(train),
        "validation_data_path": "my/dev.csv",
        "model": {
            "word_encoder": {"encoder": "all-MiniLM-L6-v2"},
            **({"initializer": initializer} if initializer else {}),
        },
        "data_loader": {"batch_sampler": {"batch_size": 16, "weights": {"CWQ": 2.0}}},
        "trainer": {"num_epochs": 3, "optimizer": {"lr": 0.001, "parameter_groups": [[["x"], {"lr": 0.0002}]]}},
    }


@pytest.fixture
def train(tmp_path: Path) -> Path:
    rows = [f"{name}_{number},Which orders?,return orders" for name in ("shop", "shop", "desk") for number in (1, 2)]
    path = tmp_path / "train.csv"
    path.write_text("\n".join(["question_id,question_text,decomposition", *rows]) + "\n", encoding="utf-8")
    return path


def card(values: dict[str, Any], gold: str = "test.csv") -> str:
    config = read_config(BUNDLED)
    object.__setattr__(config, "name", "my_parser")
    return card_of(config, SCORES, values, Path(gold), 1_000_000)


def test_a_card_names_the_users_data_and_not_break(train: Path) -> None:
    text = card(params(train))
    assert "Trained on the 6 rows of `train.csv`: shop 4, desk 2." in text
    assert '`qdecomp.load("my_parser")`' in text
    assert "chosen by LF-EM on `dev.csv`; the figures below are of `test.csv`" in text
    assert "questions of shop." in text
    assert "Break" not in text
    assert "source_weights" not in text
    assert "$" not in text


def test_a_card_says_where_its_first_weights_come_from(train: Path) -> None:
    of_bundle = {"regexes": [[".*", {"type": "bundle", "folder": "some/minilm_break"}]]}
    assert "started from the weights of the bundle `minilm_break`" in card(params(train, of_bundle))
    earlier = {"regexes": [[".*", {"type": "pretrained", "weights_file_path": "best.th"}]]}
    assert "the weights of an earlier run" in card(params(train, earlier))


def test_a_card_speaks_of_break_where_sources_are_named_as_there(project_root: Path) -> None:
    text = card(params(project_root / "data" / "dev.csv"), gold="dev.csv")
    assert "names as in Break" in text
    assert "`source_weights`" in text
    assert "those of a development set" in text


def test_a_file_that_is_gone_is_not_counted(tmp_path: Path) -> None:
    assert "`gone.csv`, which was not there" in card(params(tmp_path / "gone.csv"))


def test_a_section_is_replaced_up_to_the_next_of_its_level() -> None:
    text = "# A\n\n## B\n\nold\n\n### B1\n\nolder\n\n## C\n\nc\n"
    assert with_section(text, "## B", "new") == "# A\n\n## B\n\nnew\n\n## C\n\nc\n"
    assert with_section(text, "### B1", "new") == text.replace("older", "new")
    assert with_section(text, "## C", "new") == text.replace("\nc\n", "\nnew\n")
    assert with_section(text, "### D", "new") == f"{text}\n### D\n\nnew\n"


def test_a_card_can_change_and_the_bundle_is_still_whole(tmp_path: Path) -> None:
    folder = shutil.copytree(BUNDLED, tmp_path / "parser")
    renew_section(folder, "## How fast it is", "Fast.")
    assert "## How fast it is\n\nFast.\n\n## What" in (folder / CARD).read_text(encoding="utf-8")
    assert read_config(folder) == read_config(BUNDLED)


def test_the_wrong_plan_of_each_kind_that_is_furthest_from_gold_is_shown() -> None:
    answers = [
        Answer("DATE", "When?", "return a ;return #1 of b", "return a ;return #1 of c", 0.4, False),
        Answer("DATE", "Which year?", "return a ;return #1 of b", "return c|d", 0.7, False),
        Answer("DATE", "Which day?", "return a", "return a", 0.9, True),
        Answer("TABLE", "Which row?", "return a", "return a", 0.9, True),
        Answer("TYPO", "wich row", "return a", None, 0.0, False),
    ]
    *_, date, typo = section_of(answers, "rows.csv").splitlines()
    assert date == "| date | 2 of 3 | Which year? | c\\|d | a; #1 of b | 0.70 |"
    assert typo == "| typo | 1 of 1 | wich row | none | a | 0.00 |"
