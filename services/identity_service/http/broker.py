"""The broker's questions, as its HTTP authorisation backend asks them.

Each is a form, each answer is `allow` or `deny` with status 200. Whatever goes wrong is a `deny`.
"""

from collections.abc import Awaitable, Callable, Mapping
from typing import Final

import structlog
from aiohttp import web
from prometheus_client import Counter

from contactmesh.contracts.errors import Refusal
from contactmesh.storage.errors import DatabaseUnavailable
from identity_service.domain.permissions import MayAccess, MayUseTopic, MayUseVhost
from identity_service.handlers.broker_questions import BrokerQuestions
from identity_service.http.errors import Handler
from identity_service.http.reading import read_form

log = structlog.get_logger()

ANSWERS: Final = Counter(
    "contactmesh_broker_answers", "The broker's questions answered.", ["question", "answer"]
)

Form = Mapping[str, str]


def client_id(form: Form) -> str | None:
    """The MQTT client id that a question is about; none when it is about AMQP.

    Questions about topics name it among the variables of a connection.
    """
    return form.get("client_id", form.get("variable_map.client_id"))


def broker_routes(questions: BrokerQuestions) -> list[web.RouteDef]:
    """The four questions."""

    async def user(form: Form) -> bool:
        return await questions.may_connect(form["username"], form["password"], client_id(form))

    async def vhost(form: Form) -> bool:
        question = MayUseVhost(form["vhost"])
        return await questions.may_do(form["username"], question, client_id(form))

    async def resource(form: Form) -> bool:
        question = MayAccess(form["vhost"], form["resource"], form["name"], form["permission"])
        return await questions.may_do(form["username"], question, client_id(form))

    async def topic(form: Form) -> bool:
        question = MayUseTopic(form["vhost"], form["name"], form["permission"], form["routing_key"])
        return await questions.may_do(form["username"], question, client_id(form))

    return [
        web.post("/broker/user", _allow_or_deny(user)),
        web.post("/broker/vhost", _allow_or_deny(vhost)),
        web.post("/broker/resource", _allow_or_deny(resource)),
        web.post("/broker/topic", _allow_or_deny(topic)),
    ]


def _allow_or_deny(ask: Callable[[Form], Awaitable[bool]]) -> Handler:
    async def answer(request: web.Request) -> web.Response:
        username = None
        form: Form = {}
        try:
            form = await read_form(request)
            username = form.get("username", "")[:64]
            allowed = await ask(form)
        except (Refusal, KeyError) as error:
            log.warning("unreadable question", question=request.path, because=type(error).__name__)
            allowed = False
        except DatabaseUnavailable as error:
            log.warning("cannot answer the broker", question=request.path, because=str(error))
            allowed = False
        ANSWERS.labels(request.path.rpartition("/")[2], "allow" if allowed else "deny").inc()
        if not allowed:
            # Names and keys of what was asked for are whatever an attacker likes to write.
            log.warning(
                "denied",
                question=request.path,
                username=username,
                to=form.get("permission", "")[:16],
                kind=form.get("resource", "")[:16],
            )
        return web.Response(text="allow" if allowed else "deny")

    return answer
