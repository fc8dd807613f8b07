"""carrier_registry_service: is this still her number? Live registrations, checks, access."""
