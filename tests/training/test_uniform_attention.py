"""F2 . uniform attention . F1: the stacked networks against a plain one, its gradients, and what training gives."""

import numpy as np
import pytest
import torch

from rote.training.uniform_attention.network import BlockShape, NetworkStack, backward, forward, initial_stack
from rote.training.uniform_attention.problem import SequenceProblem
from rote.training.uniform_attention.train import LearningSetting, Schedule, measured, train_stack


def plain(stack, network, sequences):
    """One network on one sequence after another, token by token, biases apart, as the model is written down."""

    def block(x, layer):
        inward, outward = stack.inward[layer, network], stack.outward[layer, network]
        inner, width = inward.shape[0] - 1, inward.shape[1] - 1
        inside = torch.relu(inward[:inner, :width] @ x + inward[:inner, width])
        return x + outward[:width, :inner] @ inside + outward[:width, inner]

    depth, width = len(stack.inward), stack.embedding.shape[1] - 1
    outputs = []
    for sequence in sequences:
        tokens = [stack.embedding[network, :width, token] for token in sequence]
        for layer in range(depth // 2):
            tokens = [block(x, layer) for x in tokens]
        x = tokens[0] + stack.attention[network, :width, :width] @ (sum(tokens) / len(tokens))
        for layer in range(depth // 2, depth):
            x = block(x, layer)
        outputs.append(stack.readout[network, :, :width] @ x + stack.readout[network, :, width])
    return torch.stack(outputs, 1)


def in_float64(problem, stack):
    changed = {name: getattr(problem, name) for name in ("first", "labels")}
    wide = {
        name: None if (part := getattr(problem, name)) is None else part.double()
        for name in ("shares", "targets", "table")
    }
    return SequenceProblem(**changed, **wide), NetworkStack(*(part.double() for part in stack))


@pytest.fixture(params=["labels", "targets", "fixed"])
def case(request):
    rng = np.random.default_rng(1)
    sequences = rng.integers(0, 7, (9, 4))
    table = rng.standard_normal((3, 7)) if request.param == "fixed" else None
    labels = rng.integers(0, 3, 9) if request.param != "targets" else None
    targets = rng.choice([-1.0, 1.0], 9) if request.param == "targets" else None
    problem = SequenceProblem.of_tokens(sequences, 7, labels, targets, table)
    shape = BlockShape(2, 3, 5, 3 if labels is not None else 1, 7, table is None)
    return sequences, problem, shape


def test_outputs_and_gradients_are_those_of_the_plain_network(case):
    sequences, problem, shape = case
    stack, free = initial_stack(shape, problem, [3, 4])
    problem, stack = in_float64(problem, stack)
    passed = forward(stack, problem)
    losses, accuracies, slopes = measured(passed.outputs, problem)
    gradients = NetworkStack(*(torch.empty_like(part) for part in stack))
    backward(stack, problem, passed, slopes.double(), gradients)
    for part in stack:
        part.requires_grad_()
    for network in range(2):
        outputs = plain(stack, network, sequences)
        assert torch.allclose(outputs, passed.outputs[network], atol=1e-6)
        if problem.labels is not None:
            loss = torch.nn.functional.cross_entropy(outputs.T, problem.labels)
            assert accuracies[network] == (outputs.argmax(0) == problem.labels).float().mean()
        else:
            loss = ((outputs[0] - problem.targets) ** 2).mean()
        assert losses[network].item() == pytest.approx(loss.item(), abs=1e-6)
        plainly = torch.autograd.grad(loss, list(stack))
        for own, other, where in zip(gradients, plainly, free, strict=True):
            picked = (slice(None), network) if own.dim() == 4 else (network,)
            assert torch.allclose((own * where)[picked], (other * where)[picked], atol=1e-6)


def test_parameters_are_those_of_the_paper():
    shape = BlockShape(1, 2, 8, 3, 100)
    assert shape.block_parameters == 2 * 42
    assert shape.parameters == 84 + 200 + 4 + 9
    assert BlockShape(1, 2, 8, 3, 100, False).parameters == 84 + 4 + 9
    stack, free = initial_stack(shape, SequenceProblem.of_tokens(np.zeros((1, 1), dtype=int), 100), [0])
    assert sum(int((torch.ones_like(part) * where).sum()) for part, where in zip(stack, free, strict=True)) == 297


def test_a_stack_learns_and_stops_when_one_network_has(case):
    _, problem, shape = case
    settings = [LearningSetting(0.03, 10), LearningSetting(1e-5, 0)]
    whole = train_stack(problem, shape, settings, [0, 1], Schedule(200, 0.01))
    stopped = train_stack(problem, shape, settings, [0, 1], Schedule(200, 0.01, stop_error=whole[0].loss * 2))
    assert [trained.steps for trained in whole] == [200, 200]
    assert whole[0].loss < whole[1].loss
    assert stopped[0].steps == stopped[1].steps < 200
    again = train_stack(problem, shape, settings, [0, 1], Schedule(200, 0.01))
    assert [trained.curve for trained in again] == [trained.curve for trained in whole]
    assert (whole[0].accuracy is None) == (problem.labels is None)


def test_what_keeps_the_constants_and_a_fixed_embedding_stay_as_they_are(case):
    _, problem, shape = case
    # A rate so high that whatever is not held fast moves far.
    (trained,) = train_stack(problem, shape, [LearningSetting(0.5, 0)], [0], Schedule(3, 0.5))
    stack, free = initial_stack(shape, problem, [0])
    assert trained.steps == 3
    assert (free.embedding.sum() == 0) == (problem.table is not None)
    assert (stack.embedding[:, -1] == 1).all()


def test_a_network_that_diverges_spoils_no_other():
    rng = np.random.default_rng(0)
    problem = SequenceProblem.of_tokens(rng.integers(0, 5, (6, 3)), 5, targets=rng.standard_normal(6))
    shape = BlockShape(4, 2, 8, 1, 5)
    wild, calm = train_stack(
        problem, shape, [LearningSetting(1e12, 0), LearningSetting(0.01, 5)], [0, 1], Schedule(60, 0.01)
    )
    assert not np.isfinite(wild.final_loss) or wild.final_loss > 1e3
    assert calm.final_loss < 1.5
