"""Bitboards (sets of squares as 64-bit numbers), attack tables and Zobrist numbers, used by both boards.

Square a1 is bit 0 and h8 bit 63. Colours are python-chess's (white 1, black 0). A piece is a number, 2 * piece type +
colour, so 2 to 13, and 0 is an empty square. Uncompiled, slider attacks are looked up in python-chess's dictionaries.
Compiled, they are magic bitboards. Their tables are filled at import.

Invariant: every table equals python-chess's own (most are copied from it), and the compiled and the plain form of each
function give the same results.
"""

from __future__ import annotations

import chess
import chess.polyglot

from evaluation.base.typed import compiled, i64, i64_pointer, inline, ints, lsb, u64, u64s

# python-chess's piece types.
PAWN, KNIGHT, BISHOP, ROOK, QUEEN, KING = range(1, 7)
# All squares; the light squares; all but the file a, or h.
ALL = 0xFFFFFFFFFFFFFFFF
LIGHT = 0x55AA55AA55AA55AA
NOT_A = 0xFEFEFEFEFEFEFEFE
NOT_H = 0x7F7F7F7F7F7F7F7F

FILES = u64s(8, chess.BB_FILES)
RANKS = u64s(8, chess.BB_RANKS)
BB = u64s(64, chess.BB_SQUARES)
KING_ATTACKS = u64s(64, chess.BB_KING_ATTACKS)
KNIGHT_ATTACKS = u64s(64, chess.BB_KNIGHT_ATTACKS)
# Indexed by colour * 64 + square: the attacks of a pawn of that colour.
PAWN_ATTACKS = u64s(128, list(chess.BB_PAWN_ATTACKS[chess.BLACK]) + list(chess.BB_PAWN_ATTACKS[chess.WHITE]))
# The attacks of sliders on an empty board.
BISHOP_PSEUDO_ATTACKS = u64s(64, [chess.BB_DIAG_ATTACKS[square][0] for square in chess.SQUARES])
ROOK_PSEUDO_ATTACKS = u64s(
    64, [chess.BB_RANK_ATTACKS[square][0] | chess.BB_FILE_ATTACKS[square][0] for square in chess.SQUARES]
)
# The two whole diagonals through a square, the square included.
RISING = u64s(64, [sum(BB[b] for b in range(64) if b // 8 - b % 8 == a // 8 - a % 8) for a in range(64)])
FALLING = u64s(64, [sum(BB[b] for b in range(64) if b // 8 + b % 8 == a // 8 + a % 8) for a in range(64)])
# Indexed by 64 * a + b, empty unless the squares are on one line: the whole line, and the squares strictly between.
LINE = u64s(4096, [line for row in chess.BB_RAYS for line in row])
BETWEEN = u64s(4096, [chess.between(a, b) for a in chess.SQUARES for b in chess.SQUARES])

# Polyglot's random numbers, so that a position's key is the key of every opening book. Indexed by piece * 64 + square.
# Castling rights are in the order white short, white long, black short, black long.
_RANDOM = chess.polyglot.POLYGLOT_RANDOM_ARRAY
ZOBRIST = u64s(1024, [0] * 128 + list(_RANDOM[:768]) + [0] * 128)
ZOBRIST_CASTLING = u64s(4, _RANDOM[768:772])
ZOBRIST_EN_PASSANT = u64s(8, _RANDOM[772:780])
ZOBRIST_TURN = 0xF8D626AAAF278509

# fmt: off
# Found by trying sparse random numbers until no two different attacks share an index. Four squares a line, from a1.
BISHOP_MAGICS = u64s(64, [
    0x3408301048890011, 0x0004210204010125, 0x4008020042100080, 0x0004440080280901,
    0x0004042000601000, 0x006E301008100402, 0x082482300222021B, 0x8002004C08880800,
    0x8810061802480600, 0x2200044408020823, 0x0620080081120280, 0x000C490401040000,
    0x0048308820000000, 0x0000010120105000, 0x2010090088A00800, 0x0280122A11100800,
    0x0840001010C20080, 0x0008104401042C02, 0x204C006804202204, 0x8420440C01002124,
    0x2804001201212080, 0x0080401A00500400, 0x012500208088A040, 0x000040042C020800,
    0x0188080040024800, 0x0444124025080800, 0x4021100431084200, 0x0021080004004010,
    0x100101000AD04000, 0x02500100020A8A00, 0x5008009204440440, 0x4003220800404404,
    0x0808044010863834, 0x9008413000080200, 0x2211280800040820, 0x04000401080C0100,
    0x22A8020400061010, 0x0081204200410120, 0x0802008200092800, 0x0001005A04408201,
    0x1020842020010810, 0x00108421A8002000, 0x002A010401104204, 0x0422004208000081,
    0x0412A10214002203, 0x2240102040801910, 0x0002020812008100, 0x40101208410A0040,
    0x0002010460042802, 0x0042020101081800, 0x0001009148180002, 0x0824010084040000,
    0x0002004013820040, 0x000D591010009000, 0x2840940808A10100, 0x0008891404005000,
    0x0007084100884004, 0x0011008080882000, 0x0060010549082108, 0x0840002224208800,
    0x2000211004A08200, 0x1000002002028204, 0x0510408808011840, 0x01206040A2008920,
])
ROOK_MAGICS = u64s(64, [
    0x0080008E10204000, 0x8540004110002000, 0x008010008020000C, 0x2080100204080080,
    0x4600020008500421, 0x9600481001040200, 0x4080020000800100, 0x210002284E018100,
    0x0001800220400080, 0x0C48402000401002, 0x0021002000410810, 0x0203002090010008,
    0x0120808008000400, 0x090A000804220050, 0x2201010200040100, 0x0001000041002082,
    0xA040088000902040, 0x2000820040220100, 0x0202020040208011, 0x002212000821C200,
    0x0242020004081020, 0x0500808004000201, 0x0080040008010210, 0x0020020001008044,
    0x1400400380008030, 0x4010005040002000, 0x000A208200160040, 0x4040100080080080,
    0x0C14000808008040, 0x0032000200040810, 0x0431000900040A00, 0x8000806600040289,
    0x8008854202002300, 0x5002108102002040, 0x0220801001802008, 0x0008001000808008,
    0x0424008024802800, 0x0000040080800200, 0x004001380C000290, 0x40800C0042000891,
    0x1060904008208000, 0x0410005820004002, 0x0090040068012000, 0xB200100008008080,
    0x0020080004008080, 0x0082008490020008, 0x2010021001040008, 0x000400488102002C,
    0x0040810200402200, 0x0800804000200880, 0x821490824200A200, 0x006010400A002200,
    0x0014008008000480, 0x0045000204008900, 0x0440081051028400, 0x0008244405008200,
    0x2120402080010011, 0x880A022100401582, 0x0A00082010820042, 0x00026D0030012029,
    0x70A1001148000515, 0x008A00B001042802, 0x5084100108008244, 0x004C008100440022,
])
# fmt: on


# Only compiled code looks these up; plain Python would take long to fill them.
BISHOP_MASKS = u64s(64, chess.BB_DIAG_MASKS)
ROOK_MASKS = u64s(64, [chess.BB_RANK_MASKS[square] | chess.BB_FILE_MASKS[square] for square in chess.SQUARES])
BISHOP_SHIFTS = ints(64, [64 - mask.bit_count() for mask in BISHOP_MASKS])
ROOK_SHIFTS = ints(64, [64 - mask.bit_count() for mask in ROOK_MASKS])
BISHOP_OFFSETS = ints(64, [sum(1 << 64 - shift for shift in BISHOP_SHIFTS[:square]) for square in chess.SQUARES])
ROOK_OFFSETS = ints(64, [sum(1 << 64 - shift for shift in ROOK_SHIFTS[:square]) for square in chess.SQUARES])
BISHOP_TABLE = u64s(5248)
ROOK_TABLE = u64s(102400)
# One square's row of python-chess's table: numbers of C, because a hundred thousand of Python's take long.
ON_FILE = u64s(64)
ALONG_FILE = u64s(64)


@inline
def bishop_attacks(square: int, occupied: u64) -> u64:
    """The attacks of a bishop with `occupied` squares in its way, the first piece on each ray included."""
    if compiled:
        occupied = (occupied & BISHOP_MASKS[square]) * BISHOP_MAGICS[square] >> BISHOP_SHIFTS[square]
        return BISHOP_TABLE[BISHOP_OFFSETS[square] + occupied]
    else:
        return chess.BB_DIAG_ATTACKS[square][chess.BB_DIAG_MASKS[square] & occupied]


@inline
def rook_attacks(square: int, occupied: u64) -> u64:
    """The attacks of a rook with `occupied` squares in its way, the first piece on each ray included."""
    if compiled:
        occupied = (occupied & ROOK_MASKS[square]) * ROOK_MAGICS[square] >> ROOK_SHIFTS[square]
        return ROOK_TABLE[ROOK_OFFSETS[square] + occupied]
    else:
        return (
            chess.BB_RANK_ATTACKS[square][chess.BB_RANK_MASKS[square] & occupied]
            | chess.BB_FILE_ATTACKS[square][chess.BB_FILE_MASKS[square] & occupied]
        )


def _fill_tables() -> None:
    """Fill both slider tables from python-chess's."""
    square: int
    index: int
    for square in range(64):
        for pieces, reached in chess.BB_DIAG_ATTACKS[square].items():
            product: u64 = pieces
            product *= BISHOP_MAGICS[square]
            BISHOP_TABLE[BISHOP_OFFSETS[square] + (product >> BISHOP_SHIFTS[square])] = reached
        count: int = 0
        for pieces, reached in chess.BB_FILE_ATTACKS[square].items():
            ON_FILE[count] = pieces
            ALONG_FILE[count] = reached
            count += 1
        for pieces, reached in chess.BB_RANK_ATTACKS[square].items():
            on_rank: u64 = pieces
            along_rank: u64 = reached
            for index in range(count):
                product = (on_rank | ON_FILE[index]) * ROOK_MAGICS[square]
                ROOK_TABLE[ROOK_OFFSETS[square] + (product >> ROOK_SHIFTS[square])] = along_rank | ALONG_FILE[index]


if compiled:
    _fill_tables()


@inline
def attacks_of(piece_type: int, square: int, occupied: u64) -> u64:
    """The squares that a piece other than a pawn attacks."""
    if piece_type == KNIGHT:
        return KNIGHT_ATTACKS[square]
    if piece_type == KING:
        return KING_ATTACKS[square]
    attacks: u64 = 0
    if piece_type != ROOK:
        attacks = bishop_attacks(square, occupied)
    if piece_type != BISHOP:
        attacks |= rook_attacks(square, occupied)
    return attacks


@inline
def forward(squares: u64, us: int) -> u64:
    """The squares one rank ahead, as the colour `us` sees the board."""
    return (squares << 8) & ALL if us else squares >> 8


@inline
def adjacent(squares: u64) -> u64:
    """The squares left and right of a set."""
    return (squares & NOT_H) << 1 | (squares & NOT_A) >> 1


@inline
def pawn_attacks(pawns: u64, us: int) -> u64:
    """The attacks of the pawns of a colour (0 black, 1 white)."""
    return adjacent(forward(pawns, us))


@inline
def pawn_double_attacks(pawns: u64, us: int) -> u64:
    """The squares that two of these pawns attack."""
    ahead = forward(pawns, us)
    return (ahead & NOT_A) >> 1 & (ahead & NOT_H) << 1


@inline
def front_span(squares: u64, us: int) -> u64:
    """All squares ahead of a set on its files, up to the last rank."""
    if us:
        squares <<= 8
        squares |= squares << 8
        squares |= squares << 16
        return (squares | squares << 32) & ALL
    squares >>= 8
    squares |= squares >> 8
    squares |= squares >> 16
    return squares | squares >> 32


@inline
def file_fill(squares: u64) -> u64:
    """All squares on the files of a set."""
    return squares | front_span(squares, 1) | front_span(squares, 0)


@inline
def distance(a: int, b: int) -> int:
    """King moves from one square to another."""
    files = abs((a & 7) - (b & 7))
    ranks = abs((a >> 3) - (b >> 3))
    return files if files > ranks else ranks


@inline
def sum_by_rank(table: i64_pointer, offset: int, squares: u64, us: int) -> i64:
    """The sum of a table's numbers for the ranks of squares, as the colour `us` sees them, from `offset` on."""
    flip = 0 if us else 7
    total = 0
    while squares:
        total += table[offset + ((lsb(squares) >> 3) ^ flip)]
        squares &= squares - 1
    return total


def slider_attacks(rook: bool, square: int, occupied: u64) -> u64:
    """The attacks of a rook or a bishop, for tests: compiled, Python cannot call the inline functions."""
    return rook_attacks(square, occupied) if rook else bishop_attacks(square, occupied)
