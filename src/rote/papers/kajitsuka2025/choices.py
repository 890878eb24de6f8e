"""Everything that the paper leaves open about its experiments and that is chosen here, in one place.

- **Texts.** Without a network: WordNet noun definitions, labelled by lexicographer file, the three (or two) commonest.
  MultiNLI (premises) and IMDb where they can be had.
- **Tokenizer.** Lower-case words, numbers and marks. The commonest words have a token each, every other word is
  spelled in letters. How many words have a token decides nearly everything, since the embedding is trained: three
  sizes are run.
- **Embedding.** Two numbers a token, trained with the rest, standard normal at the start. The variant `fixed` leaves
  them as drawn, so that nothing but F1, attention and F2 can hold labels.
- **Attention.** With its skip connection, as the paper's Section 3 defines the layer; W_O W_V is one full matrix. Were
  there no skip, reading the label at the first token would be the same as reading it anywhere.
- **Random tokens** (length experiment). Standard normal in R^6, which is the model's width too; inner width 24, four
  times as much, as 8 is of 2. The first token of each sequence is a vector of its own; the others are drawn from 1,000
  vectors, so that F1 is applied to 1,500 vectors and not to 5,000,000.
- **Initial weights.** Uniform in +-1/sqrt(inputs), torch's default.
- **Optimiser.** AdamW with weight decay .01, 1,000 steps on all sequences, a warm-up on a line and then a cosine down
  to zero.
- **Search.** Optuna's TPE, over the learning rate (log-uniform) and the steps of warm-up (uniform), in batches of five
  that are trained as one stack: the first batch is random, every next one knows those before it.
- **Recalled** means an error below .01 at some step: accuracy above .99, or a mean squared error below .01.
"""

from __future__ import annotations

STEPS = 1000
WEIGHT_DECAY = 0.01
LEARNING_RATES = (3e-3, 0.3)
WARM_UPS = (0, 200)
BATCH = 5
"""Trials that are proposed and trained at once."""
ACCURACY = 0.99
"""Recalled when the share of right labels is above this."""
MEAN_SQUARE = 0.01
"""Recalled when the mean squared error of labels +1 and -1 is below this."""
