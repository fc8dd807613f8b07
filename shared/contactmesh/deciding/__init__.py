"""What the rules of every service decide on: loaded documents, without knowing how they are stored.

It is as pure as the rules that use it.
"""
