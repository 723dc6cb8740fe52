"""The board in the browser: to play against the engine, and to see what it thinks, move by move.

`server` answers `questions`: some at once, and those to the engine as a stream. `desk` is the one engine that all tabs
share. The page is `templates/`.
"""
