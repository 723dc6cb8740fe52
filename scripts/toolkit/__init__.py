"""The library of the programs in scripts/. No program is imported by another file.

console, errors, journal, pool    what every program reads, shows and writes; resuming; processes or a cluster
files                             files from outside, within bounds
engines                           engines described, started, talked to and kept running
games                             openings, pairs of games, adjudication, runs of many pairs, tournaments, experiments
elo                               statistics of matches
questions                         those of test suites: read, asked, judged
training                          positions, features and networks to train
"""
