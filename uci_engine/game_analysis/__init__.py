"""Games analysed and moves explained: what was worth playing, what was a mistake, and why.

    values         what a position is worth, and the result of one search
    boards         what boards and moves tell without a search
    judgement      marks, losses and accuracy, out of the values of a game
    game_search    the searches of one game, from its last position to its first
    reasons        why a move is a mistake, in words; how the terms of the evaluation change along a line
    report         all that is known of one game
    pgn            games out of any PGN, and a report as annotated PGN
    page           a report as one self-contained page, and the index of many
    html           what all pages are made of
    move_search    the searches that compare the legal moves of a position, or explain one
    move_report    what comes of that, as text, JSON, HTML and a page
    proof          the answers to every defence, where a move mates or is mated
    journal        what a long analysis has done, so that it can be continued

Nothing here starts an engine. What searches is handed in, as an `Analyser`.
"""
