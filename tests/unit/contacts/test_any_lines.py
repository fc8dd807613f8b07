"""What holds for any lines about names and places, however they are mixed."""

from __future__ import annotations

import re
from typing import Literal

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.unit.contacts.vcards import again, read_one, vcard, written

quick = settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.too_slow])
thorough = settings(quick, max_examples=5000)

_LINES = """
ADR:;;Street1;City1;;;
ADR;TYPE=home;PREF=1:;;Street2;;;;
ADR;ALTID=1;LANGUAGE=en:;;Street3;;;;
ADR;ALTID=1;LANGUAGE=zh:;;Street4;;;;
ADR;PROP-ID=x;GEO="geo:31,32":;;Street5;;;;
ADR;TZ=Asia/Tokyo:;;;;;;
LABEL:Label1
LABEL;TYPE=home:Label2
GEO:11;12
GEO:geo:21,22
GEO:Here1
GEO;TYPE=work:41;42
TZ:-05:00
TZ;VALUE=text:Europe/Berlin
TZ:Zone1
N:Sur1;Given1;;;
N:Sur2;Given2,Given3;Middle1;;
N;ALTID=1;LANGUAGE=zh:Sur4;Given4;;;
N;ALTID=1;LANGUAGE=en:Sur5;Given5;;;
N;ALTID=1;LANGUAGE=en;PHONETIC=ipa:Sur6;Given6;;;
N;ALTID=1;PHONETIC=script;SCRIPT=Latn:Sur7;;;;
N;ALTID=1;PHONETIC=piny;SCRIPT=Latn:;Given8;;;
N;SORT-AS=Sort1:Sur9;Given9;;;
N;JSCOMPS=";1;0";SORT-AS="Sort2,Sort3":Sur10;Given10;;;
FN;ALTID=1:Full1
FN;ALTID=1;LANGUAGE=en:Full2
FN:Full3
ORG;SORT-AS=Sort4,Sort5:Org1;Unit1
SORT-STRING:Sort6
SORT-STRING:Sort7
X-PHONETIC-FIRST-NAME:First1
X-PHONETIC-FIRST-NAME:ハツ
X-PHONETIC-LAST-NAME:Last1
X-PHONETIC-MIDDLE-NAME:Middle2
item1.X-PHONETIC-LAST-NAME:Last2
item1.X-ABLabel:Label3
item1.X-ABRELATEDNAMES:Name1
X-FOO:Foo1
"""
LINES = _LINES.strip().split("\n")

Version = Literal["3.0", "4.0"]
VERSIONS = st.sampled_from(("3.0", "4.0"))
CARDS = st.lists(st.sampled_from(LINES), unique=True, max_size=9)


def _words(text: str) -> set[str]:
    """Words that say which line they are of, and numbers of a place."""
    return set(re.findall(r"[A-Z][a-z]+[0-9]+|\b[1-4][12]\b|ハツ", text))


def _nothing_is_lost(lines: list[str], version: Version, other: Version) -> None:
    card = read_one(vcard(*lines, version=version))
    text = written(card, other)
    assert _words("\n".join(lines)) <= _words(text)
    assert again(card, other) == card
    assert again(again(card, other), version) == card


@quick
@given(CARDS, VERSIONS, VERSIONS)
def test_any_lines_come_back(lines: list[str], version: Version, other: Version) -> None:
    _nothing_is_lost(lines, version, other)


@pytest.mark.long
@pytest.mark.timeout(1800)
@thorough
@given(CARDS, VERSIONS, VERSIONS)
def test_any_lines_come_back_at_length(lines: list[str], version: Version, other: Version) -> None:
    _nothing_is_lost(lines, version, other)
