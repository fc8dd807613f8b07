"""The `contactmesh` command.

`app` is its root and `running` what all commands share: a command raises one of the families of
`errors` and returns nothing; results go through `output`, texts are in `texts`.
"""
