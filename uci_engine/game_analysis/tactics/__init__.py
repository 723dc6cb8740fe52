"""Tactics in words: the motif that decides a line, found by the rules of chess alone, and what a teacher says of it.

`motif.py` has what a motif is, `line.py` a line with what it wins, `attacks.py` what pieces attack, guard and win.
`captures.py`, `guards.py`, `mates.py` and `endings.py` find motifs, `deciding.py` chooses among them, and `words.py`
says them. No engine is asked. Where no motif explains what a line wins, none is named.
"""
