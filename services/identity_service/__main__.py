"""`python -m identity_service`: the service's wiring."""

import asyncio
import secrets

from aiohttp import web

from contactmesh.messaging.publisher import Publisher
from contactmesh.messaging.relay import OutboxRelay
from contactmesh.messaging.topology import IDENTITY
from contactmesh.runtime.commands import utc_now
from contactmesh.runtime.logging import configure_logging
from contactmesh.runtime.process import ServiceProcess, run_until_signalled
from contactmesh.runtime.settings import read_secret
from contactmesh.storage.database import Database
from contactmesh.storage.errors import DatabaseUnavailable
from contactmesh.storage.unit_of_work import UnitOfWork
from identity_service.access_log import AccessLogs
from identity_service.broker import TerminalBroker
from identity_service.handlers.broker_questions import BrokerQuestions
from identity_service.handlers.commit import Committer
from identity_service.handlers.enrolment import Enrolment
from identity_service.handlers.integration import Integration
from identity_service.handlers.registration import Registration
from identity_service.handlers.secrets import Secrets
from identity_service.http.broker import broker_routes
from identity_service.http.errors import answered, nothing_here
from identity_service.http.integrators import integrator_routes
from identity_service.http.operator import only_for_operators, operator_routes
from identity_service.http.terminal import terminal_routes
from identity_service.repository import Repository
from identity_service.settings import IdentitySettings
from identity_service.upkeep import BrokerUpkeep


async def serve(settings: IdentitySettings, stopping: asyncio.Event) -> None:
    """Run the service until `stopping` is set.

    Raises:
        OSError: the file with the operator's token cannot be read.
        ValueError: it is empty.
    """
    token = read_secret(settings.operator_token_file)
    if not token:
        raise ValueError(f"{settings.operator_token_file} is empty: it has to hold a token")
    amqp_url = settings.amqp_url.get_secret_value()
    management_url = settings.broker_management_url
    database_name = f"{settings.database_prefix}{IDENTITY.service}"
    async with (
        Database(settings.mongodb_url.get_secret_value(), database_name) as database,
        Publisher(amqp_url, IDENTITY.service) as publisher,
    ):
        repository = Repository(database)
        unit_of_work = UnitOfWork(database)
        relay = OutboxRelay(unit_of_work.outbox, publisher, transient=(DatabaseUnavailable,))
        committer = Committer(unit_of_work, relay, utc_now)
        broker = TerminalBroker(
            amqp_url, None if management_url is None else management_url.get_secret_value()
        )
        upkeep = BrokerUpkeep(repository, broker, utc_now)
        access_logs = AccessLogs(database)
        terminal_secrets = Secrets(
            repository,
            access_logs,
            committer,
            upkeep,
            broker_cache_lifetime=settings.broker_cache_lifetime,
            random_bytes=secrets.token_bytes,
            clock=utc_now,
        )
        registration = Registration(
            repository,
            committer,
            upkeep,
            limits=settings.limits,
            code_lifetime=settings.enrolment_code_lifetime,
            broker_cache_lifetime=settings.broker_cache_lifetime,
            random_bytes=secrets.token_bytes,
            clock=utc_now,
        )
        enrolment = Enrolment(
            repository,
            terminal_secrets,
            committer,
            broker,
            broker_url=settings.terminal_amqp_url,
            mqtt_url=settings.terminal_mqtt_url,
            limits=settings.limits,
            random_bytes=secrets.token_bytes,
            clock=utc_now,
        )
        integration = Integration(
            repository,
            committer,
            broker,
            upkeep,
            broker_url=settings.terminal_amqp_url,
            broker_cache_lifetime=settings.broker_cache_lifetime,
            random_bytes=secrets.token_bytes,
            clock=utc_now,
        )
        operators_only = only_for_operators(token)
        questions = BrokerQuestions(repository, terminal_secrets, integration, settings.vhost)

        async def prepare() -> None:
            await unit_of_work.prepare()
            await repository.prepare()
            await access_logs.prepare()

        process = ServiceProcess(
            topology=IDENTITY,
            settings=settings,
            database=database,
            prepare=prepare,
            consumers=(),
            background=(relay, upkeep),
            routes=[
                *operator_routes(registration, terminal_secrets, operators_only),
                *integrator_routes(integration, operators_only),
                *terminal_routes(enrolment, terminal_secrets),
                *broker_routes(questions),
                web.route("*", "/v1/{path:.*}", answered(nothing_here)),
            ],
        )
        await process.run(stopping)


def main() -> None:
    """Run the service with the settings of its environment until SIGTERM."""
    settings = IdentitySettings()
    configure_logging(IDENTITY.service, settings.log_format, settings.log_level)
    run_until_signalled(lambda stopping: serve(settings, stopping))


if __name__ == "__main__":
    main()
