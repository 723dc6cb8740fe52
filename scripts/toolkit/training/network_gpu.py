"""Training the network on a GPU, with PyTorch: what `network_fit.CpuFit` does, many times as fast.

Each view of a position is a row of zeros and ones. So the sums of the hidden layer are a product of matrices, and so is
the gradient by its weights. Products have numbers of 16 bits (bfloat16) and sums of 32; the parameters and the steps of
Adam stay in 32 bits.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import torch

from evaluation.network.shape import INPUTS, KING_REGIONS, PIECES_PER_BUCKET
from toolkit.training.network_fit import EPSILON, FIRST_DECAY, MAX_HIDDEN, MAX_OUTPUT, SECOND_DECAY, Fit, Plan, State
from toolkit.training.network_model import FIRST_ROW, OUTPUT_CP, ROWS_OF, Batch, Loss
from toolkit.training.positions import words_of

# Positions that are turned into inputs, or measured, at a time.
SLICE: Final = 1 << 18
MAX_PIECES: Final = 32
KING: Final = 5


def has_gpu() -> bool:
    """Whether PyTorch can use one."""
    return bool(torch.cuda.is_available())


class GpuFit(Fit):
    """One run on a GPU. Its order of positions and its rounding differ from those of `CpuFit`."""

    def __init__(
        self,
        batch: Batch,
        train: npt.NDArray[np.intp],
        validation: npt.NDArray[np.intp],
        plan: Plan,
        state: State,
        device: str = "cuda",
    ) -> None:
        super().__init__(train, plan, state)
        torch.backends.cuda.matmul.allow_tf32 = True
        self._device = torch.device(device)
        self._rows = Rows(batch, train, self._device)
        self._validation = Rows(batch, validation, self._device)
        self._parameters = [torch.tensor(array, device=self._device, requires_grad=True) for array in state.parameters]
        self._adam = torch.optim.AdamW(
            self._parameters,
            lr=plan.rate,
            betas=(FIRST_DECAY, SECOND_DECAY),
            eps=EPSILON,
            weight_decay=plan.decay,
            fused=True,
        )
        for parameter, first, second in zip(self._parameters, state.first, state.second, strict=True):
            self._adam.state[parameter] = {
                "step": torch.tensor(float(state.steps), device=self._device),
                "exp_avg": torch.tensor(first, device=self._device),
                "exp_avg_sq": torch.tensor(second, device=self._device),
            }

    def _epoch(self, chance: np.random.Generator, after_batch: Callable[[int], None]) -> tuple[float, float]:
        generator = torch.Generator(self._device).manual_seed(int(chance.integers(1 << 62)))
        order = torch.randperm(len(self._rows), generator=generator, device=self._device)
        total = torch.zeros((), dtype=torch.float64, device=self._device)
        loss = self._plan.loss
        for rows in order.split(self._plan.batch):
            self._adam.zero_grad()
            weight = self._rows.weight[rows].sum()
            lost = self._rows.lost(rows, self._parameters, loss)
            (lost / weight).backward()
            self._adam.param_groups[0]["lr"] = self._next_rate()
            self._adam.step()
            self._clip()
            total += lost.detach()
            after_batch(len(rows))
        self._save()
        return float(total / self._rows.weight.sum()), self._validation.mean_loss(self._parameters, loss)

    def _clip(self) -> None:
        """Keep the weights within what the file can hold."""
        regions, common, _, output, _ = (parameter.detach() for parameter in self._parameters)
        common.clamp_(-MAX_HIDDEN, MAX_HIDDEN)
        for region in regions.view(KING_REGIONS, *common.shape):
            region.clamp_(-MAX_HIDDEN - common, MAX_HIDDEN - common)
        output.clamp_(-MAX_OUTPUT, MAX_OUTPUT)

    def _save(self) -> None:
        """Copy what was learnt into the state."""
        for place, parameter in enumerate(self._parameters):
            moments = self._adam.state[parameter]
            self.state.parameters[place][:] = parameter.detach().cpu().numpy()
            self.state.first[place][:] = moments["exp_avg"].cpu().numpy()
            self.state.second[place][:] = moments["exp_avg_sq"].cpu().numpy()


class Rows:
    """Positions on the device.

    inputs: [row, view, piece]: the inputs of the hidden layer that are 1, the side to move's view first; those of the
    first piece fill the empty places. bucket: [row, 1]: of the output.
    """

    def __init__(self, batch: Batch, chosen: npt.NDArray[np.intp], device: torch.device) -> None:
        count = len(chosen)
        self.inputs = torch.empty((count, 2, MAX_PIECES), dtype=torch.int16, device=device)
        self.bucket = torch.empty((count, 1), dtype=torch.int64, device=device)
        for first in range(0, count, SLICE):
            part = slice(first, first + SLICE)
            words = torch.tensor(words_of(batch.records[chosen[part]]).view(np.int64), device=device)
            self.inputs[part], self.bucket[part] = inputs_of(words)
        self.static_cp, self.expected, self.weight = (
            torch.tensor(array[chosen], device=device) for array in (batch.static_cp, batch.expected, batch.weight)
        )

    def __len__(self) -> int:
        return len(self.inputs)

    def lost(self, rows: Any, parameters: list[torch.Tensor], loss: Loss) -> torch.Tensor:
        """The weighted sum of the losses of some rows."""
        scores_cp = self.static_cp[rows] + outputs(self.inputs[rows], self.bucket[rows], parameters)
        error = torch.sigmoid(scores_cp / loss.scale_cp) - self.expected[rows]
        return (self.weight[rows] * error.abs() ** loss.power).sum()

    def mean_loss(self, parameters: list[torch.Tensor], loss: Loss) -> float:
        """As `network_fit.mean_loss`."""
        parts = (slice(first, first + SLICE // 16) for first in range(0, len(self), SLICE // 16))
        with torch.no_grad():
            return sum(float(self.lost(part, parameters, loss)) for part in parts) / float(self.weight.sum())


def outputs(inputs: torch.Tensor, bucket: torch.Tensor, parameters: list[torch.Tensor]) -> torch.Tensor:
    """In centipawns, the side to move's view. parameters: those of a `Network`."""
    regions, common, hidden_bias, output, output_bias = parameters
    hidden = (regions.view(KING_REGIONS, *common.shape) + common).view(INPUTS, -1)
    views = inputs.view(-1, MAX_PIECES).long()
    ones = torch.zeros((len(views), INPUTS), dtype=torch.bfloat16, device=inputs.device)
    ones.scatter_(1, views, 1.0)
    sums = (ones @ hidden.bfloat16()).float() + hidden_bias
    units = sums.clamp(0, 1).square().view(len(inputs), -1)
    return OUTPUT_CP * (units @ output.T + output_bias).gather(1, bucket).squeeze(1)


def inputs_of(words: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """`Rows.inputs` and `Rows.bucket` of records as signed words (see `positions.words_of`)."""
    everything = torch.arange(64, device=words.device)
    is_occupied = words[:, :1] >> everything & 1
    # A record names the pieces in the order of their squares.
    place = torch.where(is_occupied > 0, is_occupied.cumsum(1) - 1, MAX_PIECES)
    squares = torch.zeros((len(words), MAX_PIECES + 1), dtype=torch.int64, device=words.device)
    squares = squares.scatter_(1, place, everything.expand_as(place))[:, :MAX_PIECES]
    piece = everything[:MAX_PIECES]
    codes = words[:, 1:3].repeat_interleave(16, 1) >> 4 * (piece & 15) & 15
    pieces = is_occupied.sum(1, keepdim=True)
    is_there = piece < pieces
    first_row, rows_of = (torch.tensor(table, device=words.device) for table in (FIRST_ROW, ROWS_OF))
    views = []
    for view in (0, 1):
        is_king = is_there & (codes == KING + 8 * (1 - view))
        king = (squares * is_king).sum(1, keepdim=True)
        orientation = (0 if view else 56) ^ torch.where(king & 7 < 4, 7, 0)
        inputs = first_row[king ^ orientation] + rows_of[view][codes + 1] + (squares ^ orientation)
        views.append(torch.where(is_there, inputs, inputs[:, :1]))
    white_to_move = (words[:, 3] & 128 == 0)[:, None, None]
    black, white = (view[:, None] for view in views)
    inputs = torch.where(white_to_move, torch.cat([white, black], 1), torch.cat([black, white], 1))
    return inputs.short(), (pieces - 1) // PIECES_PER_BUCKET
