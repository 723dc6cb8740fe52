"""Engines: described (`spec`), told apart (`identity`), started and talked to (`process`, `engine`), kept (`cache`)."""
