"""What `make_book.py` is made of: book files, counted games, repertoires weighed and reviewed."""
