"""The board in the browser: `server` answers `questions`, with the engine of `desk`; `templates/` is the page."""
