"""One's own numbers: what carriers told of them, and what others see."""

from typing import Annotated

import typer
from pydantic import ValidationError

from contactmesh.cli.errors import CommandError, WrongUsage
from contactmesh.cli.output import AsJson, print_json, print_rows, print_text
from contactmesh.cli.terminal import texts
from contactmesh.cli.terminal.connecting import connected
from contactmesh.cli.terminal.page import plan_as_of, state_as_of
from contactmesh.cli.terminal.place import Place, at_a_terminal
from contactmesh.cli.terminal.suggesting import suggested
from contactmesh.contacts import match_key
from contactmesh.contracts.carrier.access import OwnLine
from contactmesh.contracts.carrier.records import Line
from contactmesh.terminal import Terminal

app = typer.Typer(help=texts.HELP_LINES, no_args_is_help=True)

LineName = Annotated[str, typer.Argument(metavar="NUMBER", help=texts.HELP_LINE_NUMBER)]


@app.command("list", help=texts.HELP_LINE_LIST)
@at_a_terminal
async def list_lines(place: Place, as_json: AsJson = False) -> None:
    """List one's own numbers."""
    async with connected(place) as terminal:
        own = await terminal.own_lines()
    print_rows(own.lines, texts.COLUMNS_LINES, _row, none=texts.NO_LINES, as_json=as_json)


@app.command("label", help=texts.HELP_LINE_LABEL, epilog=texts.EXAMPLE_LINE_LABEL)
@at_a_terminal
async def label(
    place: Place,
    number: LineName,
    labels: Annotated[
        list[str] | None, typer.Argument(metavar="LABEL...", help=texts.HELP_LINE_LABELS)
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Set the shared labels of a number."""
    wanted = tuple(labels or ())
    async with connected(place) as terminal:
        line = await _own_line(terminal, place, number)
        try:
            await terminal.describe_line(line.ref, labels=wanted, dial_priority=line.dial_priority)
        except ValidationError as error:
            raise WrongUsage(texts.BAD_SHARED_LABEL) from error
    if as_json:
        print_json(line.model_copy(update={"labels": wanted}))
    else:
        text = texts.LINE_LABELLED if wanted else texts.LINE_UNLABELLED
        print_text(text.format(number=line.msisdn, labels=", ".join(wanted)))


@app.command("priority", help=texts.HELP_LINE_PRIORITY, epilog=texts.EXAMPLE_LINE_PRIORITY)
@at_a_terminal
async def priority(
    place: Place,
    number: LineName,
    where: Annotated[
        int | None, typer.Argument(metavar="PLACE", help=texts.HELP_LINE_PLACE, min=1, max=100)
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Set the dial priority of a number."""
    async with connected(place) as terminal:
        line = await _own_line(terminal, place, number)
        await terminal.describe_line(line.ref, labels=line.labels, dial_priority=where)
    if as_json:
        print_json(line.model_copy(update={"dial_priority": where}))
    else:
        text = texts.LINE_UNPLACED if where is None else texts.LINE_PLACED
        print_text(text.format(number=line.msisdn, place=where))


async def _own_line(terminal: Terminal, place: Place, name: str) -> Line:
    _, enrolment = place.enrolled()
    key = match_key(name, enrolment.region)
    for each in (await terminal.own_lines()).lines:
        if name == str(each.line.ref) or key == each.line.msisdn:
            return each.line
    raise CommandError(suggested(texts.NO_SUCH_LINE, number=name))


def _row(own: OwnLine) -> tuple[str, ...]:
    line, state, usage = own.line, own.state, own.usage
    return (
        line.msisdn,
        str(line.ref),
        "" if line.dial_priority is None else str(line.dial_priority),
        ", ".join(line.labels),
        texts.NOT_KNOWN if state is None else state_as_of(state.state, state.last_status_time),
        texts.NOT_KNOWN if usage is None else plan_as_of(usage.remaining, usage.last_status_time),
    )
