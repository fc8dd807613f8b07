"""carrier_registry_service's collections: how documents are stored, found and written."""
