"""Engines: described (`spec`), started and talked to (`process`, `engine`), and kept between games (`cache`)."""
