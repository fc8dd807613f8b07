"""The local stack: broker, database and every service as processes under one supervisor."""
