"""multi_sim_replication_service: one phonebook over all SIM cards (rows M1-M6)."""
