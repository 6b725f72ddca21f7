"""Which language is a text in, and what do its words do there?"""

import pytest

from brain.analysis.languages import language, language_of
from brain.analysis.wordclasses import WordClass, words_of


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("Read the file and write it", "en"),
        ("Magma reaches earth's surface. Lava flows pour out", ""),
        ("Die Rechnung wird geprüft und bezahlt", "de"),
        ("Abrir la caja de la tienda", "es"),
        ("Ouvrir un compte pour un client", "fr"),
        ("Проверить счёт", "ru"),
        ("قراءة الطلب", "ar"),
        ("核对订单号", "zh"),
        ("箱の数を数える", "ja"),
        ("Measure δ at 5 nm in the sample", "en"),
        ("계약 검토", "other"),
        ("", ""),
    ],
)
def test_the_language_is_told_from_script_and_function_words(text, code):
    assert language_of(text) == code


@pytest.mark.parametrize(
    ("code", "text", "count"),
    [
        ("en", "do not open it, never close it", 2),
        ("en", "no later than noon", 0),
        ("fr", "ne pas ouvrir, ne jamais fermer", 2),
        ("zh", "检查是不是完好,不要关闭", 1),
        ("ja", "開けないでください", 1),
        ("ru", "варить, пока не будет готово", 0),
    ],
)
def test_negations_are_counted(code, text, count):
    assert language(code).negations(text) == count


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Die Rechnung wird von der Bank bezahlt", {"die", "wird", "von", "der"}),
        ("Abrir la caja de los clientes", {"la", "de", "los"}),
        ("Ranger le livre dans une armoire", {"le", "dans", "une"}),
    ],
)
def test_function_words_are_those_of_the_language(text, words):
    assert {word.text for word in words_of(text) if word.kind == WordClass.FUNCTION} == words


def test_a_clause_is_read_in_the_language_of_its_whole():
    assert [word.kind for word in words_of("der Bank", "de")] == [WordClass.FUNCTION, WordClass.NOUN]
    assert [word.kind for word in words_of("der Bank", "en")] == [WordClass.NOUN, WordClass.NOUN]


def test_chinese_is_compared_by_pairs_and_single_characters():
    assert [word.text for word in words_of("分析的合同")] == ["分析", "析的", "的合", "合同", "分", "析", "合", "同"]
