"""The wire contract of multi_sim_replication_service (rows M1-M7)."""
