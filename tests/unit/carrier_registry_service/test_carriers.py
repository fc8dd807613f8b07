"""The table of carriers holds facts that another table of the field agrees with."""

import pytest
from stdnum import imsi

from carrier_registry_service.carriers import Carrier, Carriers, known_carriers

TABLE = known_carriers()


def test_the_carriers_of_china_and_a_dozen_others_are_there() -> None:
    assert {"cn-mobile", "cn-unicom", "cn-telecom", "cn-broadnet"} <= TABLE.by_id.keys()
    assert len({carrier.country for carrier in TABLE.by_id.values()}) >= 10


@pytest.mark.parametrize("carrier", TABLE.by_id.values(), ids=lambda one: one.carrier_id)
def test_each_network_code_is_assigned_and_each_link_leads_somewhere(carrier: Carrier) -> None:
    for plmn in carrier.plmns:
        mcc, mnc = plmn.split("-")
        assert imsi.split(mcc + mnc + "0123456789"[: 15 - len(mcc + mnc)])[:2] == (mcc, mnc)
    for link in (carrier.parent_carrier_id, carrier.superseded_by):
        assert link is None or link in TABLE.by_id


def test_no_network_code_is_two_carriers() -> None:
    plmns = [plmn for carrier in TABLE.by_id.values() for plmn in carrier.plmns]
    assert len(plmns) == len(set(plmns))


def test_a_merged_carrier_is_what_it_became() -> None:
    assert TABLE.today("us-sprint") == "us-tmobile"
    assert TABLE.today("cn-mobile") == "cn-mobile"
    assert TABLE.today("not-in-the-table") == "not-in-the-table"


def test_carriers_that_supersede_each_other_are_an_error() -> None:
    def carrier(carrier_id: str, superseded_by: str) -> Carrier:
        return Carrier(
            carrier_id=carrier_id, name="", country="CN", plmns=(), superseded_by=superseded_by
        )

    table = Carriers({"aa": carrier("aa", "bb"), "bb": carrier("bb", "aa")})
    with pytest.raises(ValueError, match="supersede each other"):
        table.today("aa")
