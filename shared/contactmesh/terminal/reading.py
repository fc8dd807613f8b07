"""Reading what arrives: cards, and what is wrong with what cannot be read."""

from typing import Final

from pydantic import JsonValue, ValidationError

from contactmesh.contacts import Card
from contactmesh.terminal.rules.views import CardJson

_OWN_WORDING: Final = frozenset({"value_error", "assertion_error"})


def stored_card(card: dict[str, JsonValue] | None) -> CardJson | None:
    """A card as the phonebook keeps it.

    Raises:
        ValidationError: it is no JSContact card.
    """
    return None if card is None else Card.model_validate(card).to_json()


def unreadable(error: ValidationError) -> str:
    """What is wrong with a message, without what it says.

    Only the property is named: deeper in the path stand keys that their owner chose, and a problem
    that is not of the validator's own wording may quote the value.
    """
    problems = error.errors(include_input=False, include_url=False, include_context=False)[:3]
    return "; ".join(
        f"/{problem['loc'][0] if problem['loc'] else ''}: "
        f"{'not valid' if problem['type'] in _OWN_WORDING else problem['msg']}"
        for problem in problems
    )
