"""The HTTP interface is as its OpenAPI document says, whatever it is asked."""

import asyncio
import json
import sys
from pathlib import Path

import pytest
from aiohttp import encode_basic_auth

from contactmesh.contracts.identifiers import TERMINAL_ID_PATTERN
from contactmesh.contracts.openapi import OPERATIONS, JsonObject, openapi

from .conftest import TOKEN, Identity

CHECKS = (
    "not_a_server_error",
    "status_code_conformance",
    "content_type_conformance",
    "response_schema_conformance",
)

OF = {"operator": "/v1/.*", "terminal": "/v1/terminals/.*/(queue|secret|access-log)"}
"""The paths asked as each."""


def _about(terminal_id: str) -> JsonObject:
    """The document of one terminal: what it asks is granted."""
    text = json.dumps(openapi())
    about: JsonObject = json.loads(
        text.replace(json.dumps(TERMINAL_ID_PATTERN), json.dumps(f"^{terminal_id}$"))
    )
    return about


@pytest.mark.timeout(240)
@pytest.mark.parametrize("by", OF)
async def test_interface_is_as_its_document_says(
    identity: Identity, tmp_path: Path, by: str
) -> None:
    ada = await identity.enrolled("ada")
    document = tmp_path / "openapi.json"
    document.write_text(json.dumps(_about(ada.terminal_id) if by == "terminal" else openapi()))
    as_terminal = encode_basic_auth(ada.terminal_id, ada.secret)
    authorization = as_terminal if by == "terminal" else f"Bearer {TOKEN}"
    process = await asyncio.create_subprocess_exec(
        *(str(Path(sys.executable).with_name("schemathesis")), "run", str(document)),
        *("--url", str(identity.url), "--header", f"Authorization: {authorization}"),
        *("--include-path-regex", OF[by]),
        *("--checks", ",".join(CHECKS), "--phases", "examples,coverage,fuzzing"),
        *("--max-examples", "5", "--seed", "1", "--generation-database", "none", "--no-color"),
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
        cwd=tmp_path,
    )
    output, _ = await process.communicate()
    assert process.returncode == 0, output.decode()[-8000:]
    assert " passed" in output.decode(), "it tried nothing"


async def test_document_names_every_route(identity: Identity) -> None:
    for operation in OPERATIONS:
        path = operation.path.lstrip("/").format(
            user_id="ada", carrier_id="cn", terminal_id="ada_aaaaaaaa", name="crm"
        )
        answer = await identity.ask(operation.method.upper(), path, authorization=None)
        message = answer.body["error"]["message"] if answer.status >= 400 else ""
        assert not message.startswith("There is no POST"), path
        assert not message.startswith("There is no GET"), path
        assert not message.startswith("There is no DELETE"), path
