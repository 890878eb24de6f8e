"""A reparametrization that absorbs the skip connection: it takes part in the solve instead of being drowned.

No logit depends on the basis of the residual stream: multiplying it by an invertible M and the unembedding by the
inverse changes nothing. Here M is chosen so that the skip connection needs no special treatment.

Dana et al. 2025 let the skip connection vanish against W_O scaled to infinity. It need not: solve

    E(t) = x_S M + sum_h V_h(t) B_h,    V_h = W_V^h A^h(t),

with M (d x d) free. Then (x_S + sum_h V_h B_h M^-1) M = E, so W_O^h = (B_h M^-1)^T and W_U = code M^T. All it needs is
an invertible M; the rounding of W_O is amplified by its condition number, so several right-hand sides are tried.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from rote.constructions.common.random_attention.draw import Heads


@dataclass(frozen=True)
class SkipBasis:
    """Columns that stand for x_S M in the solve.

    With at least as many distinct last tokens as dimensions they are x_S itself. With fewer, x_S M takes any value per
    last token: the columns are last-token indicators, and the rows of M that no last token sees stay free.
    """

    last_tokens: Float[Tensor, "last dim"]

    @property
    def indicators(self) -> bool:
        return self.last_tokens.shape[0] < self.last_tokens.shape[1]

    @property
    def dim(self) -> int:
        return self.last_tokens.shape[1]

    @property
    def columns(self) -> int:
        return min(self.last_tokens.shape)

    def features(self, place: Tensor) -> Float[Tensor, "facts columns"]:
        """The columns for contexts whose last tokens are `last_tokens[place]`."""
        if not self.indicators:
            return self.last_tokens[place]
        # As large as x_S, so that scaling adds nothing to the condition number.
        size = float(self.last_tokens.norm()) / len(self.last_tokens) ** 0.5
        return torch.eye(len(self.last_tokens), dtype=torch.float64)[place] * size

    def skip_map(self, solved: Float[Tensor, "columns dim"], values: Tensor) -> Float[Tensor, "dim dim"]:
        """M from the solved columns and sum_h W_V^hT B_h, which centring had taken out of the features."""
        if not self.indicators:
            return solved - values
        count = len(self.last_tokens)
        size = float(self.last_tokens.norm()) / count**0.5
        wanted = solved * size - self.last_tokens @ values
        seen, lengths, directions = torch.linalg.svd(self.last_tokens, full_matrices=True)
        fixed = directions[:count].T @ ((seen.T @ wanted) / lengths[:, None])
        # Free rows: orthonormal to what the fixed ones map to, at their middle size.
        _, sizes, images = torch.linalg.svd(fixed, full_matrices=True)
        middle = float(sizes[:count].clamp(min=1e-300).log().mean().exp())
        return fixed + middle * directions[count:].T @ images[count:]


def value_part(heads: Heads, output: Float[Tensor, "heads width dim"]) -> Float[Tensor, "dim dim"]:
    """sum_h W_V^hT B_h over the features that took part."""
    value = heads.value[: output.shape[0], : output.shape[1]].double()
    return value.flatten(0, 1).T @ output.flatten(0, 1)


def output_maps(
    spec_shape: tuple[int, int, int], solved: Float[Tensor, "used width dim"], skip: Float[Tensor, "dim dim"]
) -> Float[Tensor, "heads dim head_dim"]:
    """W_O^h = (B_h M^-1)^T; heads and value rows that took no part are zero."""
    output = torch.zeros(spec_shape, dtype=torch.float64)
    heads, width, _ = solved.shape
    maps = torch.linalg.solve(skip.T, solved.flatten(0, 1).T).T
    output[:heads, :, :width] = maps.view(solved.shape).transpose(1, 2)
    return output
