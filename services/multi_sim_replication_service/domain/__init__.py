"""The rules of accounts, SIM cards and spaces, without I/O (rows M1-M6, decision 18)."""
