"""How long a search may take, and the clock that ends it."""
