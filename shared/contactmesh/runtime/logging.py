"""One log line an event, as JSON or readable, never with contact details or secrets in it."""

import logging
import sys

import structlog
from structlog.typing import Processor

from contactmesh.runtime.settings import LogFormat, LogLevel

_QUIET_LIBRARIES = ("aio_pika", "aiormq", "aiohttp.access", "motor", "pymongo")


def configure_logging(service: str, log_format: LogFormat, level: LogLevel) -> None:
    """Write every log line of the process, ours and the libraries', to standard output."""
    number = logging.getLevelNamesMapping()[level.upper()]

    def add_service(
        _: object, __: str, event: structlog.typing.EventDict
    ) -> structlog.typing.EventDict:
        event.setdefault("service", service)
        return event

    shared: list[Processor] = [
        structlog.contextvars.merge_contextvars,
        structlog.stdlib.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        add_service,
    ]
    renderer: Processor = (
        structlog.processors.JSONRenderer(ensure_ascii=False)
        if log_format is LogFormat.JSON
        else structlog.dev.ConsoleRenderer(colors=sys.stdout.isatty())
    )
    structlog.configure(
        processors=[*shared, structlog.processors.dict_tracebacks, renderer],
        wrapper_class=structlog.make_filtering_bound_logger(number),
        logger_factory=structlog.WriteLoggerFactory(file=sys.stdout),
        cache_logger_on_first_use=True,
    )
    handler = logging.StreamHandler(sys.stdout)
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=[structlog.stdlib.add_logger_name, *shared],
            processors=[structlog.stdlib.ProcessorFormatter.remove_processors_meta, renderer],
        )
    )
    logging.basicConfig(handlers=[handler], level=number, force=True)
    for name in _QUIET_LIBRARIES:
        logging.getLogger(name).setLevel(logging.WARNING)
    # It reports each connection that fails, which we report ourselves, once.
    logging.getLogger("aiormq.connection").setLevel(logging.CRITICAL)
