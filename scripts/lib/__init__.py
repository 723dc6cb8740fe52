"""The parts that the programs in scripts/ are made of; nothing here is run by a person, and no program is imported.

    console, journal, pool       what every program shows and writes; resuming; many processes or a cluster
    elo, plot_data               statistics of matches; what can be plotted
    spsa, factorial, pairing      the arithmetic of tune_search and factorial_test; what they have played
    engines                      engines described, started, talked to and ended
    games                        games, openings, adjudication, tournaments: what every program plays
    uci                          what UCI allows, and an engine judged by it: soak and fuzz
    soak, fuzz, suite, speed,    what one program alone is made of
    perft, books
"""
