"""What every service process is made of: settings, logging, metrics, HTTP, commands, life cycle."""
