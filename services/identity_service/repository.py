"""The collections of identity_service and their indexes."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any, Final

from contactmesh.contracts.contact import Scope
from contactmesh.contracts.identifiers import carrier_of
from contactmesh.storage.database import Collection, Database, Index
from contactmesh.storage.transaction import Document, Write
from identity_service.domain.enrolment import Code
from identity_service.domain.integrator import Integrator
from identity_service.domain.secret import SecretHash
from identity_service.domain.terminal import Terminal
from identity_service.domain.upkeep import Upkeep
from identity_service.domain.user import User

USERS: Final = "users"
CARRIERS: Final = "carriers"
TERMINALS: Final = "terminals"
CODES: Final = "enrolment_codes"
INTEGRATORS: Final = "integrators"
UPKEEP: Final = "broker_upkeep"


class Repository:
    """Reads users, carriers, terminals, codes and upkeep. Writes go through a unit of work."""

    def __init__(self, database: Database) -> None:
        self._users = database.collection(USERS)
        self._carriers = database.collection(CARRIERS)
        self._terminals = database.collection(TERMINALS)
        self._codes = database.collection(CODES)
        self._integrators = database.collection(INTEGRATORS)
        self._upkeep = database.collection(UPKEEP)

    async def prepare(self) -> None:
        """Make sure that the indexes exist."""
        await self._terminals.ensure([Index((("user_id", 1), ("enrolled_at", 1)))])
        await self._codes.ensure(
            [Index((("user_id", 1),)), Index((("expires_at", 1),), expire_seconds=0)]
        )
        await self._upkeep.ensure([Index((("due_at", 1),))])

    async def user(self, owner_id: str) -> User | None:
        """One user, or one carrier by the id that owns its terminals."""
        owners = self._users if carrier_of(owner_id) is None else self._carriers
        document = await owners.get(owner_id)
        return None if document is None else User(**_named(document))

    async def users(self, *, after: str, limit: int) -> Sequence[User]:
        """Users in the order of their ids, from the one after `after` on."""
        return await _page(self._users, after=after, limit=limit)

    async def carriers(self, *, after: str, limit: int) -> Sequence[User]:
        """Carriers in the order of their owner ids, from the one after `after` on."""
        return await _page(self._carriers, after=after, limit=limit)

    async def terminal(self, terminal_id: str) -> Terminal | None:
        """One terminal, revoked or not."""
        document = await self._terminals.get(terminal_id)
        return None if document is None else _terminal(document)

    async def terminals(self, user_id: str) -> Sequence[Terminal]:
        """A user's terminals, revoked ones too, oldest first."""
        documents = await self._terminals.find({"user_id": user_id}, sort=[("enrolled_at", 1)])
        return [_terminal(document) for document in documents]

    async def code(self, public: str) -> Code | None:
        """The code with this public part."""
        document = await self._codes.get(public)
        return None if document is None else _code(document)

    async def codes(self, user_id: str) -> list[Code]:
        """A user's codes that have not been cleared away yet."""
        return [_code(document) for document in await self._codes.find({"user_id": user_id})]

    async def integrator(self, name: str) -> Integrator | None:
        """One integrator."""
        document = await self._integrators.get(name)
        return None if document is None else _integrator(document)

    async def integrators(self) -> Sequence[Integrator]:
        """All integrators, by name."""
        documents = await self._integrators.find({}, sort=[("_id", 1)])
        return [_integrator(document) for document in documents]

    async def upkeep_due(self, now: datetime, limit: int) -> Sequence[Upkeep]:
        """What has to be done on the broker by now, longest due first."""
        documents = await self._upkeep.find(
            {"due_at": {"$lte": now}}, sort=[("due_at", 1)], limit=limit
        )
        return [
            Upkeep(document["_id"], document["due_at"], document["until"]) for document in documents
        ]

    async def note_upkeep(self, upkeep: Upkeep) -> None:
        """Take note of upkeep by itself, outside a unit of work."""
        fields = {"due_at": upkeep.due_at, "until": upkeep.until}
        await self._upkeep.update({"_id": upkeep.terminal_id}, {"$set": fields}, upsert=True)

    async def upkeep_done(self, upkeep: Upkeep) -> None:
        """Forget upkeep that is done."""
        await self._upkeep.delete([upkeep.terminal_id])


def user_write(user: User) -> Write:
    """Store a user or carrier, if nobody else has since it was loaded."""
    return Write(
        USERS if carrier_of(user.id) is None else CARRIERS,
        user.id,
        {
            "display_name": user.display_name,
            "registered_at": user.registered_at,
            "terminals": user.terminals,
            "etag": user.etag + 1,
        },
        guard=user.etag,
    )


def terminal_write(terminal: Terminal) -> Write:
    """Store a terminal, if nobody else has since it was loaded."""
    return Write(
        TERMINALS,
        terminal.id,
        {
            "user_id": terminal.user_id,
            "name": terminal.name,
            "secret": _secret_document(terminal.secret),
            "enrolled_at": terminal.enrolled_at,
            "revoked_at": terminal.revoked_at,
            "next_secret": (
                None if terminal.next_secret is None else _secret_document(terminal.next_secret)
            ),
            "must_rotate": terminal.must_rotate,
            "etag": terminal.etag + 1,
        },
        guard=terminal.etag,
    )


def code_write(code: Code) -> Write:
    """Store a code, if nobody else has since it was loaded."""
    return Write(
        CODES,
        code.id,
        {
            "user_id": code.user_id,
            "secret": _secret_document(code.secret),
            "expires_at": code.expires_at,
            "wrong_guesses": code.wrong_guesses,
            "used": code.used,
            "etag": code.etag + 1,
        },
        guard=code.etag,
    )


def integrator_write(integrator: Integrator) -> Write:
    """Store an integrator, if nobody else has since it was loaded."""
    return Write(
        INTEGRATORS,
        integrator.name,
        {
            "scopes": [scope.value for scope in integrator.scopes],
            "secret": _secret_document(integrator.secret),
            "added_at": integrator.added_at,
            "etag": integrator.etag + 1,
        },
        guard=integrator.etag,
    )


def no_integrator(name: str) -> Write:
    """Forget an integrator."""
    return Write(INTEGRATORS, name, None)


def upkeep_write(upkeep: Upkeep) -> Write:
    """Take note of upkeep, in place of what was noted for this terminal before."""
    fields = {"due_at": upkeep.due_at, "until": upkeep.until}
    return Write(UPKEEP, upkeep.terminal_id, fields)


def no_upkeep(terminal_id: str) -> Write:
    """Forget the upkeep that was noted for this terminal."""
    return Write(UPKEEP, terminal_id, None)


async def _page(owners: Collection, *, after: str, limit: int) -> list[User]:
    documents = await owners.find({"_id": {"$gt": after}}, sort=[("_id", 1)], limit=limit)
    return [User(**_named(document)) for document in documents]


def _terminal(document: Document) -> Terminal:
    fields = _named(document)
    following = fields.get("next_secret")
    secrets = {
        "secret": SecretHash(**fields["secret"]),
        "next_secret": None if following is None else SecretHash(**following),
    }
    return Terminal(**{**fields, **secrets})


def _integrator(document: Document) -> Integrator:
    return Integrator(
        name=document["_id"],
        scopes=tuple(Scope(scope) for scope in document["scopes"]),
        secret=SecretHash(**document["secret"]),
        added_at=document["added_at"],
        etag=document["etag"],
    )


def _code(document: Document) -> Code:
    fields = _named(document)
    return Code(**{**fields, "secret": SecretHash(**fields["secret"])})


def _named(document: Document) -> dict[str, Any]:
    return {("id" if name == "_id" else name): value for name, value in document.items()}


def _secret_document(secret: SecretHash) -> Document:
    return {"salt": secret.salt, "digest": secret.digest}
