"""What `make_book.py` is made of: lines of theory, and the book that they give."""
