"""group_service's collections: how the documents are stored, found and written."""
