"""The library of the programs in scripts/. No program is imported by another file.

    program                           how a program begins and ends; imported first
    console, errors, journal, pool    what every program shows and writes; resuming; many processes or a cluster
    files, trial                      files from outside, within bounds; engines tried before the work begins
    engines                           engines described, started, talked to and kept running
    games                             openings, clocks, games, adjudication, tournaments, experiments
    elo, plot_data                    statistics of matches; what can be plotted
    uci                               what UCI allows, and a judge of engines by it: for fuzz.py
    suite, speed, perft, books,       what one program alone needs
    endings
"""
