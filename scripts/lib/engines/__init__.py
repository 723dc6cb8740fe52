"""Engines: described, started, talked to and ended.

    spec                         an engine as the command line, a journal and a worker know it
    playing, room, resident      engines that play games, through python-chess's chess.engine; kept between games
    process, pipe                engines at raw pipes, for measuring and judging what chess.engine would hide
"""
