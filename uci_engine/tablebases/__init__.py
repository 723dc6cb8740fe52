"""Endgame tablebases: Syzygy and Gaviota."""
