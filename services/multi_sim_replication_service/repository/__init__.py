"""What multi_sim_replication_service keeps, and how it is found."""
