"""Search parameters.

`Tunables` are fields of `Searcher`, so a tuner can set others. Depths are in plies, names that end in `_cp` are in
centipawns. The descriptions use the abbreviations of the steps in `search.py`. Constants that have too little effect to
be tuned stand in the modules that use them. The piece values of static exchange evaluation (SEE) are in
`uci_engine.score`.
"""

from __future__ import annotations

from dataclasses import dataclass

from uci_engine.score import MAX_PLY
from uci_engine.tunable import tunable, tunables_of

# Greater than `score.MAX_DEPTH`. As a minimum depth it switches a step off.
OFF_DEPTH = MAX_PLY - 1


@dataclass(eq=False, slots=True)
class Tunables:
    """The fields of `Searcher` that are tunable: value, least and greatest value, meaning."""

    aspiration_window_cp: int = tunable(12, 5, 100, "aspiration window: initial half width")
    tt_cutoff_malus: int = tunable(76, 0, 400, "TT cutoff malus of the previous quiet move: amount per ply")
    correction_history_weight: int = tunable(262, 0, 512, "correction history: weight, in 256ths")
    reverse_futility_depth: int = tunable(7, 0, 16, "RFP: maximum depth")
    reverse_futility_margin_cp: int = tunable(61, 20, 200, "RFP: margin per ply of depth")
    reverse_futility_worsening_cp: int = tunable(22, 0, 100, "RFP: smaller margin if the opponent is worsening")
    null_move_depth: int = tunable(3, 1, OFF_DEPTH, "NMP: minimum depth")
    null_move_reduction: int = tunable(4, 1, 6, "NMP: constant reduction, in plies")
    null_move_divisor: int = tunable(4, 2, 10, "NMP: plies of depth for one more ply of reduction")
    null_move_eval_divisor_cp: int = tunable(204, 50, 500, "NMP: eval above beta for one more ply of reduction")
    null_move_max_eval_reduction: int = tunable(3, 0, 10, "NMP: maximum reduction from the eval, in plies")
    null_move_verification_depth: int = tunable(12, 4, OFF_DEPTH, "NMP: minimum depth for verification")
    probcut_depth: int = tunable(5, 3, OFF_DEPTH, "ProbCut: minimum depth")
    probcut_margin_cp: int = tunable(177, 50, 500, "ProbCut: margin above beta")
    probcut_reduction: int = tunable(4, 2, 8, "ProbCut: depth reduction, in plies")
    small_probcut_margin_cp: int = tunable(348, 50, 2000, "small ProbCut: margin above beta")
    small_probcut_depth_margin: int = tunable(
        4, 0, 8, "small ProbCut: maximum plies that the TT entry may be too shallow"
    )
    iir_depth: int = tunable(4, 1, OFF_DEPTH, "IIR: minimum depth")
    lmp_depth: int = tunable(8, 0, 12, "LMP: maximum depth")
    lmp_base: int = tunable(3, 1, 10, "LMP: constant part of the move count limit; the squared depth is added")
    futility_depth: int = tunable(8, 0, 14, "futility pruning: maximum reduced depth, exclusive")
    futility_base_cp: int = tunable(75, 0, 400, "futility pruning: constant margin")
    futility_margin_cp: int = tunable(74, 20, 250, "futility pruning: margin per ply of reduced depth")
    history_pruning_depth: int = tunable(4, 0, 10, "history pruning: maximum reduced depth, exclusive")
    history_pruning_margin: int = tunable(3495, 200, 12000, "history pruning: margin per ply of reduced depth + 1")
    see_pruning_depth: int = tunable(8, 0, 14, "SEE pruning: maximum depth")
    see_quiet_margin_cp: int = tunable(
        24, 5, 100, "SEE pruning: margin for quiet moves per squared ply of reduced depth"
    )
    see_noisy_margin_cp: int = tunable(88, 20, 250, "SEE pruning: margin for captures and promotions per ply of depth")
    singular_depth: int = tunable(7, 4, OFF_DEPTH, "SE: minimum depth")
    singular_margin: int = tunable(146, 16, 512, "SE: margin below the TT score, in 64ths of a centipawn per ply")
    singular_depth_margin: int = tunable(3, 0, 6, "SE: maximum plies that the TT entry may be too shallow")
    double_extension_margin_cp: int = tunable(11, 0, 100, "SE: further margin for a double extension")
    double_extension_score_margin: int = tunable(4, 0, 64, "SE: more of that margin, in 64ths of the TT score")
    triple_extension_margin_cp: int = tunable(90, 20, 1000, "SE: further margin for a triple extension of a quiet move")
    cut_node_reduction: int = tunable(2, 0, 3, "SE: negative extension in a cut node")
    double_extension_limit: int = tunable(8, 0, 20, "SE: maximum number of double extensions on one line")
    lmr_depth: int = tunable(3, 1, OFF_DEPTH, "LMR: minimum depth")
    lmr_count: int = tunable(2, 1, 10, "LMR: number of first moves that are not reduced")
    lmr_history_weight: int = tunable(117, 0, 1024, "LMR: smaller reduction for a history of 1024, in 1024ths of a ply")
    lmr_pv_node: int = tunable(1077, 0, 3072, "LMR: smaller reduction in a PV node, in 1024ths of a ply")
    lmr_not_improving: int = tunable(1006, 0, 3072, "LMR: additional reduction if not improving, in 1024ths of a ply")
    lmr_base: int = tunable(77, 0, 200, "LMR: constant part of the reduction, in hundredths of a ply")
    lmr_divisor: int = tunable(233, 100, 500, "LMR: divisor of log(depth) * log(move count), in hundredths")
    lmr_correction: int = tunable(5, 0, 64, "LMR: smaller reduction for each centipawn of correction, in 1024ths")
    lmr_cut_node: int = tunable(1066, 0, 3072, "LMR: additional reduction in a cut node, in 1024ths of a ply")
    lmr_gives_check: int = tunable(2009, 0, 4096, "LMR: smaller reduction of a move that gives check, in 1024ths")
    lmr_noisy_tt_move: int = tunable(1075, 0, 3072, "LMR: additional reduction if the TT move is noisy, in 1024ths")
    lmr_cutoff_count: int = tunable(1024, 0, 3072, "LMR: additional reduction after many cutoffs at the next ply")
    do_deeper_margin_cp: int = tunable(53, 10, 1000, "do-deeper search: margin above the best score")
    quiescence_evasions: int = tunable(2, 1, 100, "qsearch: number of quiet evasions to search once there is no loss")
    quiescence_futility_margin_cp: int = tunable(237, 50, 1000, "qsearch: futility margin above the captured piece")
    quiescence_capture_limit: int = tunable(
        2, 1, 100, "qsearch: number of moves after which only recaptures and promotions are searched"
    )
    history_bonus: int = tunable(155, 10, 400, "history bonus: amount per ply of depth")
    history_bonus_limit: int = tunable(1658, 200, 8000, "history bonus: maximum")
    history_malus_percent: int = tunable(129, 0, 200, "history malus: percent of the bonus")
    history_bonus_margin_cp: int = tunable(77, 10, 1000, "history bonus: score above beta for one more ply")
    tt_cutoff_bonus: int = tunable(73, 0, 400, "TT cutoff bonus: amount per ply; maximum half of history_bonus_limit")
    fail_low_bonus: int = tunable(75, 0, 400, "fail low bonus: amount per ply of depth; maximum history_bonus_limit")
    eval_diff_history_bonus: int = tunable(1, 0, 10, "eval difference history: bonus per centipawn gained")
    eval_diff_history_limit: int = tunable(104, 10, 1000, "eval difference history: maximum bonus")


PARAMETERS = tunables_of(Tunables())
