"""What sync_service keeps, and how it is found."""
