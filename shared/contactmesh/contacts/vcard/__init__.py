"""Reading and writing vCard 2.1, 3.0 and 4.0 (RFC 6350, 2426, 2425, 6868, 9554, 9555)."""

from contactmesh.contacts.vcard.damage import Damage, Oddity
from contactmesh.contacts.vcard.from_jscontact import GroupStyle
from contactmesh.contacts.vcard.reader import read_vcards
from contactmesh.contacts.vcard.writer import write_vcards

__all__ = ["Damage", "GroupStyle", "Oddity", "read_vcards", "write_vcards"]
