"""`contactmesh terminal`: being one of the people who use the system.

`app` lists the commands. A command reads its arguments, finds what they name with `naming`, calls
the SDK and presents the outcome; `place` says which terminal it is about, `connecting` opens it,
`texts` holds every text, `sim_texts` those about SIM cards.
"""
