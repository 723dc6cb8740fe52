"""Games analysed and moves explained: what was worth playing, what was a mistake, and why.

Nothing here starts an engine. What searches is handed in, as an `Analyser`. `analysed_game` judges the moves of a
game, `examination` one move; both ask by `searches`, and `causes` says why. `pages` shows it.
"""
