"""What the evaluation sees in a position beyond material and squares: one method per feature, for one colour
at a time.

`Evaluator` owns a `Features` and calls `begin`, then `pawns` (unless it remembers them) and `pieces`, which
are sums over the features; `explain` calls the features one by one. Each takes the colour `us` (1 white, 0
black) and returns what it is worth to that colour: a packed number, see `evaluation.weights`. What must stay
true: every feature treats the two colours alike, turned upside down; each is a sum of weights, each weight
counted a whole number of times; and features are called in the order of the two sums, because the earlier
ones note in `self` what they saw (passed pawns, attacks, danger) for the later ones.

A position must have one king a side. Squares "ahead" of a piece are those on the higher ranks, seen from its
own side.
"""

import cython

if not cython.compiled:
    from evaluation.bitboards import (
        ALL,
        BB,
        BISHOP,
        FILES,
        KING,
        KING_ATTACKS,
        KNIGHT,
        KNIGHT_ATTACKS,
        LIGHT,
        PAWN,
        QUEEN,
        RANKS,
        ROOK,
        bishop_attacks,
        i64,
        lsb,
        msb,
        pawn_attacks,
        popcount,
        rook_attacks,
        u64,
    )

NOT_FILE_A = 0xFEFEFEFEFEFEFEFE
NOT_FILE_H = 0x7F7F7F7F7F7F7F7F

# How much each kind of piece adds to the units of danger when it attacks the squares around the enemy king.
KNIGHT_UNITS = 2
BISHOP_UNITS = 2
ROOK_UNITS = 3
QUEEN_UNITS = 4
MOST_UNITS = 23


def _step(squares, us):
    """The squares one rank ahead."""
    if us:
        return (squares << 8) & ALL
    return squares >> 8


def _beside(squares):
    """The squares left and right of a set."""
    return ((squares & NOT_FILE_H) << 1) | ((squares & NOT_FILE_A) >> 1)


def _front_fill(squares, us):
    """All squares ahead of a set, up to the last rank."""
    if us:
        squares <<= 8
        squares |= squares << 8
        squares |= squares << 16
        return (squares | (squares << 32)) & ALL
    squares >>= 8
    squares |= squares >> 8
    squares |= squares >> 16
    return squares | (squares >> 32)


def _not_behind(king, us):
    """A king's file and those beside it, from its own rank ahead."""
    front = BB[king] | _beside(BB[king])
    return front | _front_fill(front, us)


def _hindmost_rank(pieces, us):
    """The rank of the piece nearest to our own side, counted from there; 0 without any."""
    if pieces == 0:
        return 0
    return lsb(pieces) >> 3 if us else 7 - (msb(pieces) >> 3)


def _distance(a, b):
    """King moves from one square to another."""
    files = abs((a & 7) - (b & 7))
    ranks = abs((a >> 3) - (b >> 3))
    return files if files > ranks else ranks


class Features:
    """The weights as flat arrays, and notes on the position at hand; one search thread owns one of these.

    Made from an `evaluation.weights.Weights`, of which only the method `packed` is used.
    """

    def __init__(self, weights):
        self.knight_mobility = weights.packed("knight_mobility")
        self.bishop_mobility = weights.packed("bishop_mobility")
        self.rook_mobility = weights.packed("rook_mobility")
        self.queen_mobility = weights.packed("queen_mobility")
        self.bishop_pair_bonus = weights.packed("bishop_pair")[0]
        self.outpost = weights.packed("outpost")
        self.rook_open_file = weights.packed("rook_open_file")[0]
        self.rook_half_open_file = weights.packed("rook_half_open_file")[0]
        self.doubled_pawn = weights.packed("doubled_pawn")[0]
        self.isolated_pawn = weights.packed("isolated_pawn")[0]
        self.connected_pawn = weights.packed("connected_pawn")
        self.passed_pawn = weights.packed("passed_pawn")
        self.passed_pawn_own_king = weights.packed("passed_pawn_own_king")
        self.passed_pawn_enemy_king = weights.packed("passed_pawn_enemy_king")
        self.passed_pawn_blocked = weights.packed("passed_pawn_blocked")
        self.passed_pawn_free = weights.packed("passed_pawn_free")
        self.shelter_pawn = weights.packed("king_shelter")
        self.storm_pawn = weights.packed("pawn_storm")
        self.danger_worth = weights.packed("king_danger")
        self.safe_check = weights.packed("safe_check")
        self.threat_by_pawn = weights.packed("threat_by_pawn")[0]
        self.threat_by_push = weights.packed("threat_by_push")[0]
        self.threat_by_minor = weights.packed("threat_by_minor")
        self.threat_by_rook = weights.packed("threat_by_rook")
        self.hanging_piece = weights.packed("hanging")[0]
        self.tempo = weights.packed("tempo")[0]
        self.mop_up_edge = weights.packed("mop_up_edge")[0]
        self.mop_up_near = weights.packed("mop_up_near")[0]
        self.mop_up_corner = weights.packed("mop_up_corner")[0]
        self.passed = 0
        if not cython.compiled:
            self.king = [0, 0]
            self.pawn_attacks = [0, 0]
            self.mobility_area = [0, 0]
            self.zone = [0, 0]
            self.attacked = [0, 0]
            self.by_knights = [0, 0]
            self.by_bishops = [0, 0]
            self.by_rooks = [0, 0]
            self.by_queens = [0, 0]
            self.units = [0, 0]

    # --- sums ---

    def begin(self, p):
        """Note what the features share: kings and their surroundings, pawn attacks, squares for pieces."""
        for us in range(2):
            pawns = p.by_type[PAWN] & p.by_colour[us]
            king = p.by_type[KING] & p.by_colour[us]
            square = lsb(king)
            around = KING_ATTACKS[square]
            attacks = pawn_attacks(pawns, us)
            self.king[us] = square
            self.zone[us] = around | _step(around, us)
            self.pawn_attacks[us] = attacks
            self.attacked[us] = attacks | around
            self.units[us] = 0
            self.mobility_area[us] = ALL ^ (pawns | king)
        self.mobility_area[0] &= ~self.pawn_attacks[1]
        self.mobility_area[1] &= ~self.pawn_attacks[0]
        return 0

    def pawns(self, p):
        """White minus Black, all that depends on pawns and kings alone; notes passed pawns. After `begin`."""
        self.passed = 0
        white = self.doubled(p, 1) + self.isolated(p, 1)
        black = self.doubled(p, 0) + self.isolated(p, 0)
        white += self.connected(p, 1) + self.passed_pawns(p, 1) + self.shelter(p, 1) + self.storm(p, 1)
        black += self.connected(p, 0) + self.passed_pawns(p, 0) + self.shelter(p, 0) + self.storm(p, 0)
        return white - black

    def pieces(self, p):
        """White minus Black, all the rest but `tempo`. After `pawns` (or with `passed` as it left it)."""
        white = self.knights(p, 1) + self.bishops(p, 1) + self.rooks(p, 1) + self.queens(p, 1)
        black = self.knights(p, 0) + self.bishops(p, 0) + self.rooks(p, 0) + self.queens(p, 0)
        white += self.bishop_pair(p, 1) + self.outposts(p, 1) + self.rook_files(p, 1)
        black += self.bishop_pair(p, 0) + self.outposts(p, 0) + self.rook_files(p, 0)
        white += self.passed_pawn_paths(p, 1) + self.king_danger(p, 1) + self.safe_checks(p, 1)
        black += self.passed_pawn_paths(p, 0) + self.king_danger(p, 0) + self.safe_checks(p, 0)
        white += self.threats(p, 1) + self.push_threats(p, 1) + self.hanging(p, 1) + self.mop_up(p, 1)
        black += self.threats(p, 0) + self.push_threats(p, 0) + self.hanging(p, 0) + self.mop_up(p, 0)
        return white - black

    # --- pawns and kings ---

    def doubled(self, p, us):
        """Pawns with another of their side behind them."""
        pawns = p.by_type[PAWN] & p.by_colour[us]
        return self.doubled_pawn * popcount(pawns & _front_fill(pawns, us))

    def isolated(self, p, us):
        """Pawns with none of their side on the files beside them."""
        pawns = p.by_type[PAWN] & p.by_colour[us]
        files = _front_fill(pawns, 1) | _front_fill(pawns, 0) | pawns
        return self.isolated_pawn * popcount(pawns & ~_beside(files))

    def connected(self, p, us):
        """Pawns defended by another or beside one."""
        pawns = p.by_type[PAWN] & p.by_colour[us]
        pawns &= self.pawn_attacks[us] | _beside(pawns)
        flip = 0 if us else 7
        score: i64 = 0
        while pawns:
            score += self.connected_pawn[(lsb(pawns) >> 3) ^ flip]
            pawns &= pawns - 1
        return score

    def passed_pawns(self, p, us):
        """Pawns with no enemy pawn ahead on three files and none of their own on one; where the kings are."""
        pawns = p.by_type[PAWN] & p.by_colour[us]
        enemy = _front_fill(p.by_type[PAWN] & p.by_colour[us ^ 1], us ^ 1)
        pawns &= ~(enemy | _beside(enemy) | _front_fill(pawns, us ^ 1))
        self.passed |= pawns
        flip = 0 if us else 7
        ahead = 8 if us else -8
        score: i64 = 0
        while pawns:
            square = lsb(pawns)
            pawns &= pawns - 1
            rank = (square >> 3) ^ flip
            score += self.passed_pawn[rank]
            if rank > 2:
                score += self.passed_pawn_own_king[_distance(self.king[us], square + ahead)]
                score += self.passed_pawn_enemy_king[_distance(self.king[us ^ 1], square + ahead)]
        return score

    def shelter(self, p, us):
        """Our pawns on the king's file and the two beside it: the hindmost that is not behind the king."""
        pawns = p.by_type[PAWN] & p.by_colour[us] & _not_behind(self.king[us], us)
        centre = _middle_file(self.king[us])
        score: i64 = 0
        for file in range(centre - 1, centre + 2):
            rank = _hindmost_rank(pawns & FILES[file], us)
            score += self.shelter_pawn[8 * (file if file < 4 else 7 - file) + rank]
        return score

    def storm(self, p, us):
        """Enemy pawns on the same files: the nearest that is not behind our king."""
        pawns = p.by_type[PAWN] & p.by_colour[us ^ 1] & _not_behind(self.king[us], us)
        centre = _middle_file(self.king[us])
        score: i64 = 0
        for file in range(centre - 1, centre + 2):
            score += self.storm_pawn[_hindmost_rank(pawns & FILES[file], us)]
        return score

    # --- pieces ---

    def knights(self, p, us):
        """Mobility of the knights."""
        pieces = p.by_type[KNIGHT] & p.by_colour[us]
        reached: u64 = 0
        units = 0
        score: i64 = 0
        while pieces:
            attacks = KNIGHT_ATTACKS[lsb(pieces)]
            pieces &= pieces - 1
            reached |= attacks
            score += self.knight_mobility[popcount(attacks & self.mobility_area[us])]
            if attacks & self.zone[us ^ 1]:
                units += KNIGHT_UNITS
        self.by_knights[us] = reached
        self.units[us] += units
        return score

    def bishops(self, p, us):
        """Mobility of the bishops."""
        pieces = p.by_type[BISHOP] & p.by_colour[us]
        blockers = (p.by_colour[0] | p.by_colour[1]) ^ (p.by_type[QUEEN] & p.by_colour[us])
        reached: u64 = 0
        units = 0
        score: i64 = 0
        while pieces:
            attacks = bishop_attacks(lsb(pieces), blockers)
            pieces &= pieces - 1
            reached |= attacks
            score += self.bishop_mobility[popcount(attacks & self.mobility_area[us])]
            if attacks & self.zone[us ^ 1]:
                units += BISHOP_UNITS
        self.by_bishops[us] = reached
        self.units[us] += units
        return score

    def rooks(self, p, us):
        """Mobility of the rooks."""
        pieces = p.by_type[ROOK] & p.by_colour[us]
        transparent = (p.by_type[ROOK] | p.by_type[QUEEN]) & p.by_colour[us]
        blockers = (p.by_colour[0] | p.by_colour[1]) ^ transparent
        reached: u64 = 0
        units = 0
        score: i64 = 0
        while pieces:
            attacks = rook_attacks(lsb(pieces), blockers)
            pieces &= pieces - 1
            reached |= attacks
            score += self.rook_mobility[popcount(attacks & self.mobility_area[us])]
            if attacks & self.zone[us ^ 1]:
                units += ROOK_UNITS
        self.by_rooks[us] = reached
        self.units[us] += units
        return score

    def queens(self, p, us):
        """Mobility of the queens; the last of the pieces: it sums up what all of them attack."""
        pieces = p.by_type[QUEEN] & p.by_colour[us]
        occupied = p.by_colour[0] | p.by_colour[1]
        reached: u64 = 0
        units = 0
        score: i64 = 0
        while pieces:
            square = lsb(pieces)
            pieces &= pieces - 1
            attacks = bishop_attacks(square, occupied) | rook_attacks(square, occupied)
            reached |= attacks
            score += self.queen_mobility[popcount(attacks & self.mobility_area[us])]
            if attacks & self.zone[us ^ 1]:
                units += QUEEN_UNITS
        self.by_queens[us] = reached
        self.attacked[us] |= self.by_knights[us] | self.by_bishops[us] | self.by_rooks[us] | reached
        self.units[us] += units
        return score

    def bishop_pair(self, p, us):
        """Two bishops or more."""
        pieces = p.by_type[BISHOP] & p.by_colour[us]
        return self.bishop_pair_bonus if pieces & (pieces - 1) else 0

    def outposts(self, p, us):
        """Knights and bishops on the fourth to sixth rank that a pawn defends and no enemy pawn can attack."""
        minors = p.by_colour[us] & (p.by_type[KNIGHT] | p.by_type[BISHOP]) & self.pawn_attacks[us]
        minors &= RANKS[3] | RANKS[4] | (RANKS[5] if us else RANKS[2])
        if minors:
            minors &= ~(self.pawn_attacks[us ^ 1] | _front_fill(self.pawn_attacks[us ^ 1], us ^ 1))
        score: i64 = 0
        while minors:
            score += self.outpost[0 if minors & -minors & p.by_type[KNIGHT] else 1]
            minors &= minors - 1
        return score

    def rook_files(self, p, us):
        """Rooks on files without pawns, or without pawns of their own."""
        pieces = p.by_type[ROOK] & p.by_colour[us]
        score: i64 = 0
        while pieces:
            file = FILES[lsb(pieces) & 7]
            pieces &= pieces - 1
            if not file & p.by_type[PAWN]:
                score += self.rook_open_file
            elif not file & p.by_type[PAWN] & p.by_colour[us]:
                score += self.rook_half_open_file
        return score

    def passed_pawn_paths(self, p, us):
        """Passed pawns that a piece blocks; those with nothing on their way and none of it attacked."""
        pieces = self.passed & p.by_colour[us]
        occupied = p.by_colour[0] | p.by_colour[1]
        flip = 0 if us else 7
        score: i64 = 0
        while pieces:
            square = lsb(pieces)
            pieces &= pieces - 1
            if _step(BB[square], us) & occupied:
                score += self.passed_pawn_blocked[(square >> 3) ^ flip]
            elif not _front_fill(BB[square], us) & (occupied | self.attacked[us ^ 1]):
                score += self.passed_pawn_free[(square >> 3) ^ flip]
        return score

    def king_danger(self, p, us):
        """Our attack on the enemy king: the kinds of attackers, and the squares they hold around it."""
        units = self.units[us]
        if units == 0:
            return 0
        units += popcount(self.attacked[us] & self.zone[us ^ 1] & ~self.pawn_attacks[us ^ 1])
        return self.danger_worth[units if units < MOST_UNITS else MOST_UNITS]

    def safe_checks(self, p, us):
        """Kinds of piece that can give check on a square the enemy does not attack."""
        king = self.king[us ^ 1]
        occupied = p.by_colour[0] | p.by_colour[1]
        safe = ALL ^ (p.by_colour[us] | self.attacked[us ^ 1])
        diagonal = bishop_attacks(king, occupied) & safe
        straight = rook_attacks(king, occupied) & safe
        score: i64 = 0
        if KNIGHT_ATTACKS[king] & safe & self.by_knights[us]:
            score += self.safe_check[0]
        if diagonal & self.by_bishops[us]:
            score += self.safe_check[1]
        if straight & self.by_rooks[us]:
            score += self.safe_check[2]
        if (diagonal | straight) & self.by_queens[us]:
            score += self.safe_check[3]
        return score

    def threats(self, p, us):
        """Enemy pieces attacked by lesser ones of ours, and minor pieces attacked that no pawn defends."""
        enemy = p.by_colour[us ^ 1]
        majors = enemy & (p.by_type[ROOK] | p.by_type[QUEEN])
        minors = enemy & (p.by_type[KNIGHT] | p.by_type[BISHOP])
        score: i64 = 0
        pieces = (majors | minors) & self.pawn_attacks[us]
        if pieces:
            score += self.threat_by_pawn * popcount(pieces)
        pieces = majors & (self.by_knights[us] | self.by_bishops[us])
        if pieces:
            score += self.threat_by_minor[1] * popcount(pieces)
        pieces = majors & p.by_type[QUEEN] & self.by_rooks[us]
        if pieces:
            score += self.threat_by_rook[1] * popcount(pieces)
        minors &= ~self.pawn_attacks[us ^ 1]
        pieces = minors & (self.by_knights[us] | self.by_bishops[us])
        if pieces:
            score += self.threat_by_minor[0] * popcount(pieces)
        pieces = minors & self.by_rooks[us]
        if pieces:
            score += self.threat_by_rook[0] * popcount(pieces)
        return score

    def push_threats(self, p, us):
        """Enemy pieces that a pawn could attack with its next step, where it would be safe."""
        free = ALL ^ (p.by_colour[0] | p.by_colour[1])
        steps = _step(p.by_type[PAWN] & p.by_colour[us], us) & free
        steps |= _step(steps & (RANKS[2] if us else RANKS[5]), us) & free
        steps &= ~self.pawn_attacks[us ^ 1]
        steps &= self.attacked[us] | ~self.attacked[us ^ 1]
        pieces = pawn_attacks(steps, us) & p.by_colour[us ^ 1] & ~p.by_type[PAWN]
        return self.threat_by_push * popcount(pieces)

    def hanging(self, p, us):
        """Enemy pieces that we attack and that nothing defends."""
        pieces = p.by_colour[us ^ 1] & self.attacked[us] & ~self.attacked[us ^ 1]
        return self.hanging_piece * popcount(pieces)

    def mop_up(self, p, us):
        """What helps to mate a king left alone: driving it to the edge or corner, bringing our own king."""
        lone = p.by_colour[us ^ 1]
        if lone & (lone - 1):
            return 0
        pieces = p.by_colour[us]
        heavy = pieces & (p.by_type[ROOK] | p.by_type[QUEEN])
        light = pieces & p.by_type[BISHOP] & LIGHT
        dark = pieces & p.by_type[BISHOP] & ~LIGHT
        easy = heavy or (light and dark)
        if not (easy or ((light or dark) and pieces & p.by_type[KNIGHT])):
            return 0
        square = self.king[us ^ 1]
        edge: cython.int = (abs(2 * (square & 7) - 7) + abs(2 * (square >> 3) - 7)) >> 1
        score = self.mop_up_near * (7 - _distance(self.king[us], square)) + self.mop_up_edge * edge
        if not easy:
            # File and rank add up to 0 or 14 in the dark corners; the light ones are theirs in a mirror.
            corner: cython.int = abs(7 - ((square & 7) ^ (7 if light else 0)) - (square >> 3))
            score += self.mop_up_corner * corner
        return score


def _middle_file(king):
    """The middle one of the three files that shelter a king: its own, or the next when that is the edge."""
    file = king & 7
    if file == 0:
        return 1
    return 6 if file == 7 else file
