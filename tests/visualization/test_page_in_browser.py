"""The tools of a page, used in a real browser as a reader would."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from qdecomp.cli.render import command as render
from qdecomp.parsers.decomposition import decomposition_from_text
from qdecomp.visualization import PageItem, page_html
from qdecomp.visualization.assets import SURFACES
from tests.browser import Browser, open_browser
from tests.visualization.examples import HOSTILE

SHOWN = "[...document.querySelectorAll('article')].filter((a) => a.checkVisibility()).map((a) => a.id)"
GOLD = "return cubes ;return #1 that are red ;return number of #2"
COUNT = 70


def item(number: int) -> PageItem:
    text = GOLD if number % 2 else "return cubes ;return number of #1"
    return PageItem(
        question_id=f"id-{number}",
        question=f"How many red cubes are in box {number}? {HOSTILE if number == 5 else ''}",
        prediction=replace(decomposition_from_text("q", text), confidence=1 - number / 100),
        gold=decomposition_from_text("q", GOLD),
        source="EVEN" if number % 2 == 0 else "ODD",
        scores={"SARI": (number * 37 % 100) / 100},
    )


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    with open_browser(tmp_path_factory.mktemp("profile")) as opened:
        yield opened


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("page") / "page.html"
    path.write_text(page_html([item(number) for number in range(1, COUNT + 1)]), encoding="utf-8")
    return path


@pytest.fixture
def opened(browser: Browser, page: Path) -> Browser:
    browser.look()
    browser.open(page)
    return browser


def choose(browser: Browser, selector: str, value: str) -> None:
    browser.run_body(
        f"const field = document.querySelector('{selector}'); field.value = '{value}';"
        "for (const kind of ['input', 'change']) field.dispatchEvent(new Event(kind, { bubbles: true }));"
    )


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_scheme_decides_the_colours(browser: Browser, page: Path, scheme: str) -> None:
    browser.look(dark=scheme == "dark")
    browser.open(page)
    browser.run("document.querySelector('#q1 .qd-pictures summary').click()")
    browser.wait_until("document.querySelector('#q1 .qd-paper')")
    seen = browser.run(
        "[getComputedStyle(document.body).backgroundColor, getComputedStyle(document.querySelector('.qd-paper')).fill]"
    )
    paper = SURFACES["paper"][scheme == "dark"]
    assert seen == [f"rgb({', '.join(str(int(paper[place : place + 2], 16)) for place in (1, 3, 5))})"] * 2


def test_search_finds_words_and_ids(opened: Browser) -> None:
    choose(opened, "[name=search]", "CUBES box 17?")
    assert opened.run(SHOWN) == ["q17"]
    assert opened.run("document.querySelector('output').textContent") == f"1 of {COUNT} shown"
    choose(opened, "[name=search]", "id-33")
    assert opened.run(SHOWN) == ["q33"]
    choose(opened, "[name=search]", "")
    assert len(opened.run(SHOWN)) == COUNT


def test_filters_work_together(opened: Browser) -> None:
    choose(opened, "[data-filter=source]", "EVEN")
    assert len(opened.run(SHOWN)) == COUNT // 2
    choose(opened, "[name=search]", "id-2")
    assert opened.run(SHOWN) == ["q2", "q20", "q22", "q24", "q26", "q28"]
    opened.run("document.getElementById('qd-show-equal').click()")
    assert opened.run(SHOWN) == []


def test_sorting_by_confidence_score_and_verdict(opened: Browser) -> None:
    choose(opened, "[name=sort]", "confidence")
    assert opened.run(SHOWN)[:2] == [f"q{COUNT}", f"q{COUNT - 1}"]
    choose(opened, "[name=sort]", "-scoresari")
    assert opened.run(SHOWN)[0] == "q27"
    choose(opened, "[name=sort]", "verdict")
    assert opened.run(SHOWN)[:3] == ["q2", "q4", "q6"]
    choose(opened, "[name=sort]", "source")
    assert opened.run(SHOWN)[-1] == "q69"
    choose(opened, "[name=sort]", "place")
    assert opened.run(SHOWN)[:3] == ["q1", "q2", "q3"]


def test_pictures_unfold_one_by_one_and_all_at_once(opened: Browser) -> None:
    seen = "document.querySelectorAll('article svg').length"
    assert opened.run(seen) == 0
    opened.run("document.querySelector('#q1 .qd-pictures summary').click()")
    opened.wait_until("document.querySelectorAll('#q1 svg').length === 2")
    opened.run("document.querySelector('.qd-fold').click()")
    opened.wait_until(f"{seen} > 2")
    assert opened.run("document.querySelectorAll('details.qd-pictures[open]').length") == COUNT
    # Only what is near the window is drawn.
    assert opened.run(seen) < 2 * COUNT
    opened.run("document.querySelector('.qd-fold').click()")
    assert opened.run("document.querySelectorAll('details.qd-pictures[open]').length") == 0


def test_question_and_decomposition_are_copied(opened: Browser) -> None:
    opened.run("window.copied = []; navigator.clipboard.writeText = async (text) => { copied.push(text); }")
    opened.run("document.querySelectorAll('#q5 [data-copies]').forEach((button) => button.click())")
    assert opened.run("copied") == [item(5).question, GOLD]


def test_a_browser_that_refuses_to_copy_is_not_said_to_have_copied(opened: Browser) -> None:
    opened.run("navigator.clipboard.writeText = async () => { throw new Error('no'); }")
    opened.run("document.execCommand = () => false")
    button = "document.querySelector('#q5 [data-copies]')"
    # In one go, as the button takes its name back after a second.
    said = f"new Promise((done) => setTimeout(() => done({button}.textContent)))"
    assert opened.run(f"({button}.click(), {said})") == "not copied"


def test_a_link_shows_its_record_even_when_it_is_filtered_away(opened: Browser) -> None:
    choose(opened, "[data-filter=source]", "EVEN")
    opened.run("location.hash = '#q3'")
    opened.wait_until(f"({SHOWN}).includes('q3')")


def test_without_scripts_everything_is_there(browser: Browser, page: Path) -> None:
    browser.look(scripts=False)
    browser.open(page)
    assert not browser.run("document.querySelector('.qd-tools').checkVisibility()")
    assert not browser.run("document.querySelector('.qd-copy').checkVisibility()")
    browser.run("document.querySelector('#q2 .qd-pictures').open = true")
    assert browser.run("document.querySelectorAll('#q2 svg').length") == 2
    assert browser.run("document.querySelector('#q2 svg').checkVisibility()")
    browser.look()


def test_nothing_from_the_data_runs(browser: Browser, tmp_path: Path) -> None:
    attack = "<script>window.hit = 1</script><img src=x onerror='window.hit = 1'></noscript><svg onload='window.hit=1'>"
    sides = (decomposition_from_text("q", text) for text in (f"return {attack}", GOLD))
    attacked = PageItem(attack, attack, *sides, attack)
    path = tmp_path / "page.html"
    path.write_text(page_html([attacked] * 61, title=attack), encoding="utf-8")
    browser.look()
    browser.open(path)
    browser.run("document.querySelector('.qd-fold').click()")
    browser.wait_until("document.querySelectorAll('article svg').length > 0")
    found = browser.run("[typeof window.hit, document.querySelectorAll('img, article script').length]")
    assert found == ["undefined", 0]


@pytest.mark.parametrize("width", [1280, 400])
def test_a_long_question_fits(browser: Browser, tmp_path: Path, width: int) -> None:
    predictions, page = tmp_path / "predictions.jsonl", tmp_path / "page.html"
    words = " ".join(f"word{number}" for number in range(25))
    record = {"question_id": "x", "question": f"How many {words} are there?"}
    record["decomposition"] = f"return {words} ;return number of #1"
    predictions.write_text(json.dumps(record))
    render(["--input", str(predictions), "--output", str(page)], standalone_mode=False)
    browser.look(width=width)
    browser.open(page)
    assert browser.run("document.documentElement.scrollWidth") <= width
    scrolled = "[...document.querySelectorAll('.qd-scroll')].map((each) => each.scrollWidth - each.clientWidth)"
    assert browser.run(f"Math.max(...{scrolled})") == 0
