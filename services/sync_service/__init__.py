"""sync_service: two-way address-book sync (rows Y1-Y7)."""
