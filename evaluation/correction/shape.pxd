# The numbers of shape.py for the C compiler. shape.py itself is not compiled; tests/test_declarations.py compares the two.

cdef enum:
    PIECE_SQUARES = 768
    KING_REGIONS = 8
    INPUTS = 6144
    UNITS = 256
    BUCKETS = 8
    PIECES_PER_BUCKET = 4
    MAX_SUM = 181
    SQUARE_SHIFT = 7
    OUTPUT_SHIFT = 14
    MAX_CORRECTION_CP = 1000
    MIN_PIECES = 5
    MAX_FEATURES_CP = 400
