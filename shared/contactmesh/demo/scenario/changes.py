"""People change their numbers, and everyone has the new ones."""

import asyncio

from contactmesh.demo import texts
from contactmesh.demo.scenario.opening import BOOKS_SHOWN
from contactmesh.demo.scenario.stage import Stage


async def change_numbers(stage: Stage) -> None:
    """Change four numbers, one of them in full-width digits."""
    stage.narrator.step(texts.STEP_CHANGES)
    stage.narrator.say(texts.CHANGES_INTRO)
    before = await asyncio.gather(*(stage.shown(*pair) for pair in BOOKS_SHOWN))
    changes = [
        await stage.change("ben"),
        await stage.change("wang-xiaoming", full_width=True),
        await stage.change("liu-yang"),
        await stage.change("sun-li", full_width=True),
    ]
    stage.narrator.table(
        texts.COLUMNS_CHANGES,
        [
            (
                change.person.name,
                change.before,
                change.after,
                str(change.reached),
                texts.MILLISECONDS.format(value=change.slowest_seconds * 1000),
            )
            for change in changes
        ],
    )
    after = await asyncio.gather(*(stage.shown(*pair) for pair in BOOKS_SHOWN))
    stage.narrator.table(
        texts.COLUMNS_BOOKS,
        [
            (stage.name(viewer), stage.name(owner), old, new)
            for (viewer, owner), old, new in zip(BOOKS_SHOWN, before, after, strict=True)
        ],
    )
