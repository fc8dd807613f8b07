"""Running commands: the group that tells errors in one line, and commands that are coroutines."""

import asyncio
import functools
import inspect
import re
import sys
from collections.abc import Callable, Coroutine, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any, ParamSpec

import typer
from typer.core import TyperGroup

from contactmesh.cli import texts
from contactmesh.cli.exit_codes import ExitCode
from contactmesh.cli.output import print_error

Parameters = ParamSpec("Parameters")


def async_command(
    function: Callable[Parameters, Coroutine[Any, Any, None]],
) -> Callable[Parameters, None]:
    """Let a coroutine function be a command. Ctrl-C cancels it."""

    @functools.wraps(function)
    def command(*args: Parameters.args, **kwargs: Parameters.kwargs) -> None:
        asyncio.run(function(*args, **kwargs))

    return command


def with_options(
    function: Callable[..., Coroutine[Any, Any, None]],
    options: Mapping[str, object],
    chosen: Callable[..., AbstractContextManager[object]],
) -> Callable[..., None]:
    """Let a coroutine function be a command, with options that many commands share.

    They stand after the command's own arguments and options.

    Args:
        function: takes what `chosen` gives, and then what its own arguments and options give.
        options: the annotations of the shared ones, each None if it is not given.
        chosen: takes them; the command runs within what it returns.
    """

    @functools.wraps(function)
    def command(**given: object) -> None:
        shared = {name: given.pop(name, None) for name in options}
        with chosen(**shared) as first:
            asyncio.run(function(first, **given))

    _, *its_own = inspect.signature(function, eval_str=True).parameters.values()
    parameters = [
        *its_own,
        *(
            inspect.Parameter(
                name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=annotation
            )
            for name, annotation in options.items()
        ),
    ]
    command.__dict__.pop("__wrapped__")
    command.__dict__["__signature__"] = inspect.Signature(parameters)
    command.__annotations__ = {each.name: each.annotation for each in parameters}
    return command


class OneLineErrors(TyperGroup):
    """The group at the root of all commands: whatever they raise is told here.

    A command raises one of the closed families of errors and is done; see `errors.FORESEEN`.
    """

    def main(
        self,
        args: Sequence[str] | None = None,
        prog_name: str | None = None,
        complete_var: str | None = None,
        standalone_mode: bool = True,
        windows_expand_args: bool = True,
        **extra: Any,  # noqa: ANN401 - as in the base class
    ) -> Any:  # noqa: ANN401
        """Run a command line and, in stand-alone mode, exit with its status."""
        run = functools.partial(
            super().main,
            args,
            prog_name,
            complete_var,
            standalone_mode=False,
            windows_expand_args=windows_expand_args,
            **extra,
        )
        return sys.exit(_exit_code(run)) if standalone_mode else run()


def _foreseen() -> tuple[type[Exception], ...]:
    """What is told in one line; asked only when a command failed."""
    from contactmesh.cli.errors import FORESEEN  # noqa: PLC0415 - loading takes a second

    return FORESEEN


def _exit_code(run: Callable[[], object]) -> int:
    try:
        status = run()
    except typer.TyperException as error:
        _tell_usage(error)
        return error.exit_code
    except typer.Abort:
        return ExitCode.INTERRUPTED
    except _foreseen() as error:
        from contactmesh.cli.errors import exit_code_of, told  # noqa: PLC0415 - as above

        print_error(told(error))
        return exit_code_of(error)
    return status if isinstance(status, int) else ExitCode.OK


def _tell_usage(error: typer.TyperException) -> None:
    message = " ".join(error.format_message().split())
    if not message:
        return  # a command without its arguments, whose help was shown instead
    for theirs, ours in texts.USAGE_WORDING:
        message = re.sub(theirs, ours, message)
    context = getattr(error, "ctx", None)
    hint = "" if context is None else texts.SEE_HELP.format(command=context.command_path)
    print_error(
        " ".join([message if message.endswith((".", "?")) else f"{message}.", *hint.split()])
    )
