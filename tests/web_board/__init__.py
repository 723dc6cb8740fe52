"""The server of `secateur board`, and its page."""
