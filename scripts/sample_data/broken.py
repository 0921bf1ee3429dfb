"""Rows that are broken in the ways that people and files break them; each id says what is wrong with its row."""

from __future__ import annotations

_QUESTION = "How many red lanterns are lit?"
_STEPS = "return lanterns ;return #1 that are red ;return #2 that are lit ;return number of #3"
_OPERATORS = "['select', 'filter', 'filter', 'aggregate']"
_LONG_CHAIN = " ;".join(["return lanterns", *(f"return #{step} that are red" for step in range(1, 300))])


def _row(fault: str, question: str = _QUESTION, decomposition: str = _STEPS, operators: str = _OPERATORS) -> list[str]:
    return [f"BROKEN_sample_{fault}", question, decomposition, operators, "broken"]


BROKEN_ROWS: tuple[list[str], ...] = (
    # The question.
    _row("empty_question", question=""),
    _row("blank_question", question=" \t "),
    _row("punctuation_question", question="?!... ;; --"),
    _row("unrelated_question", question="Where do storks spend the winter?"),
    _row("long_question", question=" ".join(["How many red lanterns are lit"] * 400) + "?"),
    _row("long_word_question", question=f"How many {'lantern' * 300} are lit?"),
    _row("emoji_question", question="How many 🏮🏮 are lit 🔥? 👨‍👩‍👧‍👦"),
    _row("control_characters_question", question="How many\x07 red\x1b[31m lanterns\x0b are\x7f lit?"),
    _row("line_break_question", question="How many red\r\nlanterns are\nlit?"),
    _row("quotes_question", question='How many "red "" lanterns are ""lit""?'),
    _row("other_script_question", question="כמה פנסים אדומים דולקים؟ 有多少盏红灯笼亮着?"),
    _row("odd_spaces_question", question="How\u00a0many\u2003red\u200blanterns are\ufefflit?"),
    _row("combining_marks_question", question="How many re\u0301\u0302\u0303d la\u0308nterns are lit?"),
    _row("special_tokens_question", question="How many [DUP] [DUM] [RSC] [SEP] <pad> lanterns are lit?"),
    _row("html_question", question="How many <b>red</b> lanterns &amp; <script>alert(1)</script> are lit?"),
    # The decomposition as a whole.
    _row("empty_decomposition", decomposition=""),
    _row("blank_decomposition", decomposition="  \t "),
    _row("punctuation_decomposition", decomposition="?!"),
    _row("only_semicolons", decomposition=";; ; ;;;"),
    _row("only_return", decomposition="return"),
    _row("only_returns", decomposition="return ;return ;return "),
    _row("no_return", decomposition="lanterns ;#1 that are red ;number of #2"),
    _row("upper_case_return", decomposition="RETURN lanterns ;Return #1 that are red ;rEtUrN number of #2"),
    _row("double_semicolon", decomposition="return lanterns ;;return #1 that are red ;;return number of #2"),
    _row("last_semicolon", decomposition="return lanterns ;return number of #1 ;"),
    _row("double_spaces", decomposition="return  lanterns  ; return #1   that  are red ;return number  of  #2 "),
    _row("outer_quotes", decomposition='"return lanterns ;return number of #1"'),
    _row("line_break_decomposition", decomposition="return lanterns ;\nreturn #1 that\r\nare red"),
    _row("logical_form_decomposition", decomposition="SELECT[](sub=lanterns) ;AGGREGATE[count](arg=#1)"),
    _row("list_decomposition", decomposition="['return lanterns', 'return number of #1']"),
    _row("long_chain", decomposition=_LONG_CHAIN),
    _row("long_step", decomposition="return lanterns ;return #1 that are " + "very " * 2000 + "red"),
    _row("long_word_step", decomposition=f"return {'lantern' * 300} ;return number of #1"),
    # References.
    _row("self_reference", decomposition="return lanterns ;return #2 that are red"),
    _row("later_reference", decomposition="return number of #2 ;return lanterns"),
    _row("circle", decomposition="return #3 that are red ;return #1 that are lit ;return number of #2"),
    _row("reference_to_nothing", decomposition="return lanterns ;return number of #7"),
    _row("reference_to_zero", decomposition="return lanterns ;return number of #0"),
    _row("huge_reference", decomposition=f"return lanterns ;return number of #{'9' * 3000}"),
    _row("negative_reference", decomposition="return lanterns ;return number of #-1"),
    _row("reference_without_number", decomposition="return lanterns ;return number of #"),
    _row("spelled_reference", decomposition="return lanterns ;return number of #one"),
    _row("glued_references", decomposition="return lanterns ;return lamps ;return #1,#2"),
    _row("possessive_reference", decomposition="return lanterns ;return #1's owner ;return (#2) that are old"),
    _row("other_digits_reference", decomposition="return lanterns ;return number of #\u0661"),
    _row("only_reference", decomposition="return lanterns ;return #1"),
    _row("repeated_reference", decomposition="return lanterns ;return #1 , #1 , #1"),
    _row("unused_step", decomposition="return lanterns ;return candles ;return number of #1"),
    # Steps that no operator fits well.
    _row("two_projections", decomposition="return lanterns ;return owners ;return age of #1 in #2"),
    _row("references_only_joined", decomposition="return lanterns ;return owners ;return #1 #2"),
    _row("comparison_of_one", decomposition="return lanterns ;return which is highest of #1"),
    _row("comparison_of_nothing", decomposition="return lanterns ;return owners ;return which is #1 , #2"),
    _row("group_without_value", decomposition="return lanterns ;return for each #1"),
    _row("sort_without_key", decomposition="return lanterns ;return #1 sorted by"),
    _row("boolean_without_subject", decomposition="return lanterns ;return if"),
    _row("arithmetic_of_words", decomposition="return lanterns ;return difference of red and lit"),
    _row(
        "two_operators", decomposition="return lanterns ;return if which is highest for each #1 besides both #1 and #1"
    ),
    _row("punctuation_step", decomposition="return lanterns ;return ... ;return number of #1"),
    _row("emoji_step", decomposition="return 🏮 ;return #1 that are 🔥 ;return number of #2"),
    _row("control_characters_step", decomposition="return \x07lanterns ;return #1 that are \x1b[31mred ;return\x0bit"),
    _row("special_characters_step", decomposition="return a=b, c\\d (e) [f] ;return #1 with x=y\\, z"),
    _row("other_script_step", decomposition="return 红灯笼 ;return #1 דולקים ;return number of #2"),
    # The other columns, and rows that are cut short or too long.
    _row("wrong_operators", operators="['select', 'juggle']"),
    _row("too_few_operators", operators="['select']"),
    _row("operators_not_a_list", operators="select; filter; {'a': 1}"),
    _row("operators_missing", operators=""),
    ["", _QUESTION, _STEPS, _OPERATORS, "broken"],
    ["no-source-in-this-id", _QUESTION, _STEPS, _OPERATORS, "broken"],
    _row("repeated_id"),
    _row("repeated_id"),
    ["BROKEN_sample_only_an_id"],
    ["BROKEN_sample_no_decomposition_column", _QUESTION],
    [*_row("too_many_columns"), "one", "two"],
)
