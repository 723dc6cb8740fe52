# The numbers of moves.py for the C compiler. moves.py itself is not compiled; tests/test_declarations.py compares the two.

cdef enum:
    NO_MOVE = 0
    NORMAL = 0
    PROMOTION = 1
    EN_PASSANT = 2
    CASTLING = 3
    NOISY = 1
    QUIET = 2
    NO_SQUARE = 64
    MOVE_ROOM = 43840
    SCRATCH = 43520

cdef inline int from_square(int move) noexcept nogil:
    return move & 63

cdef inline int to_square(int move) noexcept nogil:
    return (move >> 6) & 63

cdef inline int move_type(int move) noexcept nogil:
    return move >> 14

cdef inline int promotion(int move) noexcept nogil:
    return ((move >> 12) & 3) + 2
