"""The rules of a terminal's phonebook, pure: no I/O, no clock, no random.

`views` orders what a terminal learns of a member, `ownership` says which part of a contact is the
member's and which the owner's, `linking` finds the owner's entry for a member, `lines` follows
numbers, `spaces` works out what comes and goes through the spaces of SIM accounts.
"""
