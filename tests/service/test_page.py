"""The page in a real browser, used as a reader would use it, with the bundled parser behind it."""

from __future__ import annotations

import json
import threading
import xml.etree.ElementTree as ElementTree
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlencode

import pytest

from qdecomp import lf_em
from tests.browser import Browser, open_browser
from tests.parsers.scripted_endpoint import Request, completion, endpoint
from tests.service.conftest import NEEDS
from tests.service.processes import running_service

pytest.importorskip("fastapi", reason=f"the service is not installed: {NEEDS}")

QUESTION = "How many red cubes are behind the large sphere?"
STEPS = ["cubes", "#1 that are red", "large sphere", "#2 that are behind #3", "number of #4"]
HOSTILE = '<img src=x onerror="window.hit = 1"><script>window.hit = 1</script> how many cubes are there?'
ENTER, TAB, SPACE = ("Enter", 13), ("Tab", 9), (" ", 32)
IS_SHOWN = "!document.getElementById('answer').hidden"


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    with running_service() as service:
        yield service.address


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    with open_browser(tmp_path_factory.mktemp("profile")) as opened:
        yield opened


@pytest.fixture
def page(browser: Browser, address: str) -> Iterator[Browser]:
    """The page, freshly opened; at the end nothing may have gone wrong in its console."""
    browser.look()
    browser.problems.clear()
    browser.open(address)
    yield browser
    assert browser.problems == []


def text_of(browser: Browser, selector: str) -> str:
    return browser.run(f"document.querySelector({json.dumps(selector)}).innerText")


def texts_of(browser: Browser, selector: str) -> list[str]:
    return browser.run(f"[...document.querySelectorAll({json.dumps(selector)})].map((each) => each.innerText)")


def focus(browser: Browser, selector: str) -> None:
    browser.run(f"document.querySelector({json.dumps(selector)}).focus()")


def write(browser: Browser, selector: str, text: str) -> None:
    """Replace the text of a field by typing."""
    browser.run_body(f"const field = document.querySelector({json.dumps(selector)}); field.focus(); field.select();")
    browser.type_text(text)


def click(browser: Browser, selector: str) -> None:
    browser.run(f"document.querySelector({json.dumps(selector)}).click()")


def open_with_steps(browser: Browser, address: str, steps: list[str] | None = None) -> None:
    """Open a link to a question with steps, so that the test knows what it sees."""
    browser.open(address, "#" + urlencode({"q": QUESTION, "steps": "\n".join(steps or STEPS)}))
    browser.wait_until(IS_SHOWN)


def test_a_question_is_typed_and_its_decomposition_is_shown(page: Browser) -> None:
    write(page, "#question", QUESTION)
    page.press(*ENTER)
    page.wait_until(IS_SHOWN)
    assert text_of(page, "#answer-title") == QUESTION
    steps = texts_of(page, "#steps > li")
    assert len(steps) >= 2
    assert steps[-1].endswith("aggregate count")
    assert len(texts_of(page, "#plan ol li")) == len(steps)
    assert "AGGREGATE[count]" in text_of(page, "#logical-form")
    assert page.run("document.querySelectorAll('#steps-picture svg rect.qd-box').length") == len(steps)
    assert page.run("document.querySelectorAll('#graph-picture svg .qd-arc').length") >= 2
    assert 0 < page.run("document.getElementById('meter').value") <= 1
    assert "steps in" in text_of(page, "#status")
    assert page.run("document.getElementById('editor').value.split('\\n').length") == len(steps)


def test_it_says_who_answered(page: Browser) -> None:
    page.run_body(
        "const real = window.fetch; window.fetch = async (...asked) => {"
        "const body = await (await real(...asked)).json();"
        "body.answered = { by: 'large-model', calls: 2, note: 'the first answer had no steps' };"
        "return new Response(JSON.stringify(body)); };"
    )
    write(page, "#question", QUESTION)
    page.press(*ENTER)
    page.wait_until(IS_SHOWN)
    said = "Answered by large-model (2 calls of a language model). The first answer had no steps."
    assert text_of(page, "#answered") == said


def test_what_is_no_question_says_why(page: Browser) -> None:
    write(page, "#question", "cubes")
    page.press(*ENTER)
    page.wait_until("document.getElementById('status').textContent.startsWith('No plan. Not a question')")
    assert texts_of(page, "#steps > li") == []
    # There is nothing to see except the field for the reader's own steps.
    assert page.run("[...document.querySelectorAll('[data-of-plan]')].every((each) => each.hidden)")
    assert text_of(page, "#steps-error") == ""
    assert page.run("document.getElementById('tab-edit').getAttribute('aria-selected')") == "true"
    write(page, "#editor", "\n".join(STEPS))
    page.wait_until("document.querySelectorAll('#steps > li').length === 5")
    assert not page.run("[...document.querySelectorAll('[data-of-plan]')].some((each) => each.hidden)")


def test_edited_steps_change_the_logical_form_the_plan_and_the_pictures(page: Browser, address: str) -> None:
    write(page, "#question", QUESTION)
    page.press(*ENTER)
    page.wait_until(IS_SHOWN)
    before = page.run("document.querySelector('#graph-picture svg').outerHTML")
    click(page, "#tab-edit")
    write(page, "#editor", "\n".join(STEPS))
    page.wait_until("document.querySelectorAll('#steps > li').length === 5")
    assert text_of(page, "#logical-form").splitlines()[1] == "FILTER[](sub=#1, condition=that are red)"
    assert texts_of(page, "#plan > li > span") == [f"Level {number}" for number in range(1, 5)]
    assert page.run("document.querySelectorAll('#steps-picture svg rect.qd-box').length") == 5
    assert page.run("document.querySelector('#graph-picture svg').outerHTML") != before
    # The confidence was about other steps.
    assert page.run("document.getElementById('confidence').hidden")
    write(page, "#editor", "cubes\nlarge sphere\nnumber of #1")
    page.wait_until("document.querySelectorAll('#steps > li').length === 3")
    assert text_of(page, "#warnings li").startswith("Warning: ")
    write(page, "#editor", "cubes\nnumber of #2")
    page.wait_until("document.getElementById('steps-error').textContent")
    assert text_of(page, "#steps-error") == "step 2: refers to itself (#2)"
    assert page.run("document.getElementById('editor').getAttribute('aria-invalid')") == "true"
    # What was there stays, marked as that of earlier steps.
    assert len(texts_of(page, ".earlier #steps > li")) == 3
    assert page.run("document.querySelectorAll('.earlier').length") == 6
    click(page, "#restore")
    page.wait_until("!document.getElementById('steps-error').textContent")
    assert page.run("document.querySelectorAll('.earlier').length") == 0
    assert not page.run("document.getElementById('confidence').hidden")
    assert page.run("document.getElementById('restore').hidden")


def test_two_decompositions_are_compared(page: Browser, address: str) -> None:
    open_with_steps(page, address)
    other = "return red cubes ;return large sphere ;return #1 that are behind #2 ;return the number of #3"
    assert lf_em(QUESTION, STEPS, other).verdict
    assert not page.run("document.getElementById('comparing').open")
    click(page, "#comparing summary")
    click(page, "#take")
    assert page.run("document.getElementById('first').value") == "\n".join(STEPS)
    write(page, "#second", other)
    click(page, "#compare .main")
    page.wait_until("document.querySelector('#comparison .verdict')")
    assert text_of(page, "#comparison .verdict") == "LF-EM: they mean the same thing."
    left, right = (texts_of(page, f"#comparison .columns > :nth-child({side}) li") for side in (1, 2))
    assert left == right
    assert "AGGREGATE[count]" in left[-1]
    write(page, "#second", "1. blue cubes\n2. number of #1")
    click(page, "#compare .main")
    page.wait_until("document.querySelector('#comparison .verdict').classList.contains('bad')")
    assert page.run("document.querySelectorAll('#comparison .differs').length") >= 2
    write(page, "#second", "cubes\nnumber of #2")
    click(page, "#compare .main")
    page.wait_until("document.querySelector('#comparison p.bad:not(.verdict)')")
    assert text_of(page, "#comparison p.bad:not(.verdict)").startswith("second: step 2")


def test_everything_is_copied(page: Browser, address: str) -> None:
    open_with_steps(page, address)
    page.run("window.copied = []; navigator.clipboard.writeText = async (text) => { copied.push(text); }")
    for name in ("qdmr", "lf", "json", "graph", "steps", "link"):
        click(page, f"[data-copy={name}]")
        page.wait_until("document.getElementById('status').textContent.startsWith('Copied')")
        page.run("document.getElementById('status').textContent = ''")
    qdmr, form, record, graph, steps, link = page.run("copied")
    assert qdmr == " ;".join(f"return {step}" for step in STEPS)
    assert form.splitlines()[-1] == "AGGREGATE[count](arg=#4)"
    assert json.loads(record)["decomposition"] == qdmr
    assert "pictures" not in json.loads(record)
    for picture in (graph, steps):
        assert ElementTree.fromstring(picture).find("{http://www.w3.org/2000/svg}style") is not None
    page.open(link)
    page.wait_until(IS_SHOWN)
    assert page.run("document.getElementById('question').value") == QUESTION
    assert page.run("document.getElementById('editor').value.split('\\n')") == STEPS


def test_a_link_opens_the_same_question_and_back_goes_back(page: Browser, address: str) -> None:
    page.open(address, "#" + urlencode({"q": QUESTION}))
    page.wait_until(IS_SHOWN)
    assert text_of(page, "#answer-title") == QUESTION
    click(page, "[data-example]:nth-of-type(2)")
    page.wait_until(f"document.getElementById('answer-title').textContent !== {json.dumps(QUESTION)}")
    page.run("history.back()")
    page.wait_until(f"document.getElementById('answer-title').textContent === {json.dumps(QUESTION)}")


def test_the_keyboard_alone_is_enough(page: Browser) -> None:
    focused = "document.activeElement.id || document.activeElement.dataset.copy || document.activeElement.textContent"
    page.press(*TAB)
    assert page.run(focused) == "question"
    page.type_text("How many rivers are in Texas?")
    page.press(*TAB)
    assert page.run(focused) == "Decompose"
    page.press(*SPACE)
    page.wait_until(IS_SHOWN)
    page.wait_until("!document.getElementById('ask').hasAttribute('aria-busy')")
    seen = []
    for _ in range(25):
        page.press(*TAB)
        # The focused element is visibly focused.
        assert page.run("getComputedStyle(document.activeElement).outlineStyle") != "none"
        seen.append(page.run(focused))
        if seen[-1].startswith("Compare two"):
            break
    for name in ("tab-steps", "graph-picture", "qdmr", "link"):
        assert name in seen


def test_screen_readers_hear_names_and_news(page: Browser, address: str) -> None:
    open_with_steps(page, address)
    unnamed = page.run_body(
        "return [...document.querySelectorAll('textarea, button, meter, input, select')].filter((each) => "
        "!(each.labels?.length || each.textContent.trim() || each.getAttribute('aria-label'))).map((each) => each.id)"
    )
    assert unnamed == []
    assert page.run("document.querySelectorAll('svg[role=img] > title').length") == 2
    assert page.run("document.querySelectorAll('[aria-live=polite]').length") == 4
    assert page.run("document.querySelectorAll('[role=tabpanel]:not([hidden])').length") == 1
    assert page.run("document.documentElement.lang") == "en"
    assert page.run("document.querySelectorAll('h1').length") == 1


LONG = (
    "Which of the directors of the two highest grossing science fiction movies that were released before 1990 was born "
    "earlier , and how many of the films of this director have won an award in France ?"
)


@pytest.mark.parametrize("width", [400, 1280])
def test_the_graph_of_a_long_question_fits_and_is_shown_whole_on_demand(
    page: Browser, address: str, width: int
) -> None:
    page.look(width=width)
    page.open(address, "#" + urlencode({"q": LONG}))
    page.wait_until("document.querySelector('#graph-picture svg')")
    hidden = "[...document.querySelectorAll('.scroll')].map((each) => each.scrollWidth - each.clientWidth)"
    assert page.run(f"Math.max(...{hidden})") == 0
    assert page.run("document.querySelector('#graph-picture svg').getBoundingClientRect().height") > 200
    click(page, "[data-full=graph-picture]")
    assert page.run(f"Math.max(...{hidden})") > 500
    words = "[...document.querySelectorAll('#graph-picture .qd-word')].map((each) => each.textContent)"
    assert "Which" in page.run(words)
    click(page, "[data-full=graph-picture]")
    assert page.run(f"Math.max(...{hidden})") == 0
    assert "Which" not in page.run(words)


def test_the_tabs_are_used_with_the_arrow_keys(page: Browser, address: str) -> None:
    open_with_steps(page, address)
    focus(page, "#tab-steps")
    shown = "[...document.querySelectorAll('[role=tabpanel]')].filter((each) => !each.hidden).map((each) => each.id)"
    for key, code, panel in (("ArrowRight", 39, "plan"), ("ArrowLeft", 37, "steps"), ("ArrowLeft", 37, "edit")):
        page.press(key, code)
        assert page.run(shown) == [f"panel-{panel}"]
        assert page.run("document.activeElement.id") == f"tab-{panel}"


def test_the_plan_is_run_with_typed_answers(page: Browser, address: str) -> None:
    open_with_steps(page, address)
    click(page, "#tab-run")
    page.wait_until("document.querySelectorAll('#run-asked textarea').length === 2")
    assert texts_of(page, "#run-asked label") == ["1. cubes", "3. large sphere"]
    write(page, "#run-1", "cube A\ncube B\ncube C")
    write(page, "#run-3", "sphere S")
    page.press(*ENTER)
    page.wait_until("document.querySelectorAll('#run-done li').length === 1")
    # What was typed for another step is still there.
    focus(page, "#run-1")
    page.press(*ENTER)
    page.wait_until("document.getElementById('run-2')")
    assert texts_of(page, "#run-asked label") == ["2. Which of cube A, cube B and cube C are red?"]
    page.type_text("cube A\ncube B")
    page.press(*ENTER)
    page.wait_until("document.getElementById('run-4')")
    page.type_text("cube B")
    page.press(*ENTER)
    page.wait_until("document.getElementById('run-status').textContent")
    assert text_of(page, "#run-status") == "The answer: 1"
    assert text_of(page, "#run-done li:last-child") == "number of #4 → 1 computed the answer"
    click(page, "#run-again")
    page.wait_until("document.querySelectorAll('#run-asked textarea').length === 2")
    assert texts_of(page, "#run-done li") == []


def test_a_language_model_answers_step_by_step(
    browser: Browser, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("openai", reason="pip install '.[llm]'")
    monkeypatch.setenv("QDECOMP_CACHE", str(tmp_path))
    free = threading.Event()

    def answer(request: Request) -> None:
        asked = request.body["messages"][-1]["content"]
        if "red" in asked:
            assert free.wait(60)
        request.send(200, completion("cube A\ncube B"))

    with endpoint(answer) as model, running_service("--fallback", model.url, "--model", "tiny") as service:
        browser.look()
        open_with_steps(browser, service.address, ["cubes", "#1 that are red", "number of #2"])
        click(browser, "#tab-run")
        browser.wait_until("!document.getElementById('run-model').hidden")
        assert text_of(browser, "#run-model") == "Let tiny answer"
        click(browser, "#run-model")
        # While the second step waits for its answer, the first one's is shown.
        browser.wait_until("document.getElementById('asked-2')")
        assert texts_of(browser, "#run-done li") == ["cubes → cube A, cube B"]
        assert texts_of(browser, "#run-asked p") == ["2. Which of cube A and cube B are red? …"]
        free.set()
        browser.wait_until("document.getElementById('run-status').textContent.startsWith('The answer')")
        assert text_of(browser, "#run-status") == "The answer: 2"
        assert text_of(browser, "#run-done li:last-child") == "number of #2 → 2 computed the answer"
        assert texts_of(browser, "#run-asked *") == []
        assert browser.problems == []


def test_a_plan_that_is_probably_wrong_is_marked_and_other_candidates_can_be_taken(page: Browser, address: str) -> None:
    page.open(address, "#" + urlencode({"q": LONG}))
    page.wait_until(IS_SHOWN)
    assert not page.run("document.getElementById('probably-wrong').hidden")
    page.wait_until("!document.getElementById('candidates').hidden")
    others = texts_of(page, "#candidates button")
    assert 1 <= len(others) <= 2
    click(page, "#candidates button")
    page.wait_until("document.getElementById('confidence').hidden")
    steps = texts_of(page, "#steps > li > [dir]")
    assert others[0].split() == [word for n, step in enumerate(steps, 1) for word in (f"{n}.", *step.split())]


@pytest.mark.parametrize(("width", "dark"), [(400, False), (1280, True), (2400, False)])
def test_it_fits_phones_and_wide_screens_in_light_and_dark(page: Browser, address: str, width: int, dark: bool) -> None:
    page.look(width=width, dark=dark)
    open_with_steps(page, address)
    click(page, "#comparing summary")
    write(page, "#first", "cubes " * 30)
    write(page, "#second", "x" * 300)
    click(page, "#compare .main")
    page.wait_until("document.querySelector('#comparison .verdict')")
    assert page.run("document.documentElement.scrollWidth") <= width
    background, ink = page.run("['backgroundColor', 'color'].map((name) => getComputedStyle(document.body)[name])")
    assert (background, ink) == (
        ("rgb(22, 24, 28)", "rgb(232, 232, 232)") if dark else ("rgb(255, 255, 255)", "rgb(27, 27, 27)")
    )


def test_nothing_that_was_typed_runs(page: Browser, address: str) -> None:
    page.open(address, "#" + urlencode({"q": HOSTILE, "steps": f"{HOSTILE}\nnumber of #1"}))
    page.wait_until(IS_SHOWN)
    click(page, "#comparing summary")
    write(page, "#first", HOSTILE)
    write(page, "#second", HOSTILE)
    click(page, "#compare .main")
    page.wait_until("document.querySelector('#comparison .verdict')")
    assert page.run("[typeof window.hit, document.querySelectorAll('img, main script').length]") == ["undefined", 0]
    assert HOSTILE.split()[0] in text_of(page, "#answer-title")


def test_a_service_that_has_gone_is_told(browser: Browser) -> None:
    browser.look()
    with running_service() as service:
        browser.open(service.address)
        browser.wait_until("document.getElementById('about').textContent.includes('parser')")
        assert service.stop()[0] == 0
    write(browser, "#question", QUESTION)
    browser.press(*ENTER)
    browser.wait_until("document.getElementById('status').classList.contains('bad')")
    assert text_of(browser, "#status") == "The service cannot be reached."
