"""What `suite.py` is made of: positions with their questions, engines asked, answers added up."""
