"""Games analysed and moves explained: what was worth playing, what was a mistake, and why.

Nothing here starts an engine. What searches is handed in, as an `Analyser`.
"""
