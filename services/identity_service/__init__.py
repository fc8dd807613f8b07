"""Users, terminals and their credentials; and what a terminal may do on the broker."""
