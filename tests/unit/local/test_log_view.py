import io
import json
from datetime import datetime

import pytest
from rich.cells import cell_len
from rich.console import Console

from contactmesh.local.log_view import LogView


def line(**fields: object) -> str:
    return json.dumps({"timestamp": "2026-01-02T03:04:05.678901Z", "level": "info", **fields})


def shown(process: str, text: str, *, from_level: str = "debug") -> str:
    output = io.StringIO()
    LogView(Console(file=output, width=40), from_level=from_level).show(process, text)
    return output.getvalue()


def test_a_json_line_becomes_one_readable_line() -> None:
    text = shown("group_service#2", line(event="card published", service="group_service", rev=7))
    local = datetime.fromisoformat("2026-01-02T03:04:05Z").astimezone()
    assert text == f"{local:%H:%M:%S}.678 group_service#2      info     card published rev=7\n"


def test_values_are_told_apart() -> None:
    text = shown("x", line(event="e", a="one", b="two words", c="", d=["k"], e=None))
    assert text.rstrip().endswith('e a=one b="two words" c="" d=["k"] e=null')


def test_wide_characters_stay_in_their_columns() -> None:
    plain, wide = (shown(name, line(event="e")) for name in ("group", "通讯录"))
    assert cell_len(plain) == cell_len(wide)
    assert "name=王小明" in shown("x", line(event="e", name="王小明"))


@pytest.mark.parametrize("text", ["Traceback (most recent call last):", "[1, 2]", "{broken", "7"])
def test_a_line_that_is_not_an_event_is_shown_as_it_is(text: str) -> None:
    assert shown("x", text).rstrip().endswith(text)


@pytest.mark.parametrize(
    "text", ["\x1b[2J", "\x1b]0;title\x07", "\u202etxt.exe", "\ud800", "a\nb", "\x9b31m"]
)
def test_nothing_that_is_logged_drives_the_terminal(text: str) -> None:
    for written in (text, line(event=text), line(event="e", key=text), line(event="e") + text):
        output = shown("x", written)
        assert output.count("\n") == 1
        assert output.isprintable() or output.rstrip("\n").isprintable()


def test_rich_markup_in_a_log_is_text() -> None:
    assert "[red]x[/]" in shown("x", line(event="[red]x[/]"))


def test_quiet_shows_warnings_and_errors_only() -> None:
    for level, is_shown in (
        ("debug", 0),
        ("info", 0),
        ("warning", 1),
        ("error", 1),
        ("critical", 1),
    ):
        assert bool(shown("x", line(event="e", level=level), from_level="warning")) == is_shown


def test_an_exception_is_shown_in_one_line() -> None:
    trace = [{"exc_type": "ValueError", "exc_value": "bad", "frames": [{"lineno": 1}]}]
    assert shown("x", line(event="e", exception=trace)).rstrip().endswith("ValueError: bad")


def test_the_brokers_chatter_is_left_out_and_its_complaints_are_not() -> None:
    assert not shown("broker", line(event="accepting AMQP connection"))
    assert not shown("broker", "  ##  ##      RabbitMQ")
    assert shown("broker", line(event="memory resource limit alarm set", level="warning"))


def test_a_line_without_a_usable_time_has_the_time_of_reading() -> None:
    assert shown("x", json.dumps({"event": "e", "timestamp": "yesterday"}))[2] == ":"


FORCED = (
    "Error on AMQP connection <0.1.0> (127.0.0.1:1 -> 127.0.0.1:2, vhost: '/', user: 'a_b'):\n"
    "operation none caused a connection exception connection_forced: "
    "\"broker forced connection closure with reason 'shutdown'\""
)
CALL_TIMEOUT = (
    "AMQP 0-9-1 client call timeout was 70000 ms, is updated to a safe value of 130000 ms"
)
ALONE = "Error on AMQP connection:\n{failed_connect,[{inet,[inet],econnrefused}]}"


@pytest.mark.parametrize("event", [FORCED, CALL_TIMEOUT])
def test_what_a_broker_says_at_every_start_and_stop_is_shown_to_those_who_debug(event: str) -> None:
    text = line(event=event, level="error")
    assert not shown("broker", text)
    assert shown("group_service#1", text)
    console = Console(file=io.StringIO())
    assert LogView(console, chatter=True).render("broker", text) is not None


def test_nobody_to_ask_about_terminals_is_news_only_when_the_system_is_up() -> None:
    view = LogView(Console(file=io.StringIO()))
    assert view.render("broker", line(event=ALONE, level="error")) is not None
    view.settled = False
    assert view.render("broker", line(event=ALONE, level="error")) is None
