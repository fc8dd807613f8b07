"""The main job on a whole local system: people change their numbers, and phonebooks follow.

`run` is the entry. The demo keeps a model of its own of what every phonebook must hold (`world`),
plays a scenario through terminals (`scenario`, `handsets`), and compares (`checks`).
"""
