"""The library of the programs in scripts/. No program is imported by another file.

console, errors, journal, pool    what every program reads, shows and writes; resuming; processes or a cluster
files                             files from outside, within bounds
engines                           engines described, started, talked to and kept running
games                             openings, clocks, games, adjudication, tournaments, experiments
elo, ratings                      statistics of matches
uci                               what UCI allows, and a judge of engines by it: for fuzz.py
suite, perft, books               what one program alone needs
"""
