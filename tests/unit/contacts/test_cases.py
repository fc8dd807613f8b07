"""The vCard and number cases that broke contact products in the field (cases 1 to 18)."""

from __future__ import annotations

import base64
import re
from itertools import pairwise

import pytest
from tests.unit.contacts.vcards import (
    again,
    cards_and_damage,
    oddities,
    phone_numbers,
    read_all,
    read_one,
    vcard,
    written,
)

from contactmesh.contacts import (
    Card,
    CarrierLine,
    Damage,
    Phone,
    changed_fields,
    display_name,
    match_key,
    range_holder,
    read_vcards,
    write_vcards,
)


def test_case_01_a_soft_line_break_inside_a_character_is_joined_before_it_is_decoded() -> None:
    data = vcard(
        "FN;CHARSET=UTF-8;ENCODING=QUOTED-PRINTABLE:=E7=8E=8B=E5=B0=",
        "=8F=E6=98=8E",
        "TEL;CELL:13800138000",
        version="2.1",
    )
    card = read_one(data)
    assert card.name is not None
    assert card.name.full == "王小明"
    assert phone_numbers(card) == ["13800138000"]


@pytest.mark.parametrize("text", ["王" * 60, "👨‍👩‍👧‍👦" * 20, "plain " * 30])
def test_case_02_folds_inside_characters_are_undone_and_never_made(text: str) -> None:
    line = f"NOTE:{text}".encode()
    folded = b"\r\n ".join(line[at : at + 75] for at in range(0, len(line), 75))
    assert read_one(vcard("FN:A", folded)) == read_one(vcard("FN:A", line))
    for version in ("3.0", "4.0"):
        (ours,) = write_vcards([read_one(vcard("FN:A", line))], version=version)
        for each in ours.split(b"\r\n"):
            assert len(each) <= 75
            each.decode()


def test_case_02_only_the_first_space_of_a_continuation_is_the_fold() -> None:
    card = read_one(vcard("FN:A", "NOTE:one\r\n   two\r\n \tthree"))
    assert [note.note for note in (card.notes or {}).values()] == ["one  two\tthree"]


@pytest.mark.parametrize(
    ("line", "name"),
    [
        (b"FN;CHARSET=ISO-8859-1;ENCODING=QUOTED-PRINTABLE:Stra=DFe", "Straße"),
        (b"FN;CHARSET=Windows-1252:\x80uro", "€uro"),
        (b"FN;CHARSET=MACINTOSH:Caf\x8e", "Café"),
        ("FN;CHARSET=GBK:王小明".encode("gbk"), "王小明"),
        ("FN;CHARSET=GB2312:诚\\,信".encode("gbk"), "诚,信"),
    ],
)
def test_case_03_a_value_is_decoded_by_its_charset(line: bytes, name: str) -> None:
    assert display_name(read_one(vcard(line, version="2.1"))) == name


def test_case_03_bytes_in_an_unknown_charset_are_kept_and_reported() -> None:
    data = vcard(b"N:A", b"NOTE;CHARSET=X-NOKIA-9:\xc4\xff\x80", version="2.1")
    (oddity,) = oddities(data)
    assert oddity.line == 4
    assert "x-nokia-9" in oddity.reason
    card = read_one(data)
    assert "\ufffd" not in str(card.to_json())
    assert "=C4=FF=80" in written(card)
    assert again(card) == card


def test_case_03_a_file_that_names_no_charset_is_read_by_the_one_the_caller_names() -> None:
    data = vcard("FN:王小明".encode("gb18030"))
    assert display_name(read_one(data, charset="gb18030")) == "王小明"
    assert display_name(read_one(data)) == ""


def test_case_04_byte_order_marks_are_ignored_wherever_a_card_begins() -> None:
    mark = b"\xef\xbb\xbf"
    cards, damage = cards_and_damage(mark + vcard("FN:A") + mark + vcard("FN:B"))
    assert [display_name(card) for card in cards] == ["A", "B"]
    assert damage == []


def test_case_04_a_file_in_utf_16_is_read_too() -> None:
    assert display_name(read_one(vcard("FN:王").decode().encode("utf-16"))) == "王"


def test_case_05_a_grouped_value_and_its_label_stay_together() -> None:
    card = read_one(vcard("FN:A", "customX.TEL:10086", "customX.X-ABLabel:客服"))
    assert card.phones is not None
    (phone,) = card.phones.values()
    assert (phone.number, phone.label) == ("10086", "客服")
    for version in ("3.0", "4.0"):
        text = written(card, version)
        assert re.search(r"customX\.TEL\S*:10086\r\n", text)
        assert "customX.X-ABLabel:客服\r\n" in text
        assert again(card, version) == card


def test_case_05_a_label_without_a_value_does_no_harm() -> None:
    card = read_one(vcard("FN:A", "X-ABLabel:orphan", "item9.X-ABLabel:lost"))
    assert "X-ABLabel:orphan" in written(card)
    assert "item9.X-ABLabel:lost" in written(card)
    assert again(card) == card


@pytest.mark.parametrize(
    ("lines", "shown"),
    [
        (["N:Doe;Jane;;;"], "Jane Doe"),
        (["FN:", "N:Doe;Jane;;;"], "Jane Doe"),
        (["N:王;小明;;;"], "王小明"),
        (["FN:", "NICKNAME:Janie"], "Janie"),
        (["NICKNAME:Janie"], "Janie"),
        (["EMAIL:jane@example.com"], "jane@example.com"),
    ],
)
def test_case_06_a_name_to_show_is_derived_and_the_card_is_not_rewritten(
    lines: list[str], shown: str
) -> None:
    card = read_one(vcard(*lines, version="4.0"))
    assert display_name(card) == shown
    before = card.to_json()
    for version in ("3.0", "4.0"):
        assert again(card, version).to_json() == before
    if "FN:" in lines:
        assert "\r\nFN:\r\n" in written(card)
    else:
        assert f"FN;DERIVED=TRUE:{shown}\r\n" in written(card)


def test_case_07_an_empty_name_gives_way_to_the_organisation_and_stays_empty() -> None:
    card = read_one(vcard("N:;;;;", "ORG:海底捞", "TEL:4009107107"))
    assert display_name(card) == "海底捞"
    for version in ("3.0", "4.0"):
        assert "\r\nN:;;;;\r\n" in written(card, version)
        assert again(card, version) == card


def test_case_08_a_card_without_uid_has_the_same_uid_each_time_it_is_read() -> None:
    data = vcard("FN:Jane", "TEL:1") + vcard("FN:John", "TEL:2")
    first, second = read_all(data), read_all(data)
    assert [item.uid for item in first if isinstance(item, Card)] == [
        item.uid for item in second if isinstance(item, Card)
    ]
    assert len({item.uid for item in first if isinstance(item, Card)}) == 2
    assert (
        len({read_one(vcard("FN:A", f"REV:{year}0101T000000Z")).uid for year in (2001, 2002)}) == 1
    )
    assert "uid" not in str(Card.model_validate({"name": {"full": "A"}}).model_fields_set)
    assert (
        Card.model_validate({"name": {"full": "A"}}).uid
        == Card.model_validate({"name": {"full": "A"}}).uid
    )


def test_case_09_two_people_under_one_uid_are_both_kept_and_both_named() -> None:
    data = (
        vcard("UID:1", "FN:Jane", "TEL:1")
        + vcard("UID:1", "FN:John", "TEL:2")
        + vcard("UID:2", "FN:Rest")
    )
    jane, damage, john, rest = read_all(data)
    assert isinstance(damage, Damage)
    assert "Jane" in damage.reason
    assert "John" in damage.reason
    assert damage.card == 2
    assert isinstance(jane, Card)
    assert isinstance(john, Card)
    assert isinstance(rest, Card)
    assert (jane.uid, rest.uid) == ("1", "2")
    assert john.uid not in {"1", "2"}
    assert display_name(john) == "John"
    assert john.uid in damage.hint
    assert [item for item in read_all(data) if isinstance(item, Card)] == [jane, john, rest]


def test_case_09_the_same_card_twice_is_no_damage() -> None:
    cards, damage = cards_and_damage(vcard("UID:1", "FN:Jane") * 2)
    assert [card.uid for card in cards] == ["1", "1"]
    assert damage == []


@pytest.mark.parametrize("end", [b"\r\n", b"\n", b"\r"], ids=["CRLF", "LF", "CR"])
@pytest.mark.parametrize(
    ("second", "line"),
    [
        (b"BEGIN:VCARD|VERSION:3.0|FN:Two|:no name|END:VCARD|", 8),
        (b"BEGIN:VCARD|VERSION:3.0|FN:Two|what is this|END:VCARD|", 8),
        (b"BEGIN:VCARD|VERSION:3.0|FN:Two|", 5),
    ],
    ids=["no name", "no colon", "no end"],
)
def test_case_10_a_damaged_card_is_reported_with_its_line_and_the_rest_imported(
    second: bytes, line: int, end: bytes
) -> None:
    data = vcard("FN:One", end=end) + second.replace(b"|", end) + vcard("FN:Three", end=end)
    cards, (damage,) = cards_and_damage(data)
    assert [display_name(card) for card in cards] == ["One", "Three"]
    assert (damage.card, damage.line) == (2, line)
    assert damage.hint


def test_case_10_bytes_after_the_end_are_reported_only_if_they_are_text() -> None:
    cards, damage = cards_and_damage(vcard("FN:A") + b"\0\0\x1a\r\n" + vcard("FN:B"))
    assert len(cards) == 2
    assert damage == []
    cards, (found,) = cards_and_damage(vcard("FN:A") + b"lost text\r\n" + vcard("FN:B"))
    assert len(cards) == 2
    assert found.line == 5


def test_case_10_two_files_joined_without_a_line_end_between_are_two_files() -> None:
    cards, damage = cards_and_damage(vcard("FN:A").rstrip() + vcard("FN:B", ":no name"))
    assert [display_name(card) for card in cards] == ["A"]
    assert [(each.card, each.line) for each in damage] == [(2, 7)]
    cards, damage = cards_and_damage(vcard("FN:A").rstrip() + vcard("FN:B"))
    assert len(cards) == 2
    assert damage == []


PHOTO = base64.b64encode(bytes(range(256)) * 3).decode()


@pytest.mark.parametrize("indent", [" ", ""], ids=["folded", "not indented"])
def test_case_11_a_photo_whose_lines_look_like_properties_is_bit_exact(indent: str) -> None:
    content = f"/9j/NNNN{PHOTO[:64]}"
    cuts = [content, f"N{PHOTO[64:127]}", f"TEL{PHOTO[127:188]}", f"END{PHOTO[188:]}"]
    lines = [f"PHOTO;ENCODING=BASE64;TYPE=JPEG:{cuts[0]}", *(indent + cut for cut in cuts[1:])]
    card = read_one(vcard("FN:A", *lines, "", "TEL:1", version="2.1"))
    assert card.media is not None
    (photo,) = card.media.values()
    assert photo.uri == "data:image/jpeg;base64," + "".join(cuts)
    assert phone_numbers(card) == ["1"]
    for version in ("3.0", "4.0"):
        assert again(card, version) == card


def test_case_11_a_photo_marked_base64_that_is_a_data_uri_is_bit_exact() -> None:
    uri = f"data:image/png;base64,{PHOTO}"
    card = read_one(vcard("FN:A", f"PHOTO;ENCODING=b;TYPE=PNG:{uri}"))
    assert card.media is not None
    assert [photo.uri for photo in card.media.values()] == [uri]
    for version in ("3.0", "4.0"):
        assert again(card, version) == card


@pytest.mark.parametrize(
    ("head", "value"),
    [
        ('X-LABEL="a, b"', "a, b"),
        ('X-LABEL=say "hi"', 'say "hi"'),
        ('X-LABEL="say \\"hi\\""', 'say "hi"'),
        ("X-LABEL=say ^'hi^'^nnow^^", 'say "hi"\nnow^'),
        ('X-LABEL="a:b;c"', "a:b;c"),
    ],
)
def test_case_12_quotes_and_commas_in_parameters_are_read_and_written_by_rfc_6868(
    head: str, value: str
) -> None:
    card = read_one(vcard("FN:A", f"EMAIL;{head}:a@example.com"))
    assert card.emails is not None
    (email,) = card.emails.values()
    assert email.address == "a@example.com"
    assert email.v_card_params == {"x-label": value}
    line = next(line for line in written(card).split("\r\n") if line.startswith("EMAIL"))
    assert '\\"' not in line
    assert again(card) == card


def test_case_13_what_phones_write_is_imported_and_the_unknown_kept_word_for_word() -> None:
    card = read_one(
        vcard(
            "FN:A",
            "SOUND;X-IRMC-N:;;;;",
            "TEL;:+15551234",
            "TEL;VOICE:",
            "X-CUSTOM;A=1:it\\;is, what\\nit: is",
            version="2.1",
        )
    )
    assert phone_numbers(card) == ["+15551234", ""]
    assert "X-CUSTOM;A=1:it\\;is, what\\nit: is\r\n" in written(card)
    assert again(card) == card


@pytest.mark.parametrize(
    "number",
    [
        "+8613800138000,,12#",
        "+8613800138000;12",
        "010-12345678;ext=801",
        "*100#",
        "138 0013 8000p9",
    ],
)
def test_case_14_pauses_and_codes_survive_three_rounds(number: str) -> None:
    card = Card.model_validate({"uid": "1", "phones": {"tel-1": {"number": number}}})
    for version in ("3.0", "4.0", "3.0"):
        card = again(card, version)
    assert phone_numbers(card) == [number]


def test_case_14_the_key_is_of_the_part_before_the_pause() -> None:
    key = match_key("+8613800138000")
    for text in ("+8613800138000,,12#", "+86 138 0013 8000;12", "+8613800138000;ext=9"):
        assert match_key(text) == key


@pytest.mark.parametrize(
    "text",
    [
        "13800138000",
        "+8613800138000",
        "008613800138000",
        "8613800138000",
        "+86 138-0013-8000",
        "138 0013 8000",
        "(138)00138000",
    ],
)
def test_case_15_every_complete_form_of_a_mobile_has_one_key(text: str) -> None:
    assert match_key(text, "CN") == "+8613800138000"


@pytest.mark.parametrize(
    "text", ["010 12345678", "+86 10 12345678", "0086-10-12345678", "01012345678"]
)
def test_case_15_a_landline_with_its_trunk_zero_is_complete(text: str) -> None:
    assert match_key(text, "CN") == "+861012345678"


def test_case_15_a_local_number_is_kept_and_never_matched() -> None:
    assert match_key("12345678", "CN") is None
    card = read_one(vcard("FN:A", "TEL:12345678"))
    assert phone_numbers(again(card)) == ["12345678"]


@pytest.mark.parametrize("text", ["10086", "112", "106575201234", "95588"])
def test_case_16_short_codes_are_never_prefixed(text: str) -> None:
    assert match_key(text, "CN") == f"short:{text}"
    assert phone_numbers(again(read_one(vcard("FN:A", f"TEL:{text}")))) == [text]


@pytest.mark.parametrize(
    "text",
    [
        "＋８６１３８００１３８０００",
        "+٨٦١٣٨٠٠١٣٨٠٠٠",
        "\u202d+8613800138000\u202c",
        "+86\u00a0138\u00a00013\u00a08000",
        "＋86 138 0013 8000",
    ],
)
def test_case_17_other_digits_and_invisible_characters_give_the_same_key(text: str) -> None:
    assert match_key(text) == "+8613800138000"


def line(carrier: str, sequence: str, *, ported: bool) -> Phone:
    carrier_line = CarrierLine(carrier_id=carrier, registration_seq=sequence, ported=ported)
    return Phone(number="+8613800138000", carrier=carrier_line)


def test_case_18_the_registry_beats_the_prefix_and_each_change_is_reported_once() -> None:
    tenures = [
        line("cn-mobile", "1", ported=False),
        line("cn-unicom", "2", ported=True),
        line("cn-mobile", "3", ported=False),
    ]
    cards = [Card(uid="jane", phones={"line": phone}) for phone in tenures]
    assert range_holder("+8613800138000") == "China Mobile"
    assert [card.phones["line"].carrier.carrier_id for card in cards if card.phones] == [  # type: ignore[union-attr]
        "cn-mobile",
        "cn-unicom",
        "cn-mobile",
    ]
    changes = [changed_fields(old, new) for old, new in pairwise(cards)]
    assert changes == [("phones/line/contactmesh.org:carrier",)] * 2
    ended = Card(uid="jane")
    assert changed_fields(cards[-1], ended) == ("phones/line",)


def test_case_18_the_new_holder_of_a_number_is_another_registration() -> None:
    before = Card(uid="jane", phones={"line": line("cn-mobile", "3", ported=False)})
    after = Card(uid="john", phones={"line": line("cn-mobile", "4", ported=False)})
    assert match_key("13800138000", "CN") == match_key("+8613800138000")
    assert changed_fields(before, after) == ("phones/line/contactmesh.org:carrier",)
    assert before.uid != after.uid


def test_reading_is_lazy() -> None:
    items = read_vcards(vcard("FN:A") + vcard("FN:B"))
    assert isinstance(next(items), Card)
