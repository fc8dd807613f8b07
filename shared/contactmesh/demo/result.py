"""What a run of the demo comes to."""

from dataclasses import dataclass

from pydantic import BaseModel, ConfigDict

from contactmesh.demo import texts
from contactmesh.demo.checks import Difference
from contactmesh.demo.narration import Narrator


class Counted(BaseModel):
    """The line of JSON at the end; everything in it was counted.

    Attributes:
        members: users who are in a group at the end.
        changes: numbers that were changed.
        delivered: updates with changed numbers that terminals applied.
        withheld_by_block: deliveries that fanout_service did not make because of a block.
        leaked: things that a terminal was sent although its user must not know.
        lost: contacts that are not as they must be at the end.
        p50_ms: from before publishing to the applied update at a terminal, median.
        p99_ms: the same, 99th percentile.
    """

    model_config = ConfigDict(frozen=True)

    members: int
    changes: int
    delivered: int
    withheld_by_block: int
    leaked: int
    lost: int
    p50_ms: float
    p99_ms: float


@dataclass(frozen=True, slots=True)
class Result:
    """What was counted, and everything that is not as it must be."""

    counted: Counted
    differences: tuple[Difference, ...]
    contacts: int
    messages: int

    def tell(self, narrator: Narrator, books: int) -> None:
        """Show it to people."""
        counted = self.counted
        milliseconds = texts.MILLISECONDS.format
        narrator.step(texts.STEP_RESULT)
        narrator.say(
            texts.CHECKED.format(contacts=self.contacts, books=books, messages=self.messages)
        )
        narrator.figures(
            [
                (texts.RESULT_MEMBERS, str(counted.members)),
                (texts.RESULT_CHANGES, str(counted.changes)),
                (texts.RESULT_DELIVERED, str(counted.delivered)),
                (texts.RESULT_WITHHELD, str(counted.withheld_by_block)),
                (texts.RESULT_LEAKED, str(counted.leaked)),
                (texts.RESULT_LOST, str(counted.lost)),
                (texts.RESULT_P50, milliseconds(value=counted.p50_ms)),
                (texts.RESULT_P99, milliseconds(value=counted.p99_ms)),
            ]
        )
        narrator.say(texts.TIMES_NOTE.format(terminals=books))
        if not self.differences:
            narrator.done(texts.ALL_RIGHT)
            return
        narrator.failed(texts.NOT_RIGHT.format(count=len(self.differences)))
        for difference in self.differences:
            narrator.failed(told(difference))


def told(difference: Difference) -> str:
    """A difference in one line."""
    parts = (
        (texts.DIFFERENCE, difference.fault),
        (texts.DIFFERENCE, difference.where),
        (texts.DIFFERENCE, difference.what),
        (texts.MUST_BE, difference.expected),
        (texts.IS, difference.actual),
    )
    return texts.DIFFERENCE_JOINT.join(text.format(part=part) for text, part in parts if part)
