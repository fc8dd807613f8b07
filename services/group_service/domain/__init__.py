"""The rules of groups, without I/O, clock or chance.

`state` holds the documents and what a batch has changed in them; the other modules decide: each
function takes the state, who asks, and the command, and returns what to answer and to tell.
"""
