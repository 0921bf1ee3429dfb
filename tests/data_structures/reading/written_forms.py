# ruff: noqa: E501 (a row is easier to read in one line)
"""Decompositions as people and language models write them, each with the form and the text that reading must find."""

from __future__ import annotations

from typing import Any, NamedTuple

CUBES = "return cubes ;return #1 that are red ;return number of #2"
CAPITAL = "return France ;return capital of #1"
UNION = "return cubes ;return spheres ;return #1 , #2"


class Written(NamedTuple):
    """What someone wrote, and what it says."""

    written: Any
    reads: str
    form: str
    references: str = "#1"


FORMS = (
    # Break's own text.
    Written(CUBES, CUBES, "Break's text"),
    Written("return cubes;return #1 that are red;return number of #2", "return cubes;return #1 that are red;return number of #2", "Break's text"),
    Written("return cubes ;\nreturn #1 that are red ;\nreturn number of #2", "return cubes ;\nreturn #1 that are red ;\nreturn number of #2", "Break's text"),
    Written("return cubes ;return spheres ;return #1 , #2.", UNION, "Break's text"),
    Written("cubes; #1 that are red; number of #2.", CUBES, "semicolons"),
    # Numbered lines.
    Written("1. cubes\n2. #1 that are red\n3. number of #2", CUBES, "lines with 1."),
    Written("(1) cubes\n(2) #1 that are red\n(3) number of #2", CUBES, "lines with 1."),
    Written("0. cubes\n1. #0 that are red\n2. number of #1", CUBES, "lines with 1."),
    Written("1. **cubes**\n2. #1 that are *red*\n3. `number of #2`", CUBES, "lines with 1."),
    Written("1. cubes;\n2. #1 that are red;\n3. number of #2.", CUBES, "lines with 1."),
    Written("1. cubes → #1\n2. #1 that are red → #2\n3. number of #2 → #3", CUBES, "lines with 1."),
    Written("1. cubes\n   - these are the objects\n2. #1 that are red\n   - a filter\n3. number of #2", CUBES, "lines with 1."),
    Written("1. cubes\n2. #1 that\n   are red\n3. number of #2", CUBES, "lines with 1."),
    Written('1. "cubes"\n2. "#1 that are red"\n3. "number of #2"', CUBES, "lines with 1."),
    Written("a) cubes\nb) #1 that are red\nc) number of #2", CUBES, "lines with a."),
    # Labels.
    Written("Step 1: cubes\nStep 2: #1 that are red\nStep 3: number of #2", CUBES, "lines with Step n:"),
    Written("### Step 1\ncubes\n\n### Step 2\n#1 that are red\n\n### Step 3\nnumber of #2", CUBES, "lines with Step n:"),
    Written("Step one: cubes\nStep two: #1 that are red\nStep three: number of #2", CUBES, "lines with Step n:"),
    Written("Step 1 (select): cubes\nStep 2 (filter): #1 that are red\nStep 3 (count): number of #2", CUBES, "lines with Step n:"),
    Written("Q1: cubes\nQ2: #1 that are red\nQ3: number of #2", CUBES, "lines with Qn:"),
    Written("S1: cubes\nS2: S1 that are red\nS3: number of S2", CUBES, "lines with Qn:", "S1"),
    Written("Q1: France\nA1: France\nQ2: What is the capital of Q1?\nA2: Paris", CAPITAL, "lines with Qn:", "S1"),
    Written("#1 = cubes\n#2 = #1 that are red\n#3 = number of #2", CUBES, "lines with #n:"),
    Written("[1] cubes\n[2] [1] that are red\n[3] number of [2]", CUBES, "lines with [n]", "[1]"),
    # Bullets, arrows and other separators.
    Written("- cubes\n- #1 that are red\n- number of #2", CUBES, "bulleted list"),
    Written("- [ ] cubes\n- [ ] #1 that are red\n- [ ] number of #2", CUBES, "bulleted list"),
    Written("- cubes\n- [1] that are red\n- number of [2]", CUBES, "bulleted list", "[1]"),
    Written("cubes -> #1 that are red -> number of #2", CUBES, "arrows"),
    Written("cubes\n↓\n#1 that are red\n↓\nnumber of #2", CUBES, "arrows"),
    Written("cubes | #1 that are red | number of #2", CUBES, "pipes"),
    Written("cubes @@SEP@@ @@1@@ that are red @@SEP@@ number of @@2@@", CUBES, "@@SEP@@", "@@1@@"),
    Written("cubes<br>#1 that are red<br>number of #2", CUBES, "<br>"),
    # One line for all.
    Written("1. cubes 2. #1 that are red 3. number of #2", CUBES, "1. in one line"),
    Written("(1) cubes, (2) #1 that are red, (3) number of #2", CUBES, "1. in one line"),
    Written("1#) return cubes 2#) return #1 that are red 3#) return number of #2", CUBES, "1#)"),
    Written("return cubes 2#) return #1 that are red 3#) return number of #2\nSentence: next", CUBES, "1#)"),
    Written("1#) return cubes;2#) return #1 that are red;3#) return number of #2;\n1#) spheres", CUBES, "1#)"),
    Written("1#) cubes\n2#) #1 that are red\n3#) number of #2", CUBES, "1#)"),
    Written("Step 1: cubes; Step 2: #1 that are red; Step 3: number of #2", CUBES, "Step n: in one line"),
    Written("Return cubes. Return #1 that are red. Return number of #2.", CUBES, "sentences with return"),
    Written("First, return cubes. Then, return #1 that are red. Finally, return number of #2.", CUBES, "first … then …"),
    # A line for each step.
    Written("cubes\n#1 that are red\nnumber of #2", CUBES, "a line for each step"),
    Written("return cubes\nreturn #1 that are red\nreturn number of #2", CUBES, "lines with return"),
    Written("return cubes\nreturn #1 that are red\nreturn number of #2\n\nThis counts the red ones.", CUBES, "lines with return"),
    Written("cubes\\n#1 that are red\\nnumber of #2", CUBES, "lines with \\n"),
    # JSON and other data.
    Written(["cubes", "#1 that are red", "number of #2"], CUBES, "list"),
    Written([{"step": 1, "text": "cubes"}, {"step": 2, "text": "#1 that are red"}, {"step": 3, "text": "number of #2"}], CUBES, "list"),
    Written([CUBES], CUBES, "Break's text"),
    Written({"steps": ["cubes", "#1 that are red", "number of #2"]}, CUBES, "list"),
    Written('["cubes", "#1 that are red", "number of #2"]', CUBES, "JSON"),
    Written("['cubes', '#1 that are red', 'number of #2',]", CUBES, "JSON"),
    Written('["cubes", "#0 that are red", "number of #1"]', CUBES, "JSON"),
    Written('["1. cubes", "2. #1 that are red", "3. number of #2"]', CUBES, "JSON"),
    Written('{"steps": ["cubes", "#1 that are red", "number of #2"]}', CUBES, "JSON"),
    Written('{"decomposition": "return cubes ;return #1 that are red ;return number of #2"}', CUBES, "Break's text"),
    Written('{"1": "cubes", "2": "#1 that are red", "3": "number of #2"}', CUBES, "JSON"),
    Written('[{"id": 1, "sub_question": "cubes"}, {"id": 2, "sub_question": "#1 that are red"}, {"id": 3, "sub_question": "number of #2"}]', CUBES, "JSON"),
    Written('Here you are: ["cubes", "#1 that are red", "number of #2"] I hope it helps.', CUBES, "JSON"),
    Written("<step>cubes</step><step>#1 that are red</step><step>number of #2</step>", CUBES, "tags"),
    Written("<ol>\n<li>cubes</li>\n<li>#1 that are red</li>\n<li>number of #2</li>\n</ol>", CUBES, "tags"),
    Written("| # | step |\n|---|---|\n| 1 | cubes |\n| 2 | #1 that are red |\n| 3 | number of #2 |", CUBES, "table"),
    # What is around the steps.
    Written("```\nreturn cubes ;return #1 that are red ;return number of #2\n```", CUBES, "Break's text"),
    Written('```json\n{"steps": ["cubes", "#1 that are red", "number of #2"]}\n```', CUBES, "JSON"),
    Written("Sure! Here it is.\n\n```text\n1. cubes\n2. #1 that are red\n3. number of #2\n```\n\nThree steps.", CUBES, "lines with 1."),
    Written(f"`{CUBES}`", CUBES, "Break's text"),
    Written(f"Sure, this is it - {CUBES}", CUBES, "Break's text inside of prose"),
    Written("Here is the decomposition of the question:\n\n1. cubes\n2. #1 that are red\n3. number of #2\n\nThis plan counts.", CUBES, "lines with 1."),
    Written("Question: How many red cubes are there?\nDecomposition:\ncubes\n#1 that are red\nnumber of #2", CUBES, "a line for each step"),
    Written(f"<think>\n1. Let me see.\n2. Well.\n</think>\n{CUBES}", CUBES, "Break's text"),
    # References.
    Written("1. cubes\n2. [1] that are red\n3. number of [2]", CUBES, "lines with 1.", "[1]"),
    Written("1. cubes\n2. [#1] that are red\n3. number of [#2]", CUBES, "lines with 1."),
    Written("1. France\n2. capital of the answer to step 1", CAPITAL, "lines with 1.", "step 1"),
    Written("1. France\n2. capital of answer 1", CAPITAL, "lines with 1.", "answer 1"),
    Written("1. cubes\n2. spheres\n3. steps 1 and 2", "return cubes ;return spheres ;return #1 and #2", "lines with 1.", "step 1"),
    Written("1. cubes\n2. (1) that are red\n3. number of (2)", CUBES, "lines with 1.", "(1)"),
    Written("1. touchdowns\n2. #1 in week 1\n3. #2 of S1", "return touchdowns ;return #1 in week 1 ;return #2 of S1", "lines with 1."),
    Written("return cubes ;return [1] that are red ;return number of [2]", CUBES, "Break's text", "[1]"),
    # Sentences.
    Written("Find all cubes.\nWhich of #1 are red?\nHow many #2 are there?", CUBES, "a line for each step"),
    Written("1. Find all cubes.\n2. Which #1 are red?\n3. Count #2.", "return cubes ;return #1 that are red ;return number of #2", "lines with 1."),
    Written("1. flights to washington d.c.\n2. number of #1.", "return flights to washington d.c. ;return number of #1", "lines with 1."),
    Written("cubes", "return cubes", "one step"),
)  # fmt: skip
"""A row for each form; the examples were written for this project."""
