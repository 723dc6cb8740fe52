"""The build back end (`backend`) and the search for a C compiler (`toolchain`). pip and setup.py use them."""
