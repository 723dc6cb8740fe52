"""Every number of the search that could be another.

`PARAMETERS` are tunable: name, value, range, and what the number decides. `Searcher` copies them into its fields, so a
tuner can set others. Depths are in plies, margins in centipawns. The constants above them are no options: they are
lists, or take effect too seldom to be tuned by games. `PLAIN_ALPHA_BETA` switches off every step that could change the
value of a search.
"""

from __future__ import annotations

from uci_engine.tunable import Tunable

# Move ordering. Values of captured pieces by piece type (most valuable victim), and of promotions on the same scale:
# a queen comes before all but the richest captures, other promotions come last.
MVV_VALUES = [0, 10, 30, 31, 50, 90, 0]
QUEEN_PROMOTION_VALUE = 80
UNDERPROMOTION_VALUE = -40
# Capture history counts at most half as much as a minor piece.
CAPTURE_HISTORY_SHIFT = 6
# By piece type: what a quiet move gains by leaving the attack of a piece of less value, or loses by entering it.
THREAT_BONUS = [0, 0, 6000, 6000, 8000, 12000, 0]

# From this halfmove clock on, no TT score cuts: it may be a win that the fifty-move rule leaves no time for.
TT_HALFMOVE_LIMIT = 90
# A tablebase result holds at every depth. It is stored as if searched this much deeper than the node.
TABLEBASE_DEPTH_BONUS = 6
# Null move verification forbids null moves for this share of the reduced depth.
NULL_MOVE_VERIFICATION_PERCENT = 75
# An aspiration window grown this wide opens altogether.
WIDEST_WINDOW_CP = 400

PARAMETERS = (
    Tunable("aspiration_window_cp", 12, 5, 100, "half the window around the last iteration's score"),
    Tunable("use_tt", 1, 0, 1, "whether the transposition table is used"),
    Tunable("use_quiescence", 1, 0, 1, "whether the horizon is searched until it is quiet"),
    Tunable("use_early_draws", 1, 0, 1, "whether upcoming repetitions and known draws end a node"),
    Tunable("correction_history_weight", 256, 0, 512, "share of a known error of the eval to put right, in 256ths"),
    Tunable("reverse_futility_depth", 7, 0, 16, "deepest node that an eval far above beta may end"),
    Tunable("reverse_futility_margin_cp", 66, 20, 200, "how far above beta, for each ply of depth"),
    Tunable("null_move_depth", 3, 1, 100, "shallowest node that tries a null move"),
    Tunable("null_move_reduction", 3, 1, 6, "plies a null-move search is reduced by at least"),
    Tunable("null_move_divisor", 4, 2, 10, "one ply more for each so many plies of depth"),
    Tunable("null_move_margin_cp", 200, 50, 500, "one ply more for each so much of eval above beta"),
    Tunable("null_move_margin_plies", 3, 0, 10, "and at most so many plies for that"),
    Tunable("null_move_verification_depth", 12, 4, 100, "shallowest node whose null move is verified"),
    Tunable("probcut_depth", 5, 3, 100, "shallowest node where a good capture may show that beta is surely beaten"),
    Tunable("probcut_margin_cp", 180, 50, 500, "by how much it must beat beta in a shallower search"),
    Tunable("probcut_reduction", 4, 2, 8, "plies by which that search is shallower"),
    Tunable("small_probcut_margin_cp", 300, 50, 2000, "by how much a TT score nearly deep enough must beat beta"),
    Tunable("small_probcut_depth_margin", 4, 0, 8, "plies by which its TT entry may be too shallow"),
    Tunable("iir_depth", 4, 1, 100, "shallowest node without a TT move that is searched a ply less deep"),
    Tunable("lmp_depth", 8, 0, 12, "deepest node that leaves out late quiet moves"),
    Tunable("lmp_base", 3, 1, 10, "how many moves come before that, besides the squared depth"),
    Tunable("futility_depth", 8, 0, 14, "reduced depth from which a quiet move need not promise to reach alpha"),
    Tunable("futility_base_cp", 75, 0, 400, "what a quiet move may bring at once"),
    Tunable("futility_margin_cp", 83, 20, 250, "and for each ply of reduced depth"),
    Tunable("history_pruning_depth", 4, 0, 10, "reduced depth from which a bad history leaves no quiet move out"),
    Tunable("history_pruning_margin", 3200, 200, 12000, "how bad, for each ply of reduced depth"),
    Tunable("see_pruning_depth", 8, 0, 14, "deepest node that leaves out moves which lose material"),
    Tunable("see_quiet_margin_cp", 25, 5, 100, "loss allowed to a quiet move, by squared reduced depth"),
    Tunable("see_noisy_margin_cp", 90, 20, 250, "loss allowed to a capture, for each ply of depth"),
    Tunable("singular_depth", 7, 4, 100, "shallowest node that asks whether its TT move is the only good one"),
    Tunable("singular_margin", 2, 1, 8, "centipawns for each ply of depth by which the others must be worse"),
    Tunable("singular_depth_margin", 3, 0, 6, "plies by which the TT entry may be too shallow"),
    Tunable("double_extension_margin_cp", 10, 0, 100, "and by which more, for two plies of extension"),
    Tunable("double_extension_limit", 8, 0, 20, "double extensions on one line"),
    Tunable("lmr_depth", 3, 1, 100, "shallowest node that reduces late moves"),
    Tunable("lmr_count", 3, 1, 10, "moves of a node that are never reduced"),
    Tunable("lmr_base", 75, 0, 200, "constant part of the late move reduction, in hundredths of a ply"),
    Tunable("lmr_divisor", 225, 100, 500, "hundredths that divide log(depth) * log(move number)"),
    Tunable("lmr_history", 6144, 1024, 32768, "history worth one ply less or more of reduction"),
    Tunable("lmr_cut", 1, 0, 3, "plies more where a cut is expected"),
    Tunable("lmr_check", 2, 0, 4, "plies less where the late move gives check"),
    Tunable("do_deeper_margin_cp", 50, 10, 1000, "by how much a reduced search must beat the best to go deeper"),
    Tunable("quiescence_futility_margin_cp", 200, 50, 1000, "what a capture in quiescence may bring beyond its victim"),
    Tunable("quiescence_capture_limit", 2, 1, 100, "captures of a quiescence node before only recaptures are tried"),
    Tunable("history_bonus", 150, 10, 400, "history bonus for each ply of depth"),
    Tunable("history_bonus_limit", 1600, 200, 8000, "largest history bonus"),
    Tunable("history_bonus_margin_cp", 80, 10, 1000, "by how much a score must beat beta for the bonus of a ply more"),
    Tunable("tt_cutoff_bonus", 75, 0, 400, "bonus for each ply where the TT move cuts; at most half the largest"),
    Tunable("eval_diff_history_bonus", 1, 0, 10, "history a centipawn by which a quiet move raised the static eval"),
    Tunable("eval_diff_history_limit", 100, 10, 1000, "and at most so much"),
)

# Plain alpha-beta: the value of a search is minimax's. Mate distance pruning stays, for it is exact, and so does all
# that only orders moves.
PLAIN_ALPHA_BETA = {
    "use_tt": 0,
    "use_quiescence": 0,
    "use_early_draws": 0,
    "reverse_futility_depth": 0,
    "null_move_depth": 100,
    "probcut_depth": 100,
    "iir_depth": 100,
    "singular_depth": 100,
    "lmp_depth": 0,
    "futility_depth": 0,
    "history_pruning_depth": 0,
    "see_pruning_depth": 0,
    "lmr_depth": 100,
}
