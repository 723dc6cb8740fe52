"""Engines: described and told apart (`spec`), started, talked to and kept running (`client`)."""
