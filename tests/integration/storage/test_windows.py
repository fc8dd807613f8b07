"""A walk window by window gives what one sorted query would, however numbers lie."""

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from contactmesh.storage.database import Collection, Database, Index
from contactmesh.storage.windows import ascending, descending

HOUR = 3_600_000_000
LAST = 100 * HOUR

NUMBERS = {
    "one after the other": list(range(1, 700)),
    "packs an hour apart": [pack * HOUR + at for pack in range(1, 6) for at in range(150)],
    "far apart": [at * HOUR for at in range(1, 60)],
    "far apart, then close together": [1, HOUR, *range(2 * HOUR, 2 * HOUR + 600)],
    "the last one that there can be": [5, LAST],
    "none": [],
}


@pytest_asyncio.fixture
async def collection(database_url: str, database_prefix: str) -> AsyncIterator[Collection]:
    async with Database(database_url, f"{database_prefix}windows") as opened:
        collection = opened.collection("things")
        await collection.ensure([Index((("owner", 1), ("rev", 1)))])
        yield collection


async def _put(collection: Collection, owner: str, revs: list[int]) -> None:
    await collection.update_each(
        [({"_id": f"{owner}/{rev}"}, {"$set": {"owner": owner, "rev": rev}}) for rev in revs],
        upsert=True,
    )


@pytest.mark.parametrize("limit", [1, 7, 200])
@pytest.mark.parametrize("numbers", NUMBERS.values(), ids=NUMBERS)
async def test_pages_are_those_of_one_sorted_query(
    collection: Collection, numbers: list[int], limit: int
) -> None:
    await _put(collection, "ada", numbers)
    await _put(collection, "wang", [3, HOUR + 1])

    seen: list[int] = []
    after = 0
    pages = 3 if limit == 1 else len(numbers)
    for _ in range(pages):
        page = await ascending(
            collection, {"owner": "ada"}, "rev", after=after, until=LAST, limit=limit
        )
        if not page:
            break
        assert len(page) <= limit
        seen += [one["rev"] for one in page]
        after = seen[-1]

    assert seen == numbers[: pages * limit]


@pytest.mark.parametrize("limit", [1, 7, 200])
@pytest.mark.parametrize("numbers", NUMBERS.values(), ids=NUMBERS)
async def test_backwards_too(collection: Collection, numbers: list[int], limit: int) -> None:
    await _put(collection, "ada", numbers)
    await _put(collection, "wang", [3, HOUR + 1])

    seen: list[int] = []
    before = LAST + 1
    pages = 3 if limit == 1 else len(numbers)
    for _ in range(pages):
        page = await descending(
            collection, {"owner": "ada"}, "rev", before=before, since=0, limit=limit
        )
        if not page:
            break
        assert len(page) <= limit
        seen += [one["rev"] for one in page]
        before = seen[-1]

    assert seen == numbers[::-1][: pages * limit]


async def test_nothing_before_the_first_number_is_read(collection: Collection) -> None:
    await _put(collection, "ada", [1, 2, 3, 4])

    page = await descending(collection, {"owner": "ada"}, "rev", before=4, since=2, limit=10)

    assert [one["rev"] for one in page] == [3, 2]


async def test_nothing_beyond_the_last_number_is_read(collection: Collection) -> None:
    await _put(collection, "ada", [1, 2, 3, 4])

    page = await ascending(collection, {"owner": "ada"}, "rev", after=1, until=3, limit=10)

    assert [one["rev"] for one in page] == [2, 3]
