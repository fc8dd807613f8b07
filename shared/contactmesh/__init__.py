"""ContactMesh: change your number once, and it is right in every phonebook that you allow.

`contacts` is the contact document, `contracts` every message on the wire, `messaging` RabbitMQ,
`storage` MongoDB, `runtime` what a service process is made of, `terminal` the terminal SDK,
`local` a whole system on one machine, `cli` the `contactmesh` command.
"""
