"""The documents of a batch: commands see each other's changes, and only these are written."""

from contactmesh.deciding.table import Table


def loaded(**documents: int) -> Table[str, int]:
    table: Table[str, int] = Table()
    table.load(documents.items())
    return table


def test_what_was_loaded_is_there_and_is_no_change() -> None:
    table = loaded(a=1, b=2)
    assert (table.get("a"), table.get("c"), sorted(table)) == (1, None, [1, 2])
    assert table.changed == {}


def test_the_last_change_of_each_document_counts() -> None:
    table = loaded(a=1, b=2, c=3)
    table.put("a", 10)
    table.put("a", 11)
    table.drop("b")
    table.put("c", 30)
    table.drop("c")
    table.drop("d")
    table.put("d", 40)
    assert {key: table.get(key) for key in "abcd"} == {"a": 11, "b": None, "c": None, "d": 40}
    assert table.changed == {"a": 11, "b": None, "c": None, "d": 40}


def test_documents_may_be_changed_while_they_are_gone_through() -> None:
    table = loaded(a=1, b=2)
    for one in table:
        table.put(f"{one} more", one)
        table.drop("b")
    assert sorted(table) == [1, 1, 2]
