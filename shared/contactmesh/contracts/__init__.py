"""Every message on the wire: envelope, commands, replies, events, errors.

A message is a pydantic model with its CloudEvents `type` in `TYPE`. `envelope` wraps it, `command`
reads who sent it, `errors` is the closed list of refusals, and the modules below name the
messages of one subject each: `contact`, `identity`, `group`.
"""
